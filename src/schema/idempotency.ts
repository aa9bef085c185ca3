import type { JsonObject } from './json.ts';

/**
 * Requests with an `Idempotency-Key` (runtime.md 0.8).
 *
 * The commit that accepts such a request also stores a row for its key: the response, or what the response is made from
 * again. So the key and the effect of the request exist together or not at all.
 */

/** The response to repeats of a request. */
export type StoredAnswer =
  | StoredText
  /** A stream, or a held or long response: the route makes it again. */
  | { kind: 'created'; of: JsonObject };

export type StoredText = {
  kind: 'text';
  status: number;
  content_type: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
};

/** The caller and its key: one name for each request that is to be executed once. */
export type KeyName = {
  scope: string;
  /** The user, or without one the credential. */
  caller: string;
  /** Digest of the key. */
  key: string;
};

export type KeyedRequest = {
  name: KeyName;
  /** Digest of the request. */
  fingerprint: string;
};

export type IdempotencyRow = KeyName & {
  fingerprint: string;
  /** Milliseconds. */
  accepted_at: number;
  answer: StoredAnswer;
};

/** The row of an accepted request, and a listener for the moment at which it is visible. */
export type Acceptance = { row: IdempotencyRow; visible(): void };

/** Makes the row from the result of the commit. Called once, while the commit is being built. */
export type Accept<Result> = (result: Result) => Acceptance;

/** `executed` and `failed`: requests whose key was not in use; `conflict`: the key of another request. */
export type KeyedResult = 'executed' | 'failed' | 'replayed' | 'joined' | 'conflict';
