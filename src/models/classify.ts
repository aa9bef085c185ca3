import { BOUNDS } from './bounds.ts';
import { ModelError, type ModelErrorClass } from './errors.ts';
import type { InferenceUsage } from './model.ts';
import { isRefusal, refusalIn, refusalOf } from './reason.ts';

/**
 * Turns what a transport throws and what a provider reports into a `ModelError` (agent-loop.md 10.1): by HTTP status
 * where there is one, else by the words of the text. Rows are tried in order; the first that applies decides.
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

/** A model of Bedrock that is being loaded. */
const LOADING = /ModelNotReadyException/i;

const BY_TEXT: readonly [words: RegExp, kind: ModelErrorClass][] = [
  [OVERFLOW, 'context_overflow'],
  [FILTERED, 'content_filtered'],
  [/overloaded|\b(503|529)\b/i, 'overloaded'],
  [/\brate\b|rate[_-]limit|\b429\b/i, 'rate_limited'],
  [/timed?[ _-]?out|\b(408|504)\b/i, 'timeout'],
];

/** What such a failure would have been as a status; the loop names it when a stream breaks off. */
const STATUS_OF: Partial<Record<ModelErrorClass, number>> = {
  rate_limited: 429,
  overloaded: 529,
  timeout: 504,
  provider: 500,
};

/** Classifies a failure before any output. */
export const toModelError = (error: unknown): ModelError => {
  const own = ownFailure(error);
  if (own) return own;
  const broken = brokenStream(error);
  if (broken) return broken;
  return ofText(
    textOf(error),
    error instanceof Error ? undefined : refusalOf(error).status,
    keptCause(error),
  );
};

/** A response with a status of failure. `message`: the text of the status line, or of a package. */
export type Refused = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** At least its beginning. */
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

/** No response began: the connection failed, or was closed before the first byte. */
export const toConnectError = (error: Error): ModelError =>
  ofText(`Cannot connect to API: ${connectProblem(error)}`, undefined, keptCause(error));

/** An error for several addresses has no text; each address has an error with one. */
const connectProblem = (error: Error): string => {
  const [first] = error instanceof AggregateError ? error.errors : [];
  return error.message || (first instanceof Error ? first.message : '') || codeOf(error) || error.name;
};

/** By the status that the words name, else by the words. */
const ofText = (text: string, status?: number, cause?: unknown): ModelError => {
  const kind =
    status === undefined
      ? (BY_TEXT.find(([words]) => words.test(text))?.[1] ?? 'provider')
      : classOfStatus(status, text);
  return new ModelError(kind, text, { ...(status !== undefined && { status }), cause });
};

/**
 * What stands in place of a stream of events, with a status of success: an error, a page, or an answer that is no
 * stream. What a service always does again is not worth another request.
 */
export const notAStream = (body: string): ModelError => {
  const { reason, status } = refusalIn(body);
  const json = parsed(body);
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

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
};

/** Codes in words, such as `rate_limit_error`. */
const bodyTypeOf = (json: unknown): string => {
  const first: unknown = Array.isArray(json) ? json[0] : json;
  return typeof first === 'object' && first !== null ? textOf(first) : '';
};

/** What wraps another error is what that error is. */
export const ownFailure = (error: unknown): ModelError | undefined => {
  let inner = error;
  for (let depth = 0; depth < 4 && inner instanceof Error; depth += 1) {
    if (inner instanceof ModelError) return inner;
    inner = inner.cause;
  }
  return undefined;
};

/**
 * Classifies an error that the provider reported inside its stream. What may pass is an interrupted stream once
 * output has begun, so that the loop can go on from there; what cannot is said as it is.
 */
export const toStreamError = (error: unknown, begun: boolean): ModelError => {
  const failure = toModelError(error);
  if (!begun || !failure.transient || failure.class === 'stream_interrupted') return failure;
  const status = failure.status ?? STATUS_OF[failure.class] ?? 500;
  return new ModelError('stream_interrupted', `provider ${status} mid-stream`, { status, cause: failure });
};

/** Classifies why a stream cannot be read any more; whatever the transport does not say itself is a reset. */
export const toBrokenStream = (error: unknown): ModelError =>
  ownFailure(error) ??
  (error instanceof Error ? brokenStream(error) : undefined) ??
  interrupted('connection reset', error);

/** A stream that broke off; every error of the transport counts as a reset unless it says more. */
export const interrupted = (
  cause: 'connection reset' | 'goaway' | 'idle stall',
  error?: unknown,
  usage?: InferenceUsage,
): ModelError => new ModelError('stream_interrupted', cause, { cause: keptCause(error), usage });

/** What another error came from may be a mistake, and is worth knowing; one with a long text quotes the provider. */
const keptCause = (error: unknown): unknown =>
  error instanceof Error && error.message.length <= BOUNDS.wordsLength ? error : undefined;

const RESET = /^terminated$|ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed|socket hang up/i;

/** The transport died after the response had begun; a connection that was never made is not meant. */
const brokenStream = (error: unknown): ModelError | undefined => {
  if (!(error instanceof Error)) return undefined;
  const words = [error.message, codeOf(error), codeOf(error.cause), textOf(error.cause ?? '')];
  if (words.some((word) => /goaway/i.test(word))) return interrupted('goaway', error);
  return words.some((word) => RESET.test(word)) ? interrupted('connection reset', error) : undefined;
};

const classOfStatus = (status: number, body: string): ModelErrorClass => {
  const refused = status === 400 || status === 422;
  if (status === 400 && OVERFLOW.test(body)) return 'context_overflow';
  if (refused && FILTERED.test(body)) return 'content_filtered';
  if (status === 429 && LOADING.test(body)) return 'overloaded';
  return BY_STATUS[status] ?? 'provider';
};

/** Only the form in seconds; a date would need the provider's clock. */
const retryAfter = ({ 'retry-after': given }: Refused['headers']): number | undefined => {
  const value = (Array.isArray(given) ? given[0] : given)?.trim() ?? '';
  return /^\d{1,9}$/.test(value) ? Number(value) : undefined;
};

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';

/** Errors inside a stream are plain objects of many shapes; their `type` or `code` often says more than the text. */
const textOf = (error: unknown): string => {
  if (error instanceof Error) return error.message;
  if (typeof error !== 'object' || error === null) return String(error);
  const inner =
    'error' in error && typeof error.error === 'object' && error.error !== null ? error.error : error;
  const codes = ['type', 'code'].flatMap((key) => {
    const value: unknown = Reflect.get(inner, key);
    return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
  });
  const words = [refusalOf(error).reason, ...codes].filter((word) => word !== '');
  return words.length > 0 ? words.join(' ') : JSON.stringify(error);
};
