import { z } from 'zod';
import { examples } from '../http/described.ts';
import { listReply } from '../http/list-reply.ts';
import { reply, route } from '../http/route.ts';
import { withAliases } from '../schema/aliases.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { JsonObject } from '../schema/json.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import { Cursor, Limit, Offset } from '../schema/paging.ts';
import { Thread, ThreadList, type ThreadSummary, ThreadSummaryList } from '../schema/thread.ts';
import { type Position, Position as PositionSchema, type ThreadRecord } from '../store/index.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { ThreadId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** Threads: create, list, change, delete (runtime.md 3). */

const ThreadParams = z.object({ id: ThreadId });

const blankIsUnset = (text: string | null | undefined): string | undefined => text?.trim() || undefined;

const LINK_ALIASES = { resource_id: 'resourceId', parent_thread_id: 'parentThreadId' } as const;

const links = {
  resource_id: z
    .string()
    .nullish()
    .meta({ description: 'what the thread is about, in the words of the client' }),
  parent_thread_id: z.string().nullish().meta({ description: 'id of the thread that it belongs to' }),
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
    description: 'A thread to be made.',
    ...examples({ title: 'A trip to Rome', resource_id: 'customer-7' }),
  });

/** Missing leaves a link as it is; null or blank clears it. */
const link = (given: string | null | undefined): string | null | undefined =>
  given === undefined ? undefined : (blankIsUnset(given) ?? null);

const UpdateThread = withAliases(LINK_ALIASES, {
  ...links,
  title: z.string().nullish(),
  custom: JsonObject.nullish(),
})
  .transform((body) => {
    const resource_id = link(body.resource_id);
    const parent_thread_id = link(body.parent_thread_id);
    return {
      ...(typeof body.title === 'string' && { title: body.title }),
      ...(body.custom && { custom: body.custom }),
      ...(resource_id !== undefined && { resource_id }),
      ...(parent_thread_id !== undefined && { parent_thread_id }),
    };
  })
  .meta({
    id: 'ThreadChange',
    description: 'What is to be other in a thread.',
    ...examples({ title: 'Rome in May', resource_id: null }),
  });

const ThreadQuery = withAliases(LINK_ALIASES, {
  offset: Offset,
  limit: Limit,
  cursor: Cursor,
  resource_id: z.string().optional().meta({ description: 'only threads of this resource' }),
  parent_thread_id: z.string().optional().meta({ description: 'only children of this thread' }),
  root: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '`true`: only threads without a parent; not together with `parent_thread_id`' }),
}).transform(({ offset, limit, cursor, root, ...query }) => {
  const resource_id = blankIsUnset(query.resource_id);
  const parent_thread_id = blankIsUnset(query.parent_thread_id);
  const filter = {
    ...(resource_id !== undefined && { resource_id }),
    ...(parent_thread_id !== undefined && { parent_thread_id }),
    ...(root === 'true' && { root: true as const }),
  };
  return { offset, limit, cursor, filter };
});
type ThreadQuery = z.output<typeof ThreadQuery>;

const DeleteQuery = withAliases(
  { child_strategy: 'childStrategy' },
  {
    child_strategy: z
      .enum(['detach', 'reject', 'cascade'])
      .optional()
      .meta({ description: 'what becomes of its children; default `detach`' }),
  },
).transform(({ child_strategy = 'detach' }) => child_strategy);

export const threadRoutes = ({ store, runtime }: Rooms) => {
  const list = (scope: string, query: ThreadQuery, item: (record: ThreadRecord) => unknown) => {
    const { filter, limit } = query;
    if (filter.root && filter.parent_thread_id !== undefined) {
      throw new Invalid('root=true cannot be combined with parentThreadId');
    }
    const start = startOf(query);
    const page = store.threads.list(scope, filter, { limit, ...start }, item);
    return listReply('items', page.texts, {
      offset: page.offset,
      limit,
      total: page.total,
      has_more: page.next !== undefined,
      next_cursor: page.next === undefined ? null : encodeCursor('thr_', page.next, filter),
      ...(page.prev !== undefined && { prev_cursor: encodeCursor('thr_', page.prev, filter) }),
    });
  };

  const update = {
    summary: 'Change the title, the links or custom metadata of a thread',
    description:
      'A field that is missing stays as it is. A link that is null or blank is cleared; `custom` is replaced as a whole.',
    tag: 'threads',
    scope: 'agent-invocation',
    params: ThreadParams,
    body: UpdateThread,
    responses: { 200: Thread, 404: ErrorBody },
    handle: ({
      scope,
      params,
      body,
    }: {
      scope: string;
      params: { id: string };
      body: z.output<typeof UpdateThread>;
    }) => runtime.threads.update(scope, params.id, body),
  } as const;

  return [
    route.get('/v1/threads', {
      id: 'listThreads',
      summary: 'Ids of threads, the last changed first',
      description: 'The form for clients that want ids alone; `/v1/threads/summaries` tells more of each.',
      tag: 'threads',
      scope: 'agent-invocation',
      query: ThreadQuery,
      responses: { 200: ThreadList },
      handle: ({ scope, query }) => list(scope, query, ({ thread }) => thread.id),
    }),
    route.post('/v1/threads', {
      id: 'createThread',
      summary: 'Create a thread',
      description: 'Threads need not be created: input to an id that is new makes one.',
      tag: 'threads',
      scope: 'agent-invocation',
      body: CreateThread,
      responses: { 201: Thread },
      handle: async ({ scope, body }) => reply(201, await runtime.threads.create(scope, body)),
    }),
    route.get('/v1/threads/summaries', {
      id: 'listThreadSummaries',
      summary: 'Summaries of threads, the last changed first',
      description: 'Title, links, times and the run that changed last of each thread, without its messages.',
      tag: 'threads',
      scope: 'agent-invocation',
      query: ThreadQuery,
      responses: { 200: ThreadSummaryList },
      handle: ({ scope, query }) => list(scope, query, summaryOf),
    }),
    route.get('/v1/threads/:id', {
      id: 'getThread',
      summary: 'One thread',
      description: 'Its title, links and custom metadata; messages, runs and events have paths of their own.',
      tag: 'threads',
      scope: 'agent-invocation',
      params: ThreadParams,
      responses: { 200: Thread, 404: ErrorBody },
      handle({ scope, params }) {
        const record = store.threads.get(scope, params.id);
        if (!record) throw new NotFound(`thread not found: ${params.id}`);
        return record.thread;
      },
    }),
    route.patch('/v1/threads/:id', { ...update, id: 'updateThread' }),
    route.patch('/v1/threads/:id/metadata', { ...update, id: 'updateThreadMetadata' }),
    route.delete('/v1/threads/:id', {
      id: 'deleteThread',
      summary: 'Delete a thread; its children are detached, refused or deleted with it',
      description: 'With its messages, runs, events and queue.',
      tag: 'threads',
      scope: 'agent-invocation',
      params: ThreadParams,
      query: DeleteQuery,
      responses: { 204: 'deleted', 404: ErrorBody },
      async handle({ scope, params, query }) {
        await runtime.threads.remove(scope, params.id, query);
        return reply(204);
      },
    }),
  ];
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
