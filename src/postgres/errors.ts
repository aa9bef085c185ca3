import { Unavailable } from '../schema/outcome.ts';

/** The database cannot be used by this process. The message is one line for the operator, and has no secret. */
export class DatabaseRefused extends Unavailable {
  override readonly name = 'DatabaseRefused';
  /** Whether another attempt may succeed without a change: the server is down, starts, or has no free connection. */
  readonly isTemporary: boolean;

  constructor(message: string, options: { cause?: unknown; isTemporary?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.isTemporary = options.isTemporary ?? false;
  }
}

/** The server has answered a statement with an error: nothing of that statement is in the database. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  /** The SQLSTATE, such as `23505`, or a code of the functions, such as `TR001`. */
  readonly code: string;
  readonly constraint: string | undefined;

  constructor(message: string, options: { code: string; constraint?: string | undefined; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.code = options.code;
    this.constraint = options.constraint;
  }
}

/** There is no answer of the server, and will be none. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  /** Whether the statement may be at the server; false when there was no connection to send it on. */
  readonly wasSent: boolean;

  constructor(message: string, options: { wasSent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.wasSent = options.wasSent;
  }
}

/** The cluster has as many members as it can have. */
export class SlotsTaken extends Error {
  override readonly name = 'SlotsTaken';
}
