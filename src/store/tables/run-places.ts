import { isListOfPartitions, listsWith } from '../../schema/partition.ts';
import type { RunStatus } from '../../schema/run.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import { taskAgentOf } from '../../schema/task-state.ts';
import type { Batch } from '../engine/batch.ts';
import type { Counters } from '../engine/counters.ts';
import { compareKeys, indexed, type Key } from '../engine/keys.ts';
import { createPlacement, namesIn, type Place } from '../engine/placement.ts';
import type { Table } from '../engine/table.ts';

/**
 * The lists of runs by status, and the rows of running runs in them.
 *
 * Most runs begin to run when they are created, and run until they end: a row in each list of tasks would be written to
 * be replaced. So only the lists by status contain a running run, and its rows contain all that the lists of tasks need.
 * Cost: a page of tasks reads a row for each running run of its lists, as many as the limit of concurrent runs allows.
 */

/** A row in a list by status: the id, and for a running run also its agent and the time of its last change. */
export type RunPlace = string | RunningPlace;
export type RunningPlace = [run_id: string, agent: string, changed_at: number];

export type RunIndex = Table<RunPlace>;

export const idAt = (place: RunPlace): string => (typeof place === 'string' ? place : place[0]);

export const listOf = (scope: string, status: RunStatus, thread_id?: string): Key =>
  thread_id === undefined ? [scope, 'runs', status] : [scope, 'thread', thread_id, status];

/** A running run as a task; its key is `[time, id]`, and across partitions `[time, id, partition]`. */
export type RunningTask = { key: Key; agent: string };

/** Returns the running runs of lists, or of a thread, in the order of tasks: the last changed first. */
export const runningTasks = (
  index: RunIndex,
  lists: readonly string[],
  thread_id: string | undefined,
): RunningTask[] => {
  const found: RunningTask[] = [];
  for (const list of lists) {
    const prefix = listOf(list, 'running', thread_id);
    for (const { key, value } of index.entries({ prefix })) {
      // Rows of this list were written for running runs.
      const [id, agent, at] = value as RunningPlace;
      found.push({ key: [0 - at, id, ...key.slice(prefix.length + 1)], agent });
    }
  }
  return found.sort((a, b) => compareKeys(a.key, b.key));
};

/** A run with its position in the order of insertion. */
type PlacedRun = {
  run: RunRecord;
  order: number;
  /** Milliseconds. */
  changed_at: number;
  shared?: boolean | undefined;
};

export type RunPlacement = {
  /** Moves a run from the lists that contain it to those that will. */
  move(batch: Batch, scope: string, now: PlacedRun | undefined, then: PlacedRun | undefined): void;
};

export const createRunPlacement = ({ index, counters }: CountedIndex): RunPlacement => {
  const counted = createPlacement(index, counters);
  const uncounted = createPlacement<RunningPlace>(index);
  return {
    move(batch, scope, now, then) {
      const run_id = (now ?? then)?.run.run_id ?? '';
      counted.move(batch, run_id, countedPlaces(scope, now), countedPlaces(scope, then));
      uncounted.move(batch, run_id, otherPlaces(scope, now), otherPlaces(scope, then));
    },
  };
};

type CountedIndex = { index: RunIndex; counters: Counters };

export const listBelow = (scope: string, root_run_id: string): Key => [scope, 'below', root_run_id];

/** Whether a list has a counter: all but those of threads and of running runs. */
const isCounted = ([, kind, status]: Key): boolean => kind === 'runs' && status !== 'running';

/** Returns the number of runs in a list. */
export const sizeOf = ({ index, counters }: CountedIndex, list: Key): number =>
  isCounted(list) ? counters.get(list) : index.count({ prefix: list });

const countedPlaces = (scope: string, listed: PlacedRun | undefined): Place[] => {
  if (!listed) return [];
  const { run, order: at } = listed;
  const places = run.status === 'running' ? [] : statusPlaces(scope, listed);
  const root = run.activation?.trace.root_run_id;
  return root === undefined ? places : [...places, { list: listBelow(scope, root), position: [at] }];
};

const otherPlaces = (scope: string, listed: PlacedRun | undefined): Place<RunningPlace>[] => {
  if (!listed) return [];
  const { run, order: at, changed_at } = listed;
  const { run_id, status, thread_id } = run;
  const places: Place<RunningPlace>[] = [
    { list: listOf(scope, status, thread_id), position: [at] },
    ...(status === 'running' ? statusPlaces(scope, listed) : []),
  ];
  const names = namePlaces(scope, listed);
  if (status !== 'running') return [...places, ...names];
  const value: RunningPlace = [run_id, indexed(taskAgentOf(run)), changed_at];
  return [...places.map((place) => ({ ...place, value })), ...names];
};

const statusPlaces = (scope: string, { run: { status }, order: at, shared }: PlacedRun): Place[] =>
  listsWith(scope, shared === true).map((list) => ({
    list: listOf(list, status),
    position: list === scope ? [at] : [at, scope],
  }));

/** Finds the run by its id from other partitions. */
const namePlaces = (scope: string, { run: { run_id }, shared }: PlacedRun): Place[] =>
  listsWith(scope, shared === true)
    .filter(isListOfPartitions)
    .map((list) => ({ list: namesIn(list, run_id), position: [scope] }));
