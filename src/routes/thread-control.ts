import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { NotFound } from '../schema/outcome.ts';
import { CancelAccepted, InterruptAccepted } from './control.ts';
import { ThreadId } from './parameters.ts';
import type { Rooms } from './rooms.ts';

/** Cancel and interrupt of a thread under the paths of a protocol (chat-and-agui.md 9): the id is that of a thread. */

const Params = z.object({ thread_id: ThreadId });

/** `path` has a `:thread_id`. */
type Under = { id: string; path: string; tag: string };

export const cancelRoute = ({ store, runtime }: Pick<Rooms, 'store' | 'runtime'>, { id, path, tag }: Under) =>
  route.post(path, {
    id,
    summary: 'Cancel what a thread is busy with',
    description: 'What waits in the queue stays there. The run ends soon after the answer.',
    tag,
    scope: 'agent-invocation',
    params: Params,
    responses: { 202: CancelAccepted, 404: ErrorBody },
    async handle({ scope, params: { thread_id } }) {
      if (!store.threads.get(scope, thread_id)) throw new NotFound(`thread not found: ${thread_id}`);
      await runtime.cancel(scope, thread_id, 'thread');
      return reply(202, { status: 'cancel_requested', thread_id });
    },
  });

export const interruptRoute = ({ runtime }: Pick<Rooms, 'runtime'>, { id, path, tag }: Under) =>
  route.post(path, {
    id,
    summary: 'Stop what a thread is busy with and drop its queue',
    description: 'What waits in the queue is superseded; the answer tells how many dispatches that were.',
    tag,
    scope: 'agent-invocation',
    params: Params,
    responses: { 202: InterruptAccepted, 404: ErrorBody },
    async handle({ scope, params: { thread_id } }) {
      const superseded_dispatches = await runtime.interrupt(scope, thread_id);
      return reply(202, { status: 'interrupt_requested', thread_id, superseded_dispatches });
    },
  });
