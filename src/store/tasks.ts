import type { TaskState } from '../../machines/a2a-task.ts';
import type { Run } from '../schema/run.ts';
import { taskAgentOf, taskStateOf } from '../schema/task-state.ts';
import type { Batch } from './batch.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';
import { indexed, isId, type Key } from './keys.ts';
import { merge } from './merge.ts';
import type { Span, Table } from './table.ts';

/**
 * Runs as tasks, those whose state changed last first (a2a.md 8.5, 9).
 *
 * A run has two index rows, one under its agent and one under its thread, which is also under the agent; each is in
 * the list of its state. Every combination of filters is a merge of such lists, so a page reads one key for each
 * list that is not empty and one for each task that it shows, however many tasks there are: there are few agents,
 * and fewer states. Lists of agents have counters; what a thread has, or what is left of a list behind a time, is
 * counted inside LMDB.
 * Paid for with two puts and two removes when the state of a run changes, and with nothing at its steps.
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

type Index = Table<true>;

export const createTaskIndex = (env: Environment, counters: Counters): TaskIndex => {
  const index: Index = env.table<true>('task_index');

  const total = (lists: readonly Key[], scope: string, { thread_id, since }: TaskFilter): number =>
    lists
      .map((list) => {
        if (thread_id === undefined && since === undefined)
          return counters.get([scope, 'tasks', ...list.slice(2)]);
        return index.count({ prefix: list, ...(since !== undefined && { to: [0 - since] }) });
      })
      .reduce((sum, count) => sum + count, 0);

  return {
    move(batch, scope, after, before) {
      const [now, then] = [placeOf(after), before && placeOf(before)];
      const isSameList = then?.agent === now.agent && then.state === now.state;
      if (isSameList && then.at === now.at) return;
      for (const key of then ? keysOf(scope, then) : []) index.remove(batch, key);
      for (const key of keysOf(scope, now)) index.add(batch, key, true);
      if (isSameList) return;
      if (then) counters.add(batch, [scope, 'tasks', then.agent, then.state], -1);
      counters.add(batch, [scope, 'tasks', now.agent, now.state], 1);
    },
    list(scope, filter, { limit, after }) {
      const { thread_id, since } = filter;
      if (thread_id !== undefined && !isId(thread_id)) return { ids: [], total: 0 };
      const lists = [...listsOf(index, scope, filter)];
      const bounds = { ...(since !== undefined && { to: [0 - since] }) };
      const found = merged(index, lists, bounds, after, limit + 1);
      const shown = found.slice(0, limit);
      const last = shown.at(-1);
      return {
        ids: shown.map(({ id }) => id),
        total: total(lists, scope, filter),
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
const keysOf = (scope: string, { agent, thread, state, at, id }: PlaceOfTask): Key[] => [
  [scope, 'agent', agent, state, 0 - at, id],
  [scope, 'thread', thread, agent, state, 0 - at, id],
];

/** Sorts behind every agent, every state and every time. */
const BEHIND = '~';

/** The lists that the filter means and that are not empty: one read for each, and one for each agent. */
function* listsOf(index: Index, scope: string, filter: TaskFilter): Iterable<Key> {
  const { thread_id, agent_id, state } = filter;
  const base: Key = thread_id === undefined ? [scope, 'agent'] : [scope, 'thread', thread_id];
  const only = agent_id === undefined ? [] : [indexed(agent_id)];
  for (const agent of only.length > 0 ? only : partsUnder(index, base)) {
    for (const found of state === undefined ? partsUnder(index, [...base, agent]) : [state])
      yield [...base, agent, found];
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

/** The first tasks of these lists behind one. */
const merged = (
  index: Index,
  lists: readonly Key[],
  bounds: Pick<Span, 'to'>,
  after: TaskPosition | undefined,
  limit: number,
): TaskPosition[] => {
  const start = after && { after: [0 - after.at, after.id] };
  const ranges = lists.map((prefix) => ({ prefix, ...start }));
  const found: TaskPosition[] = [];
  for (const { key } of merge(ranges, (range) => placesIn(index, { ...range, ...bounds, limit }))) {
    found.push({ at: 0 - Number(key[0]), id: String(key[1]) });
    if (found.length === limit) break;
  }
  return found;
};

function* placesIn(index: Index, span: Span): Iterable<{ key: Key }> {
  for (const key of index.keys(span)) yield { key: key.slice(span.prefix.length) };
}
