import type { Actor } from './actor.ts';
import { baseOf } from './partition.ts';

/**
 * The owner of connections to other services: a user of a scope. The account without a user has connections only where
 * anonymous access is `loopback` (identity.md 6.2).
 */
export type Account = { readonly scope: string; readonly user: string | undefined };

/** The account that a run acts for, with the credential that gave its input. */
export type ActingAccount = Account & { readonly credential: Actor['credential'] | undefined };

/** @param partition that of the run */
export const accountOf = (partition: string, actor: Actor | undefined): ActingAccount => ({
  scope: baseOf(partition),
  user: actor?.user,
  credential: actor?.credential,
});

/** The account of tokens that belong to the service and to no user. */
export const SERVICE_ACCOUNT: ActingAccount = { scope: '', user: undefined, credential: undefined };
