import { listsWith } from '../../schema/partition.ts';
import type { Lists, Place } from '../../schema/place.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { STATE_OF_RUNNING, type TaskState, taskAgentOf, taskStateOf } from '../../schema/task-state.ts';
import type { Batch } from '../engine/batch.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import { compareKeys, indexed, isId, type Key } from '../engine/keys.ts';
import { merge, type Range } from '../engine/merge.ts';
import type { List, ListedIn } from '../engine/page.ts';
import { createPlacement, type Place as Placed } from '../engine/placement.ts';
import { withRows } from '../engine/sorted-rows.ts';
import type { Table } from '../engine/table.ts';
import { listOf, type RunIndex, type RunPlace, runningTasks } from './run-places.ts';

/**
 * Runs as tasks, the last changed first (a2a.md 8.5, 9).
 *
 * A run that is not running has three rows, each at its position in the order of the result: among all runs, among those
 * of its agent and state, and in its thread. Running runs are read from the lists by status (`run-places.ts`). A list of
 * an agent or of a state is a merge of the few matching agent-and-state lists; for a thread, which has few runs, the rows
 * contain agent and state. So a page reads one row for each task that it shows, regardless of their number, and one for
 * each running run. Lists of agents have counters, and those of all runs are the sums of the lists by status; threads,
 * and lists limited by a time, are counted inside LMDB. In the lists across partitions (`listsWith`) the keys end with
 * the partition of the run.
 * Cost: three puts when a run ends or waits, three removes when it continues, and nothing at its steps.
 */

export type TaskFilter = {
  thread_id?: string;
  agent_id?: string;
  state?: TaskState;
  /** Milliseconds; only tasks whose state changed then or later. */
  since?: number;
};

/** The position of the last task shown; `within` is its partition, in lists across partitions. */
export type TaskPosition = { at: number; id: string; within?: string | undefined };

export type TaskPage = { places: Place[]; total: number; next?: TaskPosition };

export type TaskTable = {
  list(lists: Lists, filter: TaskFilter, page: { limit: number; after?: TaskPosition }): TaskPage;
};

/** A run, and the time of the last change of its task state in milliseconds. */
export type TimedRun = { run: RunRecord; changed_at: number };

type ListedTask = TimedRun & { shared?: boolean | undefined };

export type TaskIndex = TaskTable & {
  move(batch: Batch, scope: string, after: ListedTask, before: ListedTask | undefined): void;
  remove(batch: Batch, scope: string, before: ListedTask): void;
  /**
   * Returns the rows that contain the tasks of a filter, the last changed first; their keys are `[time, id]`, and across
   * partitions `[time, id, partition]`. The rows of a thread are those of all its tasks. `since` is in milliseconds.
   */
  rows(
    lists: readonly string[],
    filter: {
      thread_id?: string | undefined;
      agent_id?: string | undefined;
      states?: readonly TaskState[] | undefined;
      since?: number | undefined;
    },
  ): List<unknown>;
};

/** Agent and state of a row in the list of a thread. */
type AgentState = [agent: string, state: TaskState];
type Row = AgentState | true;
type Index = ListedIn<Row | string>;

export const createTaskIndex = (env: Pick<Environment, 'table'>, counters: Counters): TaskIndex => {
  const index = env.table<Row | string>('task_index');
  const stores: Stores = { index, counters, runIndex: env.table<RunPlace>('run_index') };
  const listed = createPlacement<Row>(index);
  const counted = createPlacement<Row>(index, counters);
  const move: TaskIndex['move'] = (batch, scope, after, before) => {
    const [now, then] = [placeOf(after), before && placeOf(before)];
    if (then && isSamePlace(now, then)) return;
    counted.move(batch, now.id, agentPlaces(scope, now), then ? agentPlaces(scope, then) : []);
    listed.move(batch, now.id, otherPlaces(scope, now), then ? otherPlaces(scope, then) : []);
  };
  return {
    move,
    remove(batch, scope, before) {
      const then = placeOf(before);
      counted.move(batch, then.id, [], agentPlaces(scope, then));
      listed.move(batch, then.id, [], otherPlaces(scope, then));
    },
    list(lists, { thread_id, agent_id, state, since }, { limit, after }) {
      if (thread_id !== undefined && !isId(thread_id)) return { places: [], total: 0 };
      const [own = '', ...others] = typeof lists === 'string' ? [lists] : lists;
      const states = state && [state];
      const found =
        thread_id === undefined
          ? inLists(stores, [own, ...others], { agent_id, states, since })
          : inThread(stores, [own], { thread_id, agent_id, states, since });
      return pageOf(positionsIn(found, after), { own, total: found.total, limit });
    },
    rows(lists, { thread_id, ...filter }) {
      return thread_id === undefined
        ? inLists(stores, lists, filter)
        : inThread(stores, lists, { thread_id, since: filter.since });
    },
  };
};

type Stores = { index: Table<Row | string>; runIndex: RunIndex; counters: Counters };

const pageOf = (
  found: Iterable<TaskPosition>,
  { own, total, limit }: { own: string; total: number; limit: number },
): TaskPage => {
  const positions: TaskPosition[] = [];
  for (const position of found) {
    positions.push(position);
    if (positions.length > limit) break;
  }
  const shown = positions.slice(0, limit);
  const last = shown.at(-1);
  return {
    places: shown.map(({ id, within = own }) => ({ scope: within, id })),
    total,
    ...(positions.length > limit && last && { next: last }),
  };
};

type IndexedTask = {
  agent: string;
  thread: string;
  state: TaskState;
  at: number;
  id: string;
  shared: boolean;
  isRunning: boolean;
};

const placeOf = ({ run, changed_at, shared = false }: ListedTask): IndexedTask => ({
  agent: indexed(taskAgentOf(run)),
  thread: run.thread_id,
  state: taskStateOf(run),
  at: changed_at,
  id: run.run_id,
  shared,
  isRunning: run.status === 'running',
});

const isSamePlace = (a: IndexedTask, b: IndexedTask): boolean =>
  a.agent === b.agent &&
  a.state === b.state &&
  a.at === b.at &&
  a.shared === b.shared &&
  a.isRunning === b.isRunning;

const agentPlaces = (scope: string, { isRunning, shared, ...task }: IndexedTask): Placed<Row>[] =>
  isRunning
    ? []
    : listsWith(scope, shared).map((list) => ({
        list: listOfAgent(list, task.agent, task.state),
        position: positionIn(list, scope, task),
        value: true,
      }));

const otherPlaces = (scope: string, { isRunning, shared, ...task }: IndexedTask): Placed<Row>[] => {
  if (isRunning) return [];
  const { thread, agent, state } = task;
  const places: Placed<Row>[] = listsWith(scope, shared).map((list) => ({
    list: [list, 'all'],
    position: positionIn(list, scope, task),
    value: true,
  }));
  places.push({
    list: [scope, 'thread', thread],
    position: positionIn(scope, scope, task),
    value: [agent, state],
  });
  return places;
};

/** Times are negated because keys are ascending and the latest time comes first. */
const positionIn = (list: string, scope: string, { at, id }: Pick<IndexedTask, 'at' | 'id'>): Key =>
  list === scope ? [0 - at, id] : [0 - at, id, scope];

const listOfAgent = (list: string, agent: string, state: TaskState): Key => [list, 'agent', agent, state];

type Found = List<Row | string>;

type Filter = {
  agent_id?: string | undefined;
  states?: readonly TaskState[] | undefined;
  since?: number | undefined;
};

/** Finds the tasks of lists, of an agent, or in a state. */
const inLists = (stores: Stores, names: readonly string[], { agent_id, states, since }: Filter): Found => {
  const { index, runIndex, counters } = stores;
  const agent = agent_id === undefined ? undefined : indexed(agent_id);
  const isAll = agent === undefined && states === undefined;
  const prefixes = names.flatMap((name) =>
    isAll ? [[name, 'all']] : [...listsOfAgents(index, name, agent, states)],
  );
  const countOf = (list: Key): number => (isAll ? countOfAll(counters, String(list[0])) : counters.get(list));
  const running: Memory[] = [];
  if (states === undefined || states.includes(STATE_OF_RUNNING))
    for (const { key, agent: of } of runningTasks(runIndex, names, undefined))
      if (agent === undefined || of === agent) running.push({ key, value: true });
  return joined(index, { prefixes, since, running, ...(since === undefined && { countOf }) });
};

/** The statuses of runs with rows in the lists of tasks. */
const LISTED = ['created', 'waiting', 'done'] as const;

const countOfAll = (counters: Counters, list: string): number =>
  LISTED.reduce((sum, status) => sum + counters.get(listOf(list, status)), 0);

type Memory = { key: Key; value: Row };

type Parts = {
  prefixes: readonly Key[];
  since: number | undefined;
  running: readonly Memory[];
  /** Returns the length of a list that no time limits; otherwise rows are counted. */
  countOf?: (list: Key) => number;
};

const joined = (index: Index, { prefixes, since, running, countOf }: Parts): Found => {
  const all = withRows(index, running);
  const whole = [...prefixes.map((prefix) => ({ prefix })), ...(running.length > 0 ? [all.range] : [])];
  const ranges = whole.map((range) => (since === undefined ? range : { ...range, to: [0 - since] }));
  const total = ranges.reduce((sum, range) => {
    const isCounted = countOf && range.prefix !== all.range.prefix;
    return sum + (isCounted ? countOf(range.prefix) : all.index.count(range));
  }, 0);
  return { index: all.index, ranges, total };
};

/** Finds the tasks of a thread. Of an agent or in a state, they are counted one by one. */
const inThread = (
  { index, runIndex }: Stores,
  lists: readonly string[],
  { thread_id, agent_id, states, since }: Filter & { thread_id: string },
): Found => {
  const running = runningTasks(runIndex, lists, thread_id).map(
    ({ key, agent }): Memory => ({ key, value: [agent, STATE_OF_RUNNING] }),
  );
  const prefixes = lists.map((list): Key => [list, 'thread', thread_id]);
  const found = joined(index, { prefixes, since, running });
  if (agent_id === undefined && states === undefined) return found;
  const agent = agent_id === undefined ? undefined : indexed(agent_id);
  const isWanted = (row: Row | string): boolean =>
    Array.isArray(row) &&
    (agent === undefined || row[0] === agent) &&
    (states === undefined || states.includes(row[1]));
  const wanted: Memory[] = [];
  for (const range of found.ranges)
    for (const { key, value } of found.index.entries(range))
      if (isWanted(value)) wanted.push({ key: key.slice(range.prefix.length), value: true });
  wanted.sort((a, b) => compareKeys(a.key, b.key));
  return joined(index, { prefixes: [], since, running: wanted });
};

/** The latest tasks come first. */
function* positionsIn({ index, ranges }: Found, after: TaskPosition | undefined): Iterable<TaskPosition> {
  const start = after && {
    after: after.within === undefined ? [0 - after.at, after.id] : [0 - after.at, after.id, after.within],
  };
  const rows = merge(
    ranges.map((range) => ({ ...range, ...start })),
    (range) => keysIn(index, range),
  );
  for (const { key } of rows) {
    const [at, id, within] = key;
    yield { at: 0 - Number(at), id: String(id), ...(within !== undefined && { within: String(within) }) };
  }
}

function* keysIn(index: Index, range: Range): Iterable<{ key: Key }> {
  for (const key of index.keys(range)) yield { key: key.slice(range.prefix.length) };
}

/** Sorts after every agent, every state and every time. */
const BEHIND = '~';

/** Returns the matching lists that are not empty: one read for each, and one for each agent. */
function* listsOfAgents(
  index: Index,
  list: string,
  agent: string | undefined,
  states: readonly TaskState[] | undefined,
): Iterable<Key> {
  const base: Key = [list, 'agent'];
  for (const each of agent === undefined ? partsUnder(index, base) : [agent]) {
    // This part of a key is a state, as it was written.
    const found = states ?? (partsUnder(index, [...base, each]) as Iterable<TaskState>);
    for (const state of found) yield listOfAgent(list, each, state);
  }
}

/** Returns the distinct next parts of the keys under a prefix. */
function* partsUnder(index: Index, prefix: Key): Iterable<string> {
  let from: Key = [];
  for (;;) {
    const part = index.firstKey({ prefix, from })?.[prefix.length];
    if (typeof part !== 'string') return;
    yield part;
    from = [part, BEHIND];
  }
}
