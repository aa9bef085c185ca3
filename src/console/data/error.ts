/** Why something could not be read or written, in the words that a screen needs. */

export type RequestFailure =
  /** No answer came: not running, not reachable, or not allowed for this origin. */
  | { kind: 'network'; backend: string }
  | { kind: 'http'; status: number; body: unknown; requestId: string | undefined }
  /** An answer that this console cannot read. */
  | { kind: 'shape' };

export class RequestError extends Error {
  /** Method and path, as it was asked. */
  readonly request: string;
  readonly failure: RequestFailure;

  constructor(message: string, request: string, failure: RequestFailure) {
    super(message);
    this.name = 'RequestError';
    this.request = request;
    this.failure = failure;
  }
}

/** Of HTTP; undefined when there was no answer or none that could be read. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof RequestError && error.failure.kind === 'http' ? error.failure.status : undefined;

/** What an answer says of itself: a text, `.error`, `.message`, or nothing but its status. */
export const messageOf = (body: unknown, status: number): string => {
  if (typeof body === 'string' && body.trim() !== '') return body.trim();
  if (typeof body === 'object' && body !== null) {
    const { error, message }: { error?: unknown; message?: unknown } = body;
    if (typeof error === 'string' && error !== '') return error;
    if (typeof message === 'string' && message !== '') return message;
  }
  return `Request failed with status ${status}`;
};

/** The service has no store for its configuration: a part that is off, and no failure. */
export const isConfigOff = (error: unknown): boolean =>
  statusOf(error) === 400 &&
  error instanceof Error &&
  /config management API not enabled/i.test(error.message);

/** Tells apart what a screen shows. `off`: which statuses of the route say that the part is not there. */
export type ErrorState = 'off' | 'unauthorised' | 'network' | 'failed';

export const errorState = (error: unknown, off: readonly number[] = []): ErrorState => {
  const status = statusOf(error);
  if (status === 401) return 'unauthorised';
  if (isConfigOff(error) || (status !== undefined && off.includes(status))) return 'off';
  if (error instanceof RequestError && error.failure.kind === 'network') return 'network';
  return 'failed';
};
