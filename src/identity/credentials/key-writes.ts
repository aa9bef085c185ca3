import type { ApiKey, CreatedKey, KeyChange, NewKey } from '../../schema/api-key.ts';
import type { Clock, Ids } from '../../schema/clock.ts';
import { Conflict, Invalid, NotFound, RateLimited } from '../../schema/outcome.ts';
import { demand, may, type Principal } from '../../schema/principal.ts';
import type { KeyRow, Store, UserRow } from '../../store/index.ts';
import type { Change, Changes } from '../changes.ts';
import { demandGivable, scopeFor } from '../users/rights.ts';
import { checkedName, checkedUserId } from '../users/texts.ts';
import { audited, demandFree, newUser, type OwnedThreads, resourceOf } from '../users/users.ts';
import { actorOf, createKey, digestOf, hintOf, type Randomness } from './key-format.ts';
import { firstAdded, isSelf } from './key-rights.ts';
import { checkedKeyName, stateOf } from './new-key.ts';

/** The writes of a change of keys (identity.md 2.1). Called under the lock of users and credentials. */

export type KeysDeps = {
  store: Pick<Store, 'users' | 'keys' | 'credentials'>;
  clock: Clock;
  ids: Ids;
  random: Randomness;
  changes: Changes;
  threads: OwnedThreads;
  /** Longest life of a key in days; 0: any. */
  maxDays: number;
};

/** Bound of active keys of a user (identity.md 2.1). */
const MOST_ACTIVE = 100;

const KEPT_MS = 90 * 86_400_000;
const REMOVED_AT_ONCE = 2;

type Deps = Pick<KeysDeps, 'store' | 'clock' | 'ids' | 'random'>;

export const viewKey = ({ store: { keys }, clock }: Pick<Deps, 'store' | 'clock'>, row: KeyRow): ApiKey => {
  const { digest: _, line: __, first: ___, revoked_at, ...shown } = row;
  const use = keys.use(row.id);
  const state = stateOf({ expires_at: row.expires_at, revoked_at }, clock.now());
  return { ...shown, state, last_used_at: use?.at ?? null, last_used_ip: use?.ip ?? null };
};

export const putKey = (deps: Deps, change: Change, row: KeyRow, before: KeyRow): ApiKey => {
  deps.store.keys.put(change.batch, row);
  change.audit({
    action: 'update',
    resource: `keys/${row.id}`,
    before: auditedKey(before),
    after: auditedKey(row),
  });
  change.affects({ scope: row.scope, user: row.user, key: row.id });
  return viewKey(deps, row);
};

export type NewRow = Omit<KeyRow, 'id' | 'digest' | 'hint' | 'actor' | 'line'>;

/** @param line the chain of rotations that the key continues @throws RateLimited */
export const addKey = (deps: Deps, change: Change, row: NewRow, line?: string): CreatedKey => {
  const { keys, credentials } = deps.store;
  demandRoom(keys.ofUser(row.scope, row.user), row.user, deps.clock.now());
  removeOld(deps, change);
  const key = createKey(deps.random);
  const id = deps.ids.uuid();
  const digest = digestOf(key);
  const full: KeyRow = { ...row, id, digest, hint: hintOf(key), actor: actorOf(key), line: line ?? id };
  keys.put(change.batch, full);
  credentials.put(change.batch, digest, { kind: 'key', id });
  change.audit({ action: 'create', resource: `keys/${id}`, after: auditedKey(full) });
  return { key, ...viewKey(deps, full) };
};

const removeOld = ({ store: { keys, credentials }, clock }: Deps, { batch }: Change): void => {
  for (const row of keys.endedBefore(clock.now() - KEPT_MS, REMOVED_AT_ONCE)) {
    keys.remove(batch, row);
    credentials.remove(batch, row.digest);
  }
};

/** Limits of the caller become the grants of the key where one list can hold them. */
export const narrowingOf = (
  grants: string[] | undefined,
  limits: string[][],
): Pick<KeyRow, 'grants' | 'limits'> => {
  const [only, ...others] = limits;
  if (grants === undefined && only && others.length === 0) return { grants: only };
  return { ...(grants && { grants }), ...(only && { limits }) };
};

/** Returns the user of a new key, and creates it if the request says so. */
export const userFor = (
  { store: { users }, threads, clock }: KeysDeps,
  principal: Principal,
  { user: named, new_user, of_scope }: NewKey,
  change: Change,
): { user: UserRow; isNew: boolean } => {
  const scope = scopeFor(principal, of_scope);
  const id = named === undefined ? principal.user : checkedUserId('user', named);
  if (id === undefined) throw new Invalid('user is required: the caller of this request has no user');
  const found = users.get(scope, id);
  if (found) return { user: found, isNew: false };
  if (!isSelf(principal, { scope, user: id }) && !may(principal, ['act'])) demand(principal, ['manage']);
  if (!new_user) throw new NotFound(`user not found: ${id}`);
  demand(principal, ['manage']);
  const { name } = new_user;
  const bare = newUser({ scope, id, kind: new_user.kind, now: clock.now() });
  demandFree({ users, threads }, bare);
  demandGivable(principal, new_user.grants ?? []);
  const user: UserRow = {
    ...bare,
    grants: new_user.grants ?? [],
    ...(name !== undefined && { name: checkedName('new_user.name', name) }),
  };
  users.put(change.batch, user, undefined);
  change.audit({ action: 'create', resource: resourceOf(user), after: audited(user) });
  return { user, isNew: true };
};

/** @throws RateLimited */
const demandRoom = (existing: Iterable<KeyRow>, user: string, now: number): void => {
  let active = 0;
  for (const row of existing) if (stateOf(row, now) === 'active') active += 1;
  if (active < MOST_ACTIVE) return;
  throw new RateLimited(`user '${user}' has ${MOST_ACTIVE} active keys, the most: revoke one first`, {
    code: 'rate_limited',
    details: { bound: 'keys' },
  });
};

/** @throws Conflict */
export const demandActive = (row: KeyRow, now: number): void => {
  const state = stateOf(row, now);
  if (state !== 'active') throw new Conflict(`key '${row.name}' is ${state}`);
};

/** Only fewer grants and a shorter life: a change must not hand on more than the key had when it was given. */
export const narrowed = (
  before: KeyRow,
  { name, grants, expires_in_secs }: KeyChange,
  now: number,
): KeyRow => {
  const added = grants && firstAdded(before, grants);
  if (added !== undefined) throw new Invalid(`grants must not add ${added}: create another key`);
  const expires_at = expires_in_secs === undefined ? before.expires_at : now + expires_in_secs * 1000;
  if (before.expires_at !== null && (expires_at ?? 0) > before.expires_at) {
    throw new Invalid(
      `expires_in_secs must not extend the life of the key, which ends at ${new Date(before.expires_at).toISOString()}`,
    );
  }
  return {
    ...before,
    ...(name !== undefined && { name: checkedKeyName(name) }),
    ...(grants && { grants }),
    expires_at,
  };
};

/** The key in the audit log, without its text and digest. */
export const auditedKey = ({ digest: _, hint: __, ...row }: KeyRow) => row;
