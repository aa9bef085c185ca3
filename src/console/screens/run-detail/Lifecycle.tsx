import { useEffect, useMemo, useState } from 'react';
import type { Chart as ChartData } from '../../../schema/chart.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { Card } from '../../design/Layout.tsx';
import { Notice, SkeletonRows } from '../../design/Notice.tsx';
import type { LogEvent } from '../../events/event.ts';
import { useFormat, useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { isOpen, type Run } from '../../runs/run.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { Chart } from '../../statechart/Chart.tsx';
import { arrowFor, litBy } from '../../statechart/chart.ts';
import { useCharts } from '../../statechart/charts.ts';
import { Frame } from '../../statechart/Frame.tsx';
import type { Feed } from '../../statechart/feed.ts';
import { momentOf } from '../../statechart/path.ts';
import { useFeed, useKnown } from '../../statechart/use-feed.ts';
import type { Course, Moment } from './moments.ts';
import css from './RunDetail.module.css';
import { texts } from './texts.ts';

/** How much of the chart is shown to who did not choose. */
const USUAL_LEVEL = 0;

/** Plays the arrow of each transition while the run is followed. */
const useFlash = (feed: Feed | undefined, chart: ChartData | undefined, actorId: string, isOn: boolean) => {
  const [flash, setFlash] = useState<{ arrow: number; nonce: number }>();
  useEffect(() => {
    if (!isOn || !chart) return;
    return feed?.onFrame(({ frame }) => {
      if (frame.type !== 'transition' || frame.actor !== actorId) return;
      const arrow = arrowFor(chart, frame.transition);
      if (arrow !== undefined) setFlash((before) => ({ arrow, nonce: (before?.nonce ?? 0) + 1 }));
    });
  }, [feed, chart, actorId, isOn]);
  return isOn ? flash : undefined;
};

/** Which other actors work for it right now. */
const Actors = ({ feed, own }: { feed: Feed | undefined; own: string }) => {
  const t = useTexts(texts);
  const { actors } = useKnown(feed);
  const others = [...actors.live.values()].filter(({ id }) => id !== own);
  if (others.length === 0) return null;
  return (
    <ul className={css.actors} aria-label={t('chart.actors')}>
      {others.slice(0, 6).map(({ id, machine, state }) => (
        <li key={id}>
          <ScreenLink to={`/statecharts/${machine}?actor=${encodeURIComponent(id)}`}>
            {machine} <code>{state.join(' ')}</code>
          </ScreenLink>
        </li>
      ))}
    </ul>
  );
};

/** The run in its chart, at the moment that is looked at. */
export const Lifecycle = ({
  run,
  course,
  events,
  at,
  onGo,
}: {
  run: Run;
  course: Course;
  events: readonly LogEvent[];
  /** Events that had happened; undefined: all that have. */
  at: number | undefined;
  onGo: (at: number | undefined) => void;
}) => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const charts = useCharts('run');
  const isLive = isOpen(run);
  const feed = useFeed({ run: run.run_id }, isLive);
  const { actors } = useKnown(feed);
  const actorId = `run:${run.run_id}`;
  const level = Math.min(
    query.detail === undefined ? USUAL_LEVEL : Math.max(0, Number(query.detail) || 0),
    (charts?.levels.length ?? 1) - 1,
  );
  const chart = charts?.levels[level];
  const flash = useFlash(feed, chart, actorId, at === undefined);
  const moment: Moment | undefined = course.moments[(at ?? course.moments.length) - 1];
  const actor = at === undefined && isLive ? actors.live.get(actorId) : undefined;
  const states = actor && !actor.isAtRest ? actor.state : moment ? [moment.state] : [run.status];
  const shown = states.join(' ');
  const { lit, passed } = useMemo(() => {
    if (!chart) return { lit: undefined, passed: undefined };
    const way = momentOf(chart, { steps: course.steps, state: [] }, moment?.steps ?? 0);
    return { lit: litBy(chart, shown.split(' ')), passed: way.passed };
  }, [chart, course.steps, moment?.steps, shown]);
  const status = at === undefined ? run.status : (moment?.status ?? 'created');
  return (
    <Card
      title={t('chart.title')}
      note={<code>{shown}</code>}
      flush
      className={css.chartCard}
      actions={
        <ScreenLink to={`/statecharts/run?actor=${encodeURIComponent(actorId)}`}>
          {t('chart.whole')}
        </ScreenLink>
      }
    >
      <div className={css.chart} data-testid="run-statechart" data-state={status} data-path={shown}>
        {charts === undefined && <SkeletonRows rows={4} />}
        {charts === null && <Notice title={t('chart.failed')}>{null}</Notice>}
        {chart && charts && (
          <Frame
            size={chart}
            levels={charts.levels.length}
            level={level}
            onLevel={(to) => setQuery({ detail: to === USUAL_LEVEL ? undefined : String(to) })}
            bar={<Actors feed={feed} own={actorId} />}
          >
            <Chart
              chart={chart}
              label={`${t('chart.title')}: ${shown}`}
              {...(lit && { lit })}
              {...(passed && { passed })}
              flash={flash}
            />
          </Frame>
        )}
      </div>
      <Scrubber events={events} at={at} onGo={onGo} />
    </Card>
  );
};

const Scrubber = ({
  events,
  at,
  onGo,
}: {
  events: readonly LogEvent[];
  at: number | undefined;
  onGo: (at: number | undefined) => void;
}) => {
  const t = useTexts(texts);
  const format = useFormat();
  const count = events.length;
  const place = Math.min(at ?? count, count);
  const event = events[place - 1];
  const go = (to: number): void => onGo(to >= count ? undefined : Math.max(1, to));
  return (
    <div className={css.scrubber}>
      <IconButton
        small
        icon="chevronLeft"
        label={t('chart.back')}
        disabled={place <= 1}
        onClick={() => go(place - 1)}
      />
      <input
        type="range"
        data-testid="time-travel-slider"
        aria-label={t('chart.slider')}
        aria-valuetext={t('chart.at', { at: place, count })}
        min={1}
        max={Math.max(1, count)}
        value={Math.max(1, place)}
        disabled={count === 0}
        onChange={(change) => go(Number(change.target.value))}
      />
      <IconButton
        small
        icon="chevronRight"
        label={t('chart.forth')}
        disabled={place >= count}
        onClick={() => go(place + 1)}
      />
      <span className={css.moment}>
        {event && <time>{format.clock(event.created_at)}</time>}
        <code>{event?.event_kind}</code>
      </span>
      <Button
        small
        aria-pressed={at === undefined}
        disabled={at === undefined}
        onClick={() => onGo(undefined)}
      >
        {t('chart.now')}
      </Button>
    </div>
  );
};
