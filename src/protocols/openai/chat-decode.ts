import { z } from 'zod';
import type { ImportedMessage, UserMessage } from '../../runtime/index.ts';
import { type Json, JsonObject } from '../../schema/json.ts';
import { jsonOrUndefined } from '../../schema/json-or-undefined.ts';
import { listOf } from '../../schema/list.ts';
import { mediaBlock } from '../../schema/media.ts';
import type { ContentBlock, InputBlock, ToolCall } from '../../schema/message.ts';
import { invalidValue, parseRequest, unsupportedValue } from './errors.ts';
import { checkBlocks, fileBlock, imageBlock } from './file-parts.ts';
import {
  FunctionFields,
  type FunctionTool,
  functionTools,
  type GivenChoice,
  type GivenParameters,
  given,
  givenFields,
  LONGEST_CALL_ID,
  MOST_FILES,
  MOST_ITEMS,
  MOST_TOOLS,
  ReasoningEffortName,
  RequestTool,
  type RunParameters,
  refuseUnsupported,
  runParameters,
  sharedFields,
} from './parameters.ts';

/** The body of a chat completion (openai.md 4, 6.1), converted to messages and options of a run. */

const Role = z.enum(['system', 'developer', 'user', 'assistant', 'tool']);

const Part = z.looseObject({ type: z.string() });
type Part = z.output<typeof Part>;

/** Parts of one message. */
const MOST_PARTS = 256;

const Content = z.union([z.string(), listOf(Part, MOST_PARTS)]);

const Call = z.looseObject({
  id: z.string().max(LONGEST_CALL_ID),
  type: z.string(),
  function: given(z.object({ name: z.string(), arguments: z.string() })),
});

const ChatMessage = z.object({
  role: Role,
  content: given(Content),
  refusal: given(z.string()),
  tool_calls: given(listOf(Call, MOST_TOOLS)),
  tool_call_id: given(z.string().max(LONGEST_CALL_ID)),
});
type ChatMessage = z.output<typeof ChatMessage>;

const Stop = z.union([z.string(), z.array(z.string().min(1).max(256)).max(4)]);

const Format = z.union([
  z.object({ type: z.enum(['text', 'json_object']) }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({ name: z.string(), schema: given(JsonObject), strict: given(z.boolean()) }),
  }),
]);

const Choice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
  z.object({
    type: z.literal('allowed_tools'),
    allowed_tools: z.object({
      mode: z.enum(['auto', 'required']),
      tools: listOf(z.looseObject({ function: given(z.object({ name: z.string() })) }), MOST_TOOLS),
    }),
  }),
]);

const Limit = z.int().min(1).max(4_294_967_295);

export const ChatBody = z
  .object({
    model: z.string().meta({ description: 'id of an agent' }),
    messages: listOf(ChatMessage, MOST_ITEMS).refine((list) => list.length > 0, 'must have at least 1 item'),
    stream_options: given(z.looseObject({ include_usage: given(z.boolean()) })),
    max_completion_tokens: given(Limit),
    max_tokens: given(Limit),
    n: given(z.int()),
    seed: given(z.int()),
    stop: given(Stop),
    reasoning_effort: ReasoningEffortName,
    response_format: given(Format),
    tools: given(listOf(RequestTool, MOST_TOOLS)),
    tool_choice: given(Choice),
    ...sharedFields,
    verbosity: given(z.string()),
  })
  .meta({
    id: 'OpenAiChatRequest',
    description: 'A chat completion. Unknown fields are ignored.',
    examples: [{ model: 'default', messages: [{ role: 'user', content: 'Hello' }] }],
  });

export type ChatRequest = {
  model: string;
  isStream: boolean;
  includesUsage: boolean;
  messages: readonly ImportedMessage[];
  /** References to stored files in the messages, with their paths. */
  references: ReadonlyMap<ContentBlock, string>;
  /** Texts of system and developer messages. */
  instructions: string | undefined;
  parameters: RunParameters;
  /** Whether the request limits the tokens of a completion. */
  isLimited: boolean;
  /** The thread that `metadata` names. */
  thread_id: string | undefined;
  echo: JsonObject | undefined;
};

/** @throws OpenAiError */
export const decodeChat = (body: unknown): ChatRequest => {
  refuseUnsupported(body);
  const request = parseRequest(ChatBody, body);
  if (request.n != null && request.n !== 1) throw unsupportedValue('n', 'must be 1');
  const max_tokens = request.max_completion_tokens ?? request.max_tokens;
  const files: Files = { left: MOST_FILES, references: new Map() };
  return {
    model: request.model,
    isStream: request.stream === true,
    includesUsage: request.stream_options?.include_usage === true,
    messages: request.messages.flatMap((message, index) => toMessage(message, `messages[${index}]`, files)),
    references: files.references,
    instructions: instructionsIn(request.messages),
    parameters: runParameters(parametersOf(request, max_tokens)),
    isLimited: max_tokens != null,
    thread_id: request.metadata?.thread_id,
    echo: echoOf(request),
  };
};

const parametersOf = (
  {
    tools,
    tool_choice,
    stop,
    response_format: format,
    reasoning_effort: effort,
    temperature,
    top_p,
    presence_penalty,
    frequency_penalty,
    parallel_tool_calls,
    seed,
  }: z.output<typeof ChatBody>,
  max_tokens: number | null | undefined,
): GivenParameters => {
  const functions = functionTools(tools ?? [], functionIn);
  return {
    temperature,
    top_p,
    presence_penalty,
    frequency_penalty,
    parallel_tool_calls,
    seed,
    max_tokens,
    effort,
    stop: stop == null || stop === '' ? undefined : typeof stop === 'string' ? [stop] : stop,
    format:
      format == null
        ? undefined
        : 'json_schema' in format
          ? {
              type: 'json_schema',
              name: format.json_schema.name,
              schema: format.json_schema.schema ?? undefined,
            }
          : { type: format.type },
    formatAt: 'response_format.json_schema.schema',
    tools: functions,
    choice: choiceOf(tool_choice ?? undefined, functions),
  };
};

const NestedFunction = z.object({ function: FunctionFields });

/** @throws OpenAiError */
const functionIn = (tool: unknown, at: string) => {
  const parsed = NestedFunction.safeParse(tool);
  if (parsed.success) return parsed.data.function;
  throw invalidValue(
    at,
    'must be a function with a name, such as {"type":"function","function":{"name":"f"}}',
  );
};

/** @throws OpenAiError for a function that the request does not declare */
const choiceOf = (
  choice: z.output<typeof Choice> | undefined,
  functions: readonly FunctionTool[],
): GivenChoice | undefined => {
  if (choice === undefined || typeof choice === 'string') return choice;
  if (choice.type === 'allowed_tools') {
    const { mode, tools } = choice.allowed_tools;
    return { mode, allowed: tools.flatMap((tool) => tool.function?.name ?? []) };
  }
  const { name } = choice.function;
  if (functions.every((each) => each.name !== name))
    throw invalidValue('tool_choice', `the function '${name}' is not one of the tools`);
  return { name };
};

const ECHOED = [
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'verbosity',
  'store',
] as const;

/** The schema allows only JSON in these fields. */
const echoOf = (request: z.output<typeof ChatBody>): JsonObject | undefined =>
  givenFields(request, ECHOED) as JsonObject | undefined;

const instructionsIn = (messages: readonly ChatMessage[]): string | undefined => {
  const texts = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => textIn(content))
    .filter((text) => text !== '');
  return texts.length === 0 ? undefined : texts.join('\n\n');
};

const textIn = (content: ChatMessage['content']): string => {
  if (content == null) return '';
  if (typeof content === 'string') return content;
  return content.map((part) => textOfPart(part) ?? '').join('');
};

const textOfPart = ({ type, text, refusal }: Part): string | undefined => {
  const given = type === 'refusal' ? refusal : text;
  return (type === 'text' || type === 'refusal') && typeof given === 'string' ? given : undefined;
};

type Files = { left: number; references: Map<ContentBlock, string> };

/** @param at path of the message @throws OpenAiError */
const toMessage = (message: ChatMessage, at: string, files: Files): ImportedMessage[] => {
  const { role, content } = message;
  switch (role) {
    case 'user':
      return [{ role, content: userContent(content, `${at}.content`, files) }];
    case 'assistant':
      return assistantMessage(message);
    case 'tool':
      if (message.tool_call_id == null) throw invalidValue(`${at}.tool_call_id`, 'is missing');
      return [{ role, content: textBlocks(textIn(content), true), tool_call_id: message.tool_call_id }];
    default:
      return [];
  }
};

const textBlocks = (text: string, isAlways = false): ContentBlock[] =>
  text === '' && !isAlways ? [] : [{ type: 'text', text }];

/** A message without a text and without calls says nothing. */
const assistantMessage = ({ content, refusal, tool_calls }: ChatMessage): ImportedMessage[] => {
  const calls = (tool_calls ?? []).flatMap(toCall);
  const blocks = textBlocks(textIn(content) || (refusal ?? ''));
  if (blocks.length === 0 && calls.length === 0) return [];
  return [{ role: 'assistant', content: blocks, ...(calls.length > 0 && { tool_calls: calls }) }];
};

/** Calls of other types than functions are not imported. */
const toCall = ({ id, function: called }: z.output<typeof Call>): ToolCall[] =>
  called ? [{ id, name: called.name, arguments: argumentsIn(called.arguments) }] : [];

/** Arguments that are not JSON are kept as they were written. */
const argumentsIn = (text: string): Json => {
  if (text.trim() === '') return {};
  const value = jsonOrUndefined(text);
  // Parsed JSON.
  return value === undefined ? text : (value as Json);
};

/** @throws OpenAiError */
const userContent = (content: ChatMessage['content'], at: string, files: Files): ContentBlock[] => {
  if (content == null || typeof content === 'string') return textBlocks(content ?? '', true);
  const blocks = content.map((part, index): InputBlock => toBlock(part, `${at}[${index}]`, files));
  checkBlocks(blocks, at);
  for (const [index, block] of blocks.entries()) {
    if ('source' in block && block.source.type === 'file') files.references.set(block, `${at}[${index}]`);
  }
  return blocks;
};

const FILE_PARTS = {
  image_url: z.object({ image_url: z.object({ url: z.string() }) }),
  input_audio: z.object({ input_audio: z.object({ data: z.string(), format: z.string() }) }),
  file: z.object({
    file: z.object({
      file_data: given(z.string()),
      file_id: given(z.string()),
      filename: given(z.string()),
    }),
  }),
};

/** @throws OpenAiError */
const toBlock = (part: Part, at: string, files: Files): InputBlock => {
  const text = textOfPart(part);
  if (text !== undefined && part.type === 'text') return { type: 'text', text };
  files.left -= 1;
  if (files.left < 0) throw invalidValue(at, `a request has at most ${MOST_FILES} files`);
  switch (part.type) {
    case 'image_url': {
      const { image_url } = read(FILE_PARTS.image_url, part, at);
      return namedBlock(imageBlock(image_url), at);
    }
    case 'input_audio': {
      const { data, format } = read(FILE_PARTS.input_audio, part, at).input_audio;
      const media_type = format === 'mp3' ? 'audio/mpeg' : `audio/${format}`;
      return mediaBlock(media_type, { type: 'base64', media_type, data });
    }
    case 'file': {
      const { file_data: data, ...named } = read(FILE_PARTS.file, part, at).file;
      return namedBlock(fileBlock({ ...named, data }), at);
    }
    default:
      throw invalidValue(
        `${at}.type`,
        "must be one of 'text', 'image_url', 'input_audio' and 'file', with its fields",
      );
  }
};

/** @throws OpenAiError */
const namedBlock = (block: InputBlock | undefined, at: string): InputBlock => {
  if (!block) throw invalidValue(at, 'must have file_data or file_id');
  return block;
};

const read = <Shape extends z.ZodType>(shape: Shape, part: Part, at: string): z.output<Shape> => {
  const parsed = shape.safeParse(part);
  if (parsed.success) return parsed.data;
  throw invalidValue(at, `has not the fields of a part of type '${part.type}'`);
};

/** The messages behind the last one of the assistant, and those up to it. */
export const splitAtLastAnswer = (
  messages: readonly ImportedMessage[],
): { before: readonly ImportedMessage[]; after: readonly ImportedMessage[] } => {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return { before: messages.slice(0, last + 1), after: messages.slice(last + 1) };
};

/** Input of a run consists of the messages of the user. */
export const userInput = (messages: readonly ImportedMessage[]): UserMessage[] =>
  messages.flatMap(({ role, content }) => (role === 'user' ? [{ role, content }] : []));
