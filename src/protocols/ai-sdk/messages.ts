import { activityOfBlock } from '../../schema/answer-part.ts';
import { inexactInteger } from '../../schema/exact-integers.ts';
import { isData, type MediaBlock, UNKNOWN_TYPE } from '../../schema/media.ts';
import type { ContentBlock, Message, ToolCall } from '../../schema/message.ts';
import { textOf } from '../../schema/message.ts';
import type { SourceBlock } from '../../schema/provider-tool.ts';
import { belowPart, isApproval } from './calls.ts';
import { providerCallPart } from './provider-calls.ts';
import type { Suspension, Suspensions } from './suspensions.ts';

/**
 * A stored message as a message of the official client (chat-and-agui.md 8): results of tools are parts of the
 * message that asked for them (`outline.ts` finds them), and nothing is left that its validator refuses. Takes what
 * the read view of the history shows.
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
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: 'source-document'; sourceId: string; mediaType: string; title: string; filename?: string }
  | NonNullable<ReturnType<typeof belowPart>>
  | ReturnType<typeof providerCallPart>
  | ToolPart;

/** The part of the official type that this service uses. */
export type UIMessage = { id: string; role: 'system' | 'user' | 'assistant'; parts: Part[] };

/** A message of the client, with what other messages add to it; a place is what reads a message again. */
export type Outlined<Place> = {
  place: Place;
  /** By the id of each call: the tool messages that belong to it, the oldest first. */
  results: ReadonlyMap<string, readonly Place[]>;
  /** Whether it is the last message of its run that asks for calls. */
  isLastStep: boolean;
};

type Sources<Place> = { read(place: Place): Message | undefined; suspensions: Suspensions };

/** Undefined when the message, or all that it shows, was removed since it was outlined. */
export const toUIMessage = <Place>(
  { place, results, isLastStep }: Outlined<Place>,
  { read, suspensions }: Sources<Place>,
): UIMessage | undefined => {
  const message = read(place);
  if (!message) return undefined;
  const { id, role, content, metadata } = message;
  if (role === 'tool') return undefined;
  const parts = content.flatMap(
    (block, index) => (role === 'assistant' && dataPart(block, `${id}:${index}`)) || (partOf(block) ?? []),
  );
  // What came first is shown first.
  if (metadata?.reasoning !== undefined) parts.unshift({ type: 'reasoning', text: metadata.reasoning });
  const run_id = metadata?.run_id;
  for (const call of message.tool_calls ?? []) {
    const places = results.get(call.id);
    // The outline is older than the message: the call had no result then, and was not shown.
    if (!places) continue;
    const suspension = isLastStep && run_id !== undefined ? suspensions(run_id, call.id) : undefined;
    // The first tool message of a suspended call is a placeholder.
    const result = places.slice(suspension ? 1 : 0).at(-1);
    const below = suspension?.open ? belowPart(call.id, suspension) : undefined;
    parts.push(
      toolPart(call, result === undefined ? undefined : read(result), suspension),
      ...(below ? [below] : []),
    );
  }
  return parts.length > 0 ? { id, role, parts } : undefined;
};

/** Whether the client has a message for it. */
export const isShown = ({ role, content, metadata, tool_calls = [] }: Message): boolean =>
  role !== 'tool' &&
  (metadata?.reasoning !== undefined || tool_calls.length > 0 || content.some((block) => partOf(block)));

/** Without `providerExecuted` the client may answer the call. */
const toolPart = (
  { id, name, arguments: input }: ToolCall,
  result: Message | undefined,
  suspension: Suspension | undefined,
): ToolPart => {
  const call = { type: `tool-${name}`, toolName: name, toolCallId: id } as const;
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
  // As text it keeps its digits.
  if (inexactInteger(text) !== undefined) return text;
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
    case 'provider_call':
      return providerCallPart(block);
    case 'source_url':
    case 'source_document':
      return sourcePart(block);
  }
};

const sourcePart = (block: SourceBlock): Part => {
  const { id: sourceId } = block;
  if (block.type === 'source_url')
    return {
      type: 'source-url',
      sourceId,
      url: block.url,
      ...(block.title !== undefined && { title: block.title }),
    };
  const { media_type: mediaType, title, filename } = block;
  return { type: 'source-document', sourceId, mediaType, title, ...(filename !== undefined && { filename }) };
};

/** A stored link need not say what it leads to, but the client wants to be told. */
const filePart = ({ source, title }: MediaBlock, assumed: string): Part => {
  const mediaType = source.media_type ?? assumed;
  const url = source.type === 'url' ? source.url : `data:${mediaType};base64,${source.data}`;
  return { type: 'file', mediaType, url, ...(title !== undefined && { filename: title }) };
};
