import { AUTH_REQUIRED, AuthorizationWait } from '../../schema/authorization.ts';
import { baseOf } from '../../schema/partition.ts';
import type { EndOfWait } from './resumed-waits.ts';

/** A call that waits for an account of the user that its run acts for. */
export type WaitingForAccount = {
  account: { scope: string; user: string | undefined };
  wait: AuthorizationWait;
};

export type IsConnected = (call: WaitingForAccount) => boolean;

/** The end of waits for accounts (identity.md 6.2): the user has connected them. */
export const whenConnected =
  (isConnected: IsConnected): EndOfWait =>
  (scope, { user }, { reason, arguments: shown }) => {
    const wait = reason === AUTH_REQUIRED ? AuthorizationWait.safeParse(shown).data : undefined;
    if (!wait || !isConnected({ account: { scope: baseOf(scope), user }, wait })) return undefined;
    return user === undefined ? {} : { decided_by: user };
  };
