import { Integrity } from '../../schema/outcome.ts';
import { isListOfPartitions, isReservedScope, listsWith } from '../../schema/partition.ts';
import type { Lists, Place as ThreadPlace } from '../../schema/place.ts';
import { isShared, type Thread } from '../../schema/thread.ts';
import { type Batch, createNoteBoard } from '../engine/batch.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, checkPartition, indexed, isId, type Key } from '../engine/keys.ts';
import { numberOfRoot } from '../engine/lineage.ts';
import {
  counted,
  type List,
  type ListedIn,
  type Page,
  type PageOf,
  readPage,
  type Search,
} from '../engine/page.ts';
import { createPlacement, findPartitions, namesIn, type Place } from '../engine/placement.ts';
import type { Columns } from '../engine/sink.ts';
import type { Span, Table } from '../engine/table.ts';
import { listChildren } from './listed-children.ts';
import type { ThreadExpiryTable } from './thread-expiries.ts';

/**
 * Threads, the last changed first, in lists by resource, by parent and of roots (runtime.md 3.2). Threads with and
 * without a parent are in separate lists; a list of both is their merge. `listsWith` names the lists across partitions.
 */

export type ThreadRecord = {
  thread: Thread;
  /** Agent of its latest run. */
  agent_id?: string;
  epoch: number;
  /**
   * The lineage number in decimal digits, unless it is that of a root thread with this id: threads that the runtime made
   * below another have its lineage, and moved threads keep theirs.
   */
  lineage?: string;
};

/** `parent` names one thread: another one with the same id, of another owner, has other children. */
export type ThreadFilter = { resource_id?: string; parent?: ThreadPlace; root?: boolean };

export type ThreadTable = {
  get(scope: string, id: string): ThreadRecord | undefined;
  /** Returns the lineage number, also of a thread without a record. @param batch may contain the record */
  lineageOf(scope: string, id: string, batch?: Batch): bigint;
  /** `before` is the last put record, committed or not. */
  put(batch: Batch, scope: string, after: ThreadRecord, before: ThreadRecord | undefined): void;
  remove(batch: Batch, scope: string, before: ThreadRecord): void;
  /**
   * @param shown returns the client's view of a record; a page also ends when that becomes too long (`page-rows.ts`)
   */
  list(
    lists: Lists,
    filter: ThreadFilter,
    page: Page,
    shown?: (record: ThreadRecord) => unknown,
    search?: Search<ThreadRecord>,
  ): PageOf<ThreadRecord>;
  /** Like `list`, of the ids alone: reads no records. */
  listIds(lists: Lists, filter: ThreadFilter, page: Page): PageOf<string>;
  /** Returns the ids of the direct children. */
  children(scope: string, id: string): string[];
  /** Returns the ids of up to `limit` threads in a partition, shared ones included. */
  idsIn(scope: string, limit: number): string[];
  /** Returns up to `limit` partitions that have a thread with this id in the list across partitions. */
  partitionsWith(list: string, id: string, limit: number): string[];
};

export const createThreadTable = (
  env: Environment,
  counters: Counters,
  expiries: Pick<ThreadExpiryTable, 'move'>,
): ThreadTable => {
  const records = env.table<ThreadRecord>('threads');
  const index = env.table<string>('thread_index');
  const placement = createPlacement(index, counters);
  const naming = createPlacement(index);
  const lineages = createNoteBoard<string>();
  const get = (scope: string, id: string) => (isId(id) ? records.get([scope, id]) : undefined);
  const select = createSelection({ index, counters });

  return {
    get,
    lineageOf(scope, id, batch) {
      const name = `${scope}\0${id}`;
      const noted = batch ? lineages.newest(batch, name) : lineages.underWay(name);
      const lineage = noted ?? get(scope, id)?.lineage;
      return lineage === undefined ? numberOfRoot(scope, id) : BigInt(lineage);
    },
    put(batch, scope, after, before) {
      const { id, parent_thread_id } = after.thread;
      checkPartition(scope);
      checkId('thread id', id);
      if (parent_thread_id !== undefined) checkId('parent thread id', parent_thread_id);
      if (after.lineage !== undefined) lineages.note(batch, `${scope}\0${id}`, after.lineage);
      records.put(batch, [scope, id], after);
      placement.move(batch, id, places(scope, after), before ? places(scope, before) : []);
      naming.move(batch, id, namePlaces(scope, after), before ? namePlaces(scope, before) : []);
      const thread = { scope, thread_id: id };
      expiries.move(batch, thread, after.thread.expires_at, before?.thread.expires_at);
    },
    remove(batch, scope, before) {
      const { id } = before.thread;
      records.remove(batch, [scope, id]);
      placement.move(batch, id, [], places(scope, before));
      naming.move(batch, id, [], namePlaces(scope, before));
      expiries.move(batch, { scope, thread_id: id }, undefined, before.thread.expires_at);
    },
    list(lists, filter, page, shown, search) {
      const [own = ''] = typeof lists === 'string' ? [lists] : lists;
      const read = (id: string, [, , partition = own]: Key): ThreadRecord => {
        const record = get(String(partition), id);
        if (!record) throw new Integrity(`thread '${id}' is listed and has no record`);
        return record;
      };
      const found = select(lists, filter);
      return found ? readPage(found, page, { read, shown, search }) : NOTHING(page);
    },
    listIds(lists, filter, page) {
      const found = select(lists, filter);
      if (!found) return NOTHING(page);
      return readPage({ ...found, index: idsOf(found.index) }, page, { read: (id) => id });
    },
    children(scope, id) {
      if (!isId(id)) return [];
      const lists: Key[] = [
        [scope, 'parent', id],
        ...(isReservedScope(scope) ? [sharedBelow(scope, id)] : []),
      ];
      return lists.flatMap((prefix) => Array.from(index.values({ prefix })));
    },
    idsIn: (scope, limit) => Array.from(records.keys({ prefix: [scope], limit }), ([, id]) => String(id)),
    partitionsWith: (list, id, limit) => findPartitions(index, namesIn(list, id), limit),
  };
};

/** Returns a function that finds the list for a filter, or undefined if no thread can match. */
const createSelection =
  (store: { index: Table<string>; counters: Counters }) =>
  (lists: Lists, filter: ThreadFilter): List<string> | undefined => {
    const { parent, resource_id } = filter;
    const names = typeof lists === 'string' ? [lists] : lists;
    if (!parent) {
      const keys = names.flatMap((list) => listsOf(list, filter));
      return counted(store.index, store.counters, keys);
    }
    if (!isId(parent.id)) return undefined;
    return listChildren(store, names, {
      parent,
      listIn: (list, isWhole) => listOf(list, { parent: parent.id }, isWhole ? undefined : resource_id),
      shared: sharedBelow(parent.scope, parent.id),
    });
  };

/** The columns of a shipped record. */
export const threadColumns = ({ thread }: ThreadRecord, [scope]: Key): Columns => ({
  scope: String(scope),
  a: thread.resource_id === undefined ? null : indexed(thread.resource_id),
  b: thread.parent_thread_id ?? null,
  at: updatedAt(thread),
});

/** The id is in the key of a row, so its value is not decoded. */
const idsOf = (index: ListedIn<string>): ListedIn<string> => ({
  ...index,
  entries: (span) => entriesOfKeys(index, span),
});

function* entriesOfKeys(index: ListedIn<string>, span: Span): Iterable<{ key: Key; value: string }> {
  const at = span.prefix.length + 1;
  for (const key of index.keys(span)) yield { key, value: String(key[at]) };
}

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

const listsOf = (scope: string, { resource_id, root }: ThreadFilter): Key[] => {
  const roots = listOf(scope, { of: 'root' }, resource_id);
  return root ? [roots] : [roots, listOf(scope, { of: 'child' }, resource_id)];
};

/** The lists of a partition lack what its owner shares; these contain its shared children. */
const sharedBelow = (partition: string, parent: string): Key => [partition, 'shared', parent];

const places = (scope: string, { thread }: ThreadRecord): Place[] => {
  const { id, resource_id, parent_thread_id } = thread;
  // Negated because keys are ascending and the latest time comes first; `0 - 0` because the codec distinguishes -0 from
  // 0.
  const position = [0 - updatedAt(thread), id];
  const kins: Kin[] =
    parent_thread_id === undefined ? [{ of: 'root' }] : [{ of: 'child' }, { parent: parent_thread_id }];
  const resources = resource_id === undefined ? [undefined] : [undefined, resource_id];
  const placesIn = (list: string): Place[] => {
    const at = list === scope ? position : [...position, scope];
    return resources.flatMap((resource) =>
      kins.map((kin) => ({ list: listOf(list, kin, resource), position: at })),
    );
  };
  const shared = isShared(thread);
  return listsWith(scope, shared).flatMap(placesIn);
};

const updatedAt = ({ metadata }: Thread): number => metadata.updated_at ?? metadata.created_at ?? 0;

/** Finds the thread by its id from other partitions, and shared children; not counted. */
const namePlaces = (scope: string, { thread }: ThreadRecord): Place[] => {
  const { id, parent_thread_id } = thread;
  const shared = isShared(thread);
  const named = listsWith(scope, shared)
    .filter(isListOfPartitions)
    .map((list) => ({ list: namesIn(list, id), position: [scope] }));
  if (!isReservedScope(scope) || !shared || parent_thread_id === undefined) return named;
  return [...named, { list: sharedBelow(scope, parent_thread_id), position: [id] }];
};
