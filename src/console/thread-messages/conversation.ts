import type { UIMessage } from 'ai';
import { isObject } from '../data/guard.ts';
import { parseJson } from '../data/json-text.ts';
import { type Message, textIn } from './messages.ts';

/**
 * Stored messages as the rows of a conversation. The result of a tool is part of the message with its call, as in a
 * chat that is still open.
 */

/** The fields of a stored message that a conversation needs. */
export type Said = Pick<Message, 'role' | 'content'> & Partial<Message>;

export type Row<M extends Said = Said> = { said: M; message: UIMessage };

type Part = UIMessage['parts'][number];
type ToolPart = Extract<Part, { type: 'dynamic-tool' }>;
type Block = Said['content'][number];

const FILES: ReadonlySet<unknown> = new Set(['image', 'audio', 'video', 'document']);

const textAt = (block: Block, key: string): string | undefined => {
  const value = block[key];
  return typeof value === 'string' ? value : undefined;
};

/** Undefined for a block without a source, which the current service never writes. */
const filePart = (block: Block): Part | undefined => {
  const { source } = block;
  if (!isObject(source)) return undefined;
  const known = textAt(source, 'media_type');
  const mediaType = known ?? (block.type === 'document' ? 'application/octet-stream' : `${block.type}/*`);
  const url = textAt(source, 'url') ?? `data:${mediaType};base64,${textAt(source, 'data') ?? ''}`;
  const filename = textAt(block, 'title');
  return { type: 'file', mediaType, url, ...(filename !== undefined && { filename }) };
};

/** A call that the model provider executed. */
const providerPart = ({ id, tool, input, output, error, status }: Block): Part => {
  const call = {
    type: 'dynamic-tool',
    toolName: String(tool),
    toolCallId: String(id),
    input: input ?? {},
    providerExecuted: true,
    callProviderMetadata: { troupe: { executedBy: 'provider' } },
  } as const;
  return status === 'completed'
    ? { ...call, state: 'output-available', output: output ?? {} }
    : { ...call, state: 'output-error', errorText: typeof error === 'string' ? error : String(status) };
};

/** A block of an unknown type is shown as JSON. */
const partOf = (block: Block): Part => {
  const { type } = block;
  if (type === 'text') return { type, text: textAt(block, 'text') ?? '' };
  if (type === 'thinking') return { type: 'reasoning', text: textAt(block, 'thinking') ?? '' };
  if (type === 'provider_call') return providerPart(block);
  if (type === 'source_url' || type === 'source_document') {
    const url = textAt(block, 'url') ?? '';
    const title = textAt(block, 'title') ?? url;
    const sourceId = String(block.id);
    return type === 'source_url'
      ? { type: 'source-url', sourceId, url, title }
      : { type: 'source-document', sourceId, mediaType: textAt(block, 'media_type') ?? '', title };
  }
  return (FILES.has(type) && filePart(block)) || { type: 'data-block', data: block };
};

const callPart = ({ id, name, arguments: input }: Message['tool_calls'][number]): ToolPart => ({
  type: 'dynamic-tool',
  toolName: name,
  toolCallId: id,
  state: 'input-available',
  input,
  providerExecuted: true,
});

/** The content of the message that stands for a result until there is one. */
const PLACEHOLDER = /^Tool '[^']*' suspended: /;

const parsed = (text: string): unknown => {
  const json = parseJson(text);
  return 'value' in json ? json.value : text;
};

const withResult = (call: ToolPart, said: Said): ToolPart => {
  const text = textIn(said);
  if (PLACEHOLDER.test(text)) return call;
  const { type, toolName, toolCallId, input } = call;
  return { type, toolName, toolCallId, state: 'output-available', input, output: parsed(text) };
};

/** A result whose call is not among the messages. */
const orphanPart = (said: Said): Part => ({ type: 'data-block', data: parsed(textIn(said)) });

const reasoningOf = ({ metadata }: Said): Part[] =>
  typeof metadata?.reasoning === 'string' ? [{ type: 'reasoning', text: metadata.reasoning }] : [];

const ROLES = ['user', 'assistant', 'system'] as const;

const partsOf = (said: Said): Part[] =>
  said.role === 'tool'
    ? [orphanPart(said)]
    : [...reasoningOf(said), ...said.content.map(partOf), ...(said.tool_calls ?? []).map(callPart)];

const rowOf = <M extends Said>(said: M, index: number): Row<M> => {
  const role = ROLES.find((known) => known === said.role) ?? 'assistant';
  return { said, message: { id: said.id ?? String(said.seq ?? index), role, parts: partsOf(said) } };
};

/** The rows of the messages, oldest first. A result belongs to the nearest earlier call with its id. */
export const rowsOf = <M extends Said>(messages: readonly M[]): Row<M>[] => {
  const rows: Row<M>[] = [];
  const calls = new Map<string | undefined, { parts: Part[]; at: number; call: ToolPart }>();
  for (const [index, said] of messages.entries()) {
    const known = said.role === 'tool' ? calls.get(said.tool_call_id) : undefined;
    if (known) {
      known.parts[known.at] = withResult(known.call, said);
      continue;
    }
    const row = rowOf(said, index);
    const { parts } = row.message;
    for (const [at, part] of parts.entries()) {
      if (part.type === 'dynamic-tool') calls.set(part.toolCallId, { parts, at, call: part });
    }
    rows.push(row);
  }
  return rows;
};
