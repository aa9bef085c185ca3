import { fillPage } from '../../schema/page-rows.ts';
import type { RunStatus } from '../../schema/run.ts';
import { outcomeOf, type RunOutcome, type RunSort } from '../../schema/run-query.ts';
import { inState, RUN_STATES, type RunRecord, type RunState } from '../../schema/run-state.ts';
import { type TaskState, taskAgentOf, taskStateOf } from '../../schema/task-state.ts';
import { nearest } from '../engine/merge.ts';
import {
  firstRows,
  type List,
  MOST_EXAMINED,
  type Page,
  type PageOf,
  type Rows,
  readPage,
  type Search,
} from '../engine/page.ts';
import type { RunPlace } from './run-places.ts';

/**
 * Lists of runs by any filter and in any order (runtime.md 5.2).
 *
 * A list reads the narrowest range that an index has: for the order of creation that of status, thread and time, for
 * the order of changes that of agent, task state and thread. Other filters examine the rows of that range. Orders by a
 * figure have no index: they sort the matching ones among the rows that changed last.
 * Cost: a page examines at most `MOST_EXAMINED` rows. The limits of a range of time are found by bisection.
 */

export type RunFilter = {
  thread_id?: string;
  status?: RunStatus;
  outcomes?: readonly RunOutcome[];
  /** The agent that the request named. */
  agent_id?: string;
  /** Seconds, inclusive. */
  created_after?: number;
  /** Seconds, exclusive. */
  created_before?: number;
};

export type RunPage = Page & {
  sort?: RunSort;
  /** A filter by the text of the run. */
  text?: { matches(run: RunRecord): boolean; isSpent(): boolean } | undefined;
  /** Milliseconds; open runs have lasted until then. */
  now?: number;
};

/** The rows of an index that contain the runs of a filter, and the filter that is left. */
type Source<T> = { list: List<T>; read: Rows<T, RunRecord>['read']; isExact: boolean };

export type RunSources = {
  /** Runs of a status and a thread by creation. Keys have the number of the run. */
  created(
    filter: Pick<RunFilter, 'thread_id' | 'status'>,
    within?: [from: number, to: number],
  ): Source<RunPlace>;
  /** Runs by the last change of their task state, latest first. */
  changed(filter: {
    thread_id?: string | undefined;
    agent_id?: string | undefined;
    states?: readonly TaskState[] | undefined;
    /** Milliseconds. */
    since?: number | undefined;
  }): Source<unknown>;
};

export const listRuns = (
  sources: RunSources,
  filter: RunFilter,
  page: RunPage,
  shown: (run: RunRecord) => unknown,
): PageOf<RunRecord> => {
  const { sort = 'created' } = page;
  const byCreation = sort === 'created' || sort === '-created';
  const source = byCreation ? createdSource(sources, filter) : changedSource(sources, filter);
  if (sort !== 'created' && sort !== '-created' && sort !== '-changed')
    return rankedPage(source, { filter, page, shown, figure: FIGURES[sort] });
  const search = source.isExact && !page.text ? undefined : searchOf(filter, page);
  const rows = { read: source.read, shown, search };
  return readPage(source.list, { ...page, reverse: sort === '-created' }, rows);
};

const createdSource = (sources: RunSources, filter: RunFilter): Source<unknown> => {
  const { outcomes, agent_id, created_after, created_before } = filter;
  const status = outcomes ? 'done' : filter.status;
  const range = { ...filter, ...(status && { status }) };
  const whole = sources.created(range);
  const isExact = outcomes === undefined && agent_id === undefined;
  if (created_after === undefined && created_before === undefined) return { ...whole, isExact };
  const from = created_after === undefined ? 0 : numberAt(whole, created_after);
  const to = created_before === undefined ? Number.MAX_SAFE_INTEGER : numberAt(whole, created_before) - 1;
  // The clock may have been set back, so the times of the rows are checked.
  return { ...sources.created(range, [from, to]), isExact: false };
};

/** Returns the number of the first run that was created at this time or later, by bisection. */
const numberAt = ({ list, read }: Source<RunPlace>, seconds: number): number => {
  const last = nearest(list.index, list.ranges, true);
  let [low, high] = [0, last ? Number(last[0]) + 1 : 0];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const ranges = list.ranges.map((range) => ({ ...range, from: [middle] }));
    const [found] = firstRows({ ...list, ranges }, 1, read);
    if (found && found.row.created_at < seconds) low = Number(found.key[0]) + 1;
    else high = middle;
  }
  return low;
};

const changedSource = (sources: RunSources, filter: RunFilter): Source<unknown> => {
  const { thread_id, agent_id, created_after, created_before } = filter;
  const { states, isExact } = statesOf(filter);
  // A run does not change before it is created.
  const since = created_after === undefined ? undefined : created_after * 1000;
  const source = sources.changed({ thread_id, agent_id, states, since });
  const isWhole = isExact && created_after === undefined && created_before === undefined;
  return { ...source, isExact: isWhole && source.isExact };
};

/** The final state of an outcome. */
const endOf = (outcome: RunOutcome): RunState => (outcome === 'stopped' ? 'completed' : outcome);

/** Returns the task states that the runs of a filter may have, and whether no other run has one of them. */
const statesOf = ({
  status,
  outcomes,
}: RunFilter): { states: readonly TaskState[] | undefined; isExact: boolean } => {
  if (status === undefined && outcomes === undefined) return { states: undefined, isExact: true };
  const ends = outcomes?.map(endOf);
  const isMeant = (machine_state: RunState): boolean =>
    (status === undefined || inState(machine_state).status === status) &&
    (ends === undefined || ends.includes(machine_state));
  const states = new Set(RUN_STATES.filter(isMeant).map((machine_state) => taskStateOf({ machine_state })));
  const isWhole = RUN_STATES.every(
    (machine_state) => isMeant(machine_state) || !states.has(taskStateOf({ machine_state })),
  );
  const isHalf = outcomes !== undefined && outcomes.includes('completed') !== outcomes.includes('stopped');
  return { states: [...states], isExact: isWhole && !isHalf };
};

const searchOf = (filter: RunFilter, { text }: RunPage): Search<RunRecord> => ({
  wanted: (run) => isWanted(run, filter) && (text === undefined || text.matches(run)),
  most: MOST_EXAMINED,
  isSpent: text && (() => text.isSpent()),
});

const isWanted = (run: RunRecord, filter: RunFilter): boolean => {
  const { thread_id, status, outcomes, agent_id, created_after, created_before } = filter;
  const outcome = outcomes && outcomeOf(run);
  return (
    (thread_id === undefined || run.thread_id === thread_id) &&
    (status === undefined || run.status === status) &&
    (outcomes === undefined || (outcome !== undefined && outcomes.includes(outcome))) &&
    (agent_id === undefined || taskAgentOf(run) === agent_id) &&
    (created_after === undefined || run.created_at >= created_after) &&
    (created_before === undefined || run.created_at < created_before)
  );
};

type Figure = (run: RunRecord, now: number) => number;

/** Milliseconds; an open run has lasted until `now`. */
const durationOf: Figure = (run, now) => {
  const { started_at = run.created_at, started_at_ms = started_at * 1000 } = run;
  const { finished_at = run.updated_at, finished_at_ms = finished_at * 1000 } = run;
  return (run.status === 'done' ? finished_at_ms : now) - started_at_ms;
};

/** Runs without the figure come last. */
const FIGURES: Readonly<Record<'-duration' | '-tokens' | '-cost', Figure>> = {
  '-duration': durationOf,
  '-tokens': ({ input_tokens, output_tokens }) => input_tokens + output_tokens,
  '-cost': ({ cost_usd = -1 }) => cost_usd,
};

/** Sorts the matching ones among the first rows of the source. The position of a page counts the sorted rows. */
const rankedPage = (
  { list, read }: Source<unknown>,
  options: {
    filter: RunFilter;
    page: RunPage;
    shown: (run: RunRecord) => unknown;
    figure: Figure;
  },
): PageOf<RunRecord> => {
  const { page, shown, figure } = options;
  const { limit, now = 0, after } = page;
  const { wanted, isSpent } = searchOf(options.filter, page);
  const found: { run: RunRecord; value: number }[] = [];
  let searched = 0;
  for (const { row: run } of firstRows(list, MOST_EXAMINED, read)) {
    if (searched > 0 && isSpent?.()) break;
    searched += 1;
    if (wanted(run)) found.push({ run, value: figure(run, now) });
  }
  // The sort is stable, so equal runs stay in the order of their changes.
  found.sort((a, b) => b.value - a.value);
  const offset = after?.offset ?? page.offset;
  const { rows, texts, more } = fillPage(found.slice(offset), limit, ({ run }) => shown(run));
  return {
    items: rows.map(({ run }) => run),
    texts,
    total: list.total,
    offset,
    searched,
    ...(more && { next: { key: null, offset: offset + rows.length } }),
  };
};
