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

export type Failure = { status: number; body: { error: string; code?: string } };

export const failureOf = (error: unknown): Failure => {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof Outcome)) return { status: 500, body: { error: message || 'internal error' } };
  const { code, details } = error;
  return {
    status: statuses.find(([outcome]) => error instanceof outcome)?.[1] ?? 500,
    body: { error: message, ...(code !== undefined && { code }), ...details },
  };
};
