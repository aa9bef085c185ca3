import type { Key } from '../engine/keys.ts';
import type { Table } from '../engine/table.ts';

/**
 * Lists of ULIDs in an index, newest first. An id begins with its time, so a span of time is a span of keys.
 *
 * Cost: one seek for each id.
 */

/** Keys are a list and an id. */
export type IdIndex = Table<true>;

/** Position in a list. */
export type Ids = { newest: string | undefined; next(): void };

/** `since` is inclusive, `before` is exclusive. */
export type IdBounds = { since: string; before?: string };

/** Sorts after every id, and after all keys that begin with the text that it is appended to. */
export const BEHIND_IDS = '~';

export const idsIn = (index: IdIndex, list: Key, { since, before = BEHIND_IDS }: IdBounds): Ids => {
  const below = (id: string): string | undefined =>
    index.firstKey({ prefix: list, from: [since], after: [id], reverse: true })?.[list.length]?.toString();
  const ids: Ids = {
    newest: below(before),
    next() {
      ids.newest = ids.newest && below(ids.newest);
    },
  };
  return ids;
};

/** @param since milliseconds, inclusive; `until` is exclusive. @param before only smaller ids */
export const idsBetween = (since = 0, until = Number.POSITIVE_INFINITY, before?: string): IdBounds => {
  const end = Number.isFinite(until) ? firstIdAt(until) : undefined;
  const [first] = [end, before].filter((id) => id !== undefined).sort();
  return { since: firstIdAt(since), ...(first !== undefined && { before: first }) };
};

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const LAST_TIME = 2 ** 48 - 1;

/**
 * Returns the common prefix of all ids of a millisecond, which sorts before all of them and after all older ones. A
 * time between two milliseconds is rounded up: no event lies between them.
 */
export const firstIdAt = (ms: number): string => {
  let rest = Math.min(Math.max(Math.ceil(ms), 0), LAST_TIME);
  let id = '';
  while (id.length < TIME_DIGITS) {
    id = DIGITS.charAt(rest % 32) + id;
    rest = Math.floor(rest / 32);
  }
  return id;
};
