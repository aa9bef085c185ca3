import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { NotFound } from '../schema/outcome.ts';
import { CancelAccepted, InterruptAccepted } from './control.ts';
import { ThreadId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Cancels and interrupts a thread under the paths of a protocol (chat-and-agui.md 9). The id is a thread id. */

const Params = z.object({ thread_id: ThreadId });

/** `path` contains `:thread_id`. */
type Under = { id: string; path: string; tag: string };

export const cancelRoute = (
  { store, access, runtime }: Pick<RouteDeps, 'store' | 'access' | 'runtime'>,
  { id, path, tag }: Under,
) =>
  route.post(path, {
    id,
    summary: 'Cancel the active run of a thread',
    description: 'Queued dispatches stay queued. The run ends soon after the response.',
    tag,
    needs: 'invoke',
    params: Params,
    responses: { 202: CancelAccepted, 404: ErrorBody },
    async handle({ principal, params: { thread_id } }) {
      const { scope, id } = access.thread(principal, thread_id, 'write');
      if (!store.threads.get(scope, id)) throw new NotFound(`thread not found: ${thread_id}`);
      await runtime.cancel(scope, id, 'thread');
      return reply(202, { status: 'cancel_requested', thread_id });
    },
  });

export const interruptRoute = (
  { access, runtime }: Pick<RouteDeps, 'access' | 'runtime'>,
  { id: operation, path, tag }: Under,
) =>
  route.post(path, {
    id: operation,
    summary: 'Stop the active run of a thread and drop its queue',
    description: 'Queued dispatches are superseded; the response contains their number.',
    tag,
    needs: 'invoke',
    params: Params,
    responses: { 202: InterruptAccepted, 404: ErrorBody },
    async handle({ principal, params: { thread_id } }) {
      const { scope, id } = access.thread(principal, thread_id, 'write');
      const superseded_dispatches = await runtime.interrupt(scope, id);
      return reply(202, { status: 'interrupt_requested', thread_id, superseded_dispatches });
    },
  });
