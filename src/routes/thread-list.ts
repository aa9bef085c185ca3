import { z } from 'zod';
import { listReply } from '../http/list-reply.ts';
import { placeOfListed } from '../identity/access/own.ts';
import { withAliases } from '../schema/aliases.ts';
import { Invalid } from '../schema/outcome.ts';
import { Cursor, Limit, Offset } from '../schema/paging.ts';
import type { Principal } from '../schema/principal.ts';
import type { ThreadSummary } from '../schema/thread.ts';
import {
  MOST_EXAMINED,
  type PageOf,
  type Position,
  Position as PositionSchema,
  type Search,
  type ThreadRecord,
} from '../store/index.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { createPreview, createTextSearch, PreviewQuery, SearchQuery } from './previews.ts';
import type { RouteDeps } from './route-deps.ts';

/** Lists of threads that a principal may read, with their filters (runtime.md 3). */

export const blankIsUnset = (text: string | null | undefined): string | undefined =>
  text?.trim() || undefined;

export const LINK_ALIASES = { resource_id: 'resourceId', parent_thread_id: 'parentThreadId' } as const;

const threadFilter = {
  offset: Offset,
  limit: Limit,
  cursor: Cursor,
  resource_id: z.string().optional().meta({ description: 'only threads of this resource' }),
  parent_thread_id: z
    .string()
    .optional()
    .meta({ description: 'only children of this thread, named by its id or its `uid`' }),
  root: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: only threads without a parent; not together with `parent_thread_id`' }),
  agent_id: z.string().optional().meta({ description: 'only threads whose latest run is of this agent' }),
  delegated: z.enum(['true', 'false']).optional().meta({
    description:
      '`true`: only threads whose latest run was started by a run of another thread; `false`: only other threads',
  }),
  q: SearchQuery,
};

export const ThreadQuery = withAliases(LINK_ALIASES, threadFilter).transform(pageAndFilter);

export const SummaryQuery = withAliases(LINK_ALIASES, { ...threadFilter, preview: PreviewQuery }).transform(
  ({ preview, ...query }) => ({ ...pageAndFilter(query), preview: preview === 'true' }),
);

type GivenFilter = {
  offset: number;
  limit: number;
  cursor: string | undefined;
  resource_id?: string | undefined;
  parent_thread_id?: string | undefined;
  root?: 'true' | 'false' | undefined;
  agent_id?: string | undefined;
  delegated?: 'true' | 'false' | undefined;
  q?: string | undefined;
};

function pageAndFilter({ offset, limit, cursor, root, delegated, ...query }: GivenFilter) {
  const resource_id = blankIsUnset(query.resource_id);
  const parent_thread_id = blankIsUnset(query.parent_thread_id);
  const filter = {
    ...(resource_id !== undefined && { resource_id }),
    ...(parent_thread_id !== undefined && { parent_thread_id }),
    ...(root === 'true' && { root: true as const }),
    ...(query.agent_id !== undefined && { agent_id: query.agent_id }),
    ...(delegated !== undefined && { delegated: delegated === 'true' }),
    ...(query.q !== undefined && { q: query.q }),
  };
  return { offset, limit, cursor, filter };
}
type ThreadQuery = z.output<typeof ThreadQuery>;

type ListDeps = Pick<RouteDeps, 'store' | 'access'>;

export const listThreads = (
  deps: ListDeps,
  principal: Principal,
  query: ThreadQuery,
  item: (record: ThreadRecord) => unknown,
) => {
  const { store, access } = deps;
  const shown = (record: ThreadRecord): unknown =>
    item({ ...record, thread: access.shown(principal, record.thread) });
  const { filter, page } = selection(deps, principal, query);
  const search = searchOf(store, principal.scope, query.filter);
  return threadReply(query, store.threads.list(access.lists(principal), filter, page, shown, search));
};

/** The records of threads are not read, unless a filter needs them. */
export const listThreadIds = (deps: ListDeps, principal: Principal, query: ThreadQuery) => {
  const { store, access } = deps;
  if (searchOf(store, principal.scope, query.filter)) {
    return listThreads(deps, principal, query, ({ thread }) => thread.id);
  }
  const { filter, page } = selection(deps, principal, query);
  return threadReply(query, store.threads.listIds(access.lists(principal), filter, page));
};

/** The id of a parent names what it names everywhere: a thread that the principal sees, else none. @throws Conflict */
const selection = ({ access }: ListDeps, principal: Principal, query: ThreadQuery) => {
  const { parent_thread_id, ...filter } = query.filter;
  if (filter.root && parent_thread_id !== undefined) {
    throw new Invalid('root=true cannot be combined with parentThreadId');
  }
  const parent =
    parent_thread_id === undefined ? undefined : access.thread(principal, parent_thread_id, 'read');
  return {
    filter: { ...filter, ...(parent && { parent }) },
    page: { limit: query.limit, ...startOf(query) },
  };
};

const threadReply = ({ filter, limit }: ThreadQuery, page: PageOf<unknown>) =>
  listReply('items', page.texts, {
    offset: page.offset,
    limit,
    total: page.total,
    ...(page.searched !== undefined && { searched: page.searched }),
    has_more: page.next !== undefined,
    next_cursor: page.next === undefined ? null : encodeCursor('thr_', page.next, filter),
    ...(page.prev !== undefined && { prev_cursor: encodeCursor('thr_', page.prev, filter) }),
  });

/** The filters that no index has. */
const searchOf = (
  store: RouteDeps['store'],
  scope: string,
  { agent_id, delegated, q }: ThreadQuery['filter'],
): Search<ThreadRecord> | undefined => {
  if (agent_id === undefined && delegated === undefined && q === undefined) return undefined;
  const search = q === undefined ? undefined : createTextSearch(store, q);
  const hasText = ({ thread, agent_id: agent }: ThreadRecord): boolean => {
    const { id, resource_id, metadata, owner } = thread;
    const texts = [metadata.title, id, resource_id, agent];
    const of = placeOfListed({ scope }, { owner, id });
    return search?.matches({ texts, thread: of, bounds: {} }) ?? true;
  };
  const isDelegated = ({ thread: { id, latest_run_id, owner } }: ThreadRecord): boolean =>
    latest_run_id !== undefined &&
    (store.runs.get(placeOfListed({ scope }, { owner, id }).scope, latest_run_id)?.parent_run_id ?? null) !==
      null;
  return {
    most: MOST_EXAMINED,
    isSpent: search?.isSpent,
    wanted: (record) =>
      (agent_id === undefined || record.agent_id === agent_id) &&
      (delegated === undefined || isDelegated(record) === delegated) &&
      hasText(record),
  };
};

const startOf = ({ cursor, offset, filter }: ThreadQuery): { offset: number; after?: Position } => {
  if (cursor === undefined) return { offset };
  const filtered = Object.keys(filter).length > 0;
  const start = decodeCursor(cursor, {
    prefix: 'thr_',
    kind: 'thread',
    filters: filter,
    filtered,
    position: PositionSchema,
  });
  return 'offset' in start ? { offset: start.offset } : { offset: 0, after: start.position };
};

export const summaryOf = ({ thread, agent_id }: ThreadRecord): ThreadSummary => ({
  id: thread.id,
  resource_id: thread.resource_id ?? null,
  parent_thread_id: thread.parent_thread_id ?? null,
  ...(thread.forked_from && { forked_from: thread.forked_from }),
  title: thread.metadata.title ?? null,
  updated_at: thread.metadata.updated_at ?? thread.metadata.created_at ?? 0,
  agent_id: agent_id ?? null,
});

export const withPreview = (store: RouteDeps['store'], scope: string) => {
  const preview = createPreview(store);
  return (record: ThreadRecord): ThreadSummary => {
    const { id, owner } = record.thread;
    return {
      ...summaryOf(record),
      preview: preview(placeOfListed({ scope }, { owner, id }), {}),
    };
  };
};
