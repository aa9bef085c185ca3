import type { ActingAccount } from '../schema/account.ts';
import type { Principal } from '../schema/principal.ts';
import type { Store } from '../store/index.ts';

/**
 * Whether a credential may use the connections of its user (identity.md 2.1, 3.5).
 *
 * A key that another user has made for a person acts for that person, but never with the accounts of that person,
 * unless it was made together with the person. A key that acts for an end user does so only for an end user without an
 * identity, that is one that only exists through such keys.
 */
export type MayUseAccount = (account: ActingAccount) => boolean;

/** @param hasUserless whether requests without a user have connections: where they come from this host only */
export const createAccountRights =
  ({ keys, users }: Pick<Store, 'keys' | 'users'>, hasUserless: boolean): MayUseAccount =>
  ({ scope, user, credential }) => {
    if (user === undefined) return hasUserless;
    const owner = users.get(scope, user);
    if (credential?.act) return owner?.identity === undefined;
    // A session has the rights of the key that it was created from.
    const id = credential?.kind === 'key' ? credential.id : credential?.line;
    if (id === undefined) return true;
    const key = keys.get(id);
    if (!key || !owner) return false;
    if (key.user !== user) return owner.identity === undefined;
    return owner.kind === 'service' || key.first || key.created_by === user;
  };

/** The account that a request acts for. */
export const accountOfPrincipal = ({ scope, user, credential }: Principal): ActingAccount => ({
  scope,
  user,
  credential,
});
