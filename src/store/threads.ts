import { Integrity } from '../schema/outcome.ts';
import type { Thread } from '../schema/thread.ts';
import type { Batch } from './batch.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';
import { checkId, indexed, isId, type Key } from './keys.ts';
import { type Page, type PageOf, readPage } from './page.ts';
import { createPlacement, type Place } from './placement.ts';

/** Threads, the last changed first, in lists by resource, by parent and of roots (runtime.md 3.2). */

export type ThreadRecord = {
  thread: Thread;
  /** agent of its latest run */
  agent_id?: string;
  epoch: number;
};

export type ThreadFilter = { resource_id?: string; parent_thread_id?: string; root?: boolean };

export type ThreadTable = {
  get(scope: string, id: string): ThreadRecord | undefined;
  /** `before` is what was put last, committed or not. */
  put(batch: Batch, scope: string, after: ThreadRecord, before: ThreadRecord | undefined): void;
  remove(batch: Batch, scope: string, before: ThreadRecord): void;
  list(scope: string, filter: ThreadFilter, page: Page): PageOf<ThreadRecord>;
  /** Ids of the direct children. */
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
    list(scope, filter, page) {
      const { parent_thread_id } = filter;
      if (parent_thread_id !== undefined && !isId(parent_thread_id)) return NOTHING(page);
      const list = listOf(scope, filter);
      const found = readPage({ index, prefix: list, total: counters.get(list) }, page);
      const items = found.items.map((id) => {
        const record = get(scope, id);
        if (!record) throw new Integrity(`thread '${id}' is listed and has no record`);
        return record;
      });
      return { ...found, items };
    },
    children(scope, id) {
      return isId(id) ? Array.from(index.values({ prefix: [scope, 'parent', id] })) : [];
    },
  };
};

const NOTHING = ({ offset, after }: Page): PageOf<never> => ({
  items: [],
  total: 0,
  offset: after?.offset ?? offset,
});

const listOf = (scope: string, { resource_id, parent_thread_id, root }: ThreadFilter): Key => {
  const kin: Key = parent_thread_id !== undefined ? ['parent', parent_thread_id] : root ? ['root'] : ['all'];
  return resource_id === undefined ? [scope, ...kin] : [scope, 'of', indexed(resource_id), ...kin];
};

const places = (scope: string, { thread }: ThreadRecord): Place[] => {
  const { resource_id, parent_thread_id, metadata } = thread;
  // Ascending keys, so the latest time is the smallest; `0 - 0` because the codec tells -0 from 0.
  const position = [0 - (metadata.updated_at ?? metadata.created_at ?? 0), thread.id];
  const kin = parent_thread_id === undefined ? { root: true } : { parent_thread_id };
  const filters: ThreadFilter[] = [{}, kin];
  if (resource_id !== undefined) filters.push({ resource_id }, { resource_id, ...kin });
  return filters.map((filter) => ({ list: listOf(scope, filter), position }));
};
