import type { ErrorCode } from './error-body.ts';

/**
 * The ways in which an operation can fail, one class per outcome. Modules throw these; `src/http/errors.ts` maps them
 * to statuses in one table. The message is for the person who can act on it: what was wrong, where, what is allowed.
 */
export abstract class Outcome extends Error {
  /** Machine-readable code for the body, only where the contract has one (runtime.md 0.4). */
  readonly code: ErrorCode | undefined;
  /** Further keys of the body, only where the contract has them (config.md 6.2, 8). */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Seconds after which the same request may succeed, where they are known. */
  readonly retryAfterSecs: number | undefined;

  constructor(
    message: string,
    options: {
      code?: ErrorCode;
      details?: Readonly<Record<string, unknown>>;
      retryAfterSecs?: number;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.details = options.details;
    this.retryAfterSecs = options.retryAfterSecs;
  }
}

/** The request is well formed but not allowed. */
export class Invalid extends Outcome {}
/** The request is JSON, but not of the shape that the route requires. */
export class Unprocessable extends Outcome {}
/** Why a credential is rejected: it is wrong or missing, or it was right once. */
export type Rejection = 'invalid' | 'expired' | 'revoked' | 'disabled';

/** The credential is missing, wrong or unusable; or no scope could be resolved. */
export class Unauthorized extends Outcome {
  readonly reason: Rejection;

  constructor(
    message: string,
    { reason = 'invalid', ...options }: { reason?: Rejection; cause?: unknown } = {},
  ) {
    super(message, options);
    this.reason = reason;
  }
}
/** A budget is exhausted. */
export class BudgetExhausted extends Outcome {
  constructor({ budget, resets_at }: { budget: string; resets_at?: number }) {
    const until = resets_at === undefined ? '' : ` until ${new Date(resets_at).toISOString()}`;
    const details = { budget, ...(resets_at !== undefined && { resets_at }) };
    super(`budget '${budget}' is exhausted${until}`, { code: 'budget_exceeded', details });
  }
}
/** The principal sees the entity, but lacks the right to this act. */
export class Forbidden extends Outcome {
  /** The OAuth scopes with which an access token of the same user would have the right; absent if none would. */
  readonly scopes: readonly string[] | undefined;

  constructor(
    message: string,
    {
      scopes,
      ...options
    }: {
      code?: ErrorCode;
      details?: Readonly<Record<string, unknown>>;
      scopes?: readonly string[] | undefined;
    } = {},
  ) {
    super(message, options);
    this.scopes = scopes;
  }
}
/** The entity does not exist in this scope, or not for this principal. */
export class NotFound extends Outcome {}
/** The current state of the entity forbids the operation. */
export class Conflict extends Outcome {}
/** The entity existed and is no longer kept (an expired cursor). */
export class Gone extends Outcome {}
/** The entity would exceed its maximum size. */
export class TooLarge extends Outcome {}
/** The files of the scope would exceed their limit. */
export class InsufficientStorage extends Outcome {}
/** The client has sent too many requests of a kind; the same request may succeed later. */
export class RateLimited extends Outcome {}
/** The service cannot process the request now; the same request may succeed later. */
export class Unavailable extends Outcome {}
/** A stored row that must exist is missing, or contradicts another. */
export class Integrity extends Outcome {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, code: 'data_integrity' });
  }
}
