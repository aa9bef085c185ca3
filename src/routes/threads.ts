import { z } from 'zod';
import { examples } from '../http/described.ts';
import { reply, route } from '../http/route.ts';
import type { NewThread } from '../runtime/index.ts';
import { withAliases } from '../schema/aliases.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { JsonObject } from '../schema/json.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import type { Place } from '../schema/place.ts';
import type { Principal } from '../schema/principal.ts';
import { Thread, ThreadList, ThreadSummaryList, Visibility } from '../schema/thread.ts';
import { ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';
import { createdIn, createThreadAgain, respondWithThread } from './thread-again.ts';
import {
  blankIsUnset,
  LINK_ALIASES,
  listThreadIds,
  listThreads,
  SummaryQuery,
  summaryOf,
  ThreadQuery,
  withPreview,
} from './thread-list.ts';

/** Creates, lists, updates and deletes threads (runtime.md 3). */

const ThreadParams = z.object({ id: ThreadId });

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
  owner: z.string().optional().meta({
    description:
      'id of a user of the scope who becomes the owner, with all threads below; the `uid` becomes the `id`. Only the owner changes it, or a holder of `write:all`',
  }),
})
  .transform((body) => {
    const resource_id = link(body.resource_id);
    const parent_thread_id = link(body.parent_thread_id);
    return {
      ...(typeof body.title === 'string' && { title: body.title }),
      ...(body.custom && { custom: body.custom }),
      ...(body.visibility !== undefined && { visibility: body.visibility }),
      ...(body.owner !== undefined && { owner: body.owner }),
      ...(resource_id !== undefined && { resource_id }),
      ...(parent_thread_id !== undefined && { parent_thread_id }),
    };
  })
  .meta({
    id: 'ThreadChange',
    description: 'Fields to update.',
    ...examples({ title: 'Rome in May', resource_id: null }),
  });

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
      responses: { 200: ThreadList, 409: ErrorBody },
      handle: ({ principal, query }) => listThreadIds(deps, principal, query),
    }),
    route.post('/v1/threads', {
      id: 'createThread',
      summary: 'Create a thread',
      description: 'Optional: input to a new id creates a thread.',
      tag: 'threads',
      needs: 'invoke',
      body: CreateThread,
      responses: { 201: Thread, 404: ErrorBody },
      idempotent: true,
      again: createThreadAgain(deps),
      async handle({ principal, scope, body, keyed }) {
        const { parent_thread_id: parent, ...thread } = body;
        const create = async (owner: string, given: NewThread) =>
          respondWithThread(
            await runtime.threads.create(owner, given, keyed?.answers(respondWithThread, createdIn(owner))),
          );
        if (parent === undefined) return create(scope, thread);
        // A child belongs to the owner of its parent.
        const above = access.thread(principal, parent, 'write');
        return create(above.scope, { ...thread, parent_thread_id: above.id });
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
      responses: { 200: ThreadSummaryList, 409: ErrorBody },
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
        return access.shown(principal, record.thread);
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
    summary: 'Change the title, the links, custom metadata, the visibility or the owner of a thread',
    description:
      'Missing fields are not changed. A link that is null or blank is cleared; the fields of `custom` are merged. A change of the owner comes last; it is a 409 while a run of a sub-agent or a background task executes.',
    tag: 'threads',
    needs: 'invoke',
    params: ThreadParams,
    body: UpdateThread,
    responses: { 200: Thread, 404: ErrorBody, 409: ErrorBody },
    async handle({
      principal,
      params,
      body: { owner, ...body },
    }: {
      principal: Principal;
      params: { id: string };
      body: z.output<typeof UpdateThread>;
    }) {
      const place = access.thread(principal, params.id, 'write');
      if (body.visibility !== undefined) access.checkSharing(principal, place);
      const to = owner === undefined ? place.scope : access.heir(principal, place, owner);
      const patch = { ...body, ...parentIn(access, principal, place, body.parent_thread_id) };
      const isGiven = to !== place.scope;
      const updated =
        isGiven && Object.keys(patch).length === 0
          ? undefined
          : await runtime.threads.update(place.scope, place.id, patch);
      if (body.visibility !== undefined) identity.readers.sharingChanged(place);
      const thread = updated && !isGiven ? updated : await runtime.threads.transfer({ ...place, to });
      return access.shown(principal, thread);
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
