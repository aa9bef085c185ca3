import { z } from 'zod';
import { type Json, JsonObject } from '../../schema/json.ts';
import type { ReasoningEffort, ToolChoice } from '../../schema/model-settings.ts';
import { outputSchemaProblem } from '../../schema/output.ts';
import type { InferenceOverrides } from '../../schema/run-overrides.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';
import { invalidValue, unsupportedParameter, unsupportedValue } from './errors.ts';

/**
 * Parameters that chat completions and responses share (openai.md 4): their schemas, and what they mean for the run.
 * Both kinds of request are converted to `GivenParameters` first, because they nest the same values differently.
 */

export const MOST_TOOLS = 128;
export const MOST_TOOL_SCHEMA_BYTES = 64 * 1024;
/** Messages of a chat completion, or input items of a response. */
export const MOST_ITEMS = 2048;
export const MOST_FILES = 32;
export const LONGEST_CALL_ID = 64;

/** In these requests, null means absent. */
export const given = <Schema extends z.ZodType>(schema: Schema) => schema.nullish();

const ToolName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
  .meta({ description: 'name of the function' });

const Effort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

/** Fields with the same name and form in both kinds of request. */
export const sharedFields = {
  temperature: given(z.number().min(0).max(2)),
  top_p: given(z.number().min(0).max(1)),
  presence_penalty: given(z.number().min(-2).max(2)),
  frequency_penalty: given(z.number().min(-2).max(2)),
  parallel_tool_calls: given(z.boolean()),
  metadata: given(
    z
      .record(z.string().max(64), z.string().max(512))
      .refine((entries) => Object.keys(entries).length <= 16, 'must have at most 16 fields'),
  ).meta({ description: 'kept with the run; `thread_id` names the thread of a chat completion' }),
  user: given(z.string()).meta({ description: 'kept and returned; it does not identify the end user' }),
  safety_identifier: given(z.string()),
  prompt_cache_key: given(z.string()),
  service_tier: given(z.string()).meta({ description: 'returned; the service has one tier' }),
  store: given(z.boolean()),
  stream: given(z.boolean()),
};

export const ReasoningEffortName = given(Effort);

/** A tool of a request; `function` is the only type that is supported, apart from the tool of the service itself. */
export const RequestTool = z.looseObject({ type: z.string() });

/** The definition of a function, which the tool of a chat completion nests and that of a response does not. */
export const FunctionFields = z.object({
  name: ToolName,
  description: given(z.string()),
  parameters: given(JsonObject),
  strict: given(z.boolean()),
});
export type FunctionTool = z.output<typeof FunctionFields>;

/** The format of the answer, which a chat completion nests and a response does not. */
export type AnswerFormat =
  | { type: 'text' }
  | { type: 'json_object' }
  | { type: 'json_schema'; name: string; schema: Json | undefined };

/** `allowed`: only these functions are offered. */
export type GivenChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { name: string }
  | { allowed: readonly string[]; mode: 'auto' | 'required' };

export type GivenParameters = {
  max_tokens?: number | null | undefined;
  temperature?: number | null | undefined;
  top_p?: number | null | undefined;
  presence_penalty?: number | null | undefined;
  frequency_penalty?: number | null | undefined;
  seed?: number | null | undefined;
  stop?: readonly string[] | undefined;
  effort?: z.output<typeof Effort> | null | undefined;
  format?: AnswerFormat | undefined;
  /** Path of the schema of the format, for errors. */
  formatAt: string;
  tools?: readonly FunctionTool[] | undefined;
  choice?: GivenChoice | undefined;
  parallel_tool_calls?: boolean | null | undefined;
};

/** The options of the run that the request starts (`RunOptions`). */
export type RunParameters = {
  overrides: InferenceOverrides | undefined;
  frontend_tools: readonly ToolDescriptor[];
  output_schema: JsonObject | undefined;
};

/** @throws OpenAiError */
export const runParameters = (parameters: GivenParameters): RunParameters => ({
  overrides: overridesOf(parameters),
  frontend_tools: clientTools(parameters),
  output_schema: outputSchema(parameters),
});

/** `minimal` and `low` are one effort here, as are `xhigh` and `max`. */
const EFFORTS = {
  none: 'none',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'max',
  max: 'max',
} as const satisfies Record<z.output<typeof Effort>, ReasoningEffort>;

const overridesOf = (parameters: GivenParameters): InferenceOverrides | undefined => {
  const { max_tokens, temperature, top_p, effort, seed, stop } = parameters;
  const { presence_penalty, frequency_penalty, parallel_tool_calls } = parameters;
  const tool_choice = toolChoice(parameters);
  if (!hasOverrides(parameters, tool_choice)) return undefined;
  const others = {
    ...(seed != null && { seed }),
    ...(stop !== undefined && stop.length > 0 && { stop: [...stop] }),
    ...(presence_penalty != null && { presence_penalty }),
    ...(frequency_penalty != null && { frequency_penalty }),
    ...(parallel_tool_calls != null && { parallel_tool_calls }),
    ...(tool_choice !== undefined && { tool_choice }),
  };
  const always = {
    upstream_model: null,
    temperature: temperature ?? null,
    max_tokens: max_tokens ?? null,
    top_p: top_p ?? null,
    reasoning_effort: effort == null ? null : EFFORTS[effort],
  };
  return { ...always, ...others };
};

/** Most requests leave the inference to the agent. */
const hasOverrides = (parameters: GivenParameters, tool_choice: ToolChoice | undefined): boolean => {
  const { max_tokens, temperature, top_p, effort, seed, stop } = parameters;
  const { presence_penalty, frequency_penalty, parallel_tool_calls } = parameters;
  return (
    tool_choice !== undefined ||
    (stop !== undefined && stop.length > 0) ||
    max_tokens != null ||
    temperature != null ||
    top_p != null ||
    effort != null ||
    seed != null ||
    presence_penalty != null ||
    frequency_penalty != null ||
    parallel_tool_calls != null
  );
};

/** The default is not an override: an agent may have a choice of its settings. */
const toolChoice = ({ choice }: GivenParameters): ToolChoice | undefined => {
  if (choice === undefined) return undefined;
  if (typeof choice === 'string') return choice;
  if ('name' in choice) return { tool: choice.name };
  return choice.mode === 'required' ? 'required' : undefined;
};

const NONE: readonly never[] = [];

/** @throws OpenAiError */
const clientTools = ({ tools = NONE, choice }: GivenParameters): readonly ToolDescriptor[] => {
  if (tools.length === 0) return NONE;
  const allowed = typeof choice === 'object' && 'allowed' in choice ? new Set(choice.allowed) : undefined;
  const seen = new Set<string>();
  for (const [index, { name, parameters }] of tools.entries()) {
    if (seen.has(name)) throw invalidValue(`tools[${index}]`, `the function '${name}' is declared twice`);
    seen.add(name);
    if (parameters && Buffer.byteLength(JSON.stringify(parameters)) > MOST_TOOL_SCHEMA_BYTES) {
      throw invalidValue(`tools[${index}]`, `the parameters have more than ${MOST_TOOL_SCHEMA_BYTES} bytes`);
    }
  }
  return tools
    .filter(({ name }) => allowed?.has(name) ?? true)
    .map(({ name, description, parameters }) => ({
      id: name,
      name,
      description: description ?? '',
      parameters: parameters ?? { type: 'object', properties: {} },
      category: null,
    }));
};

/** @throws OpenAiError */
const outputSchema = ({ format, formatAt }: GivenParameters): JsonObject | undefined => {
  if (format === undefined || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'object' };
  const problem = outputSchemaProblem(format.schema);
  if (problem !== undefined) throw invalidValue(formatAt, problem);
  // Only objects have no problem.
  return format.schema as JsonObject;
};

/** Parameters that change the answer in a way that an agent cannot follow. */
const UNSUPPORTED = new Map<string, (value: unknown) => boolean>(
  Object.entries({
    logprobs: (value: unknown) => value === true,
    top_logprobs: (value: unknown) => typeof value === 'number' && value > 0,
    logit_bias: (value: unknown) => typeof value === 'object' && Object.keys(value ?? {}).length > 0,
    audio: isGiven,
    modalities: (value: unknown) => Array.isArray(value) && value.includes('audio'),
    prediction: isGiven,
    functions: isGiven,
    function_call: isGiven,
    web_search_options: isGiven,
    prompt: isGiven,
  }),
);

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @throws OpenAiError for a parameter that is not supported */
export const refuseUnsupported = (body: unknown): void => {
  if (typeof body !== 'object' || body === null) return;
  for (const name of Object.keys(body)) {
    const isUnsupported = UNSUPPORTED.get(name);
    // An object, by the check above.
    if (isUnsupported?.((body as Record<string, unknown>)[name])) throw unsupportedParameter(name);
  }
};

/** Returns the given fields of a request among the named ones; undefined if it has none. */
export const givenFields = <Name extends string>(
  request: Partial<Record<Name, unknown>>,
  names: readonly Name[],
): Record<string, unknown> | undefined => {
  let fields: Record<string, unknown> | undefined;
  for (const name of names) {
    const value = request[name];
    if (value == null) continue;
    fields ??= {};
    fields[name] = value;
  }
  return fields;
};

/** The label of the tools of this service, for clients that require a declaration to resolve approvals. */
export const SERVER_LABEL = 'troupe';

/**
 * Returns the tools that are functions. A declaration of the service's own tools is accepted and changes nothing.
 * @throws OpenAiError for a tool of another type
 */
export const functionTools = <Tool extends z.output<typeof RequestTool>, Function>(
  tools: readonly Tool[],
  read: (tool: Tool, at: string) => Function,
): Function[] => {
  if (tools.length > MOST_TOOLS) throw invalidValue('tools', `must have at most ${MOST_TOOLS} items`);
  return tools.flatMap((tool, index) => {
    if (tool.type === 'function') return [read(tool, `tools[${index}]`)];
    if (tool.type === 'mcp' && tool.server_label === SERVER_LABEL) return [];
    throw unsupportedValue(
      `tools[${index}].type`,
      `a tool must be of type 'function', not '${tool.type}'; give the agent its tools instead`,
    );
  });
};
