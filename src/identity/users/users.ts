import type { Clock } from '../../schema/clock.ts';
import type { Accept } from '../../schema/idempotency.ts';
import { soughtUserId } from '../../schema/identity-text.ts';
import { Conflict, Forbidden, NotFound } from '../../schema/outcome.ts';
import { checkPartitionOf } from '../../schema/partition.ts';
import { demand, nameOf, type Principal } from '../../schema/principal.ts';
import type { IdentityChange, NewUser, User, UserChange, UserKind } from '../../schema/user.ts';
import type { Store, UserRow } from '../../store/index.ts';
import type { By, Change, Changes } from '../changes.ts';
import { removeSessionsOf } from '../sessions/session-writes.ts';
import { demandGivable, demandNotAbove, scopeFor } from './rights.ts';
import { checkedEmail, checkedName, checkedUserId, foldedId } from './texts.ts';

/**
 * Users of a scope, and the rights to read and change them (identity.md 1.1, 1.2, 2.2).
 *
 * Guarantees: `manage` changes only users all of whose grants the caller has; no caller gives a grant that it lacks; an
 * id, and every id that looks like it, belongs to one user, as long as threads or files of a deleted user remain.
 */
export type Users = {
  /** A caller reads itself without a grant. @throws NotFound, Forbidden */
  get(principal: Principal, id: string, of_scope?: string): User;
  /** Returns the scope whose users the principal may list. @throws Forbidden */
  listed(principal: Principal, of_scope?: string): string;
  view(row: UserRow): User;
  /** @throws Forbidden without `admin` */
  scopes(principal: Principal): string[];
  create(by: By, user: NewUser, keyed?: Accept<User>): Promise<User>;
  /** @throws NotFound, Forbidden, Invalid */
  update(by: By, id: string, change: UserChange, of_scope?: string): Promise<User>;
  /** Ends its sessions, and rejects tokens that were issued before now. */
  signOut(by: By, id: string, of_scope?: string): Promise<User>;
  /** Ends its keys, sessions and connections. Its threads and files stay, or are deleted, which needs `write:all`. */
  remove(
    by: By,
    id: string,
    options: { of_scope?: string | undefined; threads: 'keep' | 'delete' },
  ): Promise<void>;
};

/** The threads and files of a user, which other modules own. */
export type OwnedThreads = {
  any(scope: string, user: string): boolean;
  remove(scope: string, user: string): Promise<void>;
};

/** The connected accounts of a user. */
export type ConnectedAccounts = { removeAll(account: { scope: string; user: string }): Promise<void> };

export type UsersDeps = {
  store: Pick<Store, 'users' | 'keys' | 'sessions' | 'credentials' | 'idempotency'>;
  clock: Clock;
  changes: Changes;
  threads: OwnedThreads;
  /** Absent in commands, which delete no users. */
  accounts?: ConnectedAccounts | undefined;
};

export const createUsers = ({ store, clock, changes, threads, accounts }: UsersDeps): Users => {
  const { users } = store;
  const view = (row: UserRow): User => viewUser(users, row);

  /** @throws NotFound, Forbidden */
  const managed = (principal: Principal, id: string, of_scope: string | undefined): UserRow => {
    demand(principal, ['manage']);
    const user = found(users.get(scopeFor(principal, of_scope), soughtUserId(id)), id);
    demandNotAbove(principal, user);
    return user;
  };

  const stored = (change: Change, user: UserRow, before: UserRow | undefined): User =>
    viewUser(users, storeUser(users, change, user, before));

  return {
    view,
    get(principal, id, of_scope) {
      const [scope, name] = [scopeFor(principal, of_scope), soughtUserId(id)];
      if (scope !== principal.scope || name !== principal.user) demand(principal, ['manage']);
      return view(found(users.get(scope, name), id));
    },
    listed(principal, of_scope) {
      demand(principal, ['manage']);
      return scopeFor(principal, of_scope);
    },
    scopes: (principal) => {
      demand(principal, ['admin']);
      return users.scopes();
    },
    create: (by, given, keyed) =>
      changes.write(
        by,
        (change) => {
          const user = createdBy({ users, threads, clock }, by.principal, given);
          return stored(change, user, undefined);
        },
        keyed,
      ),
    update: (by, id, given, of_scope) =>
      changes.write(by, (change) => {
        const before = managed(by.principal, id, of_scope);
        const added = given.grants?.filter((grant) => !before.grants.includes(grant)) ?? [];
        demandGivable(by.principal, added);
        if (given.identity !== undefined) demand(by.principal, ['admin']);
        const user = changed(before, given);
        return stored(change, noted(user, before, { at: clock.now(), by: nameOf(by.principal) }), before);
      }),
    signOut: (by, id, of_scope) =>
      changes.write(by, (change) => {
        const before = managed(by.principal, id, of_scope);
        removeSessionsOf(store, change, before);
        return stored(change, { ...before, tokens_not_before: clock.now() }, before);
      }),
    async remove(by, id, { of_scope, threads: ofThreads }) {
      if (ofThreads === 'delete') demand(by.principal, ['write', 'all']);
      const row = managed(by.principal, id, of_scope);
      const { scope, id: user } = demandAnother(by.principal, row);
      // First, because a later user with this id must not find them after a crash.
      await accounts?.removeAll({ scope, user });
      await changes.write(by, (change) =>
        removeUser(store, managed(by.principal, id, of_scope), { change, now: clock.now() }),
      );
      // Again, for those that were made until then.
      await accounts?.removeAll({ scope, user });
      if (ofThreads === 'delete') await threads.remove(scope, user);
    },
  };
};

/** @throws Forbidden, Invalid, Conflict */
const createdBy = (
  { users, threads, clock }: { users: Store['users']; threads: OwnedThreads; clock: Clock },
  principal: Principal,
  { of_scope, id, kind, ...rest }: NewUser,
): UserRow => {
  demand(principal, ['manage']);
  const user = newUser({ scope: scopeFor(principal, of_scope), id, kind, now: clock.now() });
  demandFree({ users, threads }, user);
  demandGivable(principal, rest.grants ?? []);
  return changed(user, rest);
};

const viewUser = (users: Store['users'], row: UserRow): User => ({
  ...audited(row),
  last_seen_at: users.seenAt(row.scope, row.id) ?? null,
});

const storeUser = (
  users: Store['users'],
  change: Change,
  user: UserRow,
  before: UserRow | undefined,
): UserRow => {
  users.put(change.batch, user, before);
  change.audit({
    action: before ? 'update' : 'create',
    resource: resourceOf(user),
    ...(before && { before: audited(before) }),
    after: audited(user),
  });
  if (before) change.affects({ scope: user.scope, user: user.id });
  return user;
};

/** @throws Forbidden */
const demandAnother = ({ scope, user }: Principal, row: UserRow): UserRow => {
  if (row.scope !== scope || row.id !== user) return row;
  throw new Forbidden('a user cannot delete itself', { code: 'forbidden' });
};

/** Removes a user, ends its sessions and revokes its keys, which stay listed. */
const removeUser = (
  store: UsersDeps['store'],
  row: UserRow,
  { change, now }: { change: Change; now: number },
): UserRow => {
  const { users, keys } = store;
  users.remove(change.batch, row);
  store.idempotency.removeOf(change.batch, { scope: row.scope, caller: row.id });
  removeSessionsOf(store, change, row);
  for (const key of keys.ofUser(row.scope, row.id)) {
    if (key.revoked_at === null) keys.put(change.batch, { ...key, revoked_at: now });
  }
  change.audit({ action: 'delete', resource: resourceOf(row), before: audited(row) });
  change.affects({ scope: row.scope, user: row.id });
  return row;
};

const found = (user: UserRow | undefined, id: string): UserRow => {
  if (!user) throw new NotFound(`user not found: ${id}`);
  return user;
};

/** @throws Invalid */
export const newUser = (of: { scope: string; id: string; kind: UserKind; now: number }): UserRow => {
  const id = checkedUserId('user id', of.id);
  checkPartitionOf({ scope: of.scope, user: id });
  return {
    id,
    scope: of.scope,
    kind: of.kind,
    grants: [],
    token_grants: [],
    disabled: false,
    tokens_not_before: 0,
    created_at: of.now,
    folded: foldedId(id),
    token_iat: 0,
  };
};

/** Returns why a new user cannot have its id. */
export const takenBy = (
  { users, threads }: { users: Store['users']; threads: OwnedThreads },
  { scope, id, folded }: Pick<UserRow, 'scope' | 'id' | 'folded'>,
): string | undefined => {
  const owner = users.withFolded(scope, folded);
  if (owner === id) return `user already exists: ${id}`;
  if (owner !== undefined) return `user id '${id}' looks like the existing '${owner}'`;
  return threads.any(scope, id) ? `user id '${id}' owns threads or files already` : undefined;
};

/** @throws Conflict */
export const demandFree = (
  deps: Parameters<typeof takenBy>[0],
  user: Pick<UserRow, 'scope' | 'id' | 'folded'>,
): void => {
  const reason = takenBy(deps, user);
  if (reason !== undefined) throw new Conflict(reason);
};

const changed = (user: UserRow, change: UserChange): UserRow => {
  const { name = user.name, email = user.email, identity = user.identity } = change;
  const { name: _, email: __, identity: ___, ...rest } = user;
  return {
    ...rest,
    grants: change.grants ?? user.grants,
    disabled: change.disabled ?? user.disabled,
    ...(typeof name === 'string' && { name: checkedName('name', name) }),
    ...(typeof email === 'string' && { email: checkedEmail('email', email) }),
    ...(identity && { identity }),
  };
};

/** Another account can then act as the user, who has to learn of it (`identity_changed` of `Who`). */
const noted = (user: UserRow, before: UserRow, identity_written: IdentityChange): UserRow =>
  JSON.stringify(user.identity) === JSON.stringify(before.identity) ? user : { ...user, identity_written };

/** `users/<scope>/<id>`, each part percent-encoded (identity.md 7). */
export const resourceOf = ({ scope, id }: Pick<UserRow, 'scope' | 'id'>): string =>
  `users/${encodeURIComponent(scope)}/${encodeURIComponent(id)}`;

export const audited = ({
  folded: _folded,
  token_iat: _issued,
  identity_written: _written,
  ...user
}: UserRow): Omit<User, 'last_seen_at'> => user;
