import { isObject } from '../../../src/schema/endpoint.ts';
import { hasLoneSurrogate } from './lone-surrogates.ts';
import { problemsOfOutput, problemsOfSchema } from './strict-schema.ts';

/**
 * Checks the body of a Chat Completions request like the strictest services: for each rule, some service is documented
 * or reported to reject a request.
 */

export type StrictRules = {
  /** Reasoning fields that the service accepts in assistant messages. */
  reasoning?: readonly string[];
  /** DeepSeek: a message with calls requires `reasoning_content`. */
  reasoningRequired?: boolean;
  /** OpenAI's reasoning models. */
  reasons?: boolean;
  /** Name of an OpenAI model, for the rules of single models. */
  upstream?: string;
};

const FIELDS = [
  'model',
  'messages',
  'tools',
  'tool_choice',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'reasoning_effort',
  'prompt_cache_key',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'parallel_tool_calls',
  'verbosity',
  'service_tier',
  'response_format',
];
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

const isObjectWith = (value: unknown, holds: (fields: Record<string, unknown>) => boolean): boolean =>
  isObject(value) && holds(value);

/** Parts of user messages. */
const PARTS: Record<string, (part: Record<string, unknown>) => boolean> = {
  text: ({ text }) => isWritten(text),
  image_url: ({ image_url }) =>
    isObjectWith(image_url, ({ url }) =>
      /^(https?:|data:image\/(png|jpeg|webp|gif);base64,)/.test(String(url)),
    ),
  input_audio: ({ input_audio }) =>
    isObjectWith(
      input_audio,
      ({ data, format }) => isWritten(data) && (format === 'wav' || format === 'mp3'),
    ),
  file: ({ file }) =>
    isObjectWith(
      file,
      ({ filename, file_data }) =>
        isWritten(filename) && /^data:application\/pdf;base64,/.test(String(file_data)),
    ),
};

/** The reasons for which the service would reject the request. */
export const problemsOfChat = (body: unknown, rules: StrictRules = {}): string[] => {
  const problems: string[] = [];
  const must = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };
  if (!isObject(body)) return ['the body is not an object'];
  // A strict parser rejects a lone surrogate.
  must(!hasLoneSurrogate(JSON.stringify(body)), 'the body contains a lone surrogate');
  for (const name of Object.keys(body)) must(FIELDS.includes(name), `the field ${name} is unknown`);
  must(typeof body.model === 'string' && body.model !== '', 'no model');
  must(body.stream === true, 'no stream');
  if (rules.reasons) {
    for (const name of ['max_tokens', 'temperature', 'top_p', 'stop'])
      must(!(name in body), `${name} is not allowed`);
  }
  checkSettings(body, rules, must);
  if ('tools' in body) checkTools(body.tools, must);
  if ('tool_choice' in body) checkChoice(body, rules, must);
  if ('response_format' in body) checkFormat(body.response_format, must);
  if (!Array.isArray(body.messages) || body.messages.length === 0) return [...problems, 'no messages'];
  checkMessages(body.messages, rules, must);
  return problems;
};

type Must = (holds: boolean, problem: string) => void;

/** Efforts that OpenAI documents for a family. */
const EFFORTS: readonly [name: RegExp, efforts: readonly string[]][] = [
  [/^o\d/, ['low', 'medium', 'high']],
  [/^gpt-5(?!\.)/, ['minimal', 'low', 'medium', 'high']],
  [/^gpt-5\.1/, ['none', 'low', 'medium', 'high']],
  [/^gpt-4/, []],
];

const checkSettings = (
  { stop, tools, parallel_tool_calls, verbosity, reasoning_effort }: Record<string, unknown>,
  { upstream = '' }: StrictRules,
  must: Must,
): void => {
  must(stop === undefined || (Array.isArray(stop) && stop.length <= 4), 'more than 4 stop sequences');
  const parallel = parallel_tool_calls !== undefined;
  must(!parallel || tools !== undefined, 'parallel_tool_calls is only allowed when tools are specified');
  must(!parallel || !/^o\d/.test(upstream), 'parallel_tool_calls is not supported with this model');
  const efforts = EFFORTS.find(([name]) => name.test(upstream))?.[1];
  const accepts = efforts === undefined || efforts.includes(String(reasoning_effort));
  must(reasoning_effort === undefined || accepts, `the effort ${reasoning_effort} is not supported`);
  must(
    verbosity === undefined || !/^(o\d|gpt-4)/.test(upstream),
    'verbosity is not supported with this model',
  );
};

const checkFormat = (format: unknown, must: Must): void => {
  must(isObject(format) && format.type === 'json_schema', 'response_format has another type');
  for (const problem of problemsOfOutput(isObject(format) ? format.json_schema : undefined))
    must(false, `response_format: ${problem}`);
};

const checkChoice = (
  { tools, tool_choice: choice }: Record<string, unknown>,
  { reasoningRequired }: StrictRules,
  must: Must,
): void => {
  must(Array.isArray(tools), 'tool_choice is only allowed when tools are specified');
  const named = isObject(choice) && isObject(choice.function) ? choice.function.name : undefined;
  const offered = Array.isArray(tools) && tools.some((tool) => tool.function.name === named);
  must(['auto', 'none', 'required'].includes(String(choice)) || offered, 'tool_choice names no tool');
  const forces = choice === 'required' || isObject(choice);
  must(!reasoningRequired || !forces, 'Thinking mode does not support this tool_choice');
};

const checkTools = (tools: unknown, must: Must): void => {
  must(Array.isArray(tools) && tools.length > 0, 'tools must be a list that is not empty');
  const names = new Set<unknown>();
  for (const tool of Array.isArray(tools) ? tools : []) {
    const { name, parameters } = tool.function;
    must(NAME.test(name), `the tool name ${name} is invalid`);
    must(!names.has(name), `the tool name ${name} is repeated`);
    for (const problem of problemsOfSchema(parameters)) must(false, `the tool ${name}: ${problem}`);
    must(isObject(parameters?.properties), `the tool ${name}: object schema missing properties`);
    names.add(name);
  }
};

const checkMessages = (messages: readonly unknown[], rules: StrictRules, must: Must): void => {
  let open = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    if (!isObject(message)) {
      must(false, `${at} is not an object`);
      continue;
    }
    if (message.role === 'tool') {
      must(open.delete(message.tool_call_id), `${at}: ${message.tool_call_id} is not an open call`);
      must(typeof message.content === 'string', `${at}: no content`);
      continue;
    }
    must(open.size === 0, `${at}: calls without results`);
    if (message.role === 'assistant') open = checkAssistant(message, at, rules, must);
    else if (message.role === 'user') checkContent(message.content, at, must);
    else {
      must(message.role === 'system' || message.role === 'developer', `${at}: role ${message.role}`);
      must(isWritten(message.content), `${at}: blank text`);
    }
  }
  must(open.size === 0, 'calls without results at the end');
};

const isWritten = (text: unknown): boolean => typeof text === 'string' && text.trim() !== '';

const checkContent = (content: unknown, at: string, must: Must): void => {
  if (!Array.isArray(content)) {
    must(isWritten(content), `${at}: blank text`);
    return;
  }
  must(content.length > 0, `${at}: no content`);
  for (const part of content)
    must(PARTS[part.type]?.(part) === true, `${at}: ${JSON.stringify(part).slice(0, 100)}`);
};

const checkAssistant = (
  message: Record<string, unknown>,
  at: string,
  { reasoning = [], reasoningRequired }: StrictRules,
  must: Must,
): Set<unknown> => {
  const { content, tool_calls: calls } = message;
  for (const name of Object.keys(message)) {
    const isKnown = ['role', 'content', 'tool_calls', ...reasoning].includes(name);
    must(isKnown, `${at}: property '${name}' is unsupported`);
  }
  must(isWritten(content) || (content === null && calls !== undefined), `${at}: blank text`);
  const ids = new Set<unknown>();
  if (calls === undefined) return ids;
  if (!Array.isArray(calls) || calls.length === 0) {
    must(false, `${at}: tool_calls must be a list that is not empty`);
    return ids;
  }
  if (reasoningRequired)
    must(typeof message.reasoning_content === 'string', `${at}: Missing reasoning_content`);
  for (const { id, type, function: called } of calls) {
    must(ID.test(id) && !ids.has(id), `${at}: the id ${id} is invalid or repeated`);
    must(type === 'function' && NAME.test(called.name), `${at}: the name ${called.name} is invalid`);
    must(isObject(JSON.parse(called.arguments)), `${at}: the arguments are not an object`);
    ids.add(id);
  }
  return ids;
};
