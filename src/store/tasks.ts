import type { Run } from '../schema/run.ts';
import { type TaskState, taskAgentOf, taskStateOf } from '../schema/task-state.ts';
import type { Batch } from './batch.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';
import { indexed, isId, type Key } from './keys.ts';
import { merge } from './merge.ts';
import type { Span, Table } from './table.ts';

/**
 * Runs as tasks, those whose state changed last first (a2a.md 8.5, 9).
 *
 * A run has three rows, each at its place in the order of the answer: among all, among those of its agent that are in
 * its state, and in its thread. A list of an agent or of a state is a merge of the few that have both; of a thread,
 * which is not long, the rows say whose they are. So a page reads a row for each task that it shows, however many
 * there are. Lists of agents and of all have counters; what a thread has, or what is left of a list behind a time,
 * is counted inside LMDB.
 * Paid for with three puts and three removes when the state of a run changes, and with nothing at its steps.
 */

export type TaskFilter = {
  thread_id?: string;
  agent_id?: string;
  state?: TaskState;
  /** milliseconds; the state changed then or later */
  since?: number;
};

/** Of the last task that was shown. */
export type TaskPosition = { at: number; id: string };

export type TaskPage = { ids: string[]; total: number; next?: TaskPosition };

export type TaskTable = {
  list(scope: string, filter: TaskFilter, page: { limit: number; after?: TaskPosition }): TaskPage;
};

/** A run, and when its state as a task changed last; milliseconds. */
export type TimedRun = { run: Run; changed_at: number };

export type TaskIndex = TaskTable & {
  move(batch: Batch, scope: string, after: TimedRun, before: TimedRun | undefined): void;
};

/** Of a row in the list of a thread: whose it is, and its state. */
type Whose = [agent: string, state: TaskState];
type Index = Table<Whose | true>;

export const createTaskIndex = (env: Environment, counters: Counters): TaskIndex => {
  const index: Index = env.table<Whose | true>('task_index');
  return {
    move(batch, scope, after, before) {
      const [now, then] = [placeOf(after), before && placeOf(before)];
      const isSameList = then?.agent === now.agent && then.state === now.state;
      if (isSameList && then.at === now.at) return;
      for (const [key] of then ? rowsOf(scope, then) : []) index.remove(batch, key);
      for (const [key, whose] of rowsOf(scope, now)) index.add(batch, key, whose);
      if (isSameList) return;
      if (then) counters.add(batch, countOf(scope, then.agent, then.state), -1);
      else counters.add(batch, countOfAll(scope), 1);
      counters.add(batch, countOf(scope, now.agent, now.state), 1);
    },
    list(scope, filter, { limit, after }) {
      const { thread_id, since } = filter;
      if (thread_id !== undefined && !isId(thread_id)) return { ids: [], total: 0 };
      const span = {
        ...(after && { after: [0 - after.at, after.id] }),
        ...(since !== undefined && { to: [0 - since] }),
      };
      const { places, total } =
        thread_id === undefined
          ? inScope(index, counters, scope, filter, span)
          : inThread(index, [scope, 'thread', thread_id], filter, span);
      const found: TaskPosition[] = [];
      for (const place of places) {
        found.push(place);
        if (found.length > limit) break;
      }
      const shown = found.slice(0, limit);
      const last = shown.at(-1);
      return {
        ids: shown.map(({ id }) => id),
        total,
        ...(found.length > limit && last && { next: last }),
      };
    },
  };
};

type PlaceOfTask = { agent: string; thread: string; state: TaskState; at: number; id: string };

const placeOf = ({ run, changed_at }: TimedRun): PlaceOfTask => ({
  agent: indexed(taskAgentOf(run)),
  thread: run.thread_id,
  state: taskStateOf(run),
  at: changed_at,
  id: run.run_id,
});

/** Ascending keys, so the latest time is the smallest. */
const rowsOf = (
  scope: string,
  { agent, thread, state, at, id }: PlaceOfTask,
): [key: Key, whose: Whose | true][] => [
  [[scope, 'all', 0 - at, id], true],
  [[scope, 'agent', agent, state, 0 - at, id], true],
  [
    [scope, 'thread', thread, 0 - at, id],
    [agent, state],
  ],
];

const countOf = (scope: string, agent: string, state: TaskState): Key => [scope, 'tasks', agent, state];

/** Names of agents in keys are marked, so none is this one. */
const countOfAll = (scope: string): Key => [scope, 'tasks', 'all'];

/** The latest ones are in front; `to` is the time from which on they are wanted. */
type Bounds = Pick<Span, 'after' | 'to'>;

type Found = { places: Iterable<TaskPosition>; total: number };

/** Everything of a scope, or of an agent, or in a state. */
const inScope = (
  index: Index,
  counters: Counters,
  scope: string,
  { agent_id, state, since }: TaskFilter,
  span: Bounds,
): Found => {
  const counted = (list: Key, counter: Key): number =>
    since === undefined ? counters.get(counter) : index.count({ prefix: list, to: [0 - since] });
  if (agent_id === undefined && state === undefined) {
    const all: Key = [scope, 'all'];
    return { places: placesIn(index, { prefix: all, ...span }), total: counted(all, countOfAll(scope)) };
  }
  const lists = [...listsOf(index, scope, { agent_id, state })];
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
  const isWanted = (whose: Whose | true): boolean =>
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
  isWanted: (whose: Whose | true) => boolean,
): Iterable<{ key: Key }> {
  for (const { key, value } of index.entries(span))
    if (isWanted(value)) yield { key: key.slice(span.prefix.length) };
}

const placesIn = (index: Index, span: Span): Iterable<TaskPosition> => positionsOf(keysIn(index, span));

function* keysIn(index: Index, span: Span): Iterable<{ key: Key }> {
  for (const key of index.keys(span)) yield { key: key.slice(span.prefix.length) };
}

function* positionsOf(rows: Iterable<{ key: Key }>): Iterable<TaskPosition> {
  for (const { key } of rows) yield { at: 0 - Number(key[0]), id: String(key[1]) };
}

/** Sorts behind every agent, every state and every time. */
const BEHIND = '~';

type List = { prefix: Key; counter: Key };

/** The lists that are meant and that are not empty: one read for each, and one for each agent. */
function* listsOf(
  index: Index,
  scope: string,
  { agent_id, state }: Pick<TaskFilter, 'agent_id' | 'state'>,
): Iterable<List> {
  const base: Key = [scope, 'agent'];
  const agents = agent_id === undefined ? partsUnder(index, base) : [indexed(agent_id)];
  for (const agent of agents) {
    const states = state === undefined ? partsUnder(index, [...base, agent]) : [state];
    // What is read from a key is a state, as it was written.
    for (const each of states as Iterable<TaskState>)
      yield { prefix: [...base, agent, each], counter: countOf(scope, agent, each) };
  }
}

/** The distinct next parts of the keys under a prefix. */
function* partsUnder(index: Index, prefix: Key): Iterable<string> {
  let from: Key = [];
  for (;;) {
    const part = index.firstKey({ prefix, from })?.[prefix.length];
    if (typeof part !== 'string') return;
    yield part;
    from = [part, BEHIND];
  }
}
