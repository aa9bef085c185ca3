import type { AccessPlace } from './access-event.ts';
import type { Principal } from './principal.ts';

/** The routes of the admin API, or those that invoke agents (config.md 1.1, 1.3). */
export type Surface = 'admin' | 'agent-invocation';

/**
 * The part of a request from which its principal follows (identity.md 3). It is valid only during the callback of the
 * request.
 */
export type Presented = {
  readonly surface: Surface;
  /** Whether the route admits requests without a credential, as `NOBODY`, where anonymous access does not hold. */
  readonly isOptional: boolean;
  readonly method: string;
  /** The path of the route as declared. */
  readonly route: string;
  /** Without the query. */
  readonly path: string;
  /** Returns the first value of a header, or `undefined` if it is missing or empty. */
  header(name: string): string | undefined;
  /** Returns the unmodified values of all `Authorization` lines. */
  authorization(): readonly string[];
  /** Returns the value of the query parameter `ticket`. */
  ticket(): string | undefined;
  /** Returns the value of the session cookie, if the own origin is https. */
  session(): string | undefined;
  /**
   * Returns whether the request comes from this host without a proxy, and addresses it by a loopback name; or from the
   * embedding program.
   */
  isLocal(): boolean;
  /** Returns the address of the client. */
  address(): string;
};

/** Receives the outcome of each authentication, including the right that the route needs. */
export type AuthObserver = {
  admitted(principal: Principal, at: RequestPlace): void;
  /**
   * @param by the principal if it was resolved, else the unmodified values of all `Authorization` lines; a ticket or a
   * cookie counts as one
   */
  rejected(by: Principal | readonly string[], error: unknown, at: RequestPlace): void;
  /** Receives the error of a handler, which may have refused the principal. */
  denied(principal: Principal, error: unknown, at: AccessPlace): void;
};

type RequestPlace = Pick<Presented, 'route' | 'address'>;

/**
 * Resolves whom a request acts for, at once or later.
 *
 * @throws Unauthorized, RateLimited, also as a rejection
 */
export type Authenticate = (presented: Presented) => Principal | Promise<Principal>;
