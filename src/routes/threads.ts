import { z } from 'zod';
import { examples } from '../http/described.ts';
import { listReply } from '../http/list-reply.ts';
import { reply, route } from '../http/route.ts';
import { withAliases } from '../schema/aliases.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { JsonObject } from '../schema/json.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import { Cursor, Limit, Offset } from '../schema/paging.ts';
import { type Place, partitionOf } from '../schema/partition.ts';
import type { Principal } from '../schema/principal.ts';
import { Thread, ThreadList, type ThreadSummary, ThreadSummaryList, Visibility } from '../schema/thread.ts';
import {
  MOST_EXAMINED,
  type Position,
  Position as PositionSchema,
  type Search,
  type ThreadRecord,
} from '../store/index.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { ThreadId } from './parameters.ts';
import { createPreview, createTextSearch, PreviewQuery, SearchQuery } from './previews.ts';
import type { RouteDeps } from './route-deps.ts';

/** Creates, lists, updates and deletes threads (runtime.md 3). */

const ThreadParams = z.object({ id: ThreadId });

const blankIsUnset = (text: string | null | undefined): string | undefined => text?.trim() || undefined;

const LINK_ALIASES = { resource_id: 'resourceId', parent_thread_id: 'parentThreadId' } as const;

const links = {
  resource_id: z
    .string()
    .nullish()
    .meta({ description: 'the resource that the thread is about, an id of the client' }),
  parent_thread_id: z.string().nullish().meta({ description: 'id of the parent thread' }),
};

const CreateThread = withAliases(LINK_ALIASES, { ...links, title: z.string().nullish() })
  .transform((body) => {
    const resource_id = blankIsUnset(body.resource_id);
    const parent_thread_id = blankIsUnset(body.parent_thread_id);
    return {
      ...(typeof body.title === 'string' && { title: body.title }),
      ...(resource_id !== undefined && { resource_id }),
      ...(parent_thread_id !== undefined && { parent_thread_id }),
    };
  })
  .meta({
    id: 'NewThread',
    description: 'A new thread.',
    ...examples({ title: 'A trip to Rome', resource_id: 'customer-7' }),
  });

/** An absent value leaves a link unchanged; null or a blank text clears it. */
const link = (given: string | null | undefined): string | null | undefined =>
  given === undefined ? undefined : (blankIsUnset(given) ?? null);

const UpdateThread = withAliases(LINK_ALIASES, {
  ...links,
  title: z.string().nullish(),
  custom: JsonObject.nullish(),
  visibility: Visibility.optional().meta({
    description:
      'what other users of the scope may do; only its owner changes it, or a holder of `write:all`',
  }),
})
  .transform((body) => {
    const resource_id = link(body.resource_id);
    const parent_thread_id = link(body.parent_thread_id);
    return {
      ...(typeof body.title === 'string' && { title: body.title }),
      ...(body.custom && { custom: body.custom }),
      ...(body.visibility !== undefined && { visibility: body.visibility }),
      ...(resource_id !== undefined && { resource_id }),
      ...(parent_thread_id !== undefined && { parent_thread_id }),
    };
  })
  .meta({
    id: 'ThreadChange',
    description: 'Fields to update.',
    ...examples({ title: 'Rome in May', resource_id: null }),
  });

const threadFilter = {
  offset: Offset,
  limit: Limit,
  cursor: Cursor,
  resource_id: z.string().optional().meta({ description: 'only threads of this resource' }),
  parent_thread_id: z.string().optional().meta({ description: 'only children of this thread' }),
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

const ThreadQuery = withAliases(LINK_ALIASES, threadFilter).transform(pageAndFilter);

const SummaryQuery = withAliases(LINK_ALIASES, { ...threadFilter, preview: PreviewQuery }).transform(
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

const DeleteQuery = withAliases(
  { child_strategy: 'childStrategy' },
  {
    child_strategy: z
      .enum(['detach', 'reject', 'cascade'])
      .optional()
      .meta({ description: 'handling of child threads; default `detach`' }),
  },
).transform(({ child_strategy = 'detach' }) => child_strategy);

export const threadRoutes = (deps: RouteDeps) => [...collectionRoutes(deps), ...itemRoutes(deps)];

const collectionRoutes = (deps: RouteDeps) => {
  const { store, access, runtime } = deps;
  return [
    route.get('/v1/threads', {
      id: 'listThreads',
      summary: 'Ids of threads, most recently changed first',
      description: 'For clients that only need ids; `/v1/threads/summaries` returns more fields.',
      tag: 'threads',
      needs: 'read',
      query: ThreadQuery,
      responses: { 200: ThreadList },
      handle: ({ principal, query }) => listThreads(deps, principal, query, ({ thread }) => thread.id),
    }),
    route.post('/v1/threads', {
      id: 'createThread',
      summary: 'Create a thread',
      description: 'Optional: input to a new id creates a thread.',
      tag: 'threads',
      needs: 'invoke',
      body: CreateThread,
      responses: { 201: Thread },
      async handle({ principal, scope, body }) {
        const { parent_thread_id: parent, ...thread } = body;
        if (parent === undefined) return reply(201, await runtime.threads.create(scope, thread));
        // A child belongs to the owner of its parent.
        const above = access.thread(principal, parent, 'write');
        const child = { ...thread, parent_thread_id: above.id };
        return reply(201, await runtime.threads.create(above.scope, child));
      },
    }),
    route.get('/v1/threads/summaries', {
      id: 'listThreadSummaries',
      summary: 'Summaries of threads, most recently changed first',
      description:
        'Title, links, time and agent of each thread; with `preview=true` also the first words of its first user message.',
      tag: 'threads',
      needs: 'read',
      query: SummaryQuery,
      responses: { 200: ThreadSummaryList },
      handle: ({ principal, query }) =>
        listThreads(deps, principal, query, query.preview ? withPreview(store, principal.scope) : summaryOf),
    }),
  ];
};

const itemRoutes = (deps: RouteDeps) => {
  const { store, access, runtime } = deps;
  const update = createUpdate(deps);
  return [
    route.get('/v1/threads/:id', {
      id: 'getThread',
      summary: 'One thread',
      description: 'Title, links and custom metadata; messages, runs and events have separate paths.',
      tag: 'threads',
      needs: 'read',
      params: ThreadParams,
      responses: { 200: Thread, 404: ErrorBody },
      handle({ principal, params }) {
        const { scope, id } = access.thread(principal, params.id, 'read');
        const record = store.threads.get(scope, id);
        if (!record) throw new NotFound(`thread not found: ${params.id}`);
        return record.thread;
      },
    }),
    route.patch('/v1/threads/:id', { ...update, id: 'updateThread' }),
    route.patch('/v1/threads/:id/metadata', { ...update, id: 'updateThreadMetadata' }),
    route.delete('/v1/threads/:id', {
      id: 'deleteThread',
      summary: 'Delete a thread; its children are detached, deleted too, or prevent the deletion',
      description: 'With its messages, runs, events and queue.',
      tag: 'threads',
      needs: 'invoke',
      params: ThreadParams,
      query: DeleteQuery,
      responses: { 204: 'deleted', 404: ErrorBody },
      async handle({ principal, params, query }) {
        const { scope, id } = access.thread(principal, params.id, 'write');
        await runtime.threads.remove(scope, id, query, {
          sees: (child) => access.sees(principal, { scope, id: child }),
          check: (child) => access.check(principal, { scope, id: child }, 'write'),
        });
        return reply(204);
      },
    }),
  ];
};

/** The same change at two paths. */
const createUpdate = ({ access, runtime, identity }: Pick<RouteDeps, 'access' | 'runtime' | 'identity'>) =>
  ({
    summary: 'Change the title, the links or custom metadata of a thread',
    description:
      'Missing fields are not changed. A link that is null or blank is cleared; the fields of `custom` are merged.',
    tag: 'threads',
    needs: 'invoke',
    params: ThreadParams,
    body: UpdateThread,
    responses: { 200: Thread, 404: ErrorBody },
    async handle({
      principal,
      params,
      body,
    }: {
      principal: Principal;
      params: { id: string };
      body: z.output<typeof UpdateThread>;
    }) {
      const place = access.thread(principal, params.id, 'write');
      if (body.visibility !== undefined) access.checkSharing(principal, place);
      const patch = { ...body, ...parentIn(access, principal, place, body.parent_thread_id) };
      const thread = await runtime.threads.update(place.scope, place.id, patch);
      if (body.visibility !== undefined) identity.readers.sharingChanged(place);
      return thread;
    },
  }) as const;

/** A thread and its parent have the same owner, so the parent of another owner is unknown. @throws Invalid */
const parentIn = (
  access: RouteDeps['access'],
  principal: Principal,
  place: Place,
  parent: string | null | undefined,
): { parent_thread_id?: string } => {
  if (!parent) return {};
  const above = access.thread(principal, parent, 'write');
  if (above.scope !== place.scope) throw new Invalid(`parent thread not found: ${parent}`);
  return { parent_thread_id: above.id };
};

const listThreads = (
  { store, access }: Pick<RouteDeps, 'store' | 'access'>,
  principal: Principal,
  query: ThreadQuery,
  item: (record: ThreadRecord) => unknown,
) => {
  const { filter, limit } = query;
  if (filter.root && filter.parent_thread_id !== undefined) {
    throw new Invalid('root=true cannot be combined with parentThreadId');
  }
  const start = startOf(query);
  const page = store.threads.list(
    access.lists(principal),
    filter,
    { limit, ...start },
    item,
    searchOf(store, principal.scope, filter),
  );
  return listReply('items', page.texts, {
    offset: page.offset,
    limit,
    total: page.total,
    ...(page.searched !== undefined && { searched: page.searched }),
    has_more: page.next !== undefined,
    next_cursor: page.next === undefined ? null : encodeCursor('thr_', page.next, filter),
    ...(page.prev !== undefined && { prev_cursor: encodeCursor('thr_', page.prev, filter) }),
  });
};

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
    const of = { scope: partitionOf({ scope, user: owner }), id };
    return search?.matches({ texts, thread: of, bounds: {} }) ?? true;
  };
  const isDelegated = ({ thread: { latest_run_id, owner } }: ThreadRecord): boolean =>
    latest_run_id !== undefined &&
    (store.runs.get(partitionOf({ scope, user: owner }), latest_run_id)?.parent_run_id ?? null) !== null;
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

const summaryOf = ({ thread, agent_id }: ThreadRecord): ThreadSummary => ({
  id: thread.id,
  resource_id: thread.resource_id ?? null,
  parent_thread_id: thread.parent_thread_id ?? null,
  title: thread.metadata.title ?? null,
  updated_at: thread.metadata.updated_at ?? thread.metadata.created_at ?? 0,
  agent_id: agent_id ?? null,
});

const withPreview = (store: RouteDeps['store'], scope: string) => {
  const preview = createPreview(store);
  return (record: ThreadRecord): ThreadSummary => {
    const { id, owner } = record.thread;
    return {
      ...summaryOf(record),
      preview: preview({ scope: partitionOf({ scope, user: owner }), id }, {}),
    };
  };
};
