import { type ReactNode, useMemo, useState } from 'react';
import type { ChartLevels } from '../../../schema/chart.ts';
import { Button } from '../../design/Button.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ActorChart } from '../../statechart/ActorChart.tsx';
import { countByState, findActor } from '../../statechart/actors.ts';
import { Chart } from '../../statechart/Chart.tsx';
import { Dots } from '../../statechart/Dots.tsx';
import { Frame } from '../../statechart/Frame.tsx';
import { useFeed, useKnown } from '../../statechart/use-feed.ts';
import { ActorDetail, type WayTo } from './ActorDetail.tsx';
import { ActorList } from './ActorList.tsx';
import { FeedChip } from './FeedChip.tsx';
import css from './Statecharts.module.css';
import { texts } from './texts.ts';

/** One machine with everybody who is in it, or one of these step by step. */

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

export const Wall = (props: {
  name: string;
  /** As frames call it. */
  machine: string;
  /** Its actors are those of another program. */
  elsewhere?: boolean;
  charts: ChartLevels | null;
  /** Where another actor is looked at. */
  wayTo: WayTo;
  /** Ids of those that work for an actor, where they are known better than it says itself. */
  childrenOf?: (id: string) => string[];
  /** In place of a chart. */
  children?: ReactNode;
}) => {
  const { name, machine, elsewhere, charts } = props;
  const t = useTexts(texts);
  const [query, setQuery] = useQueryState();
  const feed = useFeed({ machine, elsewhere });
  const { actors, state: feedState } = useKnown(feed);
  const [moment, setMoment] = useState<{ actor: string; at: number }>();
  const levels = charts?.levels ?? [];
  const level = Math.min(Math.max(0, Number(query.detail) || 0), levels.length - 1);
  const chart = levels[level];
  const counts = useMemo(() => countByState(actors), [actors]);
  const chosenId = query.actor;
  const actor = chosenId === undefined ? undefined : findActor(actors, chosenId);
  const at = moment !== undefined && moment.actor === chosenId ? moment.at : undefined;
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
          <p>{charts?.description}</p>
        </div>
        <FeedChip state={feedState} />
      </header>
      <div className={css.columns}>
        <div className={css.chart}>
          {!chart && <div className={css.none}>{props.children}</div>}
          {chart && (
            <Frame
              size={chart}
              levels={levels.length}
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
          )}
        </div>
        <aside className={css.side} aria-label={t('list.title')}>
          {actor && (
            <ActorDetail
              actor={props.childrenOf ? { ...actor, children: props.childrenOf(actor.id) } : actor}
              at={at}
              wayTo={props.wayTo}
              onGo={go}
              onClose={() => open(undefined)}
            />
          )}
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
