import { z } from 'zod';
import { Json } from '../../schema/json.ts';
import { defineTool } from '../../tools/define-tool.ts';
import type { Tool, ToolOutput } from '../../tools/tool.ts';
import { cleared, failedOf, queued, replayed } from './outbox.ts';

/**
 * The tools of agent-loop.md 16. Tools that write the outbox are exclusive, because each must see the previous write.
 */

const Target = z.object({
  relation: z
    .enum(['self', 'child'])
    .meta({ description: 'self: a task of this run; child: a part of such a task' }),
  name: z.string().min(1).meta({ description: 'the name or the id of the task' }),
});

export const cancelTask: Tool = defineTool({
  id: 'cancel_task',
  name: 'Cancel task',
  description: 'Cancels a background task and everything that is a part of it.',
  input: z.object({ target: Target }),
  needsRun: 'it cancels background tasks of its run',
  execute({ target }, { tasks }): ToolOutput {
    const outcome = tasks?.cancel(target) ?? { error: 'background tasks are not available here' };
    if ('error' in outcome) {
      return { data: { status: 'failed', root_task_id: null, cancelled_count: 0, error: outcome.error } };
    }
    return { data: { status: 'accepted', ...outcome } };
  },
});

const To = z.discriminatedUnion('relation', [
  z.object({ relation: z.literal('parent') }),
  z.object({
    relation: z.literal('child'),
    name: z.string().min(1).meta({ description: 'the agent of a thread below this one, or the thread' }),
  }),
  z.object({
    relation: z.literal('agent'),
    thread_id: z.string().min(1),
    agent_id: z.string().min(1).optional().meta({ description: 'default: the last agent of the thread' }),
  }),
]);

/** Only queues the message; it is sent at the end of the step. */
export const createSendMessage = (sender_agent_id: string): Tool =>
  defineTool({
    id: 'send_message',
    name: 'Send message',
    description: 'Sends a message to another agent. It is delivered once, as input of a separate run.',
    input: z.object({ to: To, message: z.string().min(1) }),
    exclusive: true,
    needsRun: 'its messages are sent at the end of a step',
    execute({ to, message }, { mail, state }): ToolOutput {
      const address = mail?.address(to) ?? { error: 'recipient_unavailable' as const };
      if ('error' in address) return { data: { message_id: null, status: 'failed', error: address.error } };
      return {
        data: { message_id: address.message_id, status: 'queued' },
        state: [queued(state, { ...address, sender_agent_id, text: message, attempts: 0 })],
      };
    },
  });

export const recoverFailedMessages: Tool = defineTool({
  id: 'recover_failed_messages',
  name: 'Recover failed messages',
  description: 'Lists messages that could not be delivered, sends them again, or forgets them.',
  input: z.object({ action: z.enum(['list', 'replay', 'clear']) }),
  exclusive: true,
  needsRun: 'it sends messages of its thread again',
  execute({ action }, { state }): ToolOutput {
    const failed = failedOf(state);
    if (action === 'list') return { data: { messages: Json.parse(failed) } };
    if (action === 'replay') return { data: { replayed: failed.length }, state: replayed(state) };
    return { data: { cleared: failed.length }, state: cleared() };
  },
});
