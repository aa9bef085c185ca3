import { z } from 'zod';
import { reply, route } from '../http/route.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { NotFound } from '../schema/outcome.ts';
import { CancelAccepted, InterruptAccepted } from './control.ts';
import { tellingIdle } from './idle.ts';
import type { Rooms } from './rooms.ts';

/** Cancel and interrupt of a thread under the paths of a protocol (chat-and-agui.md 9): the id is that of a thread. */

const Params = z.object({ thread_id: z.string() });

/** @param path with `:thread_id` */
export const cancelRoute = (
  { store, runtime }: Pick<Rooms, 'store' | 'runtime'>,
  path: string,
  tag: string,
) =>
  route.post(path, {
    summary: 'Cancel what a thread is busy with',
    tag,
    scope: 'agent-invocation',
    params: Params,
    responses: { 202: CancelAccepted, 404: ErrorBody },
    async handle({ scope, params: { thread_id } }) {
      if (!store.threads.get(scope, thread_id)) throw new NotFound(`thread not found: ${thread_id}`);
      const idle = `nothing to cancel on thread '${thread_id}'`;
      const cancel = () => runtime.cancel(scope, thread_id, 'thread');
      await tellingIdle({ store }, { scope, id: thread_id, idle }, cancel);
      return reply(202, { status: 'cancel_requested', thread_id });
    },
  });

/** @param path with `:thread_id` */
export const interruptRoute = (
  { store, runtime }: Pick<Rooms, 'store' | 'runtime'>,
  path: string,
  tag: string,
) =>
  route.post(path, {
    summary: 'Stop what a thread is busy with and drop its queue',
    tag,
    scope: 'agent-invocation',
    params: Params,
    responses: { 202: InterruptAccepted, 404: ErrorBody },
    async handle({ scope, params: { thread_id } }) {
      const idle = `nothing to interrupt on thread '${thread_id}'`;
      const interrupt = () => runtime.interrupt(scope, thread_id);
      const superseded_dispatches = await tellingIdle({ store }, { scope, id: thread_id, idle }, interrupt);
      return reply(202, { status: 'interrupt_requested', thread_id, superseded_dispatches });
    },
  });
