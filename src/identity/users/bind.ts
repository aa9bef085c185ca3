import type { Clock } from '../../schema/clock.ts';
import { type Grants, parseTokenGrants, unite } from '../../schema/grants.ts';
import {
  identityText,
  MOST_SCOPE_BYTES,
  MOST_USER_ID_BYTES,
  userIdText,
} from '../../schema/identity-text.ts';
import { RateLimited, Unauthorized } from '../../schema/outcome.ts';
import { canBePartition } from '../../schema/partition.ts';
import { nameOf, type Principal } from '../../schema/principal.ts';
import type { Store, UserRow } from '../../store/index.ts';
import type { Change, Changes } from '../changes.ts';
import type { VerifiedToken } from '../issuers/index.ts';
import { audited, newUser, type OwnedThreads, resourceOf, takenBy } from './users.ts';

/**
 * Binds verified tokens of identity providers to users (identity.md 1.1, 2.3).
 *
 * Guarantees: a user belongs to the account that created it or that its record names. No token reaches a user that was
 * made by hand, by `act`, as a service, or by another account. The grants of the newest token are kept for keys and
 * sessions, also when an older token arrives later.
 * Cost: a token object that was bound before, and no change since, costs one read of a map.
 */

/** @throws Unauthorized, RateLimited; rejects with the same if a user has to be written */
export type Bind = (token: VerifiedToken) => Principal | Promise<Principal>;

export type BindDeps = {
  store: Pick<Store, 'users'>;
  clock: Clock;
  changes: Changes;
  threads: OwnedThreads;
  /** Most users of a scope. */
  maxUsers: number;
};

const IDENTITY = 'invalid token: identity';

export const createBind = (deps: BindDeps): Bind => {
  const { changes } = deps;
  const known = new WeakMap<VerifiedToken, { revision: number; principal: Principal }>();

  const remember = (given: VerifiedToken, token: VerifiedToken, user: UserRow): Principal => {
    const principal = derived(token, user);
    known.set(given, { revision: changes.revision, principal });
    return principal;
  };

  /** A literal with parts that all principals share, because thousands of them are remembered. */
  const derived = (token: VerifiedToken, user: UserRow): Principal => {
    const { scope, user: id, narrowing, exp } = token;
    const own = ownGrants(token, user);
    const { revision } = changes;
    const basis = { users: NO_USERS, revision, expires_at: exp * 1000, again: () => again(token) };
    if (!narrowing) return { scope, user: id, authority: [own], credential: OF_TOKEN, basis };
    return { scope, user: id, authority: [own, narrowing], unlimited: [own], credential: OF_TOKEN, basis };
  };

  const again = (token: VerifiedToken): Principal => {
    const user = deps.store.users.get(token.scope, token.user);
    if (!user || user.identity === 'pending') throw new Unauthorized(IDENTITY);
    demandOwn(user, token);
    return derived(token, user);
  };

  const write = (token: VerifiedToken): Promise<UserRow> => {
    const principal = writerOf(token);
    const user = nameOf(principal);
    const caller = { actor: user, request_id: null, user, scope: token.scope, credential: { kind: 'jwt' } };
    return changes.write({ principal, caller }, (change) => boundUser(deps, token, change));
  };

  return (given) => {
    const before = known.get(given);
    if (before?.revision === changes.revision) return before.principal;
    const token = normalized(given);
    const user = deps.store.users.get(token.scope, token.user);
    if (user && user.identity !== 'pending') {
      demandOwn(user, token);
      if (!isNewer(user, token)) return remember(given, token, user);
    }
    return write(token).then((bound) => remember(given, token, bound));
  };
};

/** @throws Unauthorized */
const normalized = (token: VerifiedToken): VerifiedToken => {
  const scope = identityText(token.scope, MOST_SCOPE_BYTES);
  const user = userIdText(token.user);
  if (scope === undefined || user === undefined) throw new Unauthorized(IDENTITY);
  if (!canBePartition({ scope, user })) throw new Unauthorized(IDENTITY);
  return scope === token.scope && user === token.user ? token : { ...token, scope, user };
};

/** @throws Unauthorized */
const demandOwn = (user: UserRow, { issuer, subject, iat }: VerifiedToken): void => {
  const { identity } = user;
  const isOwn = typeof identity === 'object' && identity.issuer === issuer && identity.subject === subject;
  if (!isOwn || user.kind !== 'person') throw new Unauthorized(IDENTITY);
  if (user.disabled) throw new Unauthorized('invalid token: disabled', { reason: 'disabled' });
  if (iat * 1000 < user.tokens_not_before)
    throw new Unauthorized('invalid token: expired', { reason: 'expired' });
};

const isNewer = (user: UserRow, token: VerifiedToken): boolean =>
  token.iat > user.token_iat ||
  (token.iat === user.token_iat && token.grants.texts.some((grant) => !user.token_grants.includes(grant)));

/** Writes the user of a token, under the lock of the users. @throws Unauthorized, RateLimited */
const boundUser = (deps: BindDeps, token: VerifiedToken, change: Change): UserRow => {
  const { users } = deps.store;
  const before = users.get(token.scope, token.user);
  const isBound = before !== undefined && before.identity !== 'pending';
  if (isBound) demandOwn(before, token);
  else demandBindable(users, before, token);
  if (isBound && !isNewer(before, token)) return before;
  const { scope, issuer, subject } = token;
  const user = withToken({ ...(before ?? createdUser(deps, token)), identity: { issuer, subject } }, token);
  users.put(change.batch, user, before);
  users.putSeen(change.batch, scope, user.id, deps.clock.now());
  if (!isBound) {
    change.audit({ action: before ? 'update' : 'create', resource: resourceOf(user), after: audited(user) });
  }
  // Nothing can have been remembered about a user that did not exist.
  if (before) change.affects({ scope, user: user.id });
  return user;
};

/** @throws Unauthorized */
const demandBindable = (
  users: Store['users'],
  before: UserRow | undefined,
  { scope, issuer, subject }: VerifiedToken,
): void => {
  const isTaken = users.withIdentity(scope, { issuer, subject }) !== undefined;
  if (isTaken || before?.kind === 'service') throw new Unauthorized(IDENTITY);
  if (before?.disabled) throw new Unauthorized('invalid token: disabled', { reason: 'disabled' });
};

/** @throws Unauthorized, RateLimited */
const createdUser = (
  { store: { users }, clock, threads, maxUsers }: BindDeps,
  token: VerifiedToken,
): UserRow => {
  if (token.provision === 'known') throw new Unauthorized(IDENTITY);
  const user = newUser({ scope: token.scope, id: token.user, kind: 'person', now: clock.now() });
  if (takenBy({ users, threads }, user) !== undefined) throw new Unauthorized(IDENTITY);
  demandRoomForUser(users, token.scope, maxUsers);
  return user;
};

/** @throws RateLimited */
export const demandRoomForUser = (users: Store['users'], scope: string, maxUsers: number): void => {
  if (users.count(scope) < maxUsers) return;
  throw new RateLimited(`the scope has ${maxUsers} users, the most (identity.max_users)`, {
    code: 'rate_limited',
    details: { bound: 'users' },
  });
};

/** The grants of tokens that were issued in the same second are joined. */
const withToken = (user: UserRow, { iat, grants, name, email }: VerifiedToken): UserRow => {
  const shownName = name === undefined ? undefined : identityText(name, MOST_USER_ID_BYTES);
  const address = email === undefined ? undefined : identityText(email, MOST_USER_ID_BYTES)?.toLowerCase();
  return {
    ...user,
    token_grants:
      iat === user.token_iat
        ? [...unite(parseTokenGrants(user.token_grants), grants).texts]
        : [...grants.texts],
    token_iat: iat,
    ...(shownName !== undefined && { name: shownName }),
    ...(address !== undefined && { email: address }),
  };
};

const NO_USERS: readonly string[] = [];
const OF_TOKEN = { kind: 'jwt' } as const;

/** A token acts with its own grants; those of the newest one are for keys and sessions. */
const ownGrants = ({ grants }: VerifiedToken, user: UserRow): Grants =>
  unite(parseTokenGrants(user.grants), grants);

/** The principal that writes the user of a token. */
const writerOf = ({ scope, user, grants }: VerifiedToken): Principal => ({
  scope,
  user,
  authority: [grants],
  credential: OF_TOKEN,
});
