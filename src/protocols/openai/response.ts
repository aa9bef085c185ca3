import { z } from 'zod';
import { RESPONSE_STATUSES, type ResponseStatus } from '../../../machines/response.ts';
import { JsonObject } from '../../schema/json.ts';
import type { Termination } from '../../schema/run.ts';
import { failureOf } from '../../schema/run-failure.ts';
import type { ResponseUsage, StoredResponse } from '../../schema/stored-response.ts';
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
): ResponseResource => {
  const { run_id, leg, echo, thread_id, created_at, ended_at, error, reason, usage } = row;
  const isCompleted = status === 'completed';
  const isEnded = status === row.status;
  return {
    id: responseId({ run_id, leg }),
    object: 'response',
    created_at: unixSeconds(created_at),
    completed_at: isCompleted && ended_at !== undefined ? unixSeconds(ended_at) : null,
    status,
    error: isEnded && error ? error : null,
    incomplete_details: isEnded && reason !== undefined ? { reason } : null,
    conversation: { id: conversationId(thread_id) },
    output: [...output],
    ...DEFAULTS,
    ...echo,
    // The route has stored them in this form.
    tools: (echo.tools ?? []) as ResponseResource['tools'],
    usage: isEnded && usage ? usageOf(usage) : null,
  };
};

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
