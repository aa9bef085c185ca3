import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Connection, Connector, Statement } from '../../src/postgres/connection.ts';
import { ServerError } from '../../src/postgres/errors.ts';
import { quotedSchema } from '../../src/postgres/identifier.ts';
import { type PrepareOptions, prepare } from '../../src/postgres/prepare.ts';
import { createStatements } from '../../src/postgres/statements.ts';

/** Checks of a start before it uses a database. `test/cluster/open.test.ts` makes them with a server. */

type Answers = {
  server?: object;
  version?: string | undefined;
  meta?: Record<string, string>;
  /** Fails the second connection that sends a named statement. */
  sharesNames?: boolean;
};

const META = { version: '1', cluster_id: 'c', ready: 'true', lease_ttl_ms: '10000' };

/** A connector whose server answers the statements of `prepare`, and no other. */
const connectorOf = (answers: Answers) => {
  const names = new Set<string>();
  const open: Connection[] = [];
  const answer = ({ text, name }: Statement, known: Set<string>): object[] => {
    if (text.includes('server_version')) {
      return [
        {
          version: '15.18 (Debian 15.18-0+deb12u1)',
          number: 150_018,
          replica: false,
          flushes: 'on',
          ...answers.server,
        },
      ];
    }
    if (text.includes('pg_class')) return [{ exists: true }];
    if (text.includes("name = 'version'")) return [{ value: answers.version ?? '1' }];
    if (text.includes('SELECT name, value')) {
      return Object.entries({ ...META, ...answers.meta }).map(([key, value]) => ({ name: key, value }));
    }
    if (text === 'SELECT 1' && name !== undefined) {
      if (answers.sharesNames && names.has(name) && !known.has(name)) {
        throw new ServerError(`prepared statement "${name}" already exists`, { code: '42P05' });
      }
      names.add(name);
      known.add(name);
      return [];
    }
    throw new Error(`an unexpected statement: ${text}`);
  };
  const connector: Connector = {
    open: async () => {
      const known = new Set<string>();
      const connection: Connection = {
        isOpen: true,
        // The rows of the statements above are what their callers expect.
        query: async <Row extends object>(statement: Statement) => answer(statement, known) as Row[],
        run: async (sql) => {
          throw new Error(`an unexpected statement: ${sql}`);
        },
        destroy: () => void open.splice(open.indexOf(connection), 1),
      };
      open.push(connection);
      return connection;
    },
  };
  return { connector, open };
};

const OPTIONS: PrepareOptions = {
  schema: 'troupe',
  pooled: false,
  leaseTtlMs: 10_000,
  durability: 'power',
  newClusterId: 'new',
  timeoutMs: 1000,
};

t.test('accepts a database of this version, and closes its connections', async (t) => {
  const { connector, open } = connectorOf({});
  t.strictSame(await prepare(connector, OPTIONS), { id: 'c', serverVersion: '15.18' });
  t.strictSame(open, []);
});

t.test('rejects every other one with one line', async (t) => {
  const rows: [Answers, Partial<PrepareOptions>, string][] = [
    [
      { server: { number: 130_000, version: '13.4' } },
      {},
      'the server must be PostgreSQL 14 or newer (it is 13.4)',
    ],
    [{ server: { replica: true } }, {}, 'the server is a read replica: every member needs the primary'],
    [
      { server: { flushes: 'off' } },
      {},
      'the server loses commits in a crash: its synchronous_commit must not be off',
    ],
    [{ version: '4' }, {}, 'the database has schema 4, this program knows 1'],
    [{ version: 'x' }, {}, 'the database has schema x, this program knows 1'],
    [
      { meta: { ready: 'false' } },
      {},
      "the schema 'troupe' is not ready: a copy into it is not complete; repeat the command 'troupe copy'",
    ],
    [{}, { leaseTtlMs: 5000 }, 'SERVICE_LEASE_TTL_MS must be 10000, as of the other members (got 5000)'],
    [
      { sharesNames: true },
      {},
      'a pooler in transaction mode is in front of the database: set SERVICE_DATABASE_POOLED=true',
    ],
  ];
  for (const [answers, given, message] of rows) {
    const { connector, open } = connectorOf(answers);
    await t.rejects(prepare(connector, { ...OPTIONS, ...given }), { name: 'DatabaseRefused', message });
    t.strictSame(open, [], 'no connection is left');
  }
  const unsafe = connectorOf({ server: { flushes: 'off' } });
  await t.resolves(prepare(unsafe.connector, { ...OPTIONS, durability: 'process' }), 'commits set their own');
  const pooled = connectorOf({ sharesNames: true });
  await t.resolves(prepare(pooled.connector, { ...OPTIONS, pooled: true }), 'no statement has a name');
});

t.test('names of schemas need no escapes', async (t) => {
  t.equal(quotedSchema('troupe_2'), '"troupe_2"');
  for (const name of ['', 'Troupe', '2x', 'a"b', 'a.b', 'a'.repeat(64)]) {
    t.throws(() => quotedSchema(name), { name: 'DatabaseRefused' }, name);
  }
});

t.test('statements have no names behind a pooler', async (t) => {
  const given = { schema: 's', durability: 'power' } as const;
  t.equal(createStatements({ ...given, pooled: true }).settle('a', 1).name, undefined);
  t.equal(createStatements({ ...given, pooled: false }).settle('a', 1).name, 'troupe_settle_1');
});

t.test('no statement reads the clock of the database (check 25)', async (t) => {
  const folder = 'src/postgres';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  t.ok(files.length > 10);
  const clocks =
    /\b(?:(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday|age)\s*\(|current_(?:time|date|timestamp)\b|localtime(?:stamp)?\b)/i;
  t.match('SELECT now()', clocks);
  for (const file of files) {
    // `performance.now()` and the injected clock measure this process.
    const text = readFileSync(join(folder, file), 'utf8').replace(
      /(?:performance|options)\.now\(\)|now\(\): number/g,
      '',
    );
    t.notMatch(text, clocks, file);
  }
});
