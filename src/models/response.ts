/** The body of a successful response was interrupted or is too long. */
export class UnreadableBody extends Error {
  readonly status: number;

  constructor(problem: string, status: number, options?: ErrorOptions) {
    super(problem, options);
    this.status = status;
  }
}

/** The reason for a missing response: only a code, because the message of an error may quote an address or a header. */
export const describeMissingResponse = (error: unknown): string => {
  if (error instanceof Error && error.name === 'TimeoutError') return 'no answer in time';
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? `no connection (${code})` : 'no connection';
};
