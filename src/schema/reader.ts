import type { Place } from './place.ts';
import type { Principal } from './principal.ts';

/** An event stream or a session, which serves a principal for longer than its request (identity.md 1.5). */
export type Reader = {
  readonly principal: Principal;
  /** The thread that it reads; a change of its visibility matters. */
  readonly thread?: Place | undefined;
  /** Whether the expiry of the credential ends it. The response of a request that started a run continues. */
  readonly endsWithCredential: boolean;
  /** Returns whether the principal, with its present rights, would be given the same again. @throws Forbidden if not */
  isAllowed(principal: Principal): boolean;
  /** Ends the reader, but not the run that it reads. */
  end(): void;
};

/** Returns a function that removes the reader. A reader whose principal has already lost its rights is ended at once. */
export type AddReader = (reader: Reader) => () => void;

/** What an event stream reads, and the right that reading it again would need. */
export type Reading = {
  /** Absent if only the right to start its run matters. */
  readonly thread?: Place | undefined;
  readonly right: 'read' | 'write' | 'decide';
  /** @throws Forbidden */
  isAllowed(principal: Principal): boolean;
};
