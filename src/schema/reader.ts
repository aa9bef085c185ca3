import type { Place } from './partition.ts';
import type { Principal } from './principal.ts';

/**
 * What still serves a principal after its request was answered, such as an event stream or a session (identity.md 1.5).
 */
export type Reader = {
  readonly principal: Principal;
  /** The thread that it reads; a change of its visibility matters. */
  readonly thread?: Place | undefined;
  /** Whether the expiry of the credential ends it. The response of a request that started a run continues. */
  readonly endsWithCredential: boolean;
  /** Returns whether the principal, with its present rights, would be given the same again. @throws Forbidden if not */
  isAllowed(principal: Principal): boolean;
  /** Ends the reader. What it reads from is not affected. */
  end(): void;
};

/** Returns a function that removes the reader. A reader whose principal lost its rights meanwhile is ended at once. */
export type AddReader = (reader: Reader) => () => void;

/** The thread that an event stream reads, and the right that reading it again would need. */
export type Reading = {
  readonly thread: Place;
  readonly right: 'read' | 'write' | 'decide';
  /** @throws Forbidden */
  isAllowed(principal: Principal): boolean;
};
