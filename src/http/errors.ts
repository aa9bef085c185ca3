import {
  BudgetExhausted,
  Conflict,
  Forbidden,
  Gone,
  InsufficientStorage,
  Integrity,
  Invalid,
  NotFound,
  Outcome,
  RateLimited,
  TooLarge,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '../schema/outcome.ts';
import { type Reply, reply } from './reply.ts';

/** The status of each outcome (runtime.md 0.4). Every other error is a 500 and is logged as a bug. */

const statuses = [
  [Invalid, 400],
  [Unauthorized, 401],
  [BudgetExhausted, 402],
  [Forbidden, 403],
  [NotFound, 404],
  [Conflict, 409],
  [Gone, 410],
  [TooLarge, 413],
  [Unprocessable, 422],
  [RateLimited, 429],
  [Integrity, 500],
  [Unavailable, 503],
  [InsufficientStorage, 507],
] as const;

/** A rejection by the server itself, before a handler is called. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Record<string, string> | undefined;

  constructor(status: number, message: string, headers?: Record<string, string>) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

/** Renders an error as a response. Routes of the service share one form; protocols may have their own. */
export type ErrorForm = (error: unknown, requestId: string) => Reply;

/** `{"error": "text"}` */
export const plainErrors: ErrorForm = (error, requestId) => {
  if (error instanceof Refusal) return reply(error.status, { error: error.message }, error.headers);
  const status = statusOf(error);
  const { code, details } = error instanceof Outcome ? error : NOTHING;
  const text = status === 500 ? internalError(requestId) : textOf(error);
  return reply(
    status,
    { error: text, ...(code !== undefined && { code }), ...details },
    headersOf(error, status),
  );
};

/** Returns the headers that the outcome of an operation requires in every form of errors. */
export const headersOf = (error: unknown, status: number): Record<string, string> | undefined => {
  if (status === 401) return CHALLENGE;
  const seconds = error instanceof Outcome ? error.retryAfterSecs : undefined;
  return seconds === undefined ? undefined : { 'retry-after': String(seconds) };
};

const NOTHING = { code: undefined, details: undefined };

/** The public message of an unexpected error in every form. The log has the error itself under the same id. */
export const internalError = (requestId: string): string => `internal error (request id ${requestId})`;

/** Required on every 401 (RFC 9110, 15.5.2). */
const CHALLENGE = { 'www-authenticate': 'Bearer' };

/** Returns the status of an outcome; 500 for any other error. */
export const statusOf = (error: unknown): number =>
  statuses.find(([outcome]) => error instanceof outcome)?.[1] ?? 500;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
