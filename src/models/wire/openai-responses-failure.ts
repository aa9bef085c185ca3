import type { JsonObject } from '../../schema/json.ts';
import { objectOf, textOf } from './read.ts';

/**
 * Status codes for the error of an `error` event or a failed response: the status of an HTTP response with the same
 * code. Codes without a row are classified by their text.
 */
const STATUSES: readonly [code: RegExp, status: number][] = [
  [/insufficient_quota|rate_limit/, 429],
  [/image/, 400],
  [/authentication|invalid_api_key/, 401],
  [/permission/, 403],
  [/model_not_found/, 404],
  [/invalid|bad_request|context_length/, 400],
  [/overload/, 503],
  [/timeout/, 504],
  [/server_error/, 500],
];

/** Undefined if a response has no error. */
export const readFailure = (json: JsonObject): JsonObject | undefined => {
  const error = objectOf(json.error) ?? (json.type === 'error' ? json : undefined);
  if (!error) return typeof json.error === 'string' ? { message: json.error } : undefined;
  const codes = [textOf(error.code), error === json ? undefined : textOf(error.type)].join(' ');
  const status = STATUSES.find(([code]) => code.test(codes))?.[1];
  const { type, ...rest } = error;
  return {
    ...rest,
    // The `type` of an event only shows that it is an error.
    ...(error !== json && type !== undefined && { type }),
    ...(status !== undefined && error.status === undefined && { status }),
  };
};
