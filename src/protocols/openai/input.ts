import { z } from 'zod';
import type { ImportedMessage } from '../../runtime/index.ts';
import type { Json } from '../../schema/json.ts';
import { jsonOrUndefined } from '../../schema/json-or-undefined.ts';
import { listOf } from '../../schema/list.ts';
import type { ContentBlock, InputBlock } from '../../schema/message.ts';
import { invalidValue, OpenAiError, unsupportedValue } from './errors.ts';
import { checkBlocks, fileBlock, imageBlock } from './file-parts.ts';
import { given, LONGEST_CALL_ID, MOST_FILES, MOST_ITEMS } from './parameters.ts';

/**
 * Items of the input of a response, and of a conversation, converted to messages and to what answers a waiting run
 * (openai-responses.md 7.2). Items are checked here only; their order and ids are interpreted by `position.ts`.
 */

/** An item, with the id that the client has sent. */
export type InputEntry = { id: string | undefined; at: string } & (
  | { kind: 'message'; role: 'user' | 'system' | 'assistant'; content: ContentBlock[] }
  | { kind: 'call'; call_id: string; name: string; arguments: Json }
  | { kind: 'output'; call_id: string; text: string }
  | { kind: 'approval'; request: string; approve: boolean; reason: string | undefined }
  /** A call of the agent that the client returns as part of a history. */
  | { kind: 'own_call'; name: string; arguments: Json; output: string | undefined }
  | { kind: 'reference'; reference: string }
  /** Has no meaning here, such as reasoning: the service has its own. */
  | { kind: 'ignored' }
);

const Part = z.looseObject({ type: z.string() });

const Item = z.looseObject({
  type: given(z.string()),
  id: given(z.string()),
  role: given(z.string()),
});
type Item = z.output<typeof Item>;

/** The `input` of a request; its items are validated by `decodeInput`, which names their type. */
export const Input = z.union([z.string(), listOf(Item, MOST_ITEMS)]).meta({
  description: 'a text of the user, or items',
});
export type Input = z.output<typeof Input>;

/** @throws OpenAiError that names the item */
export const decodeInput = (input: Input, at = 'input'): InputEntry[] => {
  if (typeof input === 'string') {
    const content: ContentBlock[] = [{ type: 'text', text: input }];
    return [{ kind: 'message', role: 'user', content, id: undefined, at }];
  }
  const files = { left: MOST_FILES };
  return input.map((item, index) => decodeItem(item, `${at}[${index}]`, files));
};

type Files = { left: number };
type Decode = (item: Item, at: string, files: Files) => DistributiveOmit<InputEntry, 'id' | 'at'>;
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

const decodeItem = (item: Item, at: string, files: Files): InputEntry => {
  const type = item.type ?? (item.role == null ? 'item_reference' : 'message');
  const decode = Object.hasOwn(ITEMS, type) ? ITEMS[type] : undefined;
  if (!decode) throw unsupportedValue(`${at}.type`, `items of type '${type}' are not supported`);
  // The parts of the union keep their fields.
  return { ...decode(item, at, files), id: item.id ?? undefined, at } as InputEntry;
};

const ROLES: Readonly<Record<string, 'user' | 'system' | 'assistant'>> = {
  user: 'user',
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
};

const Message = z.object({ role: z.string(), content: z.union([z.string(), z.array(Part)]) });
const Call = z.object({ call_id: z.string().max(LONGEST_CALL_ID), name: z.string(), arguments: z.string() });
const Output = z.object({
  call_id: z.string().max(LONGEST_CALL_ID),
  output: z.union([z.string(), z.array(Part)]),
});
const OwnCall = z.object({ name: z.string(), arguments: z.string(), output: given(z.string()) });
const Approval = z.object({
  approval_request_id: z.string(),
  approve: z.boolean(),
  reason: given(z.string()),
});
const Reference = z.object({ id: z.string() });

const ITEMS: Readonly<Record<string, Decode>> = {
  message(item, at, files) {
    const { role: named, content } = read(Message, item, at);
    const role = Object.hasOwn(ROLES, named) ? ROLES[named] : undefined;
    if (!role)
      throw invalidValue(`${at}.role`, "must be one of 'user', 'assistant', 'system' and 'developer'");
    return { kind: 'message', role, content: toBlocks(content, role, `${at}.content`, files) };
  },
  function_call(item, at) {
    const { call_id, name, arguments: args } = read(Call, item, at);
    return { kind: 'call', call_id, name, arguments: argumentsIn(args) };
  },
  function_call_output(item, at) {
    const { call_id, output } = read(Output, item, at);
    return { kind: 'output', call_id, text: outputText(output) };
  },
  mcp_call(item, at) {
    const { name, arguments: args, output } = read(OwnCall, item, at);
    return { kind: 'own_call', name, arguments: argumentsIn(args), output: output ?? undefined };
  },
  mcp_approval_response(item, at) {
    const { approval_request_id: request, approve, reason } = read(Approval, item, at);
    return { kind: 'approval', request, approve, reason: reason ?? undefined };
  },
  item_reference: (item, at) => ({ kind: 'reference', reference: read(Reference, item, at).id }),
  reasoning: () => ({ kind: 'ignored' }),
  mcp_list_tools: () => ({ kind: 'ignored' }),
  mcp_approval_request: () => ({ kind: 'ignored' }),
};

/** @throws OpenAiError */
const read = <Shape extends z.ZodType>(shape: Shape, item: Item, at: string): z.output<Shape> => {
  const parsed = shape.safeParse(item);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  const value = field === '' ? undefined : item[field];
  const param = field === '' ? at : `${at}.${field}`;
  if (value === undefined || value === null)
    throw new OpenAiError(400, `Missing required parameter: '${param}'.`, {
      param,
      code: 'missing_required_parameter',
    });
  throw new OpenAiError(400, `Invalid type for '${param}'.`, { param, code: 'invalid_type' });
};

/** Arguments that are not JSON are kept as they were written. */
const argumentsIn = (text: string): Json => {
  if (text.trim() === '') return {};
  const value = jsonOrUndefined(text);
  // Parsed JSON.
  return value === undefined ? text : (value as Json);
};

type GivenPart = z.output<typeof Part>;

/** Files of a result are named, because the result of a call is a text. */
const outputText = (output: string | readonly GivenPart[]): string =>
  typeof output === 'string'
    ? output
    : output.map((part) => (typeof part.text === 'string' ? part.text : `[${part.type}]`)).join('');

const textOfPart = ({ type, text, refusal }: GivenPart): string | undefined => {
  const value = type === 'refusal' ? refusal : text;
  const isText = type === 'input_text' || type === 'output_text' || type === 'text' || type === 'refusal';
  return isText && typeof value === 'string' ? value : undefined;
};

/** @throws OpenAiError */
const toBlocks = (
  content: string | readonly GivenPart[],
  role: 'user' | 'system' | 'assistant',
  at: string,
  files: Files,
): ContentBlock[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const blocks = content.map((part, index): InputBlock => toBlock(part, role, `${at}[${index}]`, files));
  checkBlocks(blocks, at);
  return blocks;
};

const FILE_PARTS = {
  input_image: z.object({ image_url: given(z.string()), file_id: given(z.string()) }),
  input_file: z.object({
    file_id: given(z.string()),
    file_url: given(z.string()),
    file_data: given(z.string()),
    filename: given(z.string()),
  }),
};

/** @throws OpenAiError */
const toBlock = (part: GivenPart, role: string, at: string, files: Files): InputBlock => {
  const text = textOfPart(part);
  if (text !== undefined) return { type: 'text', text };
  files.left -= 1;
  if (role === 'user' && files.left < 0) throw invalidValue(at, `a request has at most ${MOST_FILES} files`);
  if (role === 'user' && part.type === 'input_image') return imageOf(part, at);
  if (role === 'user' && part.type === 'input_file') return fileOf(part, at);
  const types = role === 'user' ? "'input_text', 'input_image' and 'input_file'" : 'a text';
  throw invalidValue(`${at}.type`, `must be one of ${types}, with its fields`);
};

/** @throws OpenAiError */
const imageOf = (part: GivenPart, at: string): InputBlock => {
  const { image_url: url, file_id } = read(FILE_PARTS.input_image, part, at);
  const block = imageBlock({ file_id, url });
  if (!block) throw invalidValue(at, 'must have image_url or file_id');
  return block;
};

/** @throws OpenAiError */
const fileOf = (part: GivenPart, at: string): InputBlock => {
  const { file_url: url, file_data: data, ...named } = read(FILE_PARTS.input_file, part, at);
  const block = fileBlock({ ...named, url, data });
  if (!block) throw invalidValue(at, 'must have file_id, file_url or file_data');
  return block;
};

/** Returns messages for the history of a thread, in the order of the items. */
export const importedFrom = (entries: readonly InputEntry[]): ImportedMessage[] => {
  const messages: ImportedMessage[] = [];
  for (const entry of entries) {
    const last = messages.at(-1);
    switch (entry.kind) {
      case 'message':
        messages.push({ role: entry.role, content: entry.content });
        break;
      case 'call': {
        const { call_id: id, name, arguments: args } = entry;
        addCall(messages, last, { id, name, arguments: args });
        break;
      }
      case 'output':
        messages.push(resultOf(entry.call_id, entry.text));
        break;
      case 'own_call': {
        const id = entry.id ?? `call_${messages.length}`;
        addCall(messages, last, { id, name: entry.name, arguments: entry.arguments });
        if (entry.output !== undefined) messages.push(resultOf(id, entry.output));
      }
    }
  }
  return messages;
};

const resultOf = (tool_call_id: string, text: string): ImportedMessage => ({
  role: 'tool',
  tool_call_id,
  content: [{ type: 'text', text }],
});

/** Calls of one step are in one message. */
const addCall = (
  messages: ImportedMessage[],
  last: ImportedMessage | undefined,
  call: NonNullable<ImportedMessage['tool_calls']>[number],
): void => {
  if (last?.role !== 'assistant') messages.push({ role: 'assistant', content: [], tool_calls: [call] });
  else messages[messages.length - 1] = { ...last, tool_calls: [...(last.tool_calls ?? []), call] };
};

/** Divides items for a new thread: the history up to the last item of the agent, and the input behind it. */
export const splitInput = (
  entries: readonly InputEntry[],
): { history: readonly InputEntry[]; input: readonly InputEntry[] } => {
  const last = entries.findLastIndex(
    (entry) => entry.kind !== 'ignored' && (entry.kind !== 'message' || entry.role === 'assistant'),
  );
  return { history: entries.slice(0, last + 1), input: entries.slice(last + 1) };
};

/** The value of a result of a function: its JSON, or the text. */
export const outputValue = (text: string): Json => {
  const value = jsonOrUndefined(text);
  return value === undefined ? text : (value as Json);
};
