import { activityOfBlock } from '../../schema/answer-part.ts';
import { inexactInteger } from '../../schema/exact-integers.ts';
import { isData, type MediaBlock, UNKNOWN_TYPE, urlOfMedia } from '../../schema/media.ts';
import type { ContentBlock, Message, ToolCall } from '../../schema/message.ts';
import { textOf } from '../../schema/message.ts';
import type { SourceBlock } from '../../schema/provider-tool.ts';
import { accountPart, belowPart, isApproval } from './calls.ts';
import { providerCallPart } from './provider-calls.ts';
import type { Suspension, Suspensions } from './suspensions.ts';

/**
 * Converts a stored message to a message of the official client (chat-and-agui.md 8). Tool results are parts of the
 * message with the calls (`outline.ts` finds them), and everything that the validator of the client rejects is omitted.
 * The input is a message of the read view of the history.
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
  | NonNullable<ReturnType<typeof accountPart>>
  | ReturnType<typeof providerCallPart>
  | ToolPart;

/** The part of the official type that this service uses. */
export type UIMessage = { id: string; role: 'system' | 'user' | 'assistant'; parts: Part[] };

/** A client message with its additions from other messages; a place identifies a stored message. */
export type Outlined<Place> = {
  place: Place;
  /** Tool messages by call id, oldest first. */
  results: ReadonlyMap<string, readonly Place[]>;
  /** Whether it is the last message of its run with calls. */
  isLastStep: boolean;
};

type Sources<Place> = { read(place: Place): Message | undefined; suspensions: Suspensions };

/** Returns undefined if the message, or its whole visible content, was removed after the outline was created. */
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
  // Reasoning precedes the response.
  if (metadata?.reasoning !== undefined) parts.unshift({ type: 'reasoning', text: metadata.reasoning });
  const run_id = isLastStep ? metadata?.run_id : undefined;
  for (const call of message.tool_calls ?? []) {
    const places = results.get(call.id);
    // The outline is older than the message: the call had no result then, and was not shown.
    if (!places) continue;
    const suspension = run_id === undefined ? undefined : suspensions(run_id, call.id);
    // The first tool message of a suspended call is a placeholder.
    const result = places.slice(suspension ? 1 : 0).at(-1);
    parts.push(...callParts(call, result === undefined ? undefined : read(result), suspension));
  }
  return parts.length > 0 ? { id, role, parts } : undefined;
};

/** Returns whether the client has a message for it. */
export const isShown = ({ role, content, metadata, tool_calls = [] }: Message): boolean =>
  role !== 'tool' &&
  (metadata?.reasoning !== undefined || tool_calls.length > 0 || content.some((block) => partOf(block)));

/** The call, and what is shown below it. */
const callParts = (
  call: ToolCall,
  result: Message | undefined,
  suspension: Suspension | undefined,
): Part[] => {
  const open = suspension?.open ? suspension : undefined;
  const below = open && (accountPart(call.id, open) ?? belowPart(call.id, open));
  return [toolPart(call, result, suspension), ...(below ? [below] : [])];
};

/** Without `providerExecuted`, the client may respond to the call. */
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
    : { ...call, state: 'input-available', input: shown, ...(suspension.wait && { providerExecuted: true }) };
};

const parsed = (text: string): unknown => {
  // Text preserves all digits.
  if (inexactInteger(text) !== undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Only for data of a response; data that a user has sent is shown as the text that the model reads. */
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

/** The client requires a media type, but a stored link may have none. */
const filePart = (block: MediaBlock, assumed: string): Part => {
  const { source, title } = block;
  const mediaType = source.media_type ?? assumed;
  const url = urlOfMedia(block, mediaType);
  return { type: 'file', mediaType, url, ...(title !== undefined && { filename: title }) };
};
