import * as classify from '../models/classify.ts';
import { ModelError } from '../models/errors.ts';
import { isRefusal } from '../models/reason.ts';
import { isObject } from '../schema/endpoint.ts';

/**
 * Converts errors of AI SDK packages to `ModelError` (agent-loop.md 10.1).
 *
 * Errors are recognized by the markers that every copy and version of `@ai-sdk/provider` sets, so none of its classes
 * is imported. Such an error references the request and quotes the response; only its message is copied, and it is not
 * kept as the cause.
 */

/** Classifies a failure before any output. */
export function toModelError(error: unknown): ModelError {
  const own = classify.ownFailure(error);
  if (own) return own;
  const refused = refusalFrom(error);
  if (refused) return classify.toRefusal(refused);
  if (!isPackageError(error)) return classify.toModelError(error);
  const row = BY_NAME.find(([name]) => hasMarker(error, name));
  return row ? row[1](error) : classify.toModelError(error.message);
}

/** Classifies an error that the model reported inside its stream. */
export function toStreamError(error: unknown, hasBegun: boolean): ModelError {
  if (hasMarker(error, 'AI_InvalidResponseDataError')) return classify.interrupted('connection reset');
  return classify.toStreamError(toModelError(error), hasBegun);
}

/** Classifies why a stream can no longer be read. */
export function toBrokenStream(error: unknown, hasBegun: boolean): ModelError {
  return refusalFrom(error) || isPackageError(error)
    ? toStreamError(error, hasBegun)
    : classify.toBrokenStream(error);
}

const unsendable = ({ message }: Error): ModelError => new ModelError('invalid_request', message);

/** The classes of errors without a status. A missing key or setting remains missing, so no call is repeated. */
const BY_NAME: readonly [name: string, toError: (error: Error) => ModelError][] = [
  ['AI_UnsupportedFunctionalityError', unsupported],
  ['AI_InvalidPromptError', unsendable],
  ['AI_InvalidArgumentError', unsendable],
  ['AI_LoadSettingError', unsendable],
  ['AI_LoadAPIKeyError', ({ message }) => new ModelError('unauthorized', message)],
  ['AI_NoSuchModelError', ({ message }) => new ModelError('model_not_found', message)],
  ['AI_TypeValidationError', unreadable],
  ['AI_APICallError', unanswered],
];

function unsupported(error: Error): ModelError {
  const functionality = 'functionality' in error ? error.functionality : error.message;
  return new ModelError('invalid_request', `${functionality} not supported by this provider`);
}

/** The value that a package could not parse may be an error of the provider. */
function unreadable(error: Error): ModelError {
  const value = 'value' in error ? error.value : undefined;
  return classify.toModelError(isRefusal(value) ? value : error.message);
}

/** No response arrived, or its body could not be read; the cause contains the reason. */
function unanswered(error: Error): ModelError {
  const wasAccepted = 'statusCode' in error && error.statusCode !== undefined;
  return wasAccepted && error.cause instanceof Error
    ? toModelError(error.cause)
    : classify.toModelError(error.message);
}

const MARKER = 'vercel.ai.error';

/** Only an own marker counts, because data of a provider is JSON, which has no symbols. */
function isMarked(error: unknown, marker: string): error is Error {
  return error instanceof Error && Reflect.get(error, Symbol.for(marker)) === true;
}

const hasMarker = (error: unknown, name: string): boolean =>
  isMarked(error, `${MARKER}.${name}`) || (error instanceof Error && error.name === name);

const isPackageError = (error: unknown): error is Error =>
  isMarked(error, MARKER) || (error instanceof Error && error.name.startsWith('AI_'));

const DEEPEST = 4;
/** A response with a lower status was accepted, and then could not be read. */
const LEAST_FAILURE = 400;

/**
 * The response behind an error, as plain data. Packages wrap it: the gateway and libraries for credentials put its
 * status into an error of theirs, whose cause has the headers and the body.
 */
export function refusalFrom(error: unknown): classify.Refused | undefined {
  let found: classify.Refused | undefined;
  let inner = error;
  for (let depth = 0; depth < DEEPEST && inner instanceof Error; depth += 1) {
    const response = responseIn(inner);
    if (response) found = { ...response, ...(found && { status: found.status, message: found.message }) };
    if (found && found.body !== '') return found;
    inner = inner.cause;
  }
  return found;
}

function responseIn(error: Error): classify.Refused | undefined {
  const {
    statusCode: status,
    responseHeaders: headers,
    responseBody: body,
  }: Record<string, unknown> = {
    ...error,
  };
  if (typeof status !== 'number' || !(status >= LEAST_FAILURE)) return undefined;
  return {
    status,
    headers: isObject(headers) ? textsIn(headers) : {},
    body: typeof body === 'string' ? body : '',
    message: error.message,
  };
}

const textsIn = (headers: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  );
