import {
  Conflict,
  Gone,
  Integrity,
  Invalid,
  NotFound,
  Outcome,
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
export type ErrorForm = (error: unknown) => Reply;

/** `{"error": "text"}` */
export const plainErrors: ErrorForm = (error) => {
  if (error instanceof Refusal) return reply(error.status, { error: error.message }, error.headers);
  const { status, body } = failureOf(error);
  return reply(status, body);
};

type Failure = { status: number; body: { error: string; code?: string } };

const failureOf = (error: unknown): Failure => {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Outcome)) return { status: 500, body: { error: message || 'internal error' } };
  const { code, details } = error;
  return {
    status: statuses.find(([outcome]) => error instanceof outcome)?.[1] ?? 500,
    body: { error: message, ...(code !== undefined && { code }), ...details },
  };
};
