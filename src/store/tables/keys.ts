import type { ApiKey } from '../../schema/api-key.ts';
import { Integrity } from '../../schema/outcome.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { isId } from '../engine/keys.ts';
import { type List, type Page, type PageOf, readPage, type Search } from '../engine/page.ts';
import type { Columns } from '../engine/sink.ts';

/**
 * API keys, by id, with a list for each user (identity.md 2.1). A row contains no secret; `credentials.ts` finds it by
 * the digest of the key.
 *
 * Guarantees: the last use is a separate row, so that it is written without reading the key.
 */

export type KeyRow = Omit<ApiKey, 'state' | 'last_used_at' | 'last_used_ip'> & {
  /** The digest of the key. */
  digest: string;
  /** The first key of the chain of rotations; a rotation keeps it. */
  line: string;
  revoked_at: number | null;
  /** Whether it was made together with its user, who may then use it for connections (identity.md 2.1). */
  first: boolean;
};

export type KeyUse = { at: number; ip: string };

/** `user` absent: all keys of the scope. */
export type KeyList = { scope: string; user?: string | undefined };

export type KeyTable = {
  get(id: string): KeyRow | undefined;
  ofUser(scope: string, user: string): Iterable<KeyRow>;
  /** Newest first. */
  page(list: KeyList, page: Page, shown: (row: KeyRow) => unknown, search?: Search<KeyRow>): PageOf<KeyRow>;
  /** Returns whether any key has not ended. */
  hasActive(now: number): boolean;
  put(batch: Batch, key: KeyRow): void;
  remove(batch: Batch, key: KeyRow): void;
  use(id: string): KeyUse | undefined;
  putUse(batch: Batch, id: string, use: KeyUse): void;
  /** Returns keys that ended before this time, oldest end first, at most `max`. */
  endedBefore(ms: number, max: number): KeyRow[];
};

export const createKeyTable = (env: Environment): KeyTable => {
  const rows = env.table<KeyRow>('keys');
  const ofScopes = env.table<true>('scope_keys');
  const ofUsers = env.table<true>('user_keys');
  const uses = env.table<KeyUse>('key_uses');
  const ends = env.table<true>('key_ends');

  const get = (id: string): KeyRow | undefined => (isId(id) ? rows.get([id]) : undefined);

  const listed = (id: string): KeyRow => {
    const row = get(id);
    if (!row) throw new Integrity(`key '${id}' is listed and has no record`);
    return row;
  };

  const listOf = ({ scope, user }: KeyList): List<true> => {
    const [index, prefix] = user === undefined ? [ofScopes, [scope]] : [ofUsers, [scope, user]];
    const exists = isId(scope) && (user === undefined || isId(user));
    return { index, ranges: exists ? [{ prefix }] : [], total: exists ? index.count({ prefix }) : 0 };
  };

  return {
    get,
    ofUser: (scope, user) =>
      isId(user) ? Array.from(ofUsers.keys({ prefix: [scope, user] }), ([, , id]) => listed(String(id))) : [],
    page: (list, page, shown, search) =>
      readPage(
        listOf(list),
        { ...page, reverse: true },
        { read: (_, key) => listed(String(key[0])), shown, search },
      ),
    hasActive: (now) => rows.count({ prefix: [] }) > ends.count({ prefix: [], to: [now] }),
    put(batch, key) {
      const before = get(key.id);
      if (before) ends.remove(batch, [endOf(before), key.id]);
      rows.put(batch, [key.id], key);
      ofScopes.put(batch, [key.scope, key.id], true);
      ofUsers.put(batch, [key.scope, key.user, key.id], true);
      if (endOf(key) < Number.POSITIVE_INFINITY) ends.put(batch, [endOf(key), key.id], true);
    },
    remove(batch, key) {
      rows.remove(batch, [key.id]);
      ofScopes.remove(batch, [key.scope, key.id]);
      ofUsers.remove(batch, [key.scope, key.user, key.id]);
      uses.remove(batch, [key.id]);
      ends.remove(batch, [endOf(key), key.id]);
    },
    use: (id) => uses.get([id]),
    putUse: (batch, id, use) => uses.put(batch, [id], use),
    endedBefore: (ms, max) =>
      Array.from(ends.keys({ prefix: [], to: [ms], limit: max }), (key) => get(String(key[1]))).filter(
        (row) => row !== undefined,
      ),
  };
};

/** The columns of a shipped row. */
export const keyColumns = (key: KeyRow): Columns => ({
  scope: key.scope,
  a: key.user,
  at: endOf(key) < Number.POSITIVE_INFINITY ? endOf(key) : null,
});

/** When the key ended or will end. */
const endOf = ({ expires_at, revoked_at }: KeyRow): number =>
  Math.min(expires_at ?? Number.POSITIVE_INFINITY, revoked_at ?? Number.POSITIVE_INFINITY);
