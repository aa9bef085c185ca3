import type { Message as AgUiMessage, ToolCall as AgUiToolCall, ContentPart } from '@ag-ui/core';
import { fileUrl } from '../../schema/file-url.ts';
import { textWithoutData } from '../../schema/media.ts';
import type { ContentBlock, Message, ToolCall } from '../../schema/message.ts';
import { textOf } from '../../schema/message.ts';
import type { Suspensions } from '../ai-sdk/suspensions.ts';
import { reasoningIdOf } from './answer.ts';

/**
 * Converts stored messages to the two forms of the protocol: items of the message list, which keep their content blocks
 * (chat-and-agui.md 14), and messages of the official client. Both take the oldest message first and cost one pass. The
 * history contains a placeholder for the result of a suspended call; it is omitted, and so is a response that is empty
 * as a result.
 */

export type HistoryItem = Pick<Message, 'id' | 'role' | 'content'> & {
  toolCalls?: AgUiToolCall[];
  toolCallId?: string;
};

export const toHistoryItems = (messages: readonly Message[], suspensions: Suspensions): HistoryItem[] =>
  shownOf(messages, suspensions).map(({ id, role, content, tool_calls, tool_call_id, metadata }) => ({
    id,
    role,
    content:
      metadata?.reasoning === undefined
        ? content
        : [{ type: 'thinking', thinking: metadata.reasoning }, ...content],
    ...(tool_calls && { toolCalls: tool_calls.map(toolCall) }),
    ...(tool_call_id !== undefined && { toolCallId: tool_call_id }),
  }));

/** Returns whether the result of a call of a run is a placeholder. */
type Waits = (run_id: string, call_id: string) => { open: boolean } | undefined;

/** Omits messages that are for the model only. */
export const toAgUiMessages = (messages: readonly Message[], waits: Waits = () => undefined): AgUiMessage[] =>
  shownOf(messages, waits)
    .filter(({ visibility }) => visibility === undefined)
    .flatMap((message) => CONVERT[message.role](message));

const CONVERT: Record<Message['role'], (message: Message) => AgUiMessage[]> = {
  system: ({ id, content }) => [{ id, role: 'system', content: textOf(content) }],
  user: ({ id, content }) => [{ id, role: 'user', content: userContent(content) }],
  assistant: (message) => {
    const { id, content, tool_calls } = message;
    const text = textWithoutData(content);
    const answer: AgUiMessage = {
      id,
      role: 'assistant',
      ...(text !== '' && { content: text }),
      ...(tool_calls && { toolCalls: tool_calls.map(toolCall) }),
    };
    return [...reasoningOf(message), answer];
  },
  tool: ({ id, content, tool_call_id: toolCallId }) =>
    toolCallId === undefined ? [] : [{ id, role: 'tool', toolCallId, content: textOf(content) }],
};

const toolCall = ({ id, name, arguments: input }: ToolCall): AgUiToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
});

const reasoningOf = ({ id, content, metadata }: Message): AgUiMessage[] => {
  const thoughts = content.flatMap((block) => (block.type === 'thinking' ? block.thinking : []));
  const text = [metadata?.reasoning ?? '', ...thoughts].join('');
  return text === '' ? [] : [{ id: reasoningIdOf(id), role: 'reasoning', content: text }];
};

/** All clients accept a string as content; early ones accept nothing else. */
const userContent = (content: readonly ContentBlock[]): string | ContentPart[] => {
  const parts = content.flatMap((block) => partOf(block) ?? []);
  return parts.every(({ type }) => type === 'text') ? textOf(content) : parts;
};

const partOf = (block: ContentBlock): ContentPart | undefined => {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
    case 'video':
    case 'document': {
      const { type, source } = block;
      if (source.type === 'base64')
        return { type, source: { type: 'data', value: source.data, mimeType: source.media_type } };
      const { media_type: mimeType } = source;
      const value = source.type === 'url' ? source.url : fileUrl(source.file_id);
      return { type, source: { type: 'url', value, ...(mimeType !== undefined && { mimeType }) } };
    }
  }
};

/** Searches from the newest message: a result with a later result of the same call was a placeholder. */
const shownOf = (messages: readonly Message[], waits: Waits): Message[] => {
  const answered = new Set<string>();
  const askedAgain = new Set<string>();
  const shown = messages.toReversed().filter((message) => {
    const { tool_call_id: id, tool_calls = [], metadata } = message;
    for (const call of tool_calls) {
      answered.delete(call.id);
      askedAgain.add(call.id);
    }
    if (id === undefined) return !isEmpty(message);
    if (answered.has(id)) return false;
    answered.add(id);
    const run_id = metadata?.run_id;
    // The state of a run refers to the calls of its last step.
    return run_id === undefined || askedAgain.has(id) || waits(run_id, id)?.open !== true;
  });
  return shown.reverse();
};

const isEmpty = ({ role, content, tool_calls = [] }: Message): boolean =>
  role === 'assistant' && content.length === 0 && tool_calls.length === 0;
