/**
 * How an operation can fail, one class an outcome. Rooms throw these; `src/http/errors.ts` maps them to
 * statuses in one table. The message is for the person who can act on it: what was wrong, where, what is allowed.
 */
export abstract class Outcome extends Error {
  /** Machine-readable code that joins the body, only where the contract has one (runtime.md 0.4). */
  readonly code: string | undefined;
  /** More keys of the body, only where the contract has them (config.md 6.2, 8). */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(
    message: string,
    options: { code?: string; details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
    this.details = options.details;
  }
}

/** The request is well formed but asks for something that is not legal. */
export class Invalid extends Outcome {}
/** The request is JSON, but not of the shape that the route takes. */
export class Unprocessable extends Outcome {}
/** No, a wrong, or an unusable credential; or no scope could be resolved. */
export class Unauthorized extends Outcome {}
/** No such thing in this scope. */
export class NotFound extends Outcome {}
/** The state of the thing forbids the operation now. */
export class Conflict extends Outcome {}
/** It existed and is no longer kept (an expired cursor). */
export class Gone extends Outcome {}
/** It would become larger than it may be. */
export class TooLarge extends Outcome {}
/** The service cannot answer now; the same request may succeed later. */
export class Unavailable extends Outcome {}
/** A stored row that must exist is missing, or contradicts another. */
export class Integrity extends Outcome {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, { ...options, code: 'data_integrity' });
  }
}
