import { z } from 'zod';
import type { Json } from '../../schema/json.ts';
import { JsonObject } from '../../schema/json.ts';
import { listOf } from '../../schema/list.ts';
import type { ResponseEcho } from '../../schema/stored-response.ts';
import { invalidValue, OpenAiError, parseRequest } from './errors.ts';
import { decodeInput, Input, type InputEntry } from './input.ts';
import {
  FunctionFields,
  type FunctionTool,
  functionTools,
  type GivenChoice,
  given,
  givenFields,
  MOST_TOOLS,
  ReasoningEffortName,
  RequestTool,
  type RunParameters,
  refuseUnsupported,
  runParameters,
  sharedFields,
} from './parameters.ts';

/** The body of `POST /v1/responses` (openai-responses.md 7.2). */

const Format = z.union([
  z.object({ type: z.enum(['text', 'json_object']) }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: z.string(),
    schema: z.custom<Json>(),
    strict: given(z.boolean()),
  }),
]);

const Choice = z.union([
  z.enum(['auto', 'none', 'required']),
  z.object({ type: z.literal('function'), name: z.string() }),
  z.looseObject({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']),
    tools: listOf(z.looseObject({ name: given(z.string()) }), MOST_TOOLS),
  }),
]);

const MOST_INCLUDED = 32;

const Conversation = z.union([z.string(), z.object({ id: z.string() })]);

export const ResponseBody = z
  .object({
    ...sharedFields,
    model: given(z.string()).meta({ description: 'id of an agent; default: that of the position' }),
    input: given(Input),
    instructions: given(z.string()).meta({ description: 'for this response only' }),
    previous_response_id: given(z.string()),
    conversation: given(Conversation),
    background: given(z.boolean()),
    max_output_tokens: given(z.int().min(1).max(4_294_967_295)).meta({ description: 'of each inference' }),
    max_tool_calls: given(z.int().min(1)),
    reasoning: given(z.looseObject({ effort: ReasoningEffortName, summary: given(z.string()) })),
    text: given(z.looseObject({ format: given(Format), verbosity: given(z.string()) })),
    tools: given(listOf(RequestTool, MOST_TOOLS)),
    tool_choice: given(Choice),
    truncation: given(z.enum(['auto', 'disabled'])),
    include: given(listOf(z.string(), MOST_INCLUDED)),
  })
  .meta({
    id: 'OpenAiResponseRequest',
    description: 'A response. Unknown fields are ignored.',
    examples: [{ model: 'default', input: 'Hello' }],
  });
type Body = z.output<typeof ResponseBody>;

export type ResponseRequest = {
  model: string | undefined;
  entries: readonly InputEntry[];
  instructions: string | undefined;
  previous: string | undefined;
  conversation: string | undefined;
  isStream: boolean;
  isBackground: boolean;
  isStored: boolean;
  /** Whether the request limits the tokens of a completion. */
  isLimited: boolean;
  encrypted: boolean;
  parameters: RunParameters;
  /** Without the model, which the route knows. */
  echo: Omit<ResponseEcho, 'model'>;
};

/** @throws OpenAiError */
export const decodeResponse = (body: unknown): ResponseRequest => {
  refuseUnsupported(body);
  const request = parseRequest(ResponseBody, body);
  const conversation = conversationIn(request);
  const previous = request.previous_response_id ?? undefined;
  if (previous !== undefined && conversation !== undefined)
    throw invalidValue('previous_response_id', "must not be combined with 'conversation'");
  const isStored = request.store !== false;
  const isBackground = request.background === true;
  if (isBackground && !isStored) throw invalidValue('background', "requires 'store'");
  const functions = functionTools(request.tools ?? [], functionIn);
  return {
    model: request.model ?? undefined,
    entries: decodeInput(request.input ?? []),
    instructions: request.instructions ?? undefined,
    previous,
    conversation,
    isStream: request.stream === true,
    isBackground,
    isStored,
    isLimited: request.max_output_tokens != null,
    encrypted: request.include?.includes('reasoning.encrypted_content') === true,
    parameters: parametersOf(request, functions),
    echo: echoOf(request, functions),
  };
};

const conversationIn = ({ conversation }: Body): string | undefined => {
  if (conversation == null) return undefined;
  return typeof conversation === 'string' ? conversation : conversation.id;
};

/** @throws OpenAiError */
const functionIn = (tool: unknown, at: string): FunctionTool => {
  const parsed = FunctionFields.safeParse(tool);
  if (parsed.success) return parsed.data;
  throw invalidValue(at, 'must be a function with a name, such as {"type":"function","name":"f"}');
};

const parametersOf = (request: Body, functions: readonly FunctionTool[]): RunParameters => {
  const { max_output_tokens: max_tokens, reasoning, text, tool_choice } = request;
  const { temperature, top_p, presence_penalty, frequency_penalty, parallel_tool_calls } = request;
  return runParameters({
    temperature,
    top_p,
    presence_penalty,
    frequency_penalty,
    parallel_tool_calls,
    max_tokens,
    effort: reasoning?.effort,
    format: formatOf(text?.format),
    formatAt: 'text.format.schema',
    tools: functions,
    choice: choiceOf(tool_choice ?? undefined, functions),
  });
};

const formatOf = (format: z.output<typeof Format> | null | undefined) => {
  if (format == null) return undefined;
  return 'schema' in format
    ? ({ type: 'json_schema', name: format.name, schema: format.schema } as const)
    : { type: format.type };
};

/** @throws OpenAiError for a function that the request does not declare */
const choiceOf = (
  choice: z.output<typeof Choice> | undefined,
  functions: readonly FunctionTool[],
): GivenChoice | undefined => {
  if (choice === undefined || typeof choice === 'string') return choice;
  if (choice.type === 'allowed_tools')
    return { mode: choice.mode, allowed: choice.tools.flatMap(({ name }) => name ?? []) };
  const { name } = choice;
  if (functions.every((each) => each.name !== name))
    throw invalidValue('tool_choice', `the function '${name}' is not one of the tools`);
  return { name };
};

const ECHOED = [
  'background',
  'store',
  'parallel_tool_calls',
  'max_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'truncation',
  'metadata',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'instructions',
  'previous_response_id',
] as const satisfies (keyof Body)[];

const echoOf = (request: Body, functions: readonly FunctionTool[]): Omit<ResponseEcho, 'model'> => {
  const { reasoning, text, tool_choice } = request;
  return {
    ...givenFields(request, ECHOED),
    ...(functions.length > 0 && { tools: functions.map(toolEcho) }),
    ...(tool_choice != null && { tool_choice: asJson(tool_choice) }),
    ...(reasoning && {
      reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    }),
    ...(text && {
      text: {
        format: JsonObject.parse(text.format ?? { type: 'text' }),
        verbosity: text.verbosity ?? 'medium',
      },
    }),
  };
};

const asJson = (choice: z.output<typeof Choice>): JsonObject | string =>
  typeof choice === 'string' ? choice : JsonObject.parse(choice);

const toolEcho = ({ name, description, parameters, strict }: FunctionTool): JsonObject => ({
  type: 'function',
  name,
  description: description ?? null,
  parameters: parameters ?? null,
  strict: strict ?? null,
});

export const previousNotFound = (id: string): OpenAiError =>
  new OpenAiError(400, `Previous response with id '${id}' not found.`, {
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  });

export const responseNotFound = (id: string): OpenAiError =>
  new OpenAiError(404, `Response with id '${id}' not found.`);

export const conversationNotFound = (id: string): OpenAiError =>
  new OpenAiError(404, `Conversation with id '${id}' not found.`);

export const itemNotFound = (id: string): OpenAiError =>
  new OpenAiError(404, `Item with id '${id}' not found.`, { param: 'input' });
