import { maskForeign } from '../../schema/redaction/foreign.ts';

/**
 * A request to another service that brought nothing. The message quotes neither headers nor addresses, and what the
 * other service says is masked, because it was sent a token.
 */
export class RemoteFailure extends Error {
  /** `unreachable`: nobody answered to the end; `refused`: not with success; `unreadable`: with something else. */
  readonly kind: 'unreachable' | 'refused' | 'unreadable';
  readonly status: number | undefined;
  /** By which the other side names what is wrong. */
  readonly reason: string | undefined;

  constructor(
    kind: RemoteFailure['kind'],
    message: string,
    options: { status?: number; reason?: string | undefined; cause?: unknown } = {},
  ) {
    super(maskForeign(message), { cause: options.cause });
    this.name = 'RemoteFailure';
    this.kind = kind;
    this.status = options.status;
    this.reason = options.reason;
  }
}

const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/** The same request may succeed later. */
export const isPassing = ({ kind, status = 0 }: RemoteFailure): boolean =>
  kind === 'unreachable' || (kind === 'refused' && PASSING.has(status));

/** The route is not there, and it is not the task that is missing. */
export const isUnserved = ({ kind, status, reason }: RemoteFailure): boolean =>
  kind === 'refused' && (status === 405 || status === 501 || (status === 404 && reason !== 'TASK_NOT_FOUND'));
