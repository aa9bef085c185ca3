import { setImmediate } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { Unavailable } from '../schema/outcome.ts';
import type { Rows } from './engine/batch.ts';
import { blobsIn } from './engine/blob-folder.ts';
import type { Codec } from './engine/codec.ts';
import { writeStructures } from './engine/committer.ts';
import { createEnvironment, type Environment, encoded } from './engine/environment.ts';
import type { Key } from './engine/keys.ts';
import { continueBehind } from './engine/order.ts';
import type { RowContent } from './engine/sink.ts';
import { createIncomingBlobs } from './incoming-blobs.ts';
import { SHIPPED } from './kinds.ts';
import { ALL_RECORDS, createDerivation } from './repair/derived.ts';
import { BLOB_PARTS } from './tables/blob-parts.ts';
import { putLinkKey } from './tables/files.ts';
import { STORE_KEYS } from './tables/store-keys.ts';

/**
 * Fills an empty folder from the rows of a database: first the rows as they are, then, in key order, what the tables
 * derive from them.
 *
 * Cost: the event loop is free between transactions; memory for one page and for the counters.
 */

/** Rows of one transaction. */
const ROWS_AT_ONCE = 500;
/** Records of one transaction; most have several derived rows. */
const RECORDS_AT_ONCE = 200;

/** @throws Unavailable for a row of an unknown kind */
export const fill = async (
  root: RootDatabase,
  pages: AsyncIterable<readonly RowContent[]>,
  folder: { dir: string; isCopy: boolean },
): Promise<void> => {
  const env = createEnvironment(root);
  const writes = createWrites(env);
  const rows = createRows(env, folder, writes);
  for await (const page of pages) {
    for (const row of page) {
      rows.add(row);
      if (writes.count >= ROWS_AT_ONCE) await writes.flush();
    }
    await writes.flush();
  }
  rows.end();
  await derive(env);
  await writes.stored();
};

/** Adds rows to a folder: the tables have them as they are, but for contents of files and the key of links. */
const createRows = (env: Environment, { dir, isCopy }: { dir: string; isCopy: boolean }, writes: Writes) => {
  const tables = new Map(SHIPPED.map(({ number, table }) => [number, openTable(env, table)]));
  const blobs = createIncomingBlobs(blobsIn(dir));
  const meta = env.rows('meta');
  let highest = 0;

  /** Returns the value that the table has. */
  const place = (table: OpenTable, key: Key, value: unknown): unknown => {
    if (table.name === BLOB_PARTS) return blobs.write(key, String(value));
    if (table.name === STORE_KEYS) putLinkKey(meta, String(value));
    if (ORDERED.includes(table.name)) highest = Math.max(highest, orderIn(value));
    return value;
  };

  return {
    add(row: RowContent): void {
      const value: unknown = JSON.parse(row.value);
      // A removed row of the configuration stays for a while.
      if (value === null) return;
      const table = tables.get(row.kind);
      if (!table)
        throw new Unavailable(`the database has rows of kind ${row.kind}, which this version does not have`);
      const key: Key = JSON.parse(row.key);
      const placed = place(table, key, value);
      if (isCopy || !OF_COPIES.includes(table.name)) writes.add(table.rows, key, table.codec.encode(placed));
    },
    end(): void {
      blobs.end();
      continueBehind(meta, highest);
    },
  };
};

type OpenTable = { name: string; rows: Rows; codec: Codec };

const openTable = (env: Environment, name: string): OpenTable => {
  env.table(name);
  const rows = env.tables.get(name);
  const codec = env.codecs.find(({ key }) => key[0] === name);
  if (!rows || !codec) throw new Error(`table '${name}' is not open`);
  return { name, rows, codec };
};

/** Tables that only copies have: other folders have their rows elsewhere. */
const OF_COPIES: readonly string[] = [BLOB_PARTS, STORE_KEYS];

/** Tables whose rows have numbers of the order of the store. */
const ORDERED: readonly string[] = ['runs', 'dispatches', 'push_outbox'];

const orderIn = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Number(Reflect.get(value, 'order')) : 0;

const derive = async (env: Environment): Promise<void> => {
  const writes = createWrites(env);
  const tables = new Map<string, OpenTable>();
  const tableOf = (name: string): OpenTable => {
    const table = tables.get(name) ?? openTable(env, name);
    tables.set(name, table);
    return table;
  };
  const counters = env.rows('counters');
  const derivation = createDerivation(
    {
      row: (table, { key, value }) => writes.add(tableOf(table).rows, key, value),
      counter: (key, count) => writes.add(counters, key, count),
    },
    (table) => tableOf(table).codec,
  );
  for (const name of ALL_RECORDS) {
    const table = env.table<unknown>(name);
    let last: Key | undefined;
    do {
      const span = { prefix: [], limit: RECORDS_AT_ONCE, ...(last && { after: last }) };
      last = undefined;
      let count = 0;
      for (const entry of table.entries(span)) {
        derivation.add(name, entry);
        count += 1;
        if (count === RECORDS_AT_ONCE) last = entry.key;
      }
      await writes.flush();
    } while (last);
  }
  derivation.end();
  await writes.flush();
  await writes.stored();
};

type Writes = {
  readonly count: number;
  add(rows: Rows, key: Key, value: Buffer | number): void;
  /** Writes what was added in one transaction, and lets other work of the process continue. */
  flush(): Promise<void>;
  /** Resolves when the disk has all that was written, as far as the folder is synchronized. */
  stored(): Promise<void>;
};

const createWrites = (env: Environment): Writes => {
  let puts: (() => void)[] = [];
  let stored: Promise<unknown> = Promise.resolve();
  return {
    get count() {
      return puts.length;
    },
    add(rows, key, value) {
      const stored = typeof value === 'number' ? value : encoded(value);
      puts.push(() => rows.put(key, stored));
    },
    async flush() {
      const added = puts;
      puts = [];
      if (added.length > 0) {
        const { visible, flushed } = env.transaction(() => {
          writeStructures(env);
          for (const put of added) put();
        });
        stored = Promise.all([stored, flushed]);
        // The transaction that fails is reported when it is awaited, and its flush is reported at the end.
        stored.catch(() => {});
        await visible;
      }
      await setImmediate();
    },
    async stored() {
      await stored;
    },
  };
};
