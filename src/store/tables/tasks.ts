import { listsWith } from '../../schema/partition.ts';
import type { Lists, Place } from '../../schema/place.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { type TaskState, taskAgentOf, taskStateOf } from '../../schema/task-state.ts';
import type { Batch } from '../engine/batch.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import { indexed, isId, type Key } from '../engine/keys.ts';
import { merge } from '../engine/merge.ts';
import type { List } from '../engine/page.ts';
import type { Span, Table } from '../engine/table.ts';

/**
 * Runs as tasks, the last changed first (a2a.md 8.5, 9).
 *
 * A run has three rows, each at its position in the order of the result: among all runs, among those of its agent and
 * state, and in its thread. A list of an agent or of a state is a merge of the few matching agent-and-state lists; for
 * a thread, which has few runs, the rows contain agent and state. So a page reads one row for each task that it shows,
 * regardless of their number. Lists of agents and of all runs have counters; threads, and lists limited by a time, are
 * counted inside LMDB. In the lists across partitions (`listsWith`) the keys end with the partition of the run.
 * Cost: three puts and three removes when the state of a run changes, and nothing at its steps.
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
type Index = Table<AgentState | true>;

export const createTaskIndex = (env: Pick<Environment, 'table'>, counters: Counters): TaskIndex => {
  const index: Index = env.table<AgentState | true>('task_index');
  return {
    move(batch, scope, after, before) {
      const [now, then] = [placeOf(after), before && placeOf(before)];
      const isSameList = then?.agent === now.agent && then.state === now.state && then.shared === now.shared;
      if (isSameList && then.at === now.at) return;
      for (const [key] of then ? rowsOf(scope, then) : []) index.remove(batch, key);
      for (const [key, whose] of rowsOf(scope, now)) index.add(batch, key, whose);
      if (!isSameList) recount(counters, batch, scope, now, then);
    },
    remove(batch, scope, before) {
      const then = placeOf(before);
      for (const [key] of rowsOf(scope, then)) index.remove(batch, key);
      for (const list of listsWith(scope, then.shared)) {
        counters.add(batch, countOfAll(list), -1);
        counters.add(batch, countOf(list, then.agent, then.state), -1);
      }
    },
    list(lists, filter, { limit, after }) {
      const { thread_id } = filter;
      if (thread_id !== undefined && !isId(thread_id)) return { places: [], total: 0 };
      const [own = '', ...others] = typeof lists === 'string' ? [lists] : lists;
      const span = boundsOf(filter, after);
      const { places, total } =
        thread_id === undefined
          ? inLists(index, counters, [own, ...others], filter, span)
          : inThread(index, [own, 'thread', thread_id], filter, span);
      return pageOf(places, { own, total, limit });
    },
    rows(lists, { thread_id, agent_id, states, since }) {
      const isAll = agent_id === undefined && states === undefined;
      const found = lists.flatMap((list): CountedList[] => {
        if (thread_id !== undefined) return [{ prefix: [list, 'thread', thread_id], counter: undefined }];
        if (isAll) return [{ prefix: [list, 'all'], counter: countOfAll(list) }];
        return [...listsOf(index, list, { agent_id, states })];
      });
      const ranges = found.map(({ prefix }) => ({ prefix, ...(since !== undefined && { to: [0 - since] }) }));
      const counts = found.map(({ counter }, at) =>
        since === undefined && counter ? counters.get(counter) : index.count(ranges[at] ?? { prefix: [] }),
      );
      return { index, ranges, total: counts.reduce((sum, count) => sum + count, 0) };
    },
  };
};

/** Moves a task from the counters of some lists to those of others. */
const recount = (
  counters: Counters,
  batch: Batch,
  scope: string,
  now: IndexedTask,
  then: IndexedTask | undefined,
): void => {
  const [lists, left] = [listsWith(scope, now.shared), then ? listsWith(scope, then.shared) : []];
  for (const list of left) {
    if (!lists.includes(list)) counters.add(batch, countOfAll(list), -1);
    if (then) counters.add(batch, countOf(list, then.agent, then.state), -1);
  }
  for (const list of lists) {
    if (!left.includes(list)) counters.add(batch, countOfAll(list), 1);
    counters.add(batch, countOf(list, now.agent, now.state), 1);
  }
};

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
};

const placeOf = ({ run, changed_at, shared = false }: ListedTask): IndexedTask => ({
  agent: indexed(taskAgentOf(run)),
  thread: run.thread_id,
  state: taskStateOf(run),
  at: changed_at,
  id: run.run_id,
  shared,
});

/** Times are negated because keys are ascending and the latest time comes first. */
const rowsOf = (
  scope: string,
  { agent, thread, state, at, id, shared }: IndexedTask,
): [key: Key, whose: AgentState | true][] => {
  const rows: [key: Key, whose: AgentState | true][] = [];
  for (const list of listsWith(scope, shared)) {
    const position = list === scope ? [0 - at, id] : [0 - at, id, scope];
    rows.push([[list, 'all', ...position], true], [[list, 'agent', agent, state, ...position], true]);
  }
  rows.push([
    [scope, 'thread', thread, 0 - at, id],
    [agent, state],
  ]);
  return rows;
};

const countOf = (scope: string, agent: string, state: TaskState): Key => [scope, 'tasks', agent, state];

/** Agent names in keys have a prefix, so none equals this key. */
const countOfAll = (scope: string): Key => [scope, 'tasks', 'all'];

/** The latest tasks come first; `to` is the earliest time to include. */
type Bounds = Pick<Span, 'after' | 'to'>;

const boundsOf = ({ since }: TaskFilter, after: TaskPosition | undefined): Bounds => ({
  ...(after && {
    after: after.within === undefined ? [0 - after.at, after.id] : [0 - after.at, after.id, after.within],
  }),
  ...(since !== undefined && { to: [0 - since] }),
});

type Found = { places: Iterable<TaskPosition>; total: number };

/** Finds the tasks of lists, of an agent, or in a state. */
const inLists = (
  index: Index,
  counters: Counters,
  names: readonly string[],
  { agent_id, state, since }: TaskFilter,
  span: Bounds,
): Found => {
  const counted = (prefix: Key, counter: Key): number =>
    since === undefined ? counters.get(counter) : index.count({ prefix, to: [0 - since] });
  const isAll = agent_id === undefined && state === undefined;
  const lists = names.flatMap((name) =>
    isAll
      ? [{ prefix: [name, 'all'], counter: countOfAll(name) }]
      : [...listsOf(index, name, { agent_id, states: state && [state] })],
  );
  const ranges = lists.map(({ prefix }) => ({ prefix, ...(span.after && { after: span.after }) }));
  const rows = merge(ranges, (range) => keysIn(index, { ...span, ...range }));
  return {
    places: positionsOf(rows),
    total: lists.reduce((sum, { prefix, counter }) => sum + counted(prefix, counter), 0),
  };
};

const inThread = (index: Index, prefix: Key, { agent_id, state, since }: TaskFilter, span: Bounds): Found => {
  const agent = agent_id === undefined ? undefined : indexed(agent_id);
  const since_ = since !== undefined && { to: [0 - since] };
  if (agent === undefined && state === undefined)
    return { places: placesIn(index, { prefix, ...span }), total: index.count({ prefix, ...since_ }) };
  const isWanted = (whose: AgentState | true): boolean =>
    whose !== true &&
    (agent === undefined || whose[0] === agent) &&
    (state === undefined || whose[1] === state);
  let total = 0;
  for (const whose of index.values({ prefix, ...since_ })) if (isWanted(whose)) total += 1;
  return { places: positionsOf(wantedIn(index, { prefix, ...span }, isWanted)), total };
};

function* wantedIn(
  index: Index,
  span: Span,
  isWanted: (whose: AgentState | true) => boolean,
): Iterable<{ key: Key }> {
  for (const { key, value } of index.entries(span))
    if (isWanted(value)) yield { key: key.slice(span.prefix.length) };
}

const placesIn = (index: Index, span: Span): Iterable<TaskPosition> => positionsOf(keysIn(index, span));

function* keysIn(index: Index, span: Span): Iterable<{ key: Key }> {
  for (const key of index.keys(span)) yield { key: key.slice(span.prefix.length) };
}

function* positionsOf(rows: Iterable<{ key: Key }>): Iterable<TaskPosition> {
  for (const { key } of rows) {
    const [at, id, within] = key;
    yield { at: 0 - Number(at), id: String(id), ...(within !== undefined && { within: String(within) }) };
  }
}

/** Sorts after every agent, every state and every time. */
const BEHIND = '~';

type CountedList = { prefix: Key; counter: Key | undefined };

/** Returns the matching lists that are not empty: one read for each, and one for each agent. */
function* listsOf(
  index: Index,
  scope: string,
  { agent_id, states }: { agent_id: string | undefined; states: readonly TaskState[] | undefined },
): Iterable<CountedList & { counter: Key }> {
  const base: Key = [scope, 'agent'];
  const agents = agent_id === undefined ? partsUnder(index, base) : [indexed(agent_id)];
  for (const agent of agents) {
    // This part of a key is a state, as it was written.
    const found = states ?? (partsUnder(index, [...base, agent]) as Iterable<TaskState>);
    for (const each of found) yield { prefix: [...base, agent, each], counter: countOf(scope, agent, each) };
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
