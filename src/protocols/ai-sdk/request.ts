import { z } from 'zod';
import { withAliases } from '../../schema/aliases.ts';
import { Json, JsonObject } from '../../schema/json.ts';
import { listOf, MOST_MESSAGES } from '../../schema/list.ts';
import { RequestedOutput } from '../../schema/output.ts';
import { frontendContext } from '../frontend-context.ts';
import { FrontendTool } from '../frontend-tool.ts';

/**
 * The body of the routes that start a chat run (chat-and-agui.md 3.1). The stock client sends the id of its chat as
 * `id` and reconnects with it, so `id` is the default thread. Parts of messages are validated later, one by one,
 * because most of them are history that the service has.
 */

const ChatMessage = z.object({
  id: z.string().nullish(),
  role: z.string(),
  parts: listOf(z.unknown()).default([]),
  /** The text field of older protocol versions; reported as an error and not read. */
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
    // Some clients send an unrelated object here.
    tools: z.union([listOf(FrontendTool), JsonObject.transform(() => undefined)]).nullish(),
    trigger: z.unknown().optional(),
    messageId: z.unknown().optional(),
    output_schema: RequestedOutput,
  },
).transform(({ messages, state, tools, threadId, agentId, id, trigger, messageId, output_schema }) => ({
  messages,
  output_schema,
  /** Serialized here, so that a large one is serialized while the body is parsed. */
  frontend: frontendContext(state),
  /** Tools that the client executes; if absent, a continued run keeps its tools. */
  tools: tools ?? undefined,
  thread_id: threadId?.trim() || id?.trim() || undefined,
  agent_id: agentId?.trim() || undefined,
  /** Whether the client regenerates the response to an earlier message. */
  regenerate: trigger === 'regenerate-message',
  edits: editedMessage(messages, messageId),
  continues: continuedMessage(messages, messageId),
}));
export type ChatBody = z.output<typeof ChatBody>;

/**
 * Returns the assistant message that the client continues: the named one, as for a decision on an earlier response,
 * else the last message. Live responses keep its id.
 */
const continuedMessage = (messages: readonly ChatMessage[], named: unknown): string | undefined => {
  const last = messages.at(-1);
  const answers = messages.filter(({ role }) => role === 'assistant');
  const found = answers.find(({ id }) => id === named) ?? (last?.role === 'assistant' ? last : undefined);
  return found?.id || undefined;
};

/** Returns the user message that replaces an earlier one with the same id. It is the last message. */
const editedMessage = (messages: readonly ChatMessage[], named: unknown): ChatMessage | undefined => {
  const last = messages.at(-1);
  return last?.role === 'user' && last.id && last.id === named ? last : undefined;
};
