/** All methods that contact other services throw this error. */
export class ConnectionFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConnectionFailure';
    this.reason = reason;
  }
}

/** An OAuth error in the body of a response. */
export class OAuthRefusal extends ConnectionFailure {
  readonly error: string;

  constructor(error: string, status: number) {
    super(status >= 500 ? 'unavailable' : 'refused', `the authorization server refuses: ${error}`);
    this.name = 'OAuthRefusal';
    this.error = error;
  }
}

export type FailureReason =
  /** There is no such entry, or its `auth` is not that of users. */
  | 'unknown'
  /** The user or the authorization server denied the authorization. */
  | 'denied'
  /** The callback, a document or the entry does not belong to this authorization, or breaks a rule of it. */
  | 'refused'
  /** The other side did not respond, or with an error; a later try may succeed. */
  | 'unavailable';
