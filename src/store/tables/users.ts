import type { Identity, IdentityChange, User } from '../../schema/user.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId, type Key } from '../engine/keys.ts';
import { type Page, type PageOf, readPage, type Search } from '../engine/page.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * Users, by scope and id (identity.md 1.1).
 *
 * Guarantees: an account of an identity provider belongs to one user of a scope, and a folded id, which look-alikes
 * share, to one user. The time of the last request is a separate row, so that it is written without reading the user.
 * Relies on one writer at a time: a user is read and put under the lock of the users.
 */

export type UserRow = Omit<User, 'last_seen_at'> & {
  /** The id in the form that look-alikes share. */
  folded: string;
  /** When the newest token was issued, in seconds; 0 without a token. */
  token_iat: number;
  /** The last change of `identity` by hand, of which the user is notified. */
  identity_written?: IdentityChange;
};

export type UserTable = {
  get(scope: string, id: string): UserRow | undefined;
  /** Returns the id of the user of the scope whose folded id this is. */
  withFolded(scope: string, folded: string): string | undefined;
  withIdentity(scope: string, identity: Identity): string | undefined;
  /** In the byte order of the ids. */
  page(
    scope: string,
    page: Page,
    shown: (row: UserRow) => unknown,
    search?: Search<UserRow>,
  ): PageOf<UserRow>;
  /** In one read, regardless of their number. */
  count(scope: string): number;
  /** Returns the scopes that have users, with one read each. */
  scopes(): string[];
  put(batch: Batch, user: UserRow, before: UserRow | undefined): void;
  remove(batch: Batch, user: UserRow): void;
  seenAt(scope: string, id: string): number | undefined;
  putSeen(batch: Batch, scope: string, id: string, at: number): void;
};

export const createUserTable = (env: Environment): UserTable => {
  const rows = env.table<UserRow>('users');
  const folds = env.table<string>('user_folds');
  const identities = env.table<string>('user_identities');
  const seen = env.table<number>('user_seen');

  const removeLinks = (batch: Batch, { scope, folded, identity }: UserRow): void => {
    folds.remove(batch, [scope, indexed(folded)]);
    if (isAccount(identity)) identities.remove(batch, identityKey(scope, identity));
  };

  return {
    get: (scope, id) => (isId(scope) && isId(id) ? rows.get([scope, id]) : undefined),
    withFolded: (scope, folded) => folds.get([scope, indexed(folded)]),
    withIdentity: (scope, identity) => identities.get(identityKey(scope, identity)),
    page(scope, page, shown, search) {
      const ranges = isId(scope) ? [{ prefix: [scope] }] : [];
      const total = isId(scope) ? rows.count({ prefix: [scope] }) : 0;
      return readPage({ index: rows, ranges, total }, page, { read: (row) => row, shown, search });
    },
    count: (scope) => rows.count({ prefix: [scope] }),
    scopes() {
      const found: string[] = [];
      let key = rows.firstKey({ prefix: [] });
      while (key) {
        const scope = String(key[0]);
        found.push(scope);
        key = rows.firstKeyBehind([scope]);
      }
      return found;
    },
    put(batch, user, before) {
      checkId('scope', user.scope);
      checkId('user id', user.id);
      if (before) removeLinks(batch, before);
      rows.put(batch, [user.scope, user.id], user);
      folds.put(batch, [user.scope, indexed(user.folded)], user.id);
      if (isAccount(user.identity)) identities.put(batch, identityKey(user.scope, user.identity), user.id);
    },
    remove(batch, user) {
      removeLinks(batch, user);
      rows.remove(batch, [user.scope, user.id]);
      seen.remove(batch, [user.scope, user.id]);
    },
    seenAt: (scope, id) => (isId(scope) && isId(id) ? seen.get([scope, id]) : undefined),
    putSeen: (batch, scope, id, at) => seen.put(batch, [scope, id], at),
  };
};

/** The columns of a shipped row. */
export const userColumns = ({ scope }: UserRow): Columns => ({ scope });

const isAccount = (identity: UserRow['identity']): identity is Identity => typeof identity === 'object';

const identityKey = (scope: string, { issuer, subject }: Identity): Key => [
  indexed(issuer),
  indexed(subject),
  scope,
];
