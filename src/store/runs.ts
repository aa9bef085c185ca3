import { Integrity } from '../schema/outcome.ts';
import type { Run, RunStatus } from '../schema/run.ts';
import { type Batch, createNoteBoard } from './batch.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';
import { checkId, isId, type Key } from './keys.ts';
import type { Order } from './order.ts';
import { type Page, type PageOf, readPage } from './page.ts';
import { createPlacement, type Place } from './placement.ts';

/** Run records in order of insertion, in lists by thread and by status (runtime.md 5.2). */

type RunRow = {
  run: Run;
  /** place in the order of insertion, one count for the whole store */
  order: number;
};

type RunFilter = { thread_id?: string; status?: RunStatus };

export type RunTable = {
  get(scope: string, run_id: string): Run | undefined;
  /** `before` is what was put last, committed or not. */
  put(batch: Batch, scope: string, after: Run, before: Run | undefined): void;
  list(scope: string, filter: RunFilter, page: Page): PageOf<Run>;
  count(scope: string, status: RunStatus): number;
  /** Runs of a thread that wait, the oldest first. */
  waitingOf(scope: string, thread_id: string): Run[];
  /** The newest run of a thread that is in one of these states. */
  newest(scope: string, thread_id: string, statuses: readonly RunStatus[]): Run | undefined;
};

export const createRunTable = (
  env: Environment,
  { counters, order }: { counters: Counters; order: Order },
): RunTable => {
  const rows = env.table<RunRow>('runs');
  const index = env.table<string>('run_index');
  const placement = createPlacement(index, counters);
  const orders = createNoteBoard();

  const get = (scope: string, run_id: string): Run | undefined =>
    isId(run_id) ? rows.get([scope, run_id])?.run : undefined;

  const existing = (scope: string, run_id: string): Run => {
    const run = get(scope, run_id);
    if (!run) throw new Integrity(`run '${run_id}' is listed and has no record`);
    return run;
  };

  const orderOf = (batch: Batch, scope: string, run_id: string): number => {
    const known = orders.newest(batch, `${scope}\0${run_id}`) ?? rows.get([scope, run_id])?.order;
    if (known === undefined) throw new Integrity(`run '${run_id}' has no record to change`);
    return known;
  };

  return {
    get,
    put(batch, scope, after, before) {
      const { run_id } = after;
      checkId('scope', scope);
      checkId('run id', run_id);
      checkId('thread id', after.thread_id);
      const at = before ? orderOf(batch, scope, run_id) : order.next();
      orders.note(batch, `${scope}\0${run_id}`, at);
      rows.put(batch, [scope, run_id], { run: after, order: at });
      placement.move(batch, run_id, places(scope, after, at), before ? places(scope, before, at) : []);
    },
    list(scope, filter, page) {
      const { thread_id } = filter;
      if (thread_id !== undefined && !isId(thread_id)) return { items: [], total: 0, offset: page.offset };
      const list = listOf(scope, filter);
      const found = readPage({ index, prefix: list, total: counters.get(list) }, page);
      return { ...found, items: found.items.map((id) => existing(scope, id)) };
    },
    count: (scope, status) => counters.get(listOf(scope, { status })),
    waitingOf(scope, thread_id) {
      if (!isId(thread_id)) return [];
      const prefix = listOf(scope, { thread_id, status: 'waiting' });
      return Array.from(index.values({ prefix }), (run_id) => existing(scope, run_id));
    },
    newest(scope, thread_id, statuses) {
      if (!isId(thread_id)) return undefined;
      const newestOf = (status: RunStatus) => {
        const prefix = listOf(scope, { thread_id, status });
        return Array.from(index.entries({ prefix, reverse: true, limit: 1 }));
      };
      const [newest] = statuses.flatMap(newestOf).sort((a, b) => orderIn(b.key) - orderIn(a.key));
      return newest && existing(scope, newest.value);
    },
  };
};

const orderIn = (key: Key): number => Number(key.at(-1));

const listOf = (scope: string, { thread_id, status }: RunFilter): Key => {
  const of: Key = thread_id === undefined ? ['runs'] : ['thread', thread_id];
  return status === undefined ? [scope, ...of, 'all'] : [scope, ...of, status];
};

const places = (scope: string, { thread_id, status }: Run, order: number): Place[] =>
  [{}, { status }, { thread_id }, { thread_id, status }].map((filter) => ({
    list: listOf(scope, filter),
    position: [order],
  }));
