import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import type { Key } from './keys.ts';
import { type Cipher, isSealed } from './secrets-cipher.ts';
import type { Span, Table } from './table.ts';

/**
 * Rows that may hold secrets: a head that the store needs to find and list them, and a body that is one text for
 * the cipher, so that nothing has to know which of its fields is a secret. A row written before there was a key
 * is plain text until it is written again, and is read all the same.
 */

export type SealedTable<Head, Body> = {
  get(key: Key): (Head & Body) | undefined;
  has(key: Key): boolean;
  values(span: Span): Iterable<Head & Body>;
  /** Without opening the body. */
  heads(span: Span): Iterable<{ key: Key; head: Head }>;
  firstKey(span: Span): Key | undefined;
  put(batch: Batch, key: Key, head: Head, body: Body): void;
  remove(batch: Batch, key: Key): void;
  sealPlain: SealPlain;
};

/**
 * Seals what is still plain among the next `limit` rows behind `after`; tells where to go on, or undefined at the
 * end.
 */
export type SealPlain = (batch: Batch, after: Key | undefined, limit: number) => Key | undefined;

type Row<Head> = { head: Head; body: string };

export const createSealedTable = <Head extends object, Body extends object>(
  env: Environment,
  name: string,
  cipher: Cipher,
): SealedTable<Head, Body> => {
  const rows: Table<Row<Head>> = env.table(name);
  // Bodies are written by `put` only, which takes nothing but Body.
  const bodyOf = (text: string): Body => JSON.parse(cipher.open(text)) as Body;
  const whole = ({ head, body }: Row<Head>): Head & Body => ({ ...head, ...bodyOf(body) });
  return {
    get(key) {
      const row = rows.get(key);
      return row && whole(row);
    },
    has: rows.has,
    *values(span) {
      for (const row of rows.values(span)) yield whole(row);
    },
    *heads(span) {
      for (const { key, value } of rows.entries(span)) yield { key, head: value.head };
    },
    firstKey: rows.firstKey,
    put: (batch, key, head, body) => rows.put(batch, key, { head, body: cipher.seal(JSON.stringify(body)) }),
    remove: rows.remove,
    sealPlain(batch, after, limit) {
      let seen = 0;
      let last: Key | undefined;
      for (const { key, value } of rows.entries({ prefix: [], limit, ...(after && { after }) })) {
        if (!isSealed(value.body)) rows.put(batch, key, { ...value, body: cipher.seal(value.body) });
        seen += 1;
        last = key;
      }
      return seen === limit ? last : undefined;
    },
  };
};
