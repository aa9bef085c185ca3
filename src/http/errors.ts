import {
  Conflict,
  Gone,
  Integrity,
  Invalid,
  NotFound,
  Outcome,
  TooLarge,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '../schema/outcome.ts';
import { type Reply, reply } from './reply.ts';

/** Which outcome is which status (runtime.md 0.4). Everything else is 500, and a bug to be logged. */

const statuses = [
  [Invalid, 400],
  [Unauthorized, 401],
  [NotFound, 404],
  [Conflict, 409],
  [Gone, 410],
  [TooLarge, 413],
  [Unprocessable, 422],
  [Integrity, 500],
  [Unavailable, 503],
] as const;

/** What the server itself refuses, before a handler is asked. */
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

/** How an error is said. One form for the routes of the service, others where a protocol has its own. */
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
    status === 401 ? CHALLENGE : undefined,
  );
};

const NOTHING = { code: undefined, details: undefined };

/** What strangers are told of a bug, in whatever form. What it was is for the log, under the same id. */
export const internalError = (requestId: string): string => `internal error (request id ${requestId})`;

/** On every 401 (RFC 9110, 15.5.2). */
export const CHALLENGE = { 'www-authenticate': 'Bearer' };

const statusOf = (error: unknown): number =>
  statuses.find(([outcome]) => error instanceof outcome)?.[1] ?? 500;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
