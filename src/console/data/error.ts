/** Failures of reads and writes, classified by how a screen shows them. */

export type RequestFailure =
  /** No response: the service is not running, not reachable, or does not allow this origin. */
  | { kind: 'network'; backend: string }
  | { kind: 'http'; status: number; body: unknown; requestId: string | undefined }
  /** A response that this console cannot read. */
  | { kind: 'shape' };

export class RequestError extends Error {
  readonly request: string;
  readonly failure: RequestFailure;

  constructor(message: string, request: string, failure: RequestFailure) {
    super(message);
    this.name = 'RequestError';
    this.request = request;
    this.failure = failure;
  }
}

/** HTTP status; undefined if no readable response was received. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof RequestError && error.failure.kind === 'http' ? error.failure.status : undefined;

/** The message of a response: a text, `.error`, its `.message`, `.message`, or only its status. */
export const messageOf = (body: unknown, status: number): string => {
  if (typeof body === 'string' && body.trim() !== '') return body.trim();
  if (typeof body === 'object' && body !== null) {
    const { error, message }: { error?: unknown; message?: unknown } = body;
    if (typeof error === 'string' && error !== '') return error;
    if (typeof error === 'object' && error !== null) return messageOf(error, status);
    if (typeof message === 'string' && message !== '') return message;
  }
  return `Request failed with status ${status}`;
};

/** The service has no configuration store: the feature is disabled, which is not a failure. */
export const isConfigOff = (error: unknown): boolean =>
  statusOf(error) === 400 &&
  error instanceof Error &&
  /config management API not enabled/i.test(error.message);

/**
 * State of a screen whose read failed. `off` lists the statuses of the route that mean that the feature is disabled.
 */
export type ErrorState = 'off' | 'unauthorised' | 'forbidden' | 'network' | 'failed';

export const errorState = (error: unknown, off: readonly number[] = []): ErrorState => {
  const status = statusOf(error);
  if (status === 401) return 'unauthorised';
  if (status === 403) return 'forbidden';
  if (isConfigOff(error) || (status !== undefined && off.includes(status))) return 'off';
  if (error instanceof RequestError && error.failure.kind === 'network') return 'network';
  return 'failed';
};
