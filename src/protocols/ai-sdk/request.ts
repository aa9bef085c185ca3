import { z } from 'zod';
import { notBoth } from '../../schema/paging.ts';

/**
 * The body of the routes that start a chat run (chat-and-agui.md 3.1). The stock client sends its chat as `id` and
 * reconnects under it, so that is the thread when none is named. Parts of messages are looked at one by one later:
 * most of them are history, which the service has.
 */

const ChatMessage = z.object({
  id: z.string().nullish(),
  role: z.string(),
  parts: z.array(z.unknown()).default([]),
});
export type ChatMessage = z.output<typeof ChatMessage>;

export const ChatBody = z
  .object({
    messages: z.array(ChatMessage).default([]),
    threadId: z.string().nullish(),
    thread_id: z.string().nullish(),
    agentId: z.string().nullish(),
    agent_id: z.string().nullish(),
    id: z.string().nullish(),
    state: z.json().optional(),
    trigger: z.unknown().optional(),
    messageId: z.unknown().optional(),
  })
  .check(notBoth('threadId', 'thread_id'), notBoth('agentId', 'agent_id'))
  .transform(({ threadId, thread_id, agentId, agent_id, id, trigger, messageId, ...body }) => ({
    messages: body.messages,
    state: body.state,
    thread_id: (threadId ?? thread_id)?.trim() || id?.trim() || undefined,
    agent_id: (agentId ?? agent_id)?.trim() || undefined,
    /** The client asks for another answer to what it has sent before. */
    regenerate: trigger === 'regenerate-message',
    continues: continuedMessage(body.messages, messageId),
  }));
export type ChatBody = z.output<typeof ChatBody>;

/**
 * The assistant message that the client goes on with: the one that it names, as it does for a decision on an
 * earlier answer, else the last message. Live answers keep its id.
 */
const continuedMessage = (messages: readonly ChatMessage[], named: unknown): string | undefined => {
  const last = messages.at(-1);
  const answers = messages.filter(({ role }) => role === 'assistant');
  const found = answers.find(({ id }) => id === named) ?? (last?.role === 'assistant' ? last : undefined);
  return found?.id || undefined;
};
