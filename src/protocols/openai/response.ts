import { z } from 'zod';
import { RESPONSE_STATUSES, type ResponseStatus } from '../../../machines/response.ts';
import { JsonObject } from '../../schema/json.ts';
import type { Termination } from '../../schema/run.ts';
import { failureOf } from '../../schema/run-failure.ts';
import type { ResponseEcho, ResponseUsage, StoredResponse } from '../../schema/stored-response.ts';
import { conversationId, responseId, unixSeconds } from './ids.ts';
import { OutputItem } from './output.ts';

/** The resource of a response (openai-responses.md 7.3). Every key is always present, and numbers are never null. */

const text = z.string().nullable();

const Usage = z.object({
  input_tokens: z.int(),
  input_tokens_details: z.object({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.object({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});

export const FunctionToolEcho = z.object({
  type: z.literal('function'),
  name: z.string(),
  description: text,
  parameters: JsonObject.nullable(),
  strict: z.boolean().nullable(),
});

const fields = {
  id: z.string(),
  object: z.literal('response'),
  created_at: z.int().meta({ description: 'seconds since the epoch' }),
  completed_at: z.int().nullable().meta({ description: 'null unless it is completed' }),
  status: z.enum(RESPONSE_STATUSES),
  background: z.boolean(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  incomplete_details: z.object({ reason: z.string() }).nullable(),
  model: z.string(),
  instructions: text,
  previous_response_id: text,
  conversation: z.object({ id: z.string() }).meta({ description: 'the thread' }),
  output: z.array(OutputItem),
  tools: z.array(FunctionToolEcho).meta({ description: 'the functions of the request' }),
  tool_choice: z.union([z.string(), JsonObject]),
  parallel_tool_calls: z.boolean(),
  max_tool_calls: z.int().nullable(),
  max_output_tokens: z.int().nullable(),
  reasoning: z.object({ effort: text, summary: text }),
  text: z.object({ format: JsonObject, verbosity: z.string() }),
  temperature: z.number(),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: z.int(),
  truncation: z.enum(['auto', 'disabled']),
  service_tier: z.string(),
  store: z.boolean(),
  metadata: z.record(z.string(), z.string()),
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  usage: Usage.nullable().meta({ description: 'null until it has ended' }),
};

/** The resource in events. */
export const ResponseInEvent = z.object(fields);
export type ResponseResource = z.output<typeof ResponseInEvent>;

export const ResponseResource = z
  .object({ ...fields, output_text: z.string().meta({ description: 'the texts of the output' }) })
  .meta({ id: 'OpenAiResponse', description: 'A response: one leg of a run.' });

/**
 * @param status that of the time, which an event may have reported before the row had a later one
 * @param output the items so far; empty before the end of a stream
 */
export const resourceOf = (
  row: StoredResponse,
  output: readonly OutputItem[],
  status: ResponseStatus = row.status,
): ResponseResource => ({
  ...beginningOf(row, status),
  output: [...output],
  ...DEFAULTS,
  ...row.echo,
  tools: toolsIn(row.echo),
  usage: usageAt(row, status),
});

/**
 * Returns the JSON of `resourceOf`: a stream contains the resource three times, with the same parameters.
 *
 * @param items JSON of the output
 */
export const encodeResource = (
  row: StoredResponse,
  items: readonly string[],
  status: ResponseStatus,
): string => {
  const beginning = JSON.stringify(beginningOf(row, status)).slice(0, -1);
  const usage = JSON.stringify(usageAt(row, status));
  return `${beginning},"output":[${items.join(',')}],${encodeParameters(row.echo)},"usage":${usage}}`;
};

/** The fields that depend on the state of the leg, up to its output. */
const beginningOf = (
  { run_id, leg, thread_id, created_at, ended_at, error, reason, status: last }: StoredResponse,
  status: ResponseStatus,
) => ({
  id: responseId({ run_id, leg }),
  object: 'response' as const,
  created_at: unixSeconds(created_at),
  completed_at: status === 'completed' && ended_at !== undefined ? unixSeconds(ended_at) : null,
  status,
  error: status === last && error ? error : null,
  incomplete_details: status === last && reason !== undefined ? { reason } : null,
  conversation: { id: conversationId(thread_id) },
});

const usageAt = ({ status: last, usage }: StoredResponse, status: ResponseStatus) =>
  status === last && usage ? usageOf(usage) : null;

/** The parameters of a request that gives none. */
const DEFAULTS = {
  background: false,
  instructions: null,
  previous_response_id: null,
  tools: [],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  max_tool_calls: null,
  max_output_tokens: null,
  reasoning: { effort: null, summary: null },
  text: { format: { type: 'text' }, verbosity: 'medium' },
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  truncation: 'disabled',
  service_tier: 'default',
  store: true,
  metadata: {},
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
} as const;

// The route has stored them in this form.
const toolsIn = ({ tools = [] }: ResponseEcho) => tools as ResponseResource['tools'];

const fieldsIn = (echo: ResponseEcho): string =>
  JSON.stringify({ ...DEFAULTS, ...echo, tools: toolsIn(echo) }).slice(1, -1);

/** The fields of a request that gives the model alone, as most do, up to its name. */
const PLAIN_FIELDS = fieldsIn({ model: '' }).slice(0, -'""'.length);

const encodeParameters = (echo: ResponseEcho): string =>
  Object.keys(echo).length > 1 ? fieldsIn(echo) : PLAIN_FIELDS + JSON.stringify(echo.model);

const usageOf = ({ input, output, cached, written, reasoning }: ResponseUsage): z.output<typeof Usage> => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: input + output,
});

/** Returns the texts of the output, as the official clients join them. */
export const outputTextOf = (output: readonly OutputItem[]): string =>
  output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');

export const withOutputText = (resource: ResponseResource): z.output<typeof ResponseResource> => ({
  ...resource,
  output_text: outputTextOf(resource.output),
});

/** Why a leg is incomplete, or its error, by the end of its run (openai-responses.md 7.3). */
export const endingOf = (
  termination: Termination,
  isTruncated: boolean,
): Pick<StoredResponse, 'reason' | 'error'> => {
  const failure = failureOf(termination);
  switch (termination.type) {
    case 'cancelled':
      return { reason: 'cancelled' };
    case 'blocked':
      return { reason: 'content_filter' };
    case 'error':
      return { error: { code: errorCode(failure?.message ?? ''), message: failure?.message ?? '' } };
    case 'stopped':
      if (WANTED.includes(termination.value.code)) break;
      return { reason: REASONS[termination.value.code] ?? termination.value.code };
  }
  return isTruncated ? { reason: 'max_output_tokens' } : {};
};

const WANTED: readonly string[] = ['stop_on_tool', 'content_match'];

const REASONS: Readonly<Record<string, string>> = { token_budget: 'max_output_tokens' };

/** The loop prefixes the class of the failure to its message. */
const errorCode = (message: string): string =>
  CODES.find(([pattern]) => pattern.test(message))?.[1] ?? 'server_error';

const CODES: readonly (readonly [RegExp, string])[] = [
  [/^inference failed: rate limited/, 'rate_limit_exceeded'],
  [/^inference failed: (invalid request|context overflow|content filtered)/, 'invalid_prompt'],
];
