import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { takeCommit } from '../../src/postgres/commits.ts';
import { createConnector } from '../../src/postgres/connection.ts';
import { readDatabaseUrl } from '../../src/postgres/connection-options.ts';
import type { DatabaseOptions } from '../../src/postgres/index.ts';
import { createLane } from '../../src/postgres/lane.ts';
import { createStatements } from '../../src/postgres/statements.ts';
import type { ShippedBatch, SinkOutcome } from '../../src/store/engine/sink.ts';
import {
  createBatch,
  createRow,
  joinWith,
  LINEAGE,
  MESSAGE_KIND,
  type Opened,
  openFor,
  put,
} from './batches.ts';
import { type Pgbouncer, socketIn, startPgbouncer } from './pgbouncer.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { startProxy } from './proxy.ts';
import { VIAS } from './vias.ts';

/**
 * The fence and the chain of commits (cluster.md 5), against a real server, directly and through pgbouncer (check 14).
 */

const OTHER = 7n;

const resultsOf = (outcomes: readonly SinkOutcome[]): string[] =>
  outcomes.map((outcome) => (outcome.result === 'refused' ? outcome.why : outcome.result));

/** Statements for what no member would send. */
const rawLane = (t: Test, url: string, pooled: boolean) => {
  const lane = createLane(createConnector(readDatabaseUrl(url)));
  t.teardown(() => lane.close());
  const statements = createStatements({ schema: 'troupe', pooled, durability: 'power' });
  return {
    commit: (member: string, number: number, ...batches: ShippedBatch[]) =>
      lane.query(statements.commit(member, number, takeCommit(batches).commit), 5000),
  };
};

type Way = { postgres: Postgres; pgbouncer: Pgbouncer | undefined };

for (const [via, skip] of VIAS)
  t.test(`the fence, ${via}`, { skip }, async (t) => {
    const postgres = await startPostgres(t);
    const pgbouncer = via === 'pgbouncer' ? await startPgbouncer(t, postgres) : undefined;
    await checkFence(t, { postgres, pgbouncer });
  });

const checkFence = async (t: Test, way: Way): Promise<void> => {
  const { postgres, pgbouncer } = way;
  const pooled = pgbouncer !== undefined;
  const first = postgres.createDatabase();
  (await openFor(t, postgres.url(first))).close();

  const open = (t: Test, url: string, given: Partial<DatabaseOptions> = {}): Promise<Opened> =>
    openFor(t, url, { pooled, ...given });

  /** A database with the schema. */
  const create = (): { name: string; url: string } => {
    const name = postgres.createDatabase(first);
    return { name, url: pgbouncer?.url(name) ?? postgres.url(name) };
  };

  await t.test('a thousand commits leave every row and a chain without a hole (check 1)', async (t) => {
    const { name, url } = create();
    const database = await open(t, url);
    const member = await joinWith(database, 'a');
    for (let number = 1; number <= 1000; number += 1) {
      const [outcome] = await member.sink.ship([put(number, { kind: MESSAGE_KIND, key: `[${number}]` })]);
      if (outcome?.result !== 'applied') throw new Error(`commit ${number}`, { cause: outcome });
    }
    t.equal(member.committed, 1000);
    t.equal(postgres.sql(name, 'SELECT count(*) FROM troupe.row'), '1000');
    const chain = 'SELECT count(*), min(no), max(no) FROM troupe.commit';
    t.equal(postgres.sql(name, chain), '1001|0|1000');
    const { commit } = rawLane(t, url, pooled);
    await t.rejects(commit(member.id, 1002, put(0)), { code: 'TR002' });
    await t.rejects(commit('stranger', 1, put(0)), { code: 'TR001' });
    t.strictSame(resultsOf(await member.sink.ship([put(0)])), ['applied']);
    for (let number = 1002; number <= 1100; number += 1) await member.sink.ship([put(number)]);
    t.equal(postgres.sql(name, chain), '1001|100|1100', 'old numbers are removed');
  });

  await t.test('the same bytes on two connections are applied once (check 2)', async (t) => {
    const { name, url } = create();
    const database = await open(t, url);
    const member = await joinWith(database, 'a');
    const { commit } = rawLane(t, url, pooled);
    const twin = rawLane(t, url, pooled);
    for (let number = 1; number <= 40; number += 2) {
      const batch = put(number, { kind: MESSAGE_KIND, key: `[${number}]` });
      const both = await Promise.allSettled([
        commit(member.id, number, batch),
        twin.commit(member.id, number, batch),
      ]);
      const failed = both.filter((result) => result.status === 'rejected');
      t.equal(failed.length, 1, 'one of two is refused');
      t.match(failed[0]?.reason, { code: '23505', constraint: 'commit_pkey' });
      await commit(member.id, number + 1, put(number));
    }
    t.equal(postgres.sql(name, 'SELECT count(*) FROM troupe.row WHERE kind = 3'), '20');

    const other = await joinWith(database, 'b', [OTHER]);
    const batch = put('both', { kind: MESSAGE_KIND, key: '["both"]', lineage: OTHER });
    const copy = commit(other.id, 1, batch).catch(() => undefined);
    t.strictSame(resultsOf(await other.sink.ship([batch])), ['applied'], 'the sink reports its own commit');
    await copy;
    t.equal(other.committed, 1);
    const count = `SELECT count(*) FROM troupe.row WHERE key = '["both"]'`;
    t.equal(postgres.sql(name, count), '1');
  });

  await t.test('a commit whose response is lost is reported as applied (check 5)', async (t) => {
    const { name } = create();
    const { database, proxy } = await openBehindProxy(t, way, name);
    const member = await joinWith(database, 'a');
    const eaten = proxy.atNextMarked('eat');
    const shipped = member.sink.ship([put('x', { kind: MESSAGE_KIND })]);
    await eaten;
    t.strictSame(resultsOf(await shipped), ['applied']);
    t.strictSame(database.notices, [
      { type: 'unknown', number: 1 },
      { type: 'settled', number: 1, outcome: 'applied', wasOpen: false },
    ]);
    t.strictSame(resultsOf(await member.sink.ship([put('y')])), ['applied'], 'the next commit follows');
    t.equal(postgres.sql(name, 'SELECT string_agg(no::text, $$,$$ ORDER BY no) FROM troupe.commit'), '0,1,2');
  });

  await t.test('a commit that never arrived is sent again (check 6)', async (t) => {
    const { name } = create();
    const { database, proxy } = await openBehindProxy(t, way, name);
    const member = await joinWith(database, 'a');
    const cut = proxy.atNextMarked('cut');
    const shipped = member.sink.ship([put('x', { kind: MESSAGE_KIND })]);
    await cut;
    t.strictSame(resultsOf(await shipped), ['applied']);
    t.strictSame(database.notices, [
      { type: 'unknown', number: 1 },
      { type: 'settled', number: 1, outcome: 'applied', wasOpen: true },
    ]);
    t.equal(postgres.sql(name, 'SELECT count(*) FROM troupe.row'), '1');
    t.equal(member.committed, 1);
  });

  await t.test('a commit that arrives late is refused by the chain (check 7)', async (t) => {
    const { name } = create();
    t.equal(await valueAfterLateCommit(t, way, name), '"newer"');
  });

  await t.test('without steps 2 and 3 the late commit overwrites newer rows (check 7)', async (t) => {
    const { name } = create();
    removeChain(postgres, name);
    t.equal(await valueAfterLateCommit(t, way, name), '"older"', 'the test above would fail');
  });

  await t.test('the next owner sees the newest rows after a late commit (check 8)', async (t) => {
    const { name, url } = create();
    const { database, proxy } = await openBehindProxy(t, way, name);
    const member = await joinWith(database, 'a');
    await holdCommit(proxy, () => member.sink.ship([put('older')]));
    await member.sink.ship([put('newer')]);
    t.equal(await proxy.deliver(), 1);
    const other = await joinWith(await open(t, url, { leaseTtlMs: SHORT_TTL_MS }), 'b');
    t.ok(await database.fence({ member: member.id, beat: 0, reason: 'fenced by b' }));
    t.strictSame(await other.claim([LINEAGE]), [{ lineage: LINEAGE, owner: other.id }]);
    t.equal(postgres.sql(name, 'SELECT value FROM troupe.row'), '"newer"');
    t.strictSame(resultsOf(await member.sink.ship([put('zombie')])), ['fenced']);
    t.strictSame(
      resultsOf(await member.sink.ship([put('zombie')])),
      ['fenced'],
      'no further statement is sent',
    );
    t.strictSame(resultsOf(await other.sink.ship([put('next')])), ['applied']);
    t.equal(postgres.sql(name, 'SELECT value FROM troupe.row'), '"next"');
  });

  await t.test('a refused commit is not applied later either', async (t) => {
    const { name } = create();
    const { database, proxy } = await openBehindProxy(t, way, name);
    const member = await joinWith(database, 'a');
    const foreign = put('refused', { lineage: OTHER });
    const outcomes = await holdCommit(proxy, () => member.sink.ship([foreign]));
    t.strictSame(resultsOf(outcomes), ['not-owner']);
    t.equal(member.committed, 2, 'the numbers of the void commit are taken');
    await member.claim([OTHER]);
    t.equal(await proxy.deliver(), 1, 'the first copy arrives, and would be allowed now');
    t.equal(postgres.sql(name, 'SELECT count(*) FROM troupe.row'), '0');
    t.strictSame(resultsOf(await member.sink.ship([foreign])), ['applied']);
    t.equal(member.committed, 3);
  });

  await t.test('a batch of another member is refused, and only that of its group (check 13)', async (t) => {
    const { name, url } = create();
    const database = await open(t, url);
    const member = await joinWith(database, 'a', [LINEAGE, 6n]);
    await joinWith(database, 'b', [OTHER]);
    const message = { kind: MESSAGE_KIND };
    const outcomes = await member.sink.ship([
      put(1),
      put(2, { lineage: OTHER, key: '["other"]' }),
      put(3, { ...message, key: '[1]' }),
      put(4, { ...message, key: '[1]' }),
      put(5, { lineage: LINEAGE }),
      put(6, { lineage: 6n, key: '["six"]' }),
      createBatch([createRow({ lineage: 8n, key: '["born"]' })], { births: [8n] }),
    ]);
    t.strictSame(
      resultsOf(outcomes),
      ['applied', 'not-owner', 'applied', 'clash', 'clash', 'applied', 'applied'],
      'later batches of the lineage of a refused one are refused',
    );
    const rows = postgres.sql(name, 'SELECT key, value FROM troupe.row ORDER BY key');
    t.equal(rows, '["born"]|{}\n["six"]|6\n["t"]|1\n[1]|3');
    t.strictSame(resultsOf(await member.sink.ship([put(0, { at: 0.5 })])), ['invalid'], 'no integer');
    t.strictSame(resultsOf(await member.sink.ship([put(0, { a: 'a\0b' })])), ['invalid'], 'no text');
    t.strictSame(resultsOf(await member.sink.ship([put(0, { lineage: 6n })])), ['clash'], 'not its row');
  });

  await t.test('merged batches leave what they would leave one by one', async (t) => {
    const { name, url } = create();
    const member = await joinWith(await open(t, url), 'a');
    const key = '["t"]';
    const gone = [{ kind: 1, key }];
    const outcomes = await member.sink.ship([
      put(1),
      createBatch([], { gone }),
      put(2),
      put(3, { key: '["u"]' }),
      createBatch([], { gone: [{ kind: 1, key: '["u"]' }] }),
      createBatch([createRow({ kind: 20, lineage: LINEAGE, key: '["c"]', at: 12 })], { owners: [LINEAGE] }),
      createBatch([createRow({ key: '["v"]' })], { releases: [{ lineage: LINEAGE, due: 99 }] }),
      put(4),
    ]);
    t.strictSame(resultsOf(outcomes), [...Array(7).fill('applied'), 'not-owner']);
    t.equal(
      postgres.sql(name, 'SELECT key, value FROM troupe.row ORDER BY key'),
      '["c"]|{}\n["t"]|2\n["v"]|{}',
    );
    t.equal(postgres.sql(name, 'SELECT id, owner IS NULL, due FROM troupe.lineage'), '5|t|99');
    t.equal(member.committed, 1, 'one commit took them all');
  });

  await t.test('a group beyond the limits is divided', async (t) => {
    const { name, url } = create();
    const member = await joinWith(await open(t, url), 'a');
    const large = 'x'.repeat(5 * 2 ** 20);
    const many = Array.from({ length: 5000 }, (_, index) => createRow({ key: `[${index}]` }));
    const outcomes = await member.sink.ship([put(large), put(large), createBatch(many), put('last')]);
    t.strictSame(resultsOf(outcomes), Array(4).fill('applied'));
    t.equal(member.committed, 4);
    t.equal(postgres.sql(name, 'SELECT count(*) FROM troupe.row'), '5001');
  });

  await t.test('the number of the commons follows the rows of the configuration', async (t) => {
    const { url } = create();
    const database = await open(t, url);
    const member = await joinWith(database, 'a', [0n]);
    const commons = { lineage: 0n };
    await member.sink.ship([
      put(1, { ...commons, kind: 20, at: 3 }),
      put(2, { ...commons, kind: 24, at: 4 }),
    ]);
    await member.sink.ship([put(3, { ...commons, kind: 25, at: 9 })]);
    t.match(await database.members(), { commons: 4, leader: member.id });
  });

  await t.test('members join, renew, are fenced by an unchanged beat, and leave', async (t) => {
    const { url } = create();
    const database = await open(t, url);
    const [a, b] = await Promise.all(['a', 'b'].map((each) => joinWith(database, each, [])));
    if (!a || !b) throw new Error('no members');
    t.strictSame([a.slot, b.slot].sort(), [0, 1]);
    await a.claim([1n, 2n]);
    t.ok(await a.renew({ commons: 3, load: { executing: 1 } }));
    t.notOk(await database.fence({ member: a.id, beat: 0, reason: 'fenced by b' }), 'the beat has changed');
    t.ok(await database.fence({ member: a.id, beat: 1, reason: 'fenced by b' }));
    t.notOk(await database.fence({ member: a.id, beat: 1, reason: 'again' }), 'a membership ends once');
    t.notOk(await a.renew({ commons: 3, load: {} }), 'a fenced member learns it');
    await t.rejects(a.claim([3n]), { code: 'TR001' });
    const { members } = await database.members();
    const row = members.find(({ id }) => id === a.id);
    t.match(row, { state: 'gone', reason: 'fenced by b', beat: 1, commons: 3, load: { executing: 1 } });
    t.strictSame(await b.claim([1n, -1n]), [
      { lineage: -1n, owner: b.id },
      { lineage: 1n, owner: b.id },
    ]);
    await b.leave('left');
    const again = await joinWith(database, 'a', []);
    t.equal(again.slot, 0, 'slots of ended memberships are free');
    const all = await Promise.all(Array.from({ length: 31 }, () => joinWith(database, 'x', [])));
    t.equal(new Set(all.map(({ slot }) => slot)).size, 31);
    await t.rejects(joinWith(database, 'y', []), { name: 'SlotsTaken' });
  });

  await t.test('a commit waits for the member row no longer than two seconds', async (t) => {
    const { name, url } = create();
    const database = await open(t, url);
    const member = await joinWith(database, 'a');
    const { commit } = rawLane(t, url, pooled);
    const lock = `BEGIN; UPDATE troupe.member SET load = NULL; SELECT pg_sleep(2.5); COMMIT`;
    const locked = rawSql(t, postgres.url(name), lock);
    await pause(200);
    await t.rejects(commit(member.id, 1, put(1)), { code: '55P03' });
    await locked;
    t.strictSame(resultsOf(await member.sink.ship([put(2)])), ['applied']);
  });

  await t.test('batches without a known outcome are abandoned when the database is closed', async (t) => {
    const { name } = create();
    const { database, proxy } = await openBehindProxy(t, way, name);
    const member = await joinWith(database, 'a');
    proxy.all('eat');
    const shipped = member.sink.ship([put(1)]);
    await pause(50);
    database.close();
    t.strictSame(resultsOf(await shipped), ['abandoned']);
  });
};

type Proxied = Awaited<ReturnType<typeof openBehindProxy>>;

/** A commit waits for its answer for half of it. */
const SHORT_TTL_MS = 2000;

const openBehindProxy = async (t: Test, { postgres, pgbouncer }: Way, name: string) => {
  const ttl = `UPDATE troupe.meta SET value = '${SHORT_TTL_MS}' WHERE name = 'lease_ttl_ms'`;
  postgres.sql(name, ttl);
  const proxy = await startProxy(t, {
    to: { path: pgbouncer?.socket ?? socketIn(postgres.folder, postgres.port) },
  });
  const options = { leaseTtlMs: SHORT_TTL_MS, pooled: pgbouncer !== undefined };
  return { proxy, database: await openFor(t, postgres.url(name, proxy.port), options) };
};

/** The bytes of the next commit stay in the proxy, while its member settles it through another connection. */
const holdCommit = async <Result>(
  proxy: Proxied['proxy'],
  commit: () => Promise<Result>,
): Promise<Result> => {
  const held = proxy.atNextMarked('hold');
  const outcome = commit();
  await held;
  return await outcome;
};

const valueAfterLateCommit = async (t: Test, way: Way, name: string): Promise<string> => {
  const { database, proxy } = await openBehindProxy(t, way, name);
  const member = await joinWith(database, 'a');
  const outcomes = await holdCommit(proxy, () => member.sink.ship([put('older')]));
  t.strictSame(resultsOf(outcomes), ['applied'], 'sent again on another connection');
  t.strictSame(resultsOf(await member.sink.ship([put('newer')])), ['applied']);
  t.equal(await proxy.deliver(), 1, 'the held bytes arrive');
  return way.postgres.sql(name, 'SELECT value FROM troupe.row');
};

/** Replaces `commit_1` with itself without the chain. */
const removeChain = (postgres: Postgres, name: string): void => {
  const source = postgres.sql(name, `SELECT pg_get_functiondef('troupe.commit_1'::regproc)`);
  const start = source.indexOf('PERFORM 1 FROM "troupe"."commit"');
  const step3 = 'INSERT INTO "troupe"."commit" (member, no) VALUES (me, n);';
  const end = source.indexOf(step3) + step3.length;
  if (start < 0 || end < start) throw new Error('the function has no such steps');
  postgres.sql(name, source.slice(0, start) + source.slice(end));
};

const rawSql = async (t: Test, url: string, sql: string): Promise<void> => {
  const connection = await createConnector(readDatabaseUrl(url)).open(5000);
  t.teardown(() => connection.destroy());
  await connection.run(sql, 10_000);
};
