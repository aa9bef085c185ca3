import type { Actor } from './actor.ts';

/**
 * The owner of connections to other services: a user of a scope. The account without a user has connections only where
 * anonymous access is `loopback` (identity.md 6.2).
 */
export type Account = { readonly scope: string; readonly user: string | undefined };

/** The account that a run acts for, with the credential that gave its input. */
export type ActingAccount = Account & { readonly credential: Actor['credential'] | undefined };
