import { Integrity } from '../../schema/outcome.ts';
import { isListOfPartitions } from '../../schema/partition.ts';
import type { Lists } from '../../schema/place.ts';
import { type Run, RunStatus } from '../../schema/run.ts';
import { isRunState, type RunRecord, wireRun } from '../../schema/run-state.ts';
import { taskAgentOf, taskStateOf } from '../../schema/task-state.ts';
import { type AnswerTexts, fillIn, holdAnswer, hollowed, isHeld, type Path } from '../engine/answers.ts';
import { type Batch, createNoteBoard } from '../engine/batch.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, checkPartition, isId, type Key } from '../engine/keys.ts';
import type { Order } from '../engine/order.ts';
import { counted, type List, type PageOf } from '../engine/page.ts';
import { findPartitions, namesIn } from '../engine/placement.ts';
import type { Columns } from '../engine/sink.ts';
import { listRuns, type RunFilter, type RunPage, type RunSources } from './run-list.ts';
import {
  createRunPlacement,
  idAt,
  listBelow,
  listOf,
  type RunIndex,
  type RunPlace,
  sizeOf,
} from './run-places.ts';
import type { TaskIndex, TimedRun } from './tasks.ts';

/**
 * Run records in order of insertion, in lists by thread and by status (runtime.md 5.2). A run is in the lists of its
 * status, one for its thread and one for all; a list of all statuses is their merge. `listsWith` names the lists across
 * partitions, which follow the visibility of the thread. Lists of threads and of running runs are short, so that they
 * are counted inside LMDB; the others have counters.
 */

export type RunRow = {
  run: RunRecord;
  /** Position in the order of insertion, which is global for the store. */
  order: number;
  /** Time of the last change of its task state, in milliseconds. Rows of formats 1 to 5 may have none: `changedAt`. */
  changed_at?: number;
  /** Whether the owner of its thread shares it. */
  shared?: true;
  /** The response with which the run ended first, see `answers.ts`. */
  held?: string;
  /** Positions of that response in the record. */
  places?: Path[];
};

/** The values that each record of a run takes from the previous one. */
type RunMark = Pick<RunRow, 'order' | 'held' | 'shared'> & Pick<TimedRun, 'changed_at'>;

export type RunningRun = {
  scope: string;
  run_id: string;
  /** Position in the list of its scope. */
  order: number;
};

export type RunTable = AnswerTexts & {
  get(scope: string, run_id: string): RunRecord | undefined;
  /** Returns the run with the time of the last change of its task state. */
  find(scope: string, run_id: string): TimedRun | undefined;
  /**
   * `before` is the last put record, committed or not; `now` is in milliseconds. Returns the time of the last change of
   * its task state: of two changes of one run the later one has the later time, even if the clock was set back.
   *
   * @param shared whether the thread of the run is shared; undefined for no change
   */
  put(
    batch: Batch,
    scope: string,
    after: RunRecord,
    before: RunRecord | undefined,
    now?: number,
    shared?: boolean,
  ): number;
  /**
   * Oldest first, unless the page has another order; see `run-list.ts`.
   *
   * @param shown returns the client's view of a record; a page also ends when that becomes too long (`page-rows.ts`)
   */
  list(
    lists: Lists,
    filter: RunFilter,
    page: RunPage,
    shown?: (run: RunRecord) => unknown,
  ): PageOf<RunRecord>;
  count(scope: string, status: RunStatus): number;
  /** Counts the runs of sub-agents that were started below this run, at any depth. */
  countBelow(scope: string, root_run_id: string): number;
  /** Removes a run that is not written again, with everything that lists it. */
  remove(batch: Batch, scope: string, before: RunRecord): void;
  /** Returns the stored runs of a thread. */
  ofThread(scope: string, thread_id: string): RunRecord[];
  /** Returns up to `limit` partitions that have a run with this id in the list across partitions. */
  partitionsWith(list: string, run_id: string, limit: number): string[];
  /** Returns the waiting runs of a thread, oldest first. */
  waitingOf(scope: string, thread_id: string): RunRecord[];
  /**
   * Returns up to `limit` runs with status `running`, of all scopes, after `after`. Reads the list, not the records.
   */
  running(after: RunningRun | undefined, limit: number): RunningRun[];
  /** Returns the newest run of a thread with this status. */
  newest(scope: string, thread_id: string, status: RunStatus): RunRecord | undefined;
};

type RunTableDeps = { counters: Counters; order: Order; tasks: TaskIndex };

export const createRunTable = (env: Environment, { counters, order, tasks }: RunTableDeps): RunTable => {
  const rows = env.table<RunRow>('runs');
  const index: RunIndex = env.table<RunPlace>('run_index');
  const placement = createRunPlacement({ index, counters });
  const marks = createNoteBoard<RunMark>();

  const get = (scope: string, run_id: string): RunRecord | undefined =>
    isId(run_id) ? recordIn(rows.get([scope, run_id])) : undefined;

  const existing = (scope: string, run_id: string): RunRecord => listedRecord(get(scope, run_id), run_id);

  const runsIn = (scope: string, of: OfThread): RunRecord[] =>
    idsIn(index, scope, of).map((run_id) => existing(scope, run_id));

  const markOf = (batch: Batch, scope: string, run_id: string): RunMark =>
    marks.newest(batch, `${scope}\0${run_id}`) ?? markIn(rows.get([scope, run_id]), run_id);

  return {
    get,
    find: (scope, run_id) => timedIn(isId(run_id) ? rows.get([scope, run_id]) : undefined),
    textOf: (scope, run_id) => heldIn(rows.get([scope, run_id]), run_id),
    put: (batch, scope, after, before, now = after.updated_at * 1000, shared = undefined) => {
      checkIds(scope, after);
      const { run_id } = after;
      const previous = before && markOf(batch, scope, run_id);
      const then = before && previous && { run: before, ...previous };
      const changed_at = then ? changeTime(then, after, now) : now;
      const held = previous?.held ?? answerOf(after);
      const at = previous?.order ?? order.next();
      const mark = newMark({ order: at, changed_at, held, shared: shared ?? previous?.shared });
      marks.note(batch, `${scope}\0${run_id}`, mark);
      rows.put(batch, [scope, run_id], rowOf(after, mark));
      if (mark.held !== undefined && previous?.held === undefined)
        holdAnswer(batch, scope, run_id, mark.held);
      const listed = { run: after, ...mark };
      placement.move(batch, scope, listed, then);
      tasks.move(batch, scope, listed, then);
      return changed_at;
    },
    remove(batch, scope, before) {
      const { run_id } = before;
      const listed = { run: before, ...markOf(batch, scope, run_id) };
      rows.remove(batch, [scope, run_id]);
      placement.move(batch, scope, undefined, listed);
      tasks.remove(batch, scope, listed);
    },
    list: (lists, filter, page, shown = wireRun) =>
      filter.thread_id !== undefined && !isId(filter.thread_id)
        ? { items: [], texts: [], total: 0, offset: page.offset }
        : listRuns(createSources({ index, counters, tasks }, lists, existing), filter, page, shown),
    count: (scope, status) => sizeOf({ index, counters }, listOf(scope, status)),
    countBelow: (scope, root_run_id) => (isId(root_run_id) ? counters.get(listBelow(scope, root_run_id)) : 0),
    ofThread: (scope, thread_id) => runsIn(scope, { thread_id }),
    partitionsWith: (list, run_id, limit) => findPartitions(index, namesIn(list, run_id), limit),
    waitingOf: (scope, thread_id) => runsIn(scope, { thread_id, status: 'waiting' }),
    running: (after, limit) => runningRuns(index, after, limit),
    newest(scope, thread_id, status) {
      const run_id = newestIn(index, scope, { thread_id, status });
      return run_id === undefined ? undefined : existing(scope, run_id);
    },
  };
};

const markIn = (row: RunRow | undefined, run_id: string): RunMark => {
  if (!row) throw new Integrity(`run '${run_id}' has no record to change`);
  return newMark({ order: row.order, changed_at: changedAt(row), held: row.held, shared: row.shared });
};

type OfThread = { thread_id: string; status?: RunStatus };

const idsIn = (index: RunIndex, scope: string, of: OfThread): string[] =>
  isId(of.thread_id)
    ? listsOf(scope, of).flatMap((prefix) => Array.from(index.values({ prefix }), idAt))
    : [];

/** @throws Integrity */
const listedRecord = (run: RunRecord | undefined, run_id: string): RunRecord => {
  if (!run) throw new Integrity(`run '${run_id}' is listed and has no record`);
  return run;
};

const newestIn = (
  index: RunIndex,
  scope: string,
  { thread_id, status }: Required<OfThread>,
): string | undefined => {
  if (!isId(thread_id)) return undefined;
  const [newest] = index.values({ prefix: listOf(scope, status, thread_id), reverse: true, limit: 1 });
  return newest && idAt(newest);
};

const checkIds = (scope: string, { run_id, thread_id }: Run): void => {
  checkPartition(scope);
  checkId('run id', run_id);
  checkId('thread id', thread_id);
};

const runningRuns = (index: RunIndex, after: RunningRun | undefined, limit: number): RunningRun[] => {
  const found: RunningRun[] = [];
  for (
    let scope = after?.scope ?? scopeBehind(index, undefined);
    scope !== undefined;
    scope = scopeBehind(index, scope)
  ) {
    if (isListOfPartitions(scope)) continue;
    const span = { prefix: listOf(scope, 'running'), limit: limit - found.length };
    const start = scope === after?.scope ? { after: [after.order] } : {};
    for (const { key, value } of index.entries({ ...span, ...start }))
      found.push({ scope, run_id: idAt(value), order: orderIn(key) });
    if (found.length >= limit) break;
  }
  return found;
};

/** Returns the first scope after this one that has runs. */
const scopeBehind = (index: RunIndex, scope: string | undefined): string | undefined => {
  const first = scope === undefined ? index.firstKey({ prefix: [] }) : index.firstKeyBehind([scope]);
  return first && String(first[0]);
};

const newMark = ({
  order,
  changed_at,
  held,
  shared,
}: {
  order: number;
  changed_at: number;
  held: string | undefined;
  shared: boolean | undefined;
}): RunMark => ({
  order,
  changed_at,
  ...(shared && { shared }),
  ...(held !== undefined && { held }),
});

/** The columns of a shipped row. */
export const runColumns = (row: RunRow, [scope]: Key): Columns => ({
  scope: String(scope),
  a: row.run.status,
  b: row.run.thread_id,
  c: taskAgentOf(row.run),
  d: taskStateOf(row.run),
  at: row.order,
  at2: changedAt(row),
});

/** Returns the time at which the run is listed as a task. */
export const changedAt = ({ run, changed_at }: Pick<RunRow, 'run' | 'changed_at'>): number =>
  changed_at ?? run.updated_at * 1000;

/** The time of a change is later than that of the change before. */
const changeTime = ({ run: before, changed_at: then }: TimedRun, after: RunRecord, now: number): number =>
  taskStateOf(before) === taskStateOf(after) ? then : Math.max(now, then + 1);

/** Moves the held answer out of the record. */
const rowOf = (run: RunRecord, { order, changed_at, held, shared }: RunMark): RunRow => {
  const seen = shared && { shared };
  if (held === undefined) return { run, order, changed_at, ...seen };
  const { value, places } = hollowed(run, held);
  return { run: value, order, changed_at, ...seen, held, places };
};

/** Fills in the answer. @throws Integrity for a row without a state, which nothing can continue */
const recordIn = (row: RunRow | undefined): RunRecord | undefined => {
  if (row && !isRunState(row.run.machine_state))
    throw new Integrity(
      `run '${row.run.run_id}' has no valid state: stop the service and run troupe doctor --repair`,
    );
  if (row?.held !== undefined && row.places) fillIn(row.run, row.places, row.held);
  return row?.run;
};

const timedIn = (row: RunRow | undefined): TimedRun | undefined => {
  const run = recordIn(row);
  return row && run && { run, changed_at: changedAt(row) };
};

/** @throws Integrity */
const heldIn = (row: RunRow | undefined, run_id: string): string => {
  if (row?.held !== undefined) return row.held;
  throw new Integrity(`run '${run_id}' does not contain its final response`);
};

const answerOf = ({ status, final_output }: Run): string | undefined =>
  status === 'done' && isHeld(final_output) ? final_output : undefined;

const orderIn = (key: Key): number => Number(key.at(-1));

/** A run is only in the lists of its status. */
const listsOf = (scope: string, { thread_id, status }: Pick<RunFilter, 'thread_id' | 'status'>): Key[] =>
  status === undefined
    ? RunStatus.options.map((each) => listOf(scope, each, thread_id))
    : [listOf(scope, status, thread_id)];

const createSources = (
  { index, counters, tasks }: Pick<RunTableDeps, 'counters' | 'tasks'> & { index: RunIndex },
  lists: Lists,
  read: (scope: string, run_id: string) => RunRecord,
): RunSources => {
  const [own = '', ...others] = typeof lists === 'string' ? [lists] : lists;
  return {
    created(range, within) {
      const keys = [own, ...others].flatMap((each) => listsOf(each, range));
      const list = counted(index, { get: (key) => sizeOf({ index, counters }, key) }, keys);
      return {
        list: within ? limited(list, within) : list,
        read: (place, [, partition = own]) => read(String(partition), idAt(place)),
        isExact: true,
      };
    },
    changed(range) {
      const isExact = range.thread_id === undefined || (!range.agent_id && !range.states);
      return {
        list: tasks.rows([own, ...others], range),
        read: (_row, key) => read(String(key[2] ?? own), String(key[1])),
        isExact,
      };
    },
  };
};

/** The rows with these numbers, counted inside LMDB. */
const limited = (list: List<RunPlace>, [from, to]: [number, number]): List<RunPlace> => {
  const ranges = list.ranges.map((range) => ({ ...range, from: [from], to: [to] }));
  const total = ranges.reduce((sum, range) => sum + list.index.count(range), 0);
  return { ...list, ranges, total };
};
