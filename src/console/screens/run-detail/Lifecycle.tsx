import { useState } from 'react';
import { IconButton } from '../../design/Button.tsx';
import { Card } from '../../design/Layout.tsx';
import { Notice, SkeletonRows } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { type Actor, actorOf } from '../../live-charts/actors.ts';
import { Chart } from '../../live-charts/Chart.tsx';
import { litBy, nameIn } from '../../live-charts/chart.ts';
import { useCharts } from '../../live-charts/charts.ts';
import { Frame, SMALLEST_COMPACT } from '../../live-charts/Frame.tsx';
import type { Feed } from '../../live-charts/feed.ts';
import { momentOf } from '../../live-charts/path.ts';
import { useFeed, useKnown } from '../../live-charts/use-feed.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import type { Course, Moment } from '../../run-course/moments.ts';
import { isOpen, type Run } from '../../run-records/run.ts';
import css from './RunDetail.module.css';
import texts from './texts.json' with { type: 'json' };

/** The other actors that currently work for the run. */
const Actors = ({ feed, own }: { feed: Feed | undefined; own: string }) => {
  const t = useTexts(texts);
  const { actors } = useKnown(feed);
  const others = [...actors.live.values()].filter(({ id }) => id !== own);
  if (others.length === 0) return null;
  return (
    <ul className="row small" aria-label={t('chart.actors')}>
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

type Selected = {
  run: Run;
  course: Course;
  /** Number of events up to the selected moment; undefined for all. */
  at: number | undefined;
};

/** The run as an actor at the selected moment; the actor of a live run is ahead of its events. */
const useActor = (
  { run, course, at }: Selected,
  feed: Feed | undefined,
): { actor: Actor; status: string } => {
  const { actors } = useKnown(feed);
  const id = `run:${run.run_id}`;
  const moment: Moment | undefined = course.moments[(at ?? course.moments.length) - 1];
  const live = at === undefined && isOpen(run) ? actors.live.get(id) : undefined;
  const past = {
    id,
    machine: 'run',
    state: moment?.state ?? run.status,
    since: 0,
    parent: null,
    children: [],
  };
  const actor = live && !live.isAtRest ? live : actorOf({ ...past, at_rest: true }, false);
  const steps = course.steps.slice(0, moment?.steps ?? 0);
  return {
    actor: { ...actor, steps },
    status: at === undefined ? run.status : (moment?.status ?? 'created'),
  };
};

const RunChart = ({ feed, actor, isNow }: { feed: Feed | undefined; actor: Actor; isNow: boolean }) => {
  const t = useTexts(texts);
  const charts = useCharts('run');
  const chart = charts?.compact.at(-1);
  if (charts === undefined) return <SkeletonRows rows={4} />;
  if (!chart) return <Notice title={t('common.noChart')}>{null}</Notice>;
  const lit = litBy(chart, actor.state);
  const { passed, step } = momentOf(chart, actor, undefined);
  const taken = isNow && step ? nameIn(chart, step.transition) : undefined;
  return (
    <Frame
      size={chart}
      smallest={SMALLEST_COMPACT}
      focus={chart.states.findLast(({ path }) => lit.has(path))}
      bar={<Actors feed={feed} own={actor.id} />}
    >
      <Chart
        chart={chart}
        label={`${t('common.statechart')}: ${actor.state.join(' ')}`}
        lit={lit}
        passed={passed}
        flash={taken && { ...taken, nonce: step?.serial ?? 0 }}
      />
    </Frame>
  );
};

/** The chart of the run, expanded initially while the run has not ended. */
export const Lifecycle = (props: Selected) => {
  const t = useTexts(texts);
  const { run, at } = props;
  const feed = useFeed({ run: run.run_id }, isOpen(run));
  const { actor, status } = useActor(props, feed);
  const [wanted, setWanted] = useState(isOpen(run));
  const isShown = wanted || at !== undefined;
  const shown = actor.state.join(' ');
  return (
    <div data-testid="run-statechart" data-state={status} data-path={shown}>
      <Card
        title={t('common.statechart')}
        note={<code>{shown}</code>}
        flush
        className={css.chartCard}
        actions={
          <>
            <ScreenLink to={`/statecharts/run?actor=${encodeURIComponent(actor.id)}`}>
              {t('chart.whole')}
            </ScreenLink>
            <IconButton
              small
              icon={isShown ? 'chevronDown' : 'chevronRight'}
              label={t(isShown ? 'chart.hide' : 'chart.show')}
              aria-expanded={isShown}
              disabled={at !== undefined}
              onClick={() => setWanted(!wanted)}
            />
          </>
        }
      >
        {isShown && (
          <div style={{ height: 440 }}>
            <RunChart feed={feed} actor={actor} isNow={at === undefined} />
          </div>
        )}
      </Card>
    </div>
  );
};
