import { chownSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import '../random.ts';
import { bigintArray, smallintArray, textArray } from '../../src/postgres/arrays.ts';
import { createConnector } from '../../src/postgres/connection.ts';
import { readDatabaseUrl } from '../../src/postgres/connection-options.ts';
import type { DatabaseOptions } from '../../src/postgres/index.ts';
import { CERTIFICATE, KEY, tlsFiles } from '../certificate.ts';
import { freePort } from '../ports.ts';
import { joinWith, openFor, put } from './batches.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';

/** Schemas that a start creates, and databases that it refuses (cluster.md 4, 13). */

const refusalOf = async (t: Test, url: string, given: Partial<DatabaseOptions> = {}): Promise<string> => {
  try {
    (await openFor(t, url, given)).close();
    return 'opened';
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'DatabaseRefused') throw error;
    t.notMatch(error.message, /secret|\n/, 'one line without a secret');
    return error.message.replace(/^cannot use the database '\w+' at \S+: /, '');
  }
};

/** A server with TLS, and roles of which the server checks the passwords. */
const startSecured = async (t: Test, port: number): Promise<Postgres> => {
  const postgres = await startPostgres(t, { tcp: port });
  const { uid, gid } = statSync(postgres.folder);
  const write = (name: string, text: string): void => {
    const path = join(postgres.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    chownSync(path, uid, gid);
  };
  write('server.crt', CERTIFICATE);
  write('server.key', KEY);
  write('pg_hba.conf', 'host all troupe all trust\nhost all all all scram-sha-256\nlocal all all trust\n');
  postgres.sql('postgres', `CREATE ROLE reader LOGIN PASSWORD 'secret'`);
  postgres.sql('postgres', 'ALTER SYSTEM SET ssl = on');
  postgres.sql('postgres', 'SELECT pg_reload_conf()');
  return postgres;
};

t.test('opens databases', { skip: NO_POSTGRES }, async (t) => {
  const port = await freePort();
  const postgres = await startSecured(t, port);
  const name = postgres.createDatabase();
  const url = postgres.url(name);

  await t.test('two members that start at once make one schema', async (t) => {
    const both = await Promise.all([
      openFor(t, url),
      openFor(t, url, { durability: 'process', pooled: true }),
    ]);
    t.equal(both[0].clusterId, both[1].clusterId);
    t.match(both[0].serverVersion, /^\d+\.\d+$/);
    const members = await Promise.all(
      both.map((database, index) => joinWith(database, `m${index}`, [BigInt(index)])),
    );
    for (const [index, member] of members.entries()) {
      const [outcome] = await member.sink.ship([put(index, { lineage: BigInt(index), key: `[${index}]` })]);
      t.equal(outcome?.result, 'applied', 'with and without names and waits');
    }
    const second = await openFor(t, url, { schema: 'second' });
    t.not(second.clusterId, both[0].clusterId, 'another schema is another cluster');
    t.strictSame((await second.members()).members, []);
  });

  await t.test('variables of libpq do not count', async (t) => {
    const before = { ...process.env };
    t.teardown(() => {
      for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key];
    });
    Object.assign(process.env, {
      PGOPTIONS: '-c default_transaction_read_only=on',
      PGREPLICATION: 'database',
      PGSSLMODE: 'require',
      PGSSLNEGOTIATION: 'direct',
      PGPASSWORD: 'secret',
      PGCLIENT_ENCODING: 'LATIN1',
    });
    const database = await openFor(t, url);
    const member = await joinWith(database, 'é', [9n]);
    t.equal((await member.sink.ship([put('é', { lineage: 9n, key: '["é"]' })]))[0]?.result, 'applied');
    const connection = await createConnector(readDatabaseUrl(postgres.url(name, port))).open(5000);
    t.teardown(() => connection.destroy());
    const text = `SELECT current_setting('client_encoding') AS encoding, application_name AS name
      FROM pg_stat_activity WHERE pid = pg_backend_pid()`;
    t.strictSame(
      (await connection.query<object>({ text, values: [] }, 5000)).map((row) => ({ ...row })),
      [{ encoding: 'UTF8', name: 'troupe' }],
    );
  });

  await t.test('TLS is used and its certificate is checked', async (t) => {
    const { cert_file } = tlsFiles(t);
    const root = `sslrootcert=${encodeURIComponent(cert_file)}`;
    const at = (host: string, query: string): string =>
      `postgresql://troupe@${host}:${port}/${name}?${query}`;
    t.equal(await refusalOf(t, at('localhost', `sslmode=verify-full&${root}`)), 'opened');
    t.equal(await refusalOf(t, at('127.0.0.1', `sslmode=verify-ca&${root}`)), 'opened');
    t.equal(await refusalOf(t, at('127.0.0.1', 'sslmode=require')), 'opened');
    t.match(
      await refusalOf(t, at('127.0.0.1', `sslmode=verify-full&${root}`)),
      /^its certificate is not accepted: .*127\.0\.0\.1/,
    );
    t.match(
      await refusalOf(t, at('localhost', 'sslmode=verify-full')),
      /^its certificate is not accepted: self/,
    );
    const connection = await createConnector(readDatabaseUrl(at('127.0.0.1', 'sslmode=require'))).open(5000);
    t.teardown(() => connection.destroy());
    const text = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    t.match(await connection.query({ text, values: [] }, 5000), [{ ssl: true }]);
  });

  await t.test('refuses what it cannot use with one line', async (t) => {
    const at = (user: string, database = name, at = port): string =>
      `postgresql://${user}@127.0.0.1:${at}/${database}`;
    t.equal(await refusalOf(t, at('reader:secret2')), "the password of the user 'reader' is wrong");
    t.equal(await refusalOf(t, at('reader')), 'it requires a password, and the URL has none');
    t.equal(await refusalOf(t, at('troupe', 'missing')), "the database 'missing' does not exist");
    t.equal(await refusalOf(t, at('troupe', name, 1)), 'no server accepts connections there');
    t.equal(
      await refusalOf(t, 'postgresql://u:secret@host.invalid/d?sslmode=disable'),
      "the host 'host.invalid' is unknown",
    );
    t.match(
      await refusalOf(t, `postgresql://troupe@/d?host=${postgres.folder}/missing`),
      /has no socket of a server/,
    );
    t.equal(
      await refusalOf(t, at('reader:secret'), { schema: 'new' }),
      `the user of the database may not make the tables of the schema 'new' (permission denied for database ${name})`,
    );
    t.match(
      await refusalOf(t, at('reader:secret')),
      /^the user 'reader' lacks a right: permission denied for schema/,
    );
    t.equal(
      await refusalOf(t, url, { leaseTtlMs: 2000 }),
      'SERVICE_LEASE_TTL_MS must be 10000, as of the other members (got 2000)',
    );
    t.match(await refusalOf(t, url, { schema: 'No' }), /^the schema must have 1 to 63/);
    postgres.sql(name, `UPDATE second.meta SET value = '4' WHERE name = 'version'`);
    t.equal(await refusalOf(t, url, { schema: 'second' }), 'the database has schema 4, this program knows 1');
    postgres.sql(name, 'CREATE SCHEMA taken; CREATE TABLE taken.meta (x int)');
    t.match(await refusalOf(t, url, { schema: 'taken' }), /column "value" does not exist/);
    const backends = postgres.backends(name, `application_name = 'troupe'`);
    t.ok(backends.length < 8, 'refused starts leave no connection');
  });

  await t.test('a role needs no right to create once the schema is there', async (t) => {
    postgres.sql(
      name,
      `GRANT USAGE ON SCHEMA troupe TO reader;
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA troupe TO reader`,
    );
    const database = await openFor(t, `postgresql://reader:secret@127.0.0.1:${port}/${name}`);
    const member = await joinWith(database, 'reader', [12n]);
    t.equal((await member.sink.ship([put(1, { lineage: 12n, key: '[12]' })]))[0]?.result, 'applied');
  });

  await t.test('arrays arrive as they were', async (t) => {
    const connection = await createConnector(readDatabaseUrl(url)).open(5000);
    t.teardown(() => connection.destroy());
    const text =
      'SELECT array_to_json($1::text[]) AS texts, $2::bigint[]::text[] AS big, $3::smallint[] AS small';
    // A text of PostgreSQL has no NUL; JSON texts escape it.
    const character = fc.string({ unit: 'binary' }).map((each) => each.replaceAll('\0', ''));
    const sample = fc.record({
      texts: fc.array(fc.option(character)),
      big: fc.array(fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))),
      small: fc.array(fc.integer({ min: -32768, max: 32767 })),
    });
    for (const { texts, big, small } of fc.sample(sample, 20)) {
      const values = [textArray(texts), bigintArray(big), smallintArray(small)];
      const [row] = await connection.query<object>({ text, values }, 5000);
      t.strictSame({ ...row }, { texts, big: big.map((each) => each?.toString() ?? null), small });
    }
  });

  await t.test('a server without TLS is refused, not asked in plain text', async (t) => {
    const plain = createServer((socket) => socket.on('data', () => socket.write('N')).on('error', () => {}));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    t.teardown(() => plain.close());
    const address = plain.address();
    const at = typeof address === 'object' ? address?.port : undefined;
    t.equal(
      await refusalOf(t, `postgresql://troupe:secret@127.0.0.1:${at}/d?sslmode=require`),
      'it does not support TLS; sslmode=disable connects without encryption',
    );
  });
});
