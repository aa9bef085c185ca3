import { join } from 'node:path';
import { open } from 'lmdb';
import { Client } from 'pg';
import { ulid } from 'ulid';
import { type Database, openDatabase } from '../../src/postgres/index.ts';
import { openCopy } from '../../src/store/copy.ts';
import type { Sink } from '../../src/store/engine/sink.ts';
import type { Store } from '../../src/store/index.ts';
import { acceptBatch } from './accept-batch.ts';

/**
 * `copy-reader URL FOLDER`: on request, fills a database with the rows of accepted runs, copies all of its rows as a
 * member does, or selects them with a bare client and puts them into bare lmdb.
 */

export type Order = { of: 'fill'; runs: number } | { of: 'copy' | 'bare' };
export type Answer = { rows: number; cpuMs: number };

const [url = '', folder = ''] = process.argv.slice(2);
const SCHEMA = 'troupe';
const AT_ONCE = 64;
const PAGE_ROWS = 2000;

let folders = 0;
const newFolder = (): string => {
  folders += 1;
  return join(folder, String(folders));
};

const openIts = (): Promise<Database> =>
  openDatabase({
    url,
    schema: SCHEMA,
    pooled: false,
    poolSize: 2,
    leaseTtlMs: 10_000,
    durability: 'power',
    now: Date.now,
    newId: ulid,
    warn() {},
    observe() {},
  });

const copyOf = async (database: Database, sink: Sink): Promise<{ store: Store; rows: number }> => {
  let rows = 0;
  const counted = async function* () {
    for await (const page of database.rows(new AbortController().signal)) {
      rows += page.length;
      yield page;
    }
  };
  const store = await openCopy({
    dir: newFolder(),
    durability: 'power',
    sink,
    rows: counted(),
    copyBroken(error) {
      throw error;
    },
  });
  return { store, rows };
};

const fill = async (runs: number): Promise<number> => {
  const database = await openIts();
  const member = await database.join({ name: 'bench', url: 'http://localhost', program: 'bench' });
  await member.claim([0n]);
  const { store } = await copyOf(database, member.sink);
  for (let done = 0; done < runs; done += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => store.commit(acceptBatch(store), 'input')));
  await store.close();
  await member.leave('left');
  database.close();
  return runs;
};

/** Nothing is committed by a copy that has the keys of the store. */
const APPLIED: Sink = { ship: async (group) => group.map(() => ({ result: 'applied' })) };

const copy = async (): Promise<number> => {
  const database = await openIts();
  const { store, rows } = await copyOf(database, APPLIED);
  await store.close();
  database.close();
  return rows;
};

const PAGE = `SELECT kind, key, value FROM ${SCHEMA}."row"
WHERE (kind, key) > ($1::smallint, $2) ORDER BY kind, key LIMIT ${PAGE_ROWS}`;

type Row = { kind: number; key: string; value: string };

const bare = async (): Promise<number> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  const rows = open({ path: newFolder(), noSync: true });
  let count = 0;
  let last: Row | undefined;
  for (;;) {
    const values = [last?.kind ?? -1, last?.key ?? ''];
    const page = (await client.query<Row>({ name: 'page', text: PAGE, values })).rows;
    last = page.at(-1);
    if (!last) break;
    count += page.length;
    await rows.transaction(() => {
      for (const { kind, key, value } of page) rows.put([kind, key], value);
    });
  }
  await client.end();
  await rows.close();
  return count;
};

const carryOut = (order: Order): Promise<number> => {
  if (order.of === 'fill') return fill(order.runs);
  return order.of === 'copy' ? copy() : bare();
};

process.on('message', async (order: Order) => {
  const before = process.cpuUsage();
  const rows = await carryOut(order);
  const { user, system } = process.cpuUsage(before);
  const answer: Answer = { rows, cpuMs: (user + system) / 1000 };
  process.send?.(answer);
});
process.on('disconnect', () => process.exit());
