import { Integrity } from '../../schema/outcome.ts';
import type { Thread } from '../../schema/thread.ts';
import type { Batch } from '../engine/batch.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId, type Key } from '../engine/keys.ts';
import { counted, type Page, type PageOf, readPage, type Search } from '../engine/page.ts';
import { createPlacement, type Place } from '../engine/placement.ts';

/**
 * Threads, the last changed first, in lists by resource, by parent and of roots (runtime.md 3.2). Threads with and
 * without a parent are in separate lists; a list of both is their merge.
 */

export type ThreadRecord = {
  thread: Thread;
  /** Agent of its latest run. */
  agent_id?: string;
  epoch: number;
};

export type ThreadFilter = { resource_id?: string; parent_thread_id?: string; root?: boolean };

export type ThreadTable = {
  get(scope: string, id: string): ThreadRecord | undefined;
  /** `before` is the last put record, committed or not. */
  put(batch: Batch, scope: string, after: ThreadRecord, before: ThreadRecord | undefined): void;
  remove(batch: Batch, scope: string, before: ThreadRecord): void;
  /**
   * @param shown returns the client's view of a record; a page also ends when that becomes too long (`page-rows.ts`)
   */
  list(
    scope: string,
    filter: ThreadFilter,
    page: Page,
    shown?: (record: ThreadRecord) => unknown,
    search?: Search<ThreadRecord>,
  ): PageOf<ThreadRecord>;
  /** Returns the ids of the direct children. */
  children(scope: string, id: string): string[];
};

export const createThreadTable = (env: Environment, counters: Counters): ThreadTable => {
  const records = env.table<ThreadRecord>('threads');
  const index = env.table<string>('thread_index');
  const placement = createPlacement(index, counters);
  const get = (scope: string, id: string) => (isId(id) ? records.get([scope, id]) : undefined);

  return {
    get,
    put(batch, scope, after, before) {
      const { id, parent_thread_id } = after.thread;
      checkId('scope', scope);
      checkId('thread id', id);
      if (parent_thread_id !== undefined) checkId('parent thread id', parent_thread_id);
      records.put(batch, [scope, id], after);
      placement.move(batch, id, places(scope, after), before ? places(scope, before) : []);
    },
    remove(batch, scope, before) {
      const { id } = before.thread;
      records.remove(batch, [scope, id]);
      placement.move(batch, id, [], places(scope, before));
    },
    list(scope, filter, page, shown, search) {
      const { parent_thread_id } = filter;
      if (parent_thread_id !== undefined && !isId(parent_thread_id)) return NOTHING(page);
      const read = (id: string): ThreadRecord => {
        const record = get(scope, id);
        if (!record) throw new Integrity(`thread '${id}' is listed and has no record`);
        return record;
      };
      return readPage(counted(index, counters, listsOf(scope, filter)), page, { read, shown, search });
    },
    children(scope, id) {
      return isId(id) ? Array.from(index.values({ prefix: [scope, 'parent', id] })) : [];
    },
  };
};

const NOTHING = ({ offset, after }: Page): PageOf<never> => ({
  items: [],
  texts: [],
  total: 0,
  offset: after?.offset ?? offset,
});

/** The kinds of lists: threads without a parent, threads with one, and threads of one parent. */
type Kin = { of: 'root' | 'child' } | { parent: string };

const listOf = (scope: string, kin: Kin, resource_id: string | undefined): Key => {
  const kind: Key = 'of' in kin ? [kin.of] : ['parent', kin.parent];
  return resource_id === undefined ? [scope, ...kind] : [scope, 'of', indexed(resource_id), ...kind];
};

const listsOf = (scope: string, { resource_id, parent_thread_id, root }: ThreadFilter): Key[] => {
  if (parent_thread_id !== undefined) return [listOf(scope, { parent: parent_thread_id }, resource_id)];
  const roots = listOf(scope, { of: 'root' }, resource_id);
  return root ? [roots] : [roots, listOf(scope, { of: 'child' }, resource_id)];
};

const places = (scope: string, { thread }: ThreadRecord): Place[] => {
  const { id, resource_id, parent_thread_id, metadata } = thread;
  // Negated because keys are ascending and the latest time comes first; `0 - 0` because the codec distinguishes -0 from
  // 0.
  const position = [0 - (metadata.updated_at ?? metadata.created_at ?? 0), id];
  const kins: Kin[] =
    parent_thread_id === undefined ? [{ of: 'root' }] : [{ of: 'child' }, { parent: parent_thread_id }];
  const resources = resource_id === undefined ? [undefined] : [undefined, resource_id];
  return resources.flatMap((resource) =>
    kins.map((kin) => ({ list: listOf(scope, kin, resource), position })),
  );
};
