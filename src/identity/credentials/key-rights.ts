import { authorizes, firstBeyond, parseGrants, parseTokenGrants } from '../../schema/grants.ts';
import { Forbidden } from '../../schema/outcome.ts';
import { demand, forbidden, may, type Principal } from '../../schema/principal.ts';
import type { KeyRow, UserRow } from '../../store/index.ts';
import { demandNotAbove, grantsOf, limitsOf } from '../users/rights.ts';

/**
 * The rights to create and replace keys (identity.md 2.1).
 *
 * `manage` does not impersonate: it creates keys of services, and the first key of a person that the same request
 * creates. Another key of a person is created by that person, by `admin`, or with `act` for at most a day.
 */

export const isSelf = ({ scope, user }: Principal, of: { scope: string; user: string }): boolean =>
  user !== undefined && scope === of.scope && user === of.user;

/** The longest life of a key that `act` creates for an end user, in seconds. */
export const MOST_ACT_SECS = 86_400;

/** Returns the longest life of a key that `act` creates, or `undefined` for any other key. @throws Forbidden */
export const demandMaking = (principal: Principal, user: UserRow, isNew: boolean): number | undefined => {
  if (isSelf(principal, { scope: user.scope, user: user.id })) {
    if (!may(principal, ['keys']) && !may(principal, ['manage'])) throw forbidden(['keys']);
    return undefined;
  }
  if (may(principal, ['admin'])) return undefined;
  const manages = may(principal, ['manage']);
  if (manages && (isNew || user.kind === 'service')) {
    demandNotAbove(principal, user);
    return undefined;
  }
  if (user.kind === 'person' && may(principal, ['act'])) return MOST_ACT_SECS;
  if (!manages) throw forbidden(['manage']);
  throw new Forbidden(
    `another key of the person '${user.id}' can be created by that person or with admin only`,
    {
      code: 'forbidden',
      details: { needs: ['admin'] },
    },
  );
};

/**
 * Returns the lists that limit a new key in addition to the grants of its user and those it is given.
 *
 * @param isGiven whether the key is given grants, all of which the caller has
 * @param isByAct whether only `act` lets the caller create the key
 */
export const limitsFor = (
  principal: Principal,
  user: UserRow,
  { isGiven, isByAct }: { isGiven: boolean; isByAct: boolean },
): string[][] => {
  if (isSelf(principal, { scope: user.scope, user: user.id })) {
    // The first list of an authority has the grants of the user itself, which the key follows at each request.
    return isGiven ? [] : limitsOf(principal.authority.slice(1));
  }
  return [...(isGiven ? [] : limitsOf(principal.authority)), ...(isByAct ? [BY_ACT] : [])];
};

/** The most that a key which `act` creates can do. */
export const BY_ACT = ['member'];

/** @throws Forbidden if the key can do what the caller cannot */
export const demandCovering = ({ authority }: Principal, key: KeyRow, user: UserRow): void => {
  const lists = [
    key.grants ? parseTokenGrants(key.grants) : grantsOf(user),
    ...(key.limits ?? []).map(parseTokenGrants),
  ];
  const lacking = lists.map((list) => firstBeyond(authority, list));
  if (lacking.includes(undefined)) return;
  throw new Forbidden(`this key has the grant ${lacking[0]}, which the caller lacks`, {
    code: 'forbidden',
    details: { needs: lacking.slice(0, 1) },
  });
};

/** @throws Forbidden unless the key is of the caller, or `manage` reaches its user */
export const demandControl = (principal: Principal, key: KeyRow, user: UserRow | undefined): void => {
  if (isSelf(principal, key)) return;
  demand(principal, ['manage']);
  if (user) demandNotAbove(principal, user);
};

/** Returns the first grant of `grants` that the present limits of a key do not include. */
export const firstAdded = (key: KeyRow, grants: readonly string[]): string | undefined =>
  key.grants && firstBeyond([parseTokenGrants(key.grants)], parseGrants(grants));

/** Returns whether the principal sees a key at all (identity.md 1.4). */
export const seesKey = (principal: Principal, key: KeyRow): boolean =>
  isSelf(principal, key) ||
  (key.scope === principal.scope && may(principal, ['manage'])) ||
  authorizes(principal.authority, 'admin');
