import { setImmediate } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { Unavailable } from '../schema/outcome.ts';
import type { Rows } from './engine/batch.ts';
import type { Codec } from './engine/codec.ts';
import { writeStructures } from './engine/committer.ts';
import { createEnvironment, type Environment, encoded } from './engine/environment.ts';
import type { Key } from './engine/keys.ts';
import { continueBehind } from './engine/order.ts';
import type { ShippedRow } from './engine/sink.ts';
import { SHIPPED } from './kinds.ts';
import { ALL_RECORDS, createDerivation } from './repair/derived.ts';

/**
 * Fills an empty folder from the rows of a database: first the rows as they are, then, in key order, what the tables
 * derive from them.
 *
 * Cost: the event loop is free between transactions; memory for one page and for the counters.
 */

/** Rows of one transaction. */
const ROWS_AT_ONCE = 2000;
/** Records of one transaction; most have several derived rows. */
const RECORDS_AT_ONCE = 500;

/** @throws Unavailable for a row of an unknown kind */
export const fill = async (
  root: RootDatabase,
  pages: AsyncIterable<readonly ShippedRow[]>,
): Promise<void> => {
  const env = createEnvironment(root);
  const tables = new Map(SHIPPED.map(({ number, table }) => [number, openTable(env, table)]));
  let highest = 0;
  const writes = createWrites(env);
  for await (const page of pages) {
    for (const row of page) {
      const value: unknown = JSON.parse(row.value);
      // A removed row of the configuration stays for a while.
      if (value === null) continue;
      const table = tables.get(row.kind);
      if (!table)
        throw new Unavailable(`the database has rows of kind ${row.kind}, which this version does not have`);
      if (ORDERED.includes(table.name)) highest = Math.max(highest, orderIn(value));
      writes.add(table.rows, JSON.parse(row.key), table.codec.encode(value));
      if (writes.count >= ROWS_AT_ONCE) await writes.flush();
    }
    await writes.flush();
  }
  continueBehind(env.rows('meta'), highest);
  await derive(env);
};

type OpenTable = { name: string; rows: Rows; codec: Codec };

const openTable = (env: Environment, name: string): OpenTable => {
  env.table(name);
  const rows = env.tables.get(name);
  const codec = env.codecs.find(({ key }) => key[0] === name);
  if (!rows || !codec) throw new Error(`table '${name}' is not open`);
  return { name, rows, codec };
};

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
};

type Writes = {
  readonly count: number;
  add(rows: Rows, key: Key, value: Buffer | number): void;
  /** Writes what was added in one transaction, and lets other work of the process continue. */
  flush(): Promise<void>;
};

const createWrites = (env: Environment): Writes => {
  let puts: (() => void)[] = [];
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
      if (added.length > 0)
        await env.transaction(() => {
          writeStructures(env);
          for (const put of added) put();
        }).visible;
      await setImmediate();
    },
  };
};
