import { z } from 'zod';
import { textWithoutData } from '../../schema/media.ts';
import type { ContentBlock, ListedMessage, ToolCall } from '../../schema/message.ts';
import { isRewound, textOf } from '../../schema/message.ts';
import { callId, outputItemId, parseItemId, storedItemId } from './ids.ts';
import { sourcesIn } from './items.ts';
import {
  annotationsFor,
  callResult,
  FunctionCallItem,
  McpCallItem,
  MessageItem,
  outputText,
  ReasoningItem,
  reasoningItem,
} from './output.ts';

/**
 * Messages of a thread as items of a conversation, and of the input of a response (openai-responses.md 7.6, 8). Every thread can be
 * read so, whichever protocol has made its messages.
 */

const status = z.literal('completed');

const InputText = z.object({ type: z.literal('input_text'), text: z.string() });
const InputImage = z.object({
  type: z.literal('input_image'),
  image_url: z.string().nullable(),
  file_id: z.string().nullable(),
  detail: z.literal('auto'),
});
const InputFile = z.object({
  type: z.literal('input_file'),
  filename: z.string().optional(),
  file_data: z.string().optional(),
  file_url: z.string().optional(),
  file_id: z.string().optional(),
});
const InputContent = z.discriminatedUnion('type', [InputText, InputImage, InputFile]);
type InputContent = z.output<typeof InputContent>;

const InputMessage = z.object({
  id: z.string(),
  type: z.literal('message'),
  role: z.enum(['user', 'system']),
  content: z.array(InputContent),
  status,
});

const FunctionOutput = z.object({
  id: z.string(),
  type: z.literal('function_call_output'),
  call_id: z.string(),
  output: z.string(),
  status,
});

const ApprovalResponse = z.object({
  id: z.string(),
  type: z.literal('mcp_approval_response'),
  approval_request_id: z.string(),
  approve: z.boolean(),
  reason: z.string().nullable(),
});

export const ConversationItem = z
  .union([
    InputMessage,
    MessageItem,
    ReasoningItem,
    FunctionCallItem,
    FunctionOutput,
    McpCallItem,
    ApprovalResponse,
  ])
  .meta({
    id: 'OpenAiConversationItem',
    description: 'An item of a conversation or of an input, by `type`.',
  });
export type ConversationItem = z.output<typeof ConversationItem>;

/** The message of an item, and its part: several items may be of one message. */
export type ItemOfMessage = { item: ConversationItem; message_id: string; seq: number };

/** A run of these routes. */
export type RunFacts = {
  /** The calls that the client of the run executes, with their numbers among those of the run. */
  functions: ReadonlyMap<string, number>;
  /** The last result of each call. */
  results: ReadonlyMap<string, string>;
};

/** Returns undefined for a run of another protocol. */
export type FindRun = (run_id: string) => RunFacts | undefined;

/** Results of functions are separate items; those of other calls are part of the calls. */
export const itemsOfMessage = (message: ListedMessage, findRun: FindRun): ItemOfMessage[] => {
  const { id: message_id, seq, visibility } = message;
  if (visibility !== undefined || isRewound(message)) return [];
  const run_id = message.metadata?.run_id;
  const run = run_id === undefined ? undefined : findRun(run_id);
  return itemsIn(message, run).map((item) => ({ item, message_id, seq }));
};

const itemsIn = (message: ListedMessage, run: RunFacts | undefined): ConversationItem[] => {
  switch (message.role) {
    case 'assistant':
      return assistantItems(message, run);
    case 'tool':
      return functionOutput(message, run);
    default:
      return [inputMessage(message)];
  }
};

const inputMessage = ({ id, role, content, seq }: ListedMessage): ConversationItem => ({
  id: parseItemId(id) ? id : storedItemId(seq),
  type: 'message',
  role: role === 'system' ? 'system' : 'user',
  content: content.flatMap(inputContent),
  status: 'completed',
});

const inputContent = (block: ContentBlock): InputContent[] => {
  if (block.type === 'text') return [{ type: 'input_text', text: block.text }];
  if (!('source' in block)) return [];
  const { source } = block;
  const filename = block.title === undefined ? {} : { filename: block.title };
  if (source.type === 'file') {
    const { file_id } = source;
    return block.type === 'image'
      ? [{ type: 'input_image', image_url: null, file_id, detail: 'auto' }]
      : [{ type: 'input_file', ...filename, file_id }];
  }
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`;
  if (block.type === 'image') return [{ type: 'input_image', image_url: url, file_id: null, detail: 'auto' }];
  return [
    { type: 'input_file', ...filename, ...(source.type === 'url' ? { file_url: url } : { file_data: url }) },
  ];
};

const FIRST = { reasoning: 0, message: 1, call: 2 } as const;

const assistantItems = (message: ListedMessage, run: RunFacts | undefined): ConversationItem[] => {
  const { content, metadata, tool_calls = [] } = message;
  const idAt = idsOf(message, run);
  const items: ConversationItem[] = [];
  const reasoning = reasoningIn(message);
  if (reasoning !== '') items.push(reasoningItem(idAt('rs', FIRST.reasoning), reasoning));
  const text = textWithoutData(content);
  if (text !== '')
    items.push({
      id: idAt('msg', FIRST.message),
      type: 'message',
      role: 'assistant',
      content: [outputText(text, annotationsFor(referencesIn(content), text.length))],
      phase: tool_calls.length > 0 ? 'commentary' : 'final_answer',
      status: 'completed',
    });
  const calls = tool_calls.map((call, index) =>
    callItem(call, { run, run_id: metadata?.run_id }, (prefix) => idAt(prefix, FIRST.call + index)),
  );
  return [...items, ...calls];
};

const referencesIn = (content: readonly ContentBlock[]) => ({
  sources: sourcesIn(content),
  files: content.flatMap((block) =>
    'source' in block && block.source.type === 'file' ? block.source.file_id : [],
  ),
});

const reasoningIn = ({ content, metadata }: ListedMessage): string =>
  [
    metadata?.reasoning ?? '',
    ...content.map((block) => (block.type === 'thinking' ? block.thinking : '')),
  ].join('');

const callItem = (
  { id, name, arguments: value }: ToolCall,
  { run, run_id }: { run: RunFacts | undefined; run_id: string | undefined },
  idFor: (prefix: 'fc' | 'mcp') => string,
): ConversationItem => {
  const given = { name, arguments: JSON.stringify(value) };
  const ordinal = run?.functions.get(id);
  if (run && ordinal === undefined) {
    const result = run.results.get(id);
    const shown = result === undefined ? IN_PROGRESS : callResult(result, false);
    return {
      id: idFor('mcp'),
      type: 'mcp_call',
      server_label: 'troupe',
      ...given,
      approval_request_id: null,
      ...shown,
    };
  }
  const call_id = ordinal !== undefined && run_id !== undefined ? callId({ run_id, ordinal }) : id;
  return { id: idFor('fc'), type: 'function_call', call_id, ...given, status: 'completed' };
};

const IN_PROGRESS = { output: null, error: null, status: 'in_progress' } as const;

/** Returns a function for the ids of the items of a message. Items of one message that was imported differ by suffix. */
const idsOf = (
  { metadata, seq }: ListedMessage,
  run: RunFacts | undefined,
): ((prefix: 'rs' | 'msg' | 'fc' | 'mcp', ordinal: number) => string) => {
  const { run_id, step_index: step } = metadata ?? {};
  if (run && run_id !== undefined && step !== undefined)
    return (prefix, ordinal) => outputItemId({ prefix, run_id, step, ordinal });
  return (_, ordinal) => (ordinal === FIRST.message ? storedItemId(seq) : `${storedItemId(seq)}_${ordinal}`);
};

const functionOutput = (
  { tool_call_id, content, metadata, seq }: ListedMessage,
  run: RunFacts | undefined,
): ConversationItem[] => {
  if (tool_call_id === undefined) return [];
  const ordinal = run?.functions.get(tool_call_id);
  if (run && ordinal === undefined) return [];
  const run_id = metadata?.run_id;
  const call_id = ordinal !== undefined && run_id !== undefined ? callId({ run_id, ordinal }) : tool_call_id;
  return [functionOutputItem(storedItemId(seq), call_id, textOf(content))];
};

/** The item of an input that is not a message. */
export const approvalResponse = (
  id: string,
  { request, approve, reason }: { request: string; approve: boolean; reason?: string },
): ConversationItem => ({
  id,
  type: 'mcp_approval_response',
  approval_request_id: request,
  approve,
  reason: reason ?? null,
});

export const functionOutputItem = (id: string, call_id: string, output: string): ConversationItem => ({
  id,
  type: 'function_call_output',
  call_id,
  output,
  status: 'completed',
});
