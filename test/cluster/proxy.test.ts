import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { socketIn, startPgbouncer } from './pgbouncer.ts';
import { startPostgres } from './postgres.ts';
import { NO_PGBOUNCER, NO_POSTGRES } from './programs.ts';
import { startProxy } from './proxy.ts';

/** The proxy and the pooler of the tests (cluster.md 19.1). */

const connected = async (t: Test, url: string): Promise<Client> => {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  t.teardown(() => client.end().catch(() => undefined));
  await client.connect();
  return client;
};

t.test('loses and delays bytes as its modes describe', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);
  const name = postgres.createDatabase();
  postgres.sql(name, 'CREATE TABLE x (n int PRIMARY KEY)');
  const proxy = await startProxy(t, {
    to: { path: socketIn(postgres.folder, postgres.port) },
    marks: 'INTO x',
  });
  const url = postgres.url(name, proxy.port);
  const numbers = (): string => postgres.sql(name, "SELECT string_agg(n::text, ' ' ORDER BY n) FROM x");
  const insert = (client: Client, n: number) => client.query('INSERT INTO x VALUES ($1)', [n]);

  const first = await connected(t, url);
  await insert(first, 1);
  t.equal(numbers(), '1', 'passed requests are executed');

  const eaten = proxy.atNextMarked('eat');
  const lost = insert(first, 2).catch(String);
  const { client } = await eaten;
  while (numbers() !== '1 2') await pause(20);
  client.destroy();
  t.match(await lost, 'Connection terminated', 'the response is lost');

  const second = await connected(t, url);
  const held = proxy.atNextMarked('hold');
  const late = insert(second, 3).catch(String);
  (await held).client.destroy();
  await late;
  const third = await connected(t, url);
  await insert(third, 4);
  t.equal(numbers(), '1 2 4', 'held requests are not executed');
  t.ok(proxy.held() > 0);
  t.ok((await proxy.deliver()) > 0);
  t.equal(numbers(), '1 2 3 4', 'the client left before its request was executed');
  t.equal(proxy.held(), 0);

  t.ok(proxy.marked('slow') > 0, 'connections are recognized by their statement');
  await insert(third, 5);
  t.equal(numbers(), '1 2 3 4 5', 'slow requests are executed');

  const ended = new Promise<void>((resolve) => third.once('end', resolve));
  proxy.all('cut');
  await ended;
  await t.rejects(new Client({ connectionString: url }).connect(), 'new connections are cut');
});

t.test('shares connections of the server between transactions', { skip: NO_PGBOUNCER }, async (t) => {
  const postgres = await startPostgres(t);
  const name = postgres.createDatabase();
  const pgbouncer = await startPgbouncer(t, postgres);
  const proxy = await startProxy(t, { to: { path: pgbouncer.socket } });
  const url = postgres.url(name, proxy.port);
  const pids = async (): Promise<unknown[]> => {
    const clients = await Promise.all([connected(t, url), connected(t, url)]);
    const found = [];
    for (const client of clients)
      found.push((await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid);
    return found;
  };
  const [one, other] = await pids();
  t.equal(one, other, 'both clients have the same backend');
  await pgbouncer.restart();
  const [after] = await pids();
  t.ok(after, 'a restarted pooler has connections');
});
