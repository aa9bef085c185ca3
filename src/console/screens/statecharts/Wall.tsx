import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import type { Chart as ChartData, ChartLevels } from '../../../schema/chart.ts';
import { Button } from '../../design/Button.tsx';
import { EmptyState } from '../../design/Notice.tsx';
import { Segmented } from '../../design/Segmented.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { useQueryState } from '../../list/use-query-state.ts';
import { ActorChart } from '../../live-charts/ActorChart.tsx';
import { type Actor, type Actors, countsOf, findActor } from '../../live-charts/actors.ts';
import { Chart } from '../../live-charts/Chart.tsx';
import { Dots } from '../../live-charts/Dots.tsx';
import { Frame } from '../../live-charts/Frame.tsx';
import type { Feed, Known } from '../../live-charts/feed.ts';
import type { Mark } from '../../live-charts/marks.ts';
import { momentOf } from '../../live-charts/path.ts';
import { loggedId, shownRun } from '../../live-charts/thread-run.ts';
import { useFeed, useKnown } from '../../live-charts/use-feed.ts';
import { useLogged } from '../../run-course/logged.ts';
import { ActorDetail, type WayTo } from './ActorDetail.tsx';
import { ActorList, shortId } from './ActorList.tsx';
import { FeedChip } from './FeedChip.tsx';
import { Legend, Swatch } from './Legend.tsx';
import css from './Statecharts.module.css';
import texts from './texts.json' with { type: 'json' };
import { useMarks } from './use-marks.ts';
import { type RunWords, useRunWords } from './use-run-words.ts';

/** One machine with all its actors, or one of them step by step. */

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

type WallProps = {
  name: string;
  /** Name of the machine in frames. */
  machine: string;
  /** True if the actors belong to another program. */
  elsewhere?: boolean;
  charts: ChartLevels | null;
  wayTo: WayTo;
  /** Ids of the children of an actor, if they are known from another source than the actor itself. */
  childrenOf?: (id: string) => string[];
  children?: ReactNode;
};

/** The actor in the address; a run has its whole path, from its log if this page has not followed it. */
const useChosen = (actors: Actors, id: string | undefined, isRun: boolean): Actor | undefined => {
  const live = id === undefined ? undefined : findActor(actors, id);
  const runId = isRun && id !== undefined ? shortId(id) : undefined;
  const course = useLogged(runId === undefined ? undefined : loggedId(live, runId));
  return useMemo(
    () => (runId === undefined ? live : shownRun(live, runId, course)?.actor),
    [live, runId, course],
  );
};

const About = ({ id, words, mark }: { id: string; words: RunWords | undefined; mark: Mark | undefined }) => (
  <>
    <span dir="auto">{words?.words ?? shortId(id)}</span>
    {words && (
      <small>
        {mark && <Swatch mark={mark} />} {words.agent}
      </small>
    )}
  </>
);

/** What both halves of the screen show. */
type Shown = {
  feed: Feed | undefined;
  known: Known;
  actor: Actor | undefined;
  /** Number of steps taken at the displayed moment; undefined for now. */
  at: number | undefined;
  words: ReadonlyMap<string, RunWords>;
  isRun: boolean;
  onOpen: (id: string | undefined) => void;
};

const Bar = (props: {
  actors: Actors;
  /** Undefined if the actors have no agents. */
  by: 'outcome' | 'agent' | undefined;
  onBy: (by: 'outcome' | 'agent') => void;
  onFull: () => void;
}) => {
  const t = useTexts(texts);
  const { actors, by, onBy, onFull } = props;
  const resting = [...actors.live.values()].filter(({ isAtRest }) => isAtRest).length;
  return (
    <>
      <span className="small number">
        {t('live', { count: actors.live.size - resting })}
        {resting > 0 && ` · ${t('resting', { count: resting })}`}
      </span>
      <Button small onClick={onFull}>
        {t('full')}
      </Button>
      {by && (
        <Segmented
          label={t('by')}
          isLabelShown
          value={by}
          options={[
            ['outcome', t('by.outcome')],
            ['agent', t('common.agent')],
          ]}
          onChange={onBy}
        />
      )}
    </>
  );
};

/** The chart of the chosen actor, or of all. */
const WallChart = ({ name, levels, shown }: { name: string; levels: readonly ChartData[]; shown: Shown }) => {
  const { feed, known, actor, at, words, isRun, onOpen } = shown;
  const [query, setQuery] = useQueryState();
  const screen = useRef<HTMLDivElement>(null);
  const { state } = query;
  const by = query.by === 'agent' && isRun ? 'agent' : 'outcome';
  const marks = useMarks(words, isRun);
  const choose = useCallback(
    (path: string) => setQuery({ state: state === path ? undefined : path }),
    [setQuery, state],
  );
  const level = Math.min(Math.max(0, Number(query.detail) || 0), levels.length - 1);
  const chart = levels[level];
  if (!chart) return null;
  return (
    <div className={`column ${css.full}`} ref={screen}>
      <Frame
        size={chart}
        levels={levels.length}
        level={level}
        onLevel={(to) => setQuery({ detail: to === 0 ? undefined : String(to) })}
        bar={
          <Bar
            actors={known.actors}
            by={isRun && !actor ? by : undefined}
            onBy={(to) => setQuery({ by: to === 'agent' ? to : undefined })}
            onFull={() => void screen.current?.requestFullscreen()}
          />
        }
      >
        {actor ? (
          <ActorChart
            chart={chart}
            machine={actor.machine}
            moment={momentOf(chart, actor, at)}
            chosen={state}
            onChoose={choose}
          />
        ) : (
          <Chart
            chart={chart}
            label={name}
            counts={countsOf(known.actors, name).states}
            chosen={state}
            onChoose={choose}
          />
        )}
        {feed && !actor && (
          <Dots
            chart={chart}
            feed={feed}
            chosen={query.actor}
            onChoose={onOpen}
            about={(id) => <About id={id} words={words.get(id)} mark={isRun ? marks.of(id) : undefined} />}
            markOf={by === 'agent' ? marks.of : undefined}
          />
        )}
      </Frame>
      {!actor && (
        <Legend
          chart={chart}
          actors={known.actors}
          words={words}
          marks={by === 'agent' ? marks : undefined}
        />
      )}
    </div>
  );
};

const WallList = ({ shown: { known, words, onOpen } }: { shown: Shown }) => {
  const [query, setQuery] = useQueryState();
  return (
    <ActorList
      actors={known.actors}
      q={query.q ?? ''}
      state={query.state}
      words={words}
      onSearch={(q) => setQuery({ q: q === '' ? undefined : q })}
      onEverywhere={() => setQuery({ state: undefined })}
      onOpen={onOpen}
    />
  );
};

export const Wall = (props: WallProps) => {
  const { name, machine, elsewhere = false, charts } = props;
  const t = useTexts(texts);
  const [{ actor: chosenId }, setQuery] = useQueryState();
  const feed = useFeed({ machine, elsewhere });
  const known = useKnown(feed);
  const [moment, setMoment] = useState<{ actor: string; at: number }>();
  const isRun = machine === 'run' && !elsewhere;
  const words = useRunWords(isRun);
  const actor = useChosen(known.actors, chosenId, isRun);
  const at = moment !== undefined && moment.actor === chosenId ? moment.at : undefined;
  const onOpen = (id: string | undefined): void => setQuery({ actor: id });
  const shown: Shown = { feed, known, actor, at, words, isRun, onOpen };
  return (
    <div className={`column ${css.screen}`}>
      <header className={`row nowrap spread ${css.head}`}>
        <div>
          <h1>
            <code>{name}</code>
          </h1>
          <p className="soft">{charts?.description}</p>
        </div>
        <FeedChip state={known.state} />
      </header>
      <div className={`columns ${css.columns}`}>
        <div className={`card column clip ${css.chart}`}>
          {charts?.levels.length ? (
            <WallChart name={name} levels={charts.levels} shown={shown} />
          ) : (
            <div className={`soft ${css.none}`}>{props.children}</div>
          )}
        </div>
        <aside className={`card column clip ${css.side}`} aria-label={t('list.title')}>
          {actor && (
            <ActorDetail
              actor={props.childrenOf ? { ...actor, children: props.childrenOf(actor.id) } : actor}
              words={words.get(actor.id)}
              at={at}
              wayTo={props.wayTo}
              onGo={(to) => setMoment(to === undefined ? undefined : { actor: actor.id, at: to })}
              onClose={() => onOpen(undefined)}
            />
          )}
          {!actor && chosenId !== undefined && known.state.name === 'live' && (
            <Gone onClose={() => onOpen(undefined)} />
          )}
          {!actor && chosenId === undefined && <WallList shown={shown} />}
        </aside>
      </div>
    </div>
  );
};
