import t from 'tap';
import { createConnector } from '../../src/postgres/connection.ts';
import { readDatabaseUrl } from '../../src/postgres/connection-options.ts';
import { readRows } from '../../src/postgres/snapshot.ts';
import type { ShippedRow } from '../../src/store/engine/sink.ts';
import { createBatch, createRow, joinWith, openFor, put } from './batches.ts';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';

/** The rows of a database as a load reads them (cluster.md 7.3, 12.1). */

const NEVER = new AbortController().signal;

const LARGE = 'x'.repeat(3 * 2 ** 20);

const byKey = (a: ShippedRow, b: ShippedRow): number =>
  a.kind - b.kind || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key));

t.test('snapshots', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);
  const open = async () => {
    const name = postgres.createDatabase();
    const database = await openFor(t, postgres.url(name));
    const connector = createConnector(readDatabaseUrl(postgres.url(name)));
    return { name, database, connector, member: await joinWith(database, 'a') };
  };

  await t.test('pages contain every row and column once, in order, at most 8 MiB of values', async (t) => {
    const { connector, member } = await open();
    const small = Array.from({ length: 4500 }, (_, index) =>
      createRow({ key: `["${index * 7919}"]`, value: `${index}`, at: 2 ** 52 + index }),
    );
    const special = createRow({ kind: 3, key: '["é","\\u0000"]', at: -1, at2: 0, a: '', value: '"\\u0000"' });
    const large = Array.from({ length: 6 }, (_, index) =>
      createRow({ kind: 5, key: `["${index}"]`, value: LARGE }),
    );
    const all = [...small, special, ...large];
    for (const rows of [small.slice(0, 3000), small.slice(3000), [special], ...large.map((row) => [row])])
      await member.sink.ship([createBatch(rows)]);
    const pages: (readonly ShippedRow[])[] = [];
    for await (const page of readRows(connector, { schema: 'troupe', timeoutMs: 60_000 })) pages.push(page);
    t.strictSame(pages.flat(), all.toSorted(byKey));
    const sizes = pages.map((page) => page.reduce((sum, { value }) => sum + value.length, 0));
    t.ok(Math.max(...sizes) < 12 * 2 ** 20, 'a page ends with the row that fills it');
    t.equal(pages.length, 4);
  });

  await t.test('a commit after the first page is in none of the later ones', async (t) => {
    const { database, member } = await open();
    const rows = Array.from({ length: 2500 }, (_, index) => createRow({ key: `["a",${10_000 + index}]` }));
    await member.sink.ship([createBatch(rows)]);
    let count = 0;
    for await (const page of database.rows(NEVER)) {
      if (count === 0) await member.sink.ship([put('new', { key: '["z"]' })]);
      count += page.length;
    }
    t.equal(count, 2500);
    let after = 0;
    for await (const page of database.rows(NEVER)) after += page.length;
    t.equal(after, 2501);
  });

  await t.test('a loop that ends early ends its connection', async (t) => {
    const { name, database, member } = await open();
    await member.sink.ship([put('x')]);
    const inTransaction = (): number => postgres.backends(name, `state = 'idle in transaction'`).length;
    for await (const page of database.rows(NEVER)) {
      t.equal(page.length, 1);
      t.equal(inTransaction(), 1);
      break;
    }
    while (inTransaction() > 0) await new Promise(setImmediate);
    t.equal(inTransaction(), 0);
  });

  await t.test('an empty schema has no page', async (t) => {
    const { database } = await open();
    for await (const page of database.rows(NEVER)) t.fail(`a page of ${page.length} rows`);
  });
});
