import { z } from 'zod';
import { withAliases } from '../../schema/aliases.ts';
import { Json, JsonObject } from '../../schema/json.ts';
import { listOf, MOST_MESSAGES } from '../../schema/list.ts';
import { RequestedOutput } from '../../schema/output.ts';
import { frontendContext } from '../frontend-context.ts';
import { FrontendTool } from '../frontend-tool.ts';

/**
 * The body of the routes that start a chat run (chat-and-agui.md 3.1). The stock client sends its chat as `id` and
 * reconnects under it, so that is the thread when none is named. Parts of messages are looked at one by one later:
 * most of them are history, which the service has.
 */

const ChatMessage = z.object({
  id: z.string().nullish(),
  role: z.string(),
  parts: listOf(z.unknown()).default([]),
  /** Where older versions of the protocol had their texts; told of, and not read. */
  content: z.unknown().optional(),
});
export type ChatMessage = z.output<typeof ChatMessage>;

export const ChatBody = withAliases(
  { threadId: 'thread_id', agentId: 'agent_id' },
  {
    messages: listOf(ChatMessage, MOST_MESSAGES).default([]),
    threadId: z.string().nullish(),
    agentId: z.string().nullish(),
    id: z.string().nullish(),
    state: Json.optional(),
    // Some clients put an object of their own here.
    tools: z.union([listOf(FrontendTool), JsonObject.transform(() => undefined)]).nullish(),
    trigger: z.unknown().optional(),
    messageId: z.unknown().optional(),
    output_schema: RequestedOutput,
  },
).transform(({ messages, state, tools, threadId, agentId, id, trigger, messageId, output_schema }) => ({
  messages,
  output_schema,
  /** As the text that it becomes, so that a large one is written while the body is read. */
  said: frontendContext(state),
  /** Tools that the client executes; none given: a run that goes on keeps those that it has. */
  tools: tools ?? undefined,
  thread_id: threadId?.trim() || id?.trim() || undefined,
  agent_id: agentId?.trim() || undefined,
  /** The client asks for another answer to what it has sent before. */
  regenerate: trigger === 'regenerate-message',
  edits: editedMessage(messages, messageId),
  continues: continuedMessage(messages, messageId),
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

/** The user message that the client has put in place of an earlier one of its id, with nothing behind it. */
const editedMessage = (messages: readonly ChatMessage[], named: unknown): ChatMessage | undefined => {
  const last = messages.at(-1);
  return last?.role === 'user' && last.id && last.id === named ? last : undefined;
};
