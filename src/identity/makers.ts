import { type Authority, authorizes, parseGrants, parseTokenGrants } from '../schema/grants.ts';
import type { Maker } from '../schema/maker.ts';
import type { Principal } from '../schema/principal.ts';
import type { KeyRow, Store } from '../store/index.ts';
import { grantsOf } from './users/rights.ts';

/**
 * Judges what outlives its request by the present rights of the user that made it (identity.md 1.5).
 *
 * Guarantees: the result has the grants that the user has now, limited as the credential was. A rotation hands on what
 * the earlier keys of its line made. The expiry of a credential ends nothing, because push configs are made to outlive it.
 * Cost: reads of a user and of its keys.
 */
export type Makers = {
  /** Returns undefined if no change of users and keys can alter the rights of the principal. */
  of(principal: Principal): Maker | undefined;
  /**
   * `ended`: the user was deleted, or the key and its successors were revoked. `refused`: the user may do nothing now.
   */
  judge(maker: Maker): Principal | 'ended' | 'refused';
};

type MakersStore = Pick<Store, 'users' | 'keys'>;

export const createMakers = (store: MakersStore): Makers => ({
  of(principal) {
    const { scope, user, authority, credential, basis } = principal;
    const row = user === undefined || !basis ? undefined : store.users.get(scope, user);
    if (!row) return undefined;
    const by = { scope, user: row.id, since: row.created_at };
    const key = credential.kind === 'key' && credential.id ? store.keys.get(credential.id) : undefined;
    if (key) return { ...by, key: { line: key.line, user: key.user }, limits: [] };
    return { ...by, limits: authority.slice(1).map(({ texts }) => texts) };
  },
  judge(maker) {
    const user = store.users.get(maker.scope, maker.user);
    if (user?.created_at !== maker.since) return 'ended';
    const limits = maker.key ? limitsOfKey(store, maker, maker.key) : maker.limits.map(parseTokenGrants);
    if (limits === 'ended') return 'ended';
    if (limits === 'refused' || user.disabled) return 'refused';
    return {
      scope: maker.scope,
      user: user.id,
      authority: [grantsOf(user), ...limits],
      credential: { kind: maker.key ? 'key' : 'program', ...(maker.key && { id: maker.key.line }) },
    };
  },
});

const MEMBER = parseGrants(['member']);

/** A key of another user acts for an end user, as long as it may. */
const limitsOfKey = (
  { users, keys }: MakersStore,
  { scope, user }: Maker,
  key: NonNullable<Maker['key']>,
): Authority | 'ended' | 'refused' => {
  const row = newestOf(keys.ofUser(scope, key.user), key.line);
  if (!row) return 'ended';
  const own = [...(row.grants ? [row.grants] : []), ...(row.limits ?? [])].map(parseTokenGrants);
  if (key.user === user) return own;
  const holder = users.get(scope, key.user);
  if (!holder) return 'ended';
  const authority = [grantsOf(holder), ...own];
  return holder.disabled || !authorizes(authority, 'act') ? 'refused' : [...authority, MEMBER];
};

/** Returns the newest key of a chain of rotations that is not revoked. */
const newestOf = (keys: Iterable<KeyRow>, line: string): KeyRow | undefined => {
  let newest: KeyRow | undefined;
  for (const key of keys) {
    if (key.line !== line || key.revoked_at !== null) continue;
    if (!newest || key.created_at >= newest.created_at) newest = key;
  }
  return newest;
};
