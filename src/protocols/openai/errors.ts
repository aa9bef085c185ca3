import { z } from 'zod';
import { type ErrorForm, internalError, Refusal } from '../../http/errors.ts';
import { reply } from '../../http/reply.ts';
import {
  BudgetExhausted,
  Conflict,
  Forbidden,
  Gone,
  InsufficientStorage,
  Invalid,
  NotFound,
  Outcome,
  RateLimited,
  TooLarge,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '../../schema/outcome.ts';
import { pathText, phrases, toProblem } from '../../schema/phrases.ts';

/**
 * Errors in the form of OpenAI (openai.md 2.3, 2.4). Clients branch on the status and on `code`; official clients
 * repeat a request after 408, 409, 429 and 5xx unless `x-should-retry` forbids it.
 */

export const ERROR_TYPES = [
  'invalid_request_error',
  'insufficient_quota',
  'rate_limit_error',
  'server_error',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

export const ERROR_CODES = [
  'missing_required_parameter',
  'invalid_type',
  'invalid_value',
  'unsupported_parameter',
  'unsupported_value',
  'previous_response_not_found',
  'context_length_exceeded',
  'invalid_api_key',
  'budget_exceeded',
  'forbidden',
  'model_not_found',
  'unsupported_endpoint',
  'conversation_locked',
  'thread_busy',
  'request_too_large',
  'rate_limit_exceeded',
  'overloaded',
  'storage_unavailable',
  'storage_full',
  'timeout',
] as const;
export type OpenAiErrorCode = (typeof ERROR_CODES)[number];

type ErrorFields = {
  type?: ErrorType;
  /** Path of the rejected parameter, such as `messages[1].content`. */
  param?: string | null;
  code?: OpenAiErrorCode | null;
  headers?: Readonly<Record<string, string>>;
};

/** A rejection in the form of the protocol. */
export class OpenAiError extends Error {
  /** HTTP status. */
  readonly status: number;
  readonly type: ErrorType;
  readonly param: string | null;
  readonly code: OpenAiErrorCode | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    { type = 'invalid_request_error', param = null, code = null, headers = {} }: ErrorFields = {},
  ) {
    super(message);
    this.name = 'OpenAiError';
    this.status = status;
    this.type = type;
    this.param = param;
    this.code = code;
    this.headers = headers;
  }
}

export const ErrorEnvelope = z
  .object({
    error: z.object({
      message: z.string(),
      type: z.enum(ERROR_TYPES),
      param: z.string().nullable().meta({ description: 'path of the rejected parameter' }),
      code: z.string().nullable(),
    }),
  })
  .meta({ id: 'OpenAiError', description: 'An error in the OpenAI format.' });

/** For the documentation of routes. */
export const OPENAI_ERRORS = { schema: ErrorEnvelope, prefix: 'OpenAi' };

export const errorBody = ({ message, type, param, code }: OpenAiError): z.input<typeof ErrorEnvelope> => ({
  error: { message, type, param, code },
});

export const NO_RETRY = { 'x-should-retry': 'false' } as const;
export const MAY_RETRY = { 'x-should-retry': 'true' } as const;

/** The form of all errors below the prefixes of the protocol, those of the HTTP layer included. */
export const openAiErrors: ErrorForm = (error, requestId) => {
  const known = asOpenAiError(error, requestId);
  return reply(known.status, errorBody(known), known.headers);
};

export const asOpenAiError = (error: unknown, requestId: string): OpenAiError => {
  if (error instanceof OpenAiError) return error;
  if (error instanceof Refusal) return refused(error);
  const row = error instanceof Outcome ? OUTCOMES.find(([kind]) => error instanceof kind) : undefined;
  // The run of the request may have been accepted before the failure.
  if (!row || !(error instanceof Outcome)) {
    return new OpenAiError(500, internalError(requestId), { type: 'server_error', headers: NO_RETRY });
  }
  const [, status, fields] = row;
  const after = error.retryAfterSecs;
  const headers = {
    ...fields.headers,
    ...(after !== undefined && { 'retry-after': String(after) }),
  };
  return new OpenAiError(status, error.message, { ...fields, headers });
};

type Row = readonly [abstract new (...given: never[]) => Outcome, number, ErrorFields];

const OUTCOMES: readonly Row[] = [
  [Invalid, 400, { code: 'invalid_value' }],
  [Unprocessable, 400, { code: 'invalid_value' }],
  [Unauthorized, 401, { code: 'invalid_api_key', headers: { 'www-authenticate': 'Bearer' } }],
  [BudgetExhausted, 402, { type: 'insufficient_quota', code: 'budget_exceeded' }],
  [Forbidden, 403, { code: 'forbidden' }],
  [NotFound, 404, {}],
  [Gone, 404, {}],
  [Conflict, 409, { code: 'thread_busy', headers: NO_RETRY }],
  [TooLarge, 413, { code: 'request_too_large' }],
  [InsufficientStorage, 507, { type: 'server_error', code: 'storage_full', headers: NO_RETRY }],
  [RateLimited, 429, { type: 'rate_limit_error', code: 'rate_limit_exceeded' }],
  [
    Unavailable,
    503,
    { type: 'server_error', code: 'storage_unavailable', headers: { ...MAY_RETRY, 'retry-after': '1' } },
  ],
];

/** Rejections by the HTTP layer, by status. */
const REFUSALS: Readonly<Record<number, ErrorFields>> = {
  401: { code: 'invalid_api_key' },
  403: { code: 'forbidden' },
  413: { code: 'request_too_large' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  500: { type: 'server_error', headers: NO_RETRY },
  503: { type: 'server_error', code: 'overloaded', headers: MAY_RETRY },
};

const refused = ({ status, message, headers }: Refusal): OpenAiError => {
  const fields = REFUSALS[status] ?? {};
  return new OpenAiError(status, message, { ...fields, headers: { ...fields.headers, ...headers } });
};

/**
 * Parses the body of a request.
 * @throws OpenAiError that names the first rejected parameter
 */
export const parseRequest = <Shape extends z.ZodType>(shape: Shape, body: unknown): z.output<Shape> => {
  const parsed = shape.safeParse(body);
  if (parsed.success) return parsed.data;
  // Only a rejected request is described, because a parse with descriptions costs three times as much.
  const [issue] = shape.safeParse(body, phrases).error?.issues ?? [];
  throw issue ? rejected(issue) : new OpenAiError(400, 'the request is invalid');
};

const rejected = (issue: z.core.$ZodIssue): OpenAiError => {
  const { path, text, missing, isOfWrongType } = toProblem(issue);
  const param = pathText(path);
  if (param === '') return new OpenAiError(400, `The request body ${text}.`, { code: 'invalid_type' });
  if (missing) {
    return new OpenAiError(400, `Missing required parameter: '${param}'.`, {
      param,
      code: 'missing_required_parameter',
    });
  }
  const code = isOfWrongType ? 'invalid_type' : 'invalid_value';
  const what = isOfWrongType ? 'type' : 'value';
  return new OpenAiError(400, `Invalid ${what} for '${param}': ${text}.`, { param, code });
};

export const invalidValue = (param: string, problem: string): OpenAiError =>
  new OpenAiError(400, `Invalid value for '${param}': ${problem}.`, { param, code: 'invalid_value' });

export const unsupportedValue = (param: string, problem: string): OpenAiError =>
  new OpenAiError(400, `Unsupported value for '${param}': ${problem}.`, { param, code: 'unsupported_value' });

export const unsupportedParameter = (param: string): OpenAiError =>
  new OpenAiError(400, `Unsupported parameter: '${param}' is not supported by this service.`, {
    param,
    code: 'unsupported_parameter',
  });

export const modelNotFound = (model: string): OpenAiError =>
  new OpenAiError(404, `The model '${model}' does not exist or you do not have access to it.`, {
    param: 'model',
    code: 'model_not_found',
  });

/** A referenced file does not exist, or is not the caller's. */
export const fileNotFound = (id: string, param: string | null = null): OpenAiError =>
  new OpenAiError(400, `file not found: ${id}`, { param, code: 'invalid_value' });

/** @param param `messages` of a chat completion, `input` of a response */
export const noToolOutput = (call_id: string, param: string): OpenAiError =>
  new OpenAiError(400, `No tool output found for function call ${call_id}.`, { param });

/** Another request's run executes on the thread, and may execute for longer than a client repeats. */
export const threadBusy = (thread_id: string): OpenAiError =>
  new OpenAiError(409, `Thread '${thread_id}' executes a run.`, { code: 'thread_busy', headers: NO_RETRY });

export const conversationLocked = (conversation: string): OpenAiError =>
  new OpenAiError(409, `Conversation '${conversation}' is locked: a response is being generated.`, {
    code: 'conversation_locked',
    headers: MAY_RETRY,
  });

/** @param use names the alternative */
export const unsupportedEndpoint = (method: string, path: string, use: string): OpenAiError =>
  new OpenAiError(404, `${method} ${path} is not served: ${use}.`, { code: 'unsupported_endpoint' });

export const unknownUrl = (method: string, path: string): OpenAiError =>
  new OpenAiError(404, `Unknown request URL: ${method} ${path}.`);

export const methodNotAllowed = (method: string, path: string, allowed: readonly string[]): OpenAiError =>
  new OpenAiError(405, `${method} is not allowed on ${path}, only ${allowed.join(', ')}.`, {
    headers: { allow: allowed.join(', ') },
  });

/** The request waited for longer than `openai.blocking_wait_ms`. The run of one with a key is not cancelled. */
export const timedOut = (headers: Readonly<Record<string, string>>, isKeyed: boolean): OpenAiError => {
  const effect = isKeyed ? 'its run continues: repeat it with the same key' : 'its run was cancelled';
  return new OpenAiError(504, `The request timed out, and ${effect}.`, {
    type: 'server_error',
    code: 'timeout',
    headers: { ...headers, ...(isKeyed ? MAY_RETRY : NO_RETRY) },
  });
};

/** The failure of an accepted run, from its termination (`failureOf`). */
export const failedRun = (
  { message, code }: { message: string; code?: string },
  headers: Readonly<Record<string, string>> = {},
): OpenAiError => {
  const [, status, fields] = FAILURES.find(([pattern]) => pattern.test(code ?? message)) ?? UNKNOWN_FAILURE;
  return new OpenAiError(status, message, { ...fields, headers: { ...headers, ...NO_RETRY } });
};

/** The loop prefixes the class of the failure to its message. */
const FAILURES: readonly (readonly [RegExp, number, ErrorFields])[] = [
  [/^budget_exceeded$/, 402, { type: 'insufficient_quota', code: 'budget_exceeded' }],
  [/^inference failed: rate limited/, 429, { type: 'rate_limit_error', code: 'rate_limit_exceeded' }],
  [/^inference failed: context overflow/, 400, { code: 'context_length_exceeded' }],
];

const UNKNOWN_FAILURE = [/^/, 500, { type: 'server_error' }] as const satisfies (typeof FAILURES)[number];
