import { activityOfBlock } from '../../schema/answer-part.ts';
import { isData, type MediaBlock, UNKNOWN_TYPE } from '../../schema/media.ts';
import type { ContentBlock, Message, ToolCall } from '../../schema/message.ts';
import { textOf } from '../../schema/message.ts';
import { belowPart, isApproval } from './calls.ts';
import type { Suspension, Suspensions } from './suspensions.ts';

/**
 * Stored messages as messages of the official client (chat-and-agui.md 8): results of tools are parts of the
 * message that asked for them, and nothing is left that its validator refuses. Takes what the read view of the
 * history shows, the oldest first. Costs one pass.
 */

type ToolPart = {
  type: `tool-${string}`;
  toolName: string;
  toolCallId: string;
  state: 'input-available' | 'approval-requested' | 'output-available';
  input: ToolCall['arguments'];
  output?: unknown;
  approval?: { id: string };
  providerExecuted?: true;
};

type Part =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string }
  | { type: 'file'; mediaType: string; url: string; filename?: string }
  | { type: 'data-artifact'; id: string; data: { data: unknown; filename?: string } }
  | NonNullable<ReturnType<typeof belowPart>>
  | ToolPart;

/** The part of the official type that this service uses. */
export type UIMessage = { id: string; role: 'system' | 'user' | 'assistant'; parts: Part[] };

export const toUIMessages = (messages: readonly Message[], suspensions: Suspensions): UIMessage[] => {
  const results = answersIn(messages);
  const lastAsked = lastStepsOf(messages);
  return messages.flatMap((message) => {
    const { id, role, content, metadata } = message;
    if (role === 'tool') return [];
    const parts = content.flatMap(
      (block, index) => (role === 'assistant' && dataPart(block, `${id}:${index}`)) || (partOf(block) ?? []),
    );
    // What came first is shown first.
    if (metadata?.reasoning !== undefined) parts.unshift({ type: 'reasoning', text: metadata.reasoning });
    const run_id = metadata?.run_id;
    for (const call of message.tool_calls ?? []) {
      const isLast = run_id !== undefined && lastAsked.get(run_id) === message;
      const suspension = isLast ? suspensions(run_id, call.id) : undefined;
      const below = suspension?.open ? belowPart(call.id, suspension) : undefined;
      parts.push(
        toolPart(call, results.get(message)?.get(call.id) ?? [], suspension),
        ...(below ? [below] : []),
      );
    }
    return parts.length > 0 ? [{ id, role, parts }] : [];
  });
};

/** The tool messages of each call: a model may use an id again in a later step, so the nearest one is meant. */
const answersIn = (messages: readonly Message[]): Map<Message, Map<string, Message[]>> => {
  const answers = new Map<Message, Map<string, Message[]>>();
  const asked = new Map<string, Message[]>();
  for (const message of messages) {
    if (message.tool_call_id !== undefined) asked.get(message.tool_call_id)?.push(message);
    if (!message.tool_calls) continue;
    const own = new Map<string, Message[]>();
    for (const { id } of message.tool_calls) {
      const list: Message[] = [];
      own.set(id, list);
      asked.set(id, list);
    }
    answers.set(message, own);
  }
  return answers;
};

/** Of each run the last message that has calls. */
const lastStepsOf = (messages: readonly Message[]): Map<string, Message> => {
  const last = new Map<string, Message>();
  for (const message of messages) {
    const run_id = message.metadata?.run_id;
    if (message.tool_calls && run_id !== undefined) last.set(run_id, message);
  }
  return last;
};

/** Without `providerExecuted` the client may answer the call. */
const toolPart = (
  { id, name, arguments: input }: ToolCall,
  answers: readonly Message[],
  suspension: Suspension | undefined,
): ToolPart => {
  const call = { type: `tool-${name}`, toolName: name, toolCallId: id } as const;
  const result = answers.slice(suspension ? 1 : 0).at(-1);
  if (result) {
    return {
      ...call,
      state: 'output-available',
      input,
      output: parsed(textOf(result.content)),
      providerExecuted: true,
    };
  }
  if (!suspension?.open) return { ...call, state: 'input-available', input, providerExecuted: true };
  const shown = suspension.edited ? suspension.edited.arguments : input;
  return isApproval(suspension)
    ? { ...call, state: 'approval-requested', input: shown, approval: { id: suspension.ticket_id } }
    : { ...call, state: 'input-available', input: shown };
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Of an answer; what a user has sent as data is shown as the text that the model reads. */
const dataPart = (block: ContentBlock, id: string): Part | undefined => {
  if (!isData(block)) return undefined;
  const { content } = activityOfBlock(block);
  return 'data' in content ? { type: 'data-artifact', id, data: content } : undefined;
};

const partOf = (block: ContentBlock): Part | undefined => {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'thinking':
      return { type: 'reasoning', text: block.thinking };
    case 'image':
    case 'audio':
    case 'video':
      return filePart(block, `${block.type}/*`);
    case 'document':
      return filePart(block, UNKNOWN_TYPE);
  }
};

/** A stored link need not say what it leads to, but the client wants to be told. */
const filePart = ({ source, title }: MediaBlock, assumed: string): Part => {
  const mediaType = source.media_type ?? assumed;
  const url = source.type === 'url' ? source.url : `data:${mediaType};base64,${source.data}`;
  return { type: 'file', mediaType, url, ...(title !== undefined && { filename: title }) };
};
