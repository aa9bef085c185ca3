import { Integrity } from '../schema/outcome.ts';
import { type Run, RunStatus } from '../schema/run.ts';
import { taskStateOf } from '../schema/task-state.ts';
import { type AnswerTexts, fillIn, holdAnswer, hollowed, isHeld, type Path } from './answers.ts';
import { type Batch, createNoteBoard } from './batch.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';
import { checkId, isId, type Key } from './keys.ts';
import type { Order } from './order.ts';
import { counted, type Page, type PageOf, readPage } from './page.ts';
import { createPlacement, type Place } from './placement.ts';
import type { TaskIndex, TimedRun } from './tasks.ts';

/**
 * Run records in order of insertion, in lists by thread and by status (runtime.md 5.2). A run stands in the lists of
 * its status, of its thread and of all; a list of all statuses is their merge.
 */

type RunRow = {
  run: Run;
  /** place in the order of insertion, one count for the whole store */
  order: number;
  /** When its state as a task changed last; milliseconds. Rows of older programs have none. */
  changed_at?: number;
  /** The first answer with which it ended, see `answers.ts`. */
  held?: string;
  /** Where that answer stands in the record. */
  places?: Path[];
};

type RunMark = Pick<RunRow, 'order' | 'changed_at' | 'held'>;

export type RunningRun = {
  scope: string;
  run_id: string;
  /** Where it stands in the list of its scope. */
  order: number;
};

type RunFilter = { thread_id?: string; status?: RunStatus };

export type RunTable = AnswerTexts & {
  get(scope: string, run_id: string): Run | undefined;
  /** With the time of the last change of its state as a task. */
  find(scope: string, run_id: string): TimedRun | undefined;
  /**
   * `before` is what was put last, committed or not; `now` is milliseconds. Returns when its state as a task changed
   * last: of two changes of one run the later one has the later time, whatever the clock says.
   */
  put(batch: Batch, scope: string, after: Run, before: Run | undefined, now?: number): number;
  /** The page also ends where its runs as JSON are too long (`page-rows.ts`). */
  list(scope: string, filter: RunFilter, page: Page): PageOf<Run>;
  count(scope: string, status: RunStatus): number;
  /** Runs of sub-agents that were started below this run, at any depth. */
  countBelow(scope: string, root_run_id: string): number;
  /** Runs of a thread that wait, the oldest first. */
  waitingOf(scope: string, thread_id: string): Run[];
  /** Runs of all scopes with status `running`, so many behind this one. Reads the list, not the records. */
  running(after: RunningRun | undefined, limit: number): RunningRun[];
  /** The newest run of a thread that is in one of these states. */
  newest(scope: string, thread_id: string, statuses: readonly RunStatus[]): Run | undefined;
};

export const createRunTable = (
  env: Environment,
  { counters, order, tasks }: { counters: Counters; order: Order; tasks: TaskIndex },
): RunTable => {
  const rows = env.table<RunRow>('runs');
  const index = env.table<string>('run_index');
  const placement = createPlacement(index, counters);
  const marks = createNoteBoard<RunMark>();

  const get = (scope: string, run_id: string): Run | undefined =>
    isId(run_id) ? recordIn(rows.get([scope, run_id])) : undefined;

  const existing = (scope: string, run_id: string): Run => {
    const run = get(scope, run_id);
    if (!run) throw new Integrity(`run '${run_id}' is listed and has no record`);
    return run;
  };

  /** What goes on from record to record. */
  const markOf = (batch: Batch, scope: string, run_id: string): RunMark => {
    const mark = marks.newest(batch, `${scope}\0${run_id}`) ?? rows.get([scope, run_id]);
    if (!mark) throw new Integrity(`run '${run_id}' has no record to change`);
    return mark;
  };

  /** The first scope behind this one that has runs. */
  const scopeBehind = (scope: string | undefined): string | undefined => {
    const first = scope === undefined ? index.firstKey({ prefix: [] }) : index.firstKeyBehind([scope]);
    return first && String(first[0]);
  };

  return {
    get,
    find(scope, run_id) {
      const row = isId(run_id) ? rows.get([scope, run_id]) : undefined;
      const run = recordIn(row);
      return row && run && { run, changed_at: row.changed_at ?? run.updated_at * 1000 };
    },
    textOf(scope, run_id) {
      const held = rows.get([scope, run_id])?.held;
      if (held === undefined) throw new Integrity(`run '${run_id}' does not hold the answer that it gave`);
      return held;
    },
    put(batch, scope, after, before, now = after.updated_at * 1000) {
      const { run_id } = after;
      checkId('scope', scope);
      checkId('run id', run_id);
      checkId('thread id', after.thread_id);
      const mark = before && markOf(batch, scope, run_id);
      const at = mark?.order ?? order.next();
      const then = mark?.changed_at;
      const isSame = before !== undefined && taskStateOf(before) === taskStateOf(after);
      const changed_at = then === undefined ? now : isSame ? then : Math.max(now, then + 1);
      const held = mark?.held ?? answerOf(after);
      marks.note(
        batch,
        `${scope}\0${run_id}`,
        held === undefined ? { order: at, changed_at } : { order: at, changed_at, held },
      );
      if (held === undefined) {
        rows.put(batch, [scope, run_id], { run: after, order: at, changed_at });
      } else {
        const { value, places } = hollowed(after, held);
        rows.put(batch, [scope, run_id], { run: value, order: at, changed_at, held, places });
        if (mark?.held === undefined) holdAnswer(batch, scope, run_id, held);
      }
      placement.move(batch, run_id, places(scope, after, at), before ? places(scope, before, at) : []);
      const listed = before && then !== undefined ? { run: before, changed_at: then } : undefined;
      tasks.move(batch, scope, { run: after, changed_at }, listed);
      return changed_at;
    },
    list(scope, filter, page) {
      const { thread_id } = filter;
      if (thread_id !== undefined && !isId(thread_id))
        return { items: [], texts: [], total: 0, offset: page.offset };
      const read = (id: string): Run => existing(scope, id);
      return readPage(counted(index, counters, listsOf(scope, filter)), page, { read });
    },
    count: (scope, status) => counters.get(listOf(scope, status)),
    countBelow: (scope, root_run_id) => (isId(root_run_id) ? counters.get(listBelow(scope, root_run_id)) : 0),
    waitingOf(scope, thread_id) {
      if (!isId(thread_id)) return [];
      const prefix = listOf(scope, 'waiting', thread_id);
      return Array.from(index.values({ prefix }), (run_id) => existing(scope, run_id));
    },
    running(after, limit) {
      const found: RunningRun[] = [];
      for (
        let scope = after?.scope ?? scopeBehind(undefined);
        scope !== undefined;
        scope = scopeBehind(scope)
      ) {
        const prefix = listOf(scope, 'running');
        const span = { prefix, limit: limit - found.length };
        const behind = scope === after?.scope ? { after: [after.order] } : {};
        for (const { key, value } of index.entries({ ...span, ...behind }))
          found.push({ scope, run_id: value, order: orderIn(key) });
        if (found.length >= limit) break;
      }
      return found;
    },
    newest(scope, thread_id, statuses) {
      if (!isId(thread_id)) return undefined;
      const newestOf = (status: RunStatus) => {
        const prefix = listOf(scope, status, thread_id);
        return Array.from(index.entries({ prefix, reverse: true, limit: 1 }));
      };
      const [newest] = statuses.flatMap(newestOf).sort((a, b) => orderIn(b.key) - orderIn(a.key));
      return newest && existing(scope, newest.value);
    },
  };
};

/** With the answer where it stood. */
const recordIn = (row: RunRow | undefined): Run | undefined => {
  if (row?.held !== undefined && row.places) fillIn(row.run, row.places, row.held);
  return row?.run;
};

const answerOf = ({ status, final_output }: Run): string | undefined =>
  status === 'done' && isHeld(final_output) ? final_output : undefined;

const orderIn = (key: Key): number => Number(key.at(-1));

const listOf = (scope: string, status: RunStatus, thread_id?: string): Key =>
  thread_id === undefined ? [scope, 'runs', status] : [scope, 'thread', thread_id, status];

/** A run is in the lists of its status only. */
const listsOf = (scope: string, { thread_id, status }: RunFilter): Key[] =>
  status === undefined
    ? RunStatus.options.map((each) => listOf(scope, each, thread_id))
    : [listOf(scope, status, thread_id)];

const listBelow = (scope: string, root_run_id: string): Key => [scope, 'below', root_run_id];

const places = (scope: string, { thread_id, status, activation }: Run, order: number): Place[] => {
  const own = [
    { list: listOf(scope, status), position: [order] },
    { list: listOf(scope, status, thread_id), position: [order] },
  ];
  const root = activation?.trace.root_run_id;
  return root === undefined ? own : [...own, { list: listBelow(scope, root), position: [order] }];
};
