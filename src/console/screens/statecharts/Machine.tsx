import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { ChartLevels } from '../../../schema/chart.ts';
import { Button } from '../../design/Button.tsx';
import { EmptyState, SkeletonRows } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { ActorChart } from '../../statechart/ActorChart.tsx';
import { countByState, findActor } from '../../statechart/actors.ts';
import { Chart } from '../../statechart/Chart.tsx';
import { useCharts } from '../../statechart/charts.ts';
import { Dots } from '../../statechart/Dots.tsx';
import { Frame } from '../../statechart/Frame.tsx';
import { useFeed, useKnown } from '../../statechart/use-feed.ts';
import { ActorDetail } from './ActorDetail.tsx';
import { ActorList } from './ActorList.tsx';
import { FeedChip } from './FeedChip.tsx';
import css from './Statecharts.module.css';
import { texts } from './texts.ts';

const Gone = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(texts);
  return (
    <EmptyState
      title={t('actor.gone')}
      actions={
        <Button small onClick={onClose}>
          {t('actor.close')}
        </Button>
      }
    >
      {t('actor.goneText')}
    </EmptyState>
  );
};

const Wall = ({ name, charts }: { name: string; charts: ChartLevels }) => {
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const feed = useFeed({ machine: name });
  const { actors, state: feedState } = useKnown(feed);
  const [moment, setMoment] = useState<{ actor: string; at: number }>();
  const level = Math.min(Math.max(0, Number(query.detail) || 0), charts.levels.length - 1);
  const chart = charts.levels[level];
  const counts = useMemo(() => countByState(actors), [actors]);
  const chosenId = query.actor;
  const actor = chosenId === undefined ? undefined : findActor(actors, chosenId);
  const at = moment !== undefined && moment.actor === chosenId ? moment.at : undefined;
  if (!chart) return null;
  const open = (id: string | undefined): void => setQuery({ actor: id });
  const choose = (path: string): void => setQuery({ state: query.state === path ? undefined : path });
  const resting = [...actors.live.values()].filter(({ isAtRest }) => isAtRest).length;
  const go = (to: number | undefined): void =>
    setMoment(to === undefined || chosenId === undefined ? undefined : { actor: chosenId, at: to });
  return (
    <div className={css.screen}>
      <header className={css.head}>
        <div>
          <h1>
            <code>{name}</code>
          </h1>
          <p>{charts.description}</p>
        </div>
        <FeedChip state={feedState} />
      </header>
      <div className={css.columns}>
        <div className={css.chart}>
          <Frame
            size={chart}
            levels={charts.levels.length}
            level={level}
            onLevel={(to) => setQuery({ detail: to === 0 ? undefined : String(to) })}
            bar={
              <span className={css.counted}>
                {t('live', { count: actors.live.size - resting })}
                {resting > 0 && ` · ${t('resting', { count: resting })}`}
              </span>
            }
          >
            {actor ? (
              <ActorChart
                chart={chart}
                feed={feed}
                actor={actor}
                at={at}
                chosen={query.state}
                onChoose={choose}
              />
            ) : (
              <Chart chart={chart} label={name} counts={counts} chosen={query.state} onChoose={choose} />
            )}
            {feed && !actor && <Dots chart={chart} feed={feed} chosen={chosenId} onChoose={open} />}
          </Frame>
        </div>
        <aside className={css.side} aria-label={t('list.title')}>
          {actor && <ActorDetail actor={actor} at={at} onGo={go} onClose={() => open(undefined)} />}
          {!actor && chosenId !== undefined && feedState.name === 'live' && (
            <Gone onClose={() => open(undefined)} />
          )}
          {!actor && chosenId === undefined && (
            <ActorList
              actors={actors}
              q={query.q ?? ''}
              state={query.state}
              onSearch={(q) => setQuery({ q: q === '' ? undefined : q })}
              onEverywhere={() => setQuery({ state: undefined })}
              onOpen={open}
            />
          )}
        </aside>
      </div>
    </div>
  );
};

const Machine = () => {
  const t = useTexts(texts);
  const { machine = '' } = useParams({ strict: false });
  const charts = useCharts(machine);
  if (charts === undefined) return <SkeletonRows />;
  if (charts === null) {
    return (
      <EmptyState
        title={t('unknown', { name: machine })}
        actions={<ScreenLink to="/statecharts">{t('all')}</ScreenLink>}
      >
        {t('unknownText')}
      </EmptyState>
    );
  }
  return <Wall key={machine} name={machine} charts={charts} />;
};

export default Machine;
