import { maskForeign } from '../../schema/redaction/foreign.ts';

/**
 * A failed request to a remote service. The message contains neither headers nor addresses, and text of the remote
 * service is masked, because the service has received a token.
 */
export class RemoteFailure extends Error {
  /** `unreachable`: no complete response; `refused`: an error status; `unreadable`: an invalid response. */
  readonly kind: 'unreachable' | 'refused' | 'unreadable';
  readonly status: number | undefined;
  /** Error reason of the remote service. */
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

/** Returns whether the same request may succeed later. */
export const isPassing = ({ kind, status = 0 }: RemoteFailure): boolean =>
  kind === 'unreachable' || (kind === 'refused' && PASSING.has(status));

/** Returns whether the route is missing, rather than the task. */
export const isUnserved = ({ kind, status, reason }: RemoteFailure): boolean =>
  kind === 'refused' && (status === 405 || status === 501 || (status === 404 && reason !== 'TASK_NOT_FOUND'));
