import { jsonOrUndefined } from '../schema/json-or-undefined.ts';
import { BOUNDS } from './bounds.ts';
import { ModelError, type ModelErrorClass } from './errors.ts';
import type { InferenceUsage } from './model.ts';
import { isRefusal, readRefusal, refusalIn } from './reason.ts';

/**
 * Converts the errors of a transport or a provider to a `ModelError` (agent-loop.md 10.1): by HTTP status if there is
 * one, else by the text. Rows are tried in order; the first match decides.
 */

const BY_STATUS: Readonly<Record<number, ModelErrorClass>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'model_not_found',
  408: 'timeout',
  413: 'context_overflow',
  422: 'invalid_request',
  429: 'rate_limited',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
};

const OVERFLOW =
  /prompt is too long|context_length_exceeded|context length|input is too long|maximum context length|reduce the length|too many tokens|request too large/i;
const FILTERED =
  /content[ _-]?filter|content[ _-]?management[ _-]?policy|content[ _-]?policy[ _-]?violation|responsibleaipolicy/i;

/** Bedrock is still loading the model. */
const LOADING = /ModelNotReadyException/i;

const BY_TEXT: readonly [pattern: RegExp, kind: ModelErrorClass][] = [
  [OVERFLOW, 'context_overflow'],
  [FILTERED, 'content_filtered'],
  [/overloaded|\b(503|529)\b/i, 'overloaded'],
  [/\brate\b|rate[_-]limit|\b429\b/i, 'rate_limited'],
  [/timed?[ _-]?out|\b(408|504)\b/i, 'timeout'],
];

/** The equivalent HTTP status of such a failure; the loop includes it when a stream is interrupted. */
const STATUS_OF: Partial<Record<ModelErrorClass, number>> = {
  rate_limited: 429,
  overloaded: 529,
  timeout: 504,
  provider: 500,
};

/** Classifies a failure that occurred before any output. */
export const toModelError = (error: unknown): ModelError => {
  const own = ownFailure(error);
  if (own) return own;
  const broken = brokenStream(error);
  if (broken) return broken;
  return ofText(
    textOf(error),
    error instanceof Error ? undefined : readRefusal(error).status,
    keptCause(error),
  );
};

/** A response with an error status. `message`: the status line's text, or the message of a package. */
export type Refused = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body, or its beginning. */
  body: string;
  message: string;
};

export const toRefusal = ({ status, headers, body, message }: Refused): ModelError => {
  const retryAfterSeconds = retryAfter(headers);
  const { reason } = refusalIn(body);
  const type = headers['x-amzn-errortype'];
  return new ModelError(
    classOfStatus(status, `${message} ${typeof type === 'string' ? type : ''} ${body}`),
    reason || message || `status ${status}`,
    { status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
  );
};

/** Classifies a failure without a response: the connection failed, or closed before the first byte. */
export const toConnectError = (error: Error): ModelError =>
  ofText(`Cannot connect to API: ${connectProblem(error)}`, undefined, keptCause(error));

/** An error for several addresses has no message; the error of each address does. */
const connectProblem = (error: Error): string => {
  const [first] = error instanceof AggregateError ? error.errors : [];
  return error.message || (first instanceof Error ? first.message : '') || codeOf(error) || error.name;
};

/** Classifies by `status` if there is one, else by the text. */
const ofText = (text: string, status?: number, cause?: unknown): ModelError => {
  const kind =
    status === undefined
      ? (BY_TEXT.find(([pattern]) => pattern.test(text))?.[1] ?? 'provider')
      : classOfStatus(status, text);
  return new ModelError(kind, text, { ...(status !== undefined && { status }), cause });
};

/**
 * Classifies a successful response that is not an event stream: an error, a page, or a plain completion. A service that
 * behaves so would do the same again, so only an error in the body can be transient.
 */
export const notAStream = (body: string): ModelError => {
  const { reason, status } = refusalIn(body);
  const json = jsonOrUndefined(body.replace(/^\uFEFF/, ''));
  if (json !== undefined && isRefusal(json)) {
    const failure = ofText(`${reason} ${bodyTypeOf(json)}`.trim(), status);
    return new ModelError(failure.class, reason || 'an error without words', {
      ...(status !== undefined && { status }),
    });
  }
  const what = json === undefined ? reason : 'JSON that is no error';
  return new ModelError('provider', `the response is not an event stream but ${what || 'empty'}`, {
    final: true,
  });
};

/** Textual codes, such as `rate_limit_error`. */
const bodyTypeOf = (json: unknown): string => {
  const first: unknown = Array.isArray(json) ? json[0] : json;
  return typeof first === 'object' && first !== null ? textOf(first) : '';
};

/** Finds the ModelError that other errors wrap. */
export const ownFailure = (error: unknown): ModelError | undefined => {
  let inner = error;
  for (let depth = 0; depth < 4 && inner instanceof Error; depth += 1) {
    if (inner instanceof ModelError) return inner;
    inner = inner.cause;
  }
  return undefined;
};

/**
 * Classifies an error that the provider reported inside its stream. Once output has begun, a transient error counts as
 * an interrupted stream, so that the loop can continue from there; a permanent error is returned unchanged.
 */
export const toStreamError = (error: unknown, hasBegun: boolean): ModelError => {
  const failure = toModelError(error);
  if (!hasBegun || !failure.transient || failure.class === 'stream_interrupted') return failure;
  const status = failure.status ?? STATUS_OF[failure.class] ?? 500;
  return new ModelError('stream_interrupted', `provider ${status} mid-stream`, { status, cause: failure });
};

/** Classifies a failed read of a stream; an unknown transport error counts as a reset. */
export const toBrokenStream = (error: unknown): ModelError =>
  ownFailure(error) ??
  (error instanceof Error ? brokenStream(error) : undefined) ??
  interrupted('connection reset', error);

export const interrupted = (
  cause: 'connection reset' | 'goaway' | 'idle stall',
  error?: unknown,
  usage?: InferenceUsage,
): ModelError => new ModelError('stream_interrupted', cause, { cause: keptCause(error), usage });

/** A short cause is kept, because it may reveal a bug. A long message quotes the provider and is dropped. */
const keptCause = (error: unknown): unknown =>
  error instanceof Error && error.message.length <= BOUNDS.messageLength ? error : undefined;

const RESET = /^terminated$|ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed|socket hang up/i;

/**
 * Recognizes a transport that failed after the response began, as opposed to a connection that was never established.
 */
const brokenStream = (error: unknown): ModelError | undefined => {
  if (!(error instanceof Error)) return undefined;
  const texts = [error.message, codeOf(error), codeOf(error.cause), textOf(error.cause ?? '')];
  if (texts.some((word) => /goaway/i.test(word))) return interrupted('goaway', error);
  return texts.some((word) => RESET.test(word)) ? interrupted('connection reset', error) : undefined;
};

const classOfStatus = (status: number, body: string): ModelErrorClass => {
  const refused = status === 400 || status === 422;
  if (status === 400 && OVERFLOW.test(body)) return 'context_overflow';
  if (refused && FILTERED.test(body)) return 'content_filtered';
  if (status === 429 && LOADING.test(body)) return 'overloaded';
  return BY_STATUS[status] ?? 'provider';
};

/** Reads only the form in seconds; a date would require the provider's clock. */
const retryAfter = ({ 'retry-after': given }: Refused['headers']): number | undefined => {
  const value = (Array.isArray(given) ? given[0] : given)?.trim() ?? '';
  return /^\d{1,9}$/.test(value) ? Number(value) : undefined;
};

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

/**
 * Errors inside a stream are plain objects of many shapes; their `type` or `code` is often more precise than the
 * message.
 */
const textOf = (error: unknown): string => {
  if (error instanceof Error) return error.message;
  if (typeof error !== 'object' || error === null) return String(error);
  const inner =
    'error' in error && typeof error.error === 'object' && error.error !== null ? error.error : error;
  const codes = ['type', 'code'].flatMap((key) => {
    const value: unknown = Reflect.get(inner, key);
    return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
  });
  const texts = [readRefusal(error).reason, ...codes].filter((word) => word !== '');
  return texts.length > 0 ? texts.join(' ') : JSON.stringify(error);
};
