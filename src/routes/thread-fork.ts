import { z } from 'zod';
import { examples } from '../http/described.ts';
import { route } from '../http/route.ts';
import { ownPartition } from '../identity/access/own.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { checkNewId } from '../schema/id.ts';
import { NotFound } from '../schema/outcome.ts';
import { Thread } from '../schema/thread.ts';
import { ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';
import { createdIn, createThreadAgain, respondWithThread } from './thread-again.ts';
import { blankIsUnset } from './thread-list.ts';

/** Forks of threads (runtime.md 3.5). */

const ForkPoint = z
  .union(
    [
      z.strictObject({
        seq: z.int().min(0).meta({ description: 'number of the last message to copy; 0 copies none' }),
      }),
      z.strictObject({ message_id: z.string().meta({ description: 'the last message to copy' }) }),
      z.strictObject({
        run_id: z.string().meta({ description: 'the run whose last complete step is the last one to copy' }),
      }),
    ],
    { error: 'must be one of {"seq"}, {"message_id"} and {"run_id"}' },
  )
  .meta({ id: 'ForkPoint', description: 'The end of the copied history.' });

const ForkThread = z
  .object({
    at: ForkPoint.nullish().meta({
      description: 'default: the end of the history, or of its last complete step',
    }),
    id: z.string().nullish().meta({ description: 'id of the new thread; default: made by the service' }),
    title: z.string().nullish().meta({ description: 'default: that of the other thread' }),
    resource_id: z.string().nullish().meta({ description: 'default: that of the other thread' }),
  })
  .transform(({ at, id, title, resource_id }) => {
    const resource = blankIsUnset(resource_id);
    return {
      ...(at && { at }),
      ...(typeof id === 'string' && { id: checkNewId('thread', 'id', id.trim()) }),
      ...(typeof title === 'string' && { title }),
      ...(resource !== undefined && { resource_id: resource }),
    };
  })
  .meta({
    id: 'ThreadFork',
    description: 'A new thread with the history of another one.',
    ...examples({ at: { seq: 4 }, title: 'Rome in June' }),
  });

export const threadForkRoutes = ({ store, access, runtime }: RouteDeps) => [
  route.post('/v1/threads/:id/fork', {
    id: 'forkThread',
    summary: 'Create a thread with the history of another one',
    description:
      'Copies messages up to a point, with their ids and numbers, and the state of the thread; runs and events are not copied. The new thread belongs to the caller, and is below the other thread if both have the same owner. It starts no run.',
    tag: 'threads',
    needs: 'invoke',
    params: z.object({ id: ThreadId }),
    body: ForkThread,
    responses: { 201: Thread, 404: ErrorBody, 409: ErrorBody, 413: ErrorBody },
    idempotent: true,
    again: createThreadAgain({ store, access }),
    async handle({ principal, params, body, keyed }) {
      const from = access.thread(principal, params.id, 'read');
      const source = store.threads.get(from.scope, from.id)?.thread;
      if (!source) throw new NotFound(`thread not found: ${params.id}`);
      const scope = ownPartition(principal);
      const fromId = from.scope === scope ? from.id : (source.uid ?? from.id);
      return respondWithThread(
        await runtime.threads.fork({
          from,
          scope,
          fromId,
          fork: body,
          keyed: keyed?.answers(respondWithThread, createdIn(scope)),
        }),
      );
    },
  }),
];
