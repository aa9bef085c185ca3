import {
  approvalResponse,
  type ConversationItem,
  functionOutputItem,
  itemsOfMessage,
} from '../../protocols/openai/conversation-items.ts';
import { textOf } from '../../schema/message.ts';
import type { Place } from '../../schema/place.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import type { OpenAiDeps } from './openai-deps.ts';

/** The items of the input of one request (openai-responses.md 7.6): its messages, and the answers that the row lists. */
export const inputItems = (
  { store }: Pick<OpenAiDeps, 'store'>,
  { scope, id }: Place,
  { run_id, from_seq, inputs }: Pick<StoredResponse, 'run_id' | 'from_seq' | 'inputs'>,
): ConversationItem[] => {
  const items: ConversationItem[] = [];
  const results = new Map<string, string>();
  for (const input of inputs) if (input.type === 'approval') items.push(approvalResponse(input.id, input));
  for (const { seq, message, created_at } of store.messages.range(scope, id, { from: from_seq + 1 })) {
    const { role, metadata, tool_call_id } = message;
    if (role === 'tool' && tool_call_id !== undefined) results.set(tool_call_id, textOf(message.content));
    const isOfRun = metadata?.run_id === run_id;
    if (role === 'assistant' && isOfRun && metadata?.step_index !== undefined) break;
    if (role === 'tool' && isOfRun) continue;
    const listed = { ...message, seq, created_at };
    items.push(...itemsOfMessage(listed, () => undefined).map(({ item }) => item));
  }
  const outputs = inputs.flatMap((input) =>
    input.type === 'output'
      ? [functionOutputItem(input.id, input.call_id, results.get(input.call) ?? '')]
      : [],
  );
  return [...outputs, ...items];
};
