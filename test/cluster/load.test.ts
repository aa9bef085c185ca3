import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import type { Agreed, DatabaseOptions } from '../../src/postgres/index.ts';
import type { RowContent } from '../../src/store/engine/sink.ts';
import { createBatch, createRow, joinWith, LINEAGE, openFor, put } from './batches.ts';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';
import { startProxy } from './proxy.ts';

/** The load of all rows, and what members agree on (cluster.md 1.1). */

const ROWS = 4100;

t.test('load', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);

  await t.test('loads all rows of one snapshot in pages', async (t) => {
    const name = postgres.createDatabase();
    const database = await openFor(t, postgres.url(name));
    const member = await joinWith(database, 'a');
    const written = Array.from({ length: ROWS }, (_, index) =>
      createRow({
        kind: 1 + (index % 3) * 20,
        key: JSON.stringify([`t${index}`, 'é"\\']),
        lineage: index % 2 === 0 ? LINEAGE : null,
        at: index === 7 ? 2 ** 53 - 1 : index,
        value: JSON.stringify({ index, text: '\u0000\ud800' }),
      }),
    );
    for (let from = 0; from < ROWS; from += 1000) {
      const outcomes = await member.sink.ship([createBatch(written.slice(from, from + 1000))]);
      t.strictSame(outcomes, [{ result: 'applied' }]);
    }
    const loaded: RowContent[] = [];
    const pages: number[] = [];
    for await (const page of database.rows(new AbortController().signal)) {
      if (pages.length === 0)
        await member.sink.ship([put('later', { kind: 90, key: '["later"]', lineage: LINEAGE })]);
      pages.push(page.length);
      loaded.push(...page);
    }
    t.strictSame(pages, [2000, 2000, 100]);
    const byKey = (rows: readonly RowContent[]) =>
      [...rows].sort((a, b) => a.kind - b.kind || (a.key < b.key ? -1 : 1));
    const contents = written.map(({ kind, key, value }) => ({ kind, key, value }));
    t.strictSame(byKey(loaded), byKey(contents), 'rows are equal, without those that were committed later');
    t.strictSame(loaded, byKey(loaded));
    t.equal(database.connections().get('load'), 0);
  });

  await t.test('a load ends at once by its signal, and with its reader', async (t) => {
    const name = postgres.createDatabase();
    const proxy = await startProxy(t, { to: { path: `${postgres.folder}/.s.PGSQL.${postgres.port}` } });
    const database = await openFor(t, postgres.url(name, proxy.port));
    const member = await joinWith(database, 'a');
    await member.sink.ship([put(1)]);
    for await (const page of database.rows(new AbortController().signal)) {
      t.equal(page.length, 1);
      break;
    }
    t.equal(database.connections().get('load'), 0, 'the connection of a reader that stops is closed');
    const abort = new AbortController();
    proxy.all('eat');
    const loading = database.rows(abort.signal)[Symbol.asyncIterator]().next();
    await Promise.all([t.rejects(loading, { name: 'ConnectionLost' }), pause(50).then(() => abort.abort())]);
    t.equal(database.connections().get('load') ?? 0, 0);
    await t.rejects(database.rows(abort.signal)[Symbol.asyncIterator]().next(), { name: 'ConnectionLost' });
  });

  await t.test('a schema that is not ready is not loaded', async (t) => {
    const name = postgres.createDatabase();
    const database = await openFor(t, postgres.url(name));
    postgres.sql(name, `UPDATE troupe.meta SET value = 'false' WHERE name = 'ready'`);
    const next = database.rows(new AbortController().signal)[Symbol.asyncIterator]().next();
    await t.rejects(next, { name: 'DatabaseRefused', message: /not ready/ });
    await t.rejects(openFor(t, postgres.url(name)), { name: 'DatabaseRefused', isTemporary: false });
  });

  await t.test('a live member can be asked to drain, once', async (t) => {
    const database = await openFor(t, postgres.url(postgres.createDatabase()));
    const member = await joinWith(database, 'a');
    t.equal(await database.drain('other'), false);
    t.equal(await database.drain(member.id), true);
    t.equal(await database.drain(member.id), false);
    t.match((await database.members()).members, [{ id: member.id, state: 'draining' }]);
    t.strictSame(await member.sink.ship([put(1)]), [{ result: 'applied' }], 'a draining member commits');
    await member.leave('left');
    t.equal(await database.drain(member.id), false);
  });

  await t.test('a member with another key, scope or token is refused by name', async (t) => {
    const url = postgres.url(postgres.createDatabase());
    const agreed: Agreed = {
      secrets_check: 'key of secrets',
      settings_hash: { SERVICE_SCOPE_ID: 'default', SERVICE_ADMIN_API_BEARER_TOKEN: undefined },
    };
    const refusal = async (given: Partial<Agreed>): Promise<string> => {
      const options: Partial<DatabaseOptions> = { agreed: { ...agreed, ...given } };
      try {
        (await openFor(t, url, options)).close();
        return 'opened';
      } catch (error) {
        return error instanceof Error && error.name === 'DatabaseRefused' ? error.message : String(error);
      }
    };
    const first = await openFor(t, url, { agreed });
    const member = await joinWith(first, 'a');
    t.equal(await refusal({}), 'opened');
    const key = 'SERVICE_SECRETS_KEY must be the key of the other members: it differs';
    t.equal(await refusal({ secrets_check: 'another' }), key);
    t.equal(await refusal({ secrets_check: undefined }), key);
    const scope = { SERVICE_SCOPE_ID: 'other', SERVICE_ADMIN_API_BEARER_TOKEN: undefined };
    const token = { SERVICE_SCOPE_ID: 'default', SERVICE_ADMIN_API_BEARER_TOKEN: 'geheim' };
    t.equal(
      await refusal({ settings_hash: scope }),
      'SERVICE_SCOPE_ID must be that of the other members: it differs',
    );
    t.equal(
      await refusal({ settings_hash: token }),
      'SERVICE_ADMIN_API_BEARER_TOKEN must be that of the other members: it differs',
    );
    await member.leave('left');
    t.equal(await refusal({ settings_hash: token }), 'opened', 'settings change while no member is there');
    t.equal(await refusal({ secrets_check: 'another' }), key, 'the key stays');
  });

  await t.test('a database that is down is refused for now', async (t) => {
    const url = postgres.url(postgres.createDatabase());
    await postgres.stop();
    await t.rejects(openFor(t, url), { name: 'DatabaseRefused', isTemporary: true });
    await postgres.start();
    await t.rejects(openFor(t, postgres.url('missing')), { name: 'DatabaseRefused', isTemporary: false });
  });

  await t.test('a join removes what is left of members that ended long ago', async (t) => {
    const name = postgres.createDatabase();
    const day = 24 * 3_600_000;
    const week = 7 * day;
    let now = 1_000_000;
    const database = await openFor(t, postgres.url(name), { now: () => now });
    const [idle, old, renewed, live] = [
      await joinWith(database, 'idle', []),
      await joinWith(database, 'old', [1n]),
      await joinWith(database, 'renewed', [2n]),
      await joinWith(database, 'live', []),
    ];
    t.match(await old.sink.ship([put(1, { key: '[1]', lineage: 1n })]), [{ result: 'applied' }]);
    await renewed.renew({ commons: 0, load: {} });
    t.match(await renewed.sink.ship([put(2, { key: '[2]', lineage: 2n })]), [{ result: 'applied' }]);
    for (const ended of [idle, old, renewed]) await ended.leave('left');
    await live.claim([1n, 2n]);
    const namesBehind = async (ms: number): Promise<string[]> => {
      now += ms;
      const next = await joinWith(database, 'next', []);
      await next.leave('left');
      return (await database.members()).members.map(({ name }) => name).toSorted();
    };
    t.strictSame(await namesBehind(day), ['idle', 'live', 'next', 'old', 'renewed']);
    const others = ['live', 'next', 'next', 'old', 'renewed'];
    t.strictSame(await namesBehind(1), others, 'a member that has not committed is forgotten after a day');
    const names = await namesBehind(week - day);
    t.strictSame(names, ['live', 'next', 'renewed'], 'a beat later than a week ago is kept');
    t.equal(postgres.sql(name, `SELECT count(*) FROM troupe.commit WHERE member = '${old.id}'`), '0');
    t.equal(await old.renew({ commons: 0, load: {} }), false, 'a member without a row is fenced');
    t.match(await old.sink.ship([put(3)]), [{ result: 'refused', why: 'fenced' }]);
    t.equal(await live.renew({ commons: 0, load: {} }), true);
  });
});
