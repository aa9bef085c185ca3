import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import type { Key } from './keys.ts';
import type { Cipher, OpenOlder, Place } from './secrets-cipher.ts';
import type { Span, Table } from './table.ts';

/**
 * Rows that may contain secrets: a head that the store needs to find and list them, and a body that is encrypted as one
 * text, so that no code has to distinguish secret fields. A body can only be decrypted in its own row, and if the table
 * binds it to fields of the head, only as long as these have the same values.
 */

export type SealedTable<Head, Body> = {
  get(key: Key): (Head & Body) | undefined;
  has(key: Key): boolean;
  values(span: Span): Iterable<Head & Body>;
  /** Returns the heads without decrypting the bodies. */
  heads(span: Span): Iterable<{ key: Key; head: Head }>;
  firstKey(span: Span): Key | undefined;
  put(batch: Batch, key: Key, head: Head, body: Body): void;
  remove(batch: Batch, key: Key): void;
  sealOlder: SealOlder;
};

/**
 * Among the `limit` rows that follow `after`, seals the bodies that are not sealed in the current format with the
 * current key. A body that no key opens is left unchanged. Returns where to continue, or undefined at the end.
 */
export type SealOlder = (
  batch: Batch,
  openOlder: OpenOlder,
  after: Key | undefined,
  limit: number,
) => { last: Key | undefined; sealed: number; unreadable: number };

/** `bound`: names of the fields of the head that the body is bound to. */
type Row<Head> = { head: Head; body: string; bound?: readonly (keyof Head & string)[] };

/** Returns what the body of a row is bound to. @param row as stored, or anything else that was found in its place */
export const placeOf = (
  table: string,
  key: Key,
  { head, bound }: { head?: unknown; bound?: unknown },
): Place => {
  if (!Array.isArray(bound) || typeof head !== 'object' || head === null) return { table, key };
  const values = new Map(Object.entries(head));
  return { table, key, bound: bound.map((name) => values.get(String(name)) ?? null) };
};

export const createSealedTable = <Head extends object, Body extends object>(
  env: Environment,
  name: string,
  cipher: Cipher,
  boundTo?: readonly (keyof Head & string)[],
): SealedTable<Head, Body> => {
  const rows: Table<Row<Head>> = env.table(name);
  // Bodies are written by `put` only, which accepts only Body.
  const bodyOf = (text: string, place: Place): Body => JSON.parse(cipher.open(text, place)) as Body;
  const bound = boundTo && { bound: boundTo };
  const whole = ({ head, body }: Row<Head>, key: Key): Head & Body => ({
    ...head,
    ...bodyOf(body, placeOf(name, key, { head, ...bound })),
  });
  return {
    get(key) {
      const row = rows.get(key);
      return row && whole(row, key);
    },
    has: rows.has,
    *values(span) {
      for (const { key, value } of rows.entries(span)) yield whole(value, key);
    },
    *heads(span) {
      for (const { key, value } of rows.entries(span)) yield { key, head: value.head };
    },
    firstKey: rows.firstKey,
    put: (batch, key, head, body) =>
      rows.put(batch, key, {
        head,
        body: cipher.seal(JSON.stringify(body), placeOf(name, key, { head, ...bound })),
        ...bound,
      }),
    remove: rows.remove,
    sealOlder(batch, openOlder, after, limit) {
      let seen = 0;
      let sealed = 0;
      let unreadable = 0;
      let last: Key | undefined;
      for (const { key, value } of rows.entries({ prefix: [], limit, ...(after && { after }) })) {
        const place = placeOf(name, key, value);
        try {
          const text = openOlder(value.body, place);
          if (text !== undefined) {
            rows.put(batch, key, { ...value, body: cipher.seal(text, place) });
            sealed += 1;
          }
        } catch {
          unreadable += 1;
        }
        seen += 1;
        last = key;
      }
      return { last: seen === limit ? last : undefined, sealed, unreadable };
    },
  };
};
