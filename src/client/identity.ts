import type { ApiKey, ApiKeyList, CreatedKey, KeyChange, KeyState, NewKey } from '../schema/api-key.ts';
import type { NewUser, User, UserChange, UserKind, UserList } from '../schema/user.ts';
import { type Connection, call, path, type Query } from './connection.ts';
import type { KeyedOptions } from './keyed.ts';
import { type Paged, paged } from './pages.ts';

type Options = { signal?: AbortSignal };

type Page = { limit?: number; offset?: number; cursor?: string; of_scope?: string };

/**
 * API keys (identity.md 2.1): `client.keys`. A user reads and revokes its own keys; other keys need `manage`.
 *
 * @example
 * ```ts
 * const { key, id } = await client.keys.create({
 *   name: 'ci',
 *   user: 'ci-bot',
 *   new_user: { kind: 'service', grants: ['member'] },
 * });
 * console.log(key); // the only time that it is shown
 * await client.keys.revoke(id);
 * ```
 */
export type Keys = {
  list(query?: Page & { user?: string; state?: KeyState }, options?: Options): Paged<ApiKeyList, ApiKey>;
  /** @throws NotFound */
  get(id: string, options?: Options): Promise<ApiKey>;
  /** Creates a key. Its text is in this result only. @throws InvalidRequest, NotFound */
  create(key: NewKey, options?: KeyedOptions): Promise<CreatedKey>;
  /** Renames a key, takes grants or shortens its life. @throws NotFound, InvalidRequest */
  update(id: string, change: KeyChange, options?: Options): Promise<ApiKey>;
  /** Replaces a key; the previous one works for `grace_secs` longer. @throws NotFound, Conflict */
  rotate(id: string, how?: { grace_secs?: number }, options?: KeyedOptions): Promise<CreatedKey>;
  /** Ends a key, and with `runs: 'cancel'` also the open runs that it started. @throws NotFound */
  revoke(id: string, how?: { runs?: 'keep' | 'cancel' }, options?: Options): Promise<void>;
};

/**
 * Users of a scope (identity.md 2.2): `client.users`. Needs `manage`, except to read oneself.
 *
 * @example
 * ```ts
 * await client.users.create({ id: 'alice', kind: 'person', grants: ['member'] });
 * await client.users.update('alice', { disabled: true });
 * ```
 */
export type Users = {
  list(query?: Page & { kind?: UserKind; q?: string }, options?: Options): Paged<UserList, User>;
  /** @throws NotFound */
  get(id: string, options?: Options & { of_scope?: string }): Promise<User>;
  /** @throws Conflict if the id exists or looks like one that exists; InvalidRequest */
  create(user: NewUser, options?: KeyedOptions): Promise<User>;
  /** @throws NotFound, InvalidRequest */
  update(id: string, change: UserChange, options?: Options & { of_scope?: string }): Promise<User>;
  /** Rejects the tokens of the user that were issued before now. @throws NotFound */
  signOut(id: string, options?: Options & { of_scope?: string }): Promise<User>;
  /** Deletes a user and ends its keys. @throws NotFound */
  delete(
    id: string,
    how?: { threads?: 'keep' | 'delete'; of_scope?: string },
    options?: Options,
  ): Promise<void>;
};

export const createKeys = (connection: Connection): Keys => ({
  list: (query = {}, options) => listed<ApiKeyList, ApiKey>(connection, '/v1/keys', query, options),
  get: (id, options) => call(connection, 'GET', path`/v1/keys/${id}`, options),
  create: (body, options) => call(connection, 'POST', '/v1/keys', { ...options, body }),
  update: (id, body, options) => call(connection, 'PATCH', path`/v1/keys/${id}`, { ...options, body }),
  rotate: (id, body = {}, options) =>
    call(connection, 'POST', path`/v1/keys/${id}/rotate`, { ...options, body }),
  revoke: (id, query = {}, options) =>
    call(connection, 'DELETE', path`/v1/keys/${id}`, { ...options, query }),
});

export const createUsers = (connection: Connection): Users => ({
  list: (query = {}, options) => listed<UserList, User>(connection, '/v1/users', query, options),
  get: (id, { signal, of_scope } = {}) =>
    call(connection, 'GET', path`/v1/users/${id}`, { signal, query: { of_scope } }),
  create: (body, options) => call(connection, 'POST', '/v1/users', { ...options, body }),
  update: (id, body, { signal, of_scope } = {}) =>
    call(connection, 'PATCH', path`/v1/users/${id}`, { signal, query: { of_scope }, body }),
  signOut: (id, { signal, of_scope } = {}) =>
    call(connection, 'POST', path`/v1/users/${id}/sign-out`, { signal, query: { of_scope } }),
  delete: (id, query = {}, options) =>
    call(connection, 'DELETE', path`/v1/users/${id}`, { ...options, query }),
});

const listed = <List extends { items: Item[]; next_cursor: string | null }, Item>(
  connection: Connection,
  target: string,
  { cursor, ...query }: Query & { cursor?: string },
  options: Options | undefined,
): Paged<List, Item> =>
  paged(
    (from) =>
      call<List>(connection, 'GET', target, { signal: options?.signal, query: { ...query, cursor: from } }),
    ({ items }) => items,
    cursor,
  );
