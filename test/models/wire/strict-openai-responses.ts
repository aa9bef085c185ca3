import type { JsonObject } from '../../../src/schema/json.ts';
import { hasLoneSurrogate } from './lone-surrogates.ts';
import { isBuiltInItem, rejectedBuiltInItem, rejectedBuiltInTools } from './strict-provider-tools.ts';
import { problemsOfOutput, problemsOfSchema } from './strict-schema.ts';

/** Checks a request of the Responses protocol like OpenAI; returns the reason for a rejection, or undefined. */
export const rejectionOf = (body: JsonObject): string | undefined => {
  const unknown = Object.keys(body).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) return `Unknown parameter: '${unknown}'`;
  if (typeof body.model !== 'string' || body.stream !== true || body.store !== false)
    return 'model, stream, store';
  const input = body.input as JsonObject[];
  if (!Array.isArray(input) || input.length === 0) return "Missing required parameter: 'input'";
  if (hasLoneSurrogate(JSON.stringify(body))) return 'invalid unicode';
  return (
    rejectedSetting(body) ??
    rejectedText(body) ??
    rejectedBuiltInTools(body) ??
    rejectedTool(body) ??
    rejectedChoice(body) ??
    rejectedItems(input)
  );
};

const FIELDS = new Set([
  'model',
  'input',
  'max_output_tokens',
  'temperature',
  'top_p',
  'include',
  'reasoning',
  'prompt_cache_key',
  'store',
  'tools',
  'tool_choice',
  'max_tool_calls',
  'stream',
  'parallel_tool_calls',
  'text',
  'service_tier',
]);

const REASONS = /^(openai\/)?(o\d|gpt-[56](?!-chat))/;

const rejectedSetting = ({ model, temperature, top_p, reasoning, include, prompt_cache_key }: JsonObject) => {
  const reasons = REASONS.test(String(model));
  const effort = (reasoning as JsonObject | undefined)?.effort;
  const includesReasoning = Array.isArray(include) && include.includes('reasoning.encrypted_content');
  if (!reasons && (reasoning !== undefined || includesReasoning)) return "Unsupported parameter: 'reasoning'";
  if (reasons && effort !== undefined && !effortsOf(String(model)).includes(String(effort)))
    return `Unsupported value: '${String(effort)}' is not supported with the '${String(model)}' model`;
  const mayBeSampled = effort === 'none' && String(model).includes('gpt-5.1');
  if (reasons && !mayBeSampled && (temperature ?? top_p) !== undefined)
    return "Unsupported parameter: 'temperature'";
  return typeof prompt_cache_key === 'string' && prompt_cache_key.length > 64
    ? "Invalid 'prompt_cache_key'"
    : undefined;
};

/** Text output: its verbosity and its schema. */
const rejectedText = ({ text = {} }: JsonObject): string | undefined => {
  const { verbosity, format, ...rest } = text as JsonObject;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) return `Unknown parameter: 'text.${unknown}'`;
  if (verbosity !== undefined && !LOW_TO_HIGH.includes(String(verbosity))) return "Invalid 'text.verbosity'";
  if (format === undefined) return undefined;
  if ((format as JsonObject).type !== 'json_schema') return "Invalid value: 'text.format.type'";
  const [problem] = problemsOfOutput(format);
  return problem === undefined ? undefined : `text.format: ${problem}`;
};

const LOW_TO_HIGH = ['low', 'medium', 'high'];

/** Documented efforts of OpenAI for the model families in the tests. */
const EFFORTS: readonly [name: RegExp, efforts: readonly string[]][] = [
  [/gpt-5(?!\.)/, ['minimal', ...LOW_TO_HIGH]],
  [/gpt-5\.1/, ['none', ...LOW_TO_HIGH]],
  [/gpt-6-sol/, ['none', ...LOW_TO_HIGH, 'xhigh', 'max']],
  [/gpt-6/, [...LOW_TO_HIGH, 'xhigh', 'max']],
];

const effortsOf = (model: string): readonly string[] =>
  EFFORTS.find(([name]) => name.test(model))?.[1] ?? LOW_TO_HIGH;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const rejectedTool = ({ tools = [] }: JsonObject): string | undefined => {
  const names = new Set<unknown>();
  for (const tool of tools as JsonObject[]) {
    if (tool.type !== 'function') continue;
    if (!NAME.test(String(tool.name)) || names.has(tool.name)) return 'tool name';
    const [problem] = problemsOfSchema(tool.parameters);
    if (problem !== undefined) return `Invalid schema for function '${String(tool.name)}': ${problem}`;
    names.add(tool.name);
  }
  return undefined;
};

const rejectedChoice = ({ tools, tool_choice: choice }: JsonObject): string | undefined => {
  if (choice === undefined) return undefined;
  if (!Array.isArray(tools)) return "Invalid 'tool_choice': no tools";
  if (typeof choice === 'string')
    return ['auto', 'none', 'required'].includes(choice) ? undefined : "Invalid value: 'tool_choice'";
  const { type, name } = choice as JsonObject;
  const offered = (tools as JsonObject[]).some((tool) => tool.name === name);
  return type === 'function' && offered ? undefined : "Invalid 'tool_choice'";
};

const rejectedItems = (input: readonly JsonObject[]): string | undefined => {
  const open = new Set<unknown>();
  const ids = new Set<unknown>();
  for (const [index, item] of input.entries()) {
    const rejected = isBuiltInItem(item)
      ? (rejectedBuiltInItem(item) ?? 'fine')
      : CHECKS[String(item.type ?? item.role)]?.(item, { open, ids, next: input[index + 1] });
    if (rejected !== 'fine') return `input[${index}]: ${rejected ?? 'unknown type or role'}`;
  }
  return open.size > 0 ? `No tool output found for function call ${[...open].join()}` : undefined;
};

const NOTHING_AROUND: Around = { open: new Set(), ids: new Set(), next: undefined };

type Around = { open: Set<unknown>; ids: Set<unknown>; next: JsonObject | undefined };
type Check = (item: JsonObject, around: Around) => string;

const isBlank = (text: unknown): boolean => typeof text !== 'string' || text.trim() === '';

const systemText: Check = ({ content }) => (isBlank(content) ? 'blank content' : 'fine');

const contentCheck =
  (types: Record<string, (part: JsonObject) => boolean>): Check =>
  ({ content }) => {
    if (!Array.isArray(content) || content.length === 0) return 'empty content';
    const isFine = (part: JsonObject) => types[String(part.type)]?.(part) === true;
    return (content as JsonObject[]).every(isFine) ? 'fine' : `Invalid value in ${JSON.stringify(content)}`;
  };

const CHECKS: Record<string, Check> = {
  system: systemText,
  developer: systemText,
  user: contentCheck({
    input_text: ({ text }) => !isBlank(text),
    input_image: ({ image_url }) =>
      /^(https?:|data:image\/(png|jpeg|webp|gif);base64,)/.test(String(image_url)),
    input_file: ({ file_url, file_data, filename }) =>
      file_url === undefined
        ? /^data:application\/pdf;base64,/.test(String(file_data)) && !isBlank(filename)
        : /^https?:/.test(String(file_url)),
  }),
  assistant: contentCheck({ output_text: ({ text }) => !isBlank(text) }),
  function_call({ call_id, name, arguments: args }, { open, ids }) {
    if (!NAME.test(String(name)) || !NAME.test(String(call_id)))
      return `Invalid name or call_id ${String(call_id)}`;
    if (ids.has(call_id)) return `Duplicate item found with id ${String(call_id)}`;
    if (!String(args).startsWith('{')) return 'arguments are no object';
    JSON.parse(String(args));
    open.add(call_id);
    ids.add(call_id);
    return 'fine';
  },
  function_call_output({ call_id, output }, { open }) {
    if (typeof output !== 'string' && CHECKS.user?.({ content: output ?? null }, NOTHING_AROUND) !== 'fine')
      return 'output is neither a text nor a list of content';
    return open.delete(call_id) ? 'fine' : `No tool call found for function call output ${String(call_id)}`;
  },
  reasoning({ id, summary, encrypted_content }, { ids, next }) {
    if (!Array.isArray(summary)) return "Missing required parameter: 'summary'";
    if (isBlank(encrypted_content)) return `Item '${String(id)}' not found: items are not persisted`;
    if (id !== undefined && ids.has(id)) return `Duplicate item found with id ${String(id)}`;
    ids.add(id);
    return next?.type === 'reasoning' ||
      isBuiltInItem(next ?? {}) ||
      next?.type === 'function_call' ||
      next?.role === 'assistant'
      ? 'fine'
      : `Item '${String(id)}' was provided without its required following item`;
  },
};
