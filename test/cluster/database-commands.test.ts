import t from 'tap';
import { runHere } from '../e2e/in-process.ts';
import { joinWith, openFor, put } from './batches.ts';
import { copy, KEY, unpackFixture } from './copies.ts';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';

/** `troupe database` (cluster.md 1.4, 13). */

const ROW = 'troupe.row';

/** Each with the finding that it must cause, and nothing else than findings. */
const DAMAGES: readonly (readonly [sql: string, finding: RegExp])[] = [
  [`DELETE FROM ${ROW} WHERE kind = 16`, /open_work: records without their rows/],
  [
    `INSERT INTO ${ROW} (kind, key, lineage, scope, at, value)
      VALUES (16, '["default","none",1,1,"d"]', 1, 'default', 1, '"d"')`,
    /open_work: a row without a record/,
  ],
  [
    `DELETE FROM ${ROW} WHERE kind = 3 AND key = '["default","talk",2]'`,
    /messages: a gap in the sequence numbers/,
  ],
  [
    `DELETE FROM ${ROW} WHERE (kind, key) = (SELECT kind, key FROM ${ROW} WHERE kind = 4
      AND key LIKE '["default","talk",%' ORDER BY (key::json->>2)::int OFFSET 1 LIMIT 1)`,
    /events: a gap in the sequence numbers/,
  ],
  [
    `DELETE FROM ${ROW} WHERE kind = 1 AND key LIKE '%"talk"%'`,
    /messages: a row of a thread that is not there/,
  ],
  [`UPDATE ${ROW} SET lineage = 77 WHERE kind = 2`, /runs: a row of another lineage than that of its thread/],
  [`UPDATE ${ROW} SET at = at + 1 WHERE kind = 1`, /threads: columns that differ from the value of the row/],
  ['DELETE FROM troupe.commit WHERE no = 3', /commit: a chain of a member with a hole/],
  [`INSERT INTO troupe.commit VALUES ('stranger', 0)`, /commit: a chain without a member/],
  [`UPDATE troupe.lineage SET owner = 'stranger'`, /lineage: an owner that is no member/],
  [
    `INSERT INTO troupe.member (id, name, url, slot, state, program, joined_at, beat, commons)
      VALUES ('m', 'm', '', 1, 'live', '0', 1, 0, 0)`,
    /member: a member without a chain/,
  ],
];

/** As a member writes it: with the lineage of the configuration, though its key has the form of that of a thread. */
const LOG_OF_EVAL = `INSERT INTO ${ROW} (kind, key, lineage, scope, at, value)
  VALUES (4, '["default","eval",1,5]', 0, 'default', 5,
    '{"packed":[{"event_id":"e1","event_kind":"EvalRunStarted","created_at":5,"payload":{}}]}')`;

t.test('commands of the database', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);

  await t.test('a check finds nothing on sound data, and each planted damage', async (t) => {
    const sound = postgres.createDatabase();
    const { dir } = unpackFixture(t.testdir(), 'format-6');
    t.match(await copy([dir, postgres.url(sound)]), { code: 0 });
    postgres.sql(sound, LOG_OF_EVAL);
    const check = (name: string, ...args: string[]) =>
      runHere(['database', 'check', ...args], {
        SERVICE_DATABASE_URL: postgres.url(name),
        SERVICE_SECRETS_KEY: KEY,
      });
    t.match(await check(sound), { code: 0, output: /^no problems found\n\d+ rows were read\n$/, errors: '' });
    t.match(JSON.parse((await check(sound, '--json')).output), { findings: [] });
    for (const [sql, finding] of DAMAGES) {
      const damaged = postgres.createDatabase(sound);
      postgres.sql(damaged, sql);
      t.match(await check(damaged), { code: 2, output: finding, errors: '' }, sql);
    }
    const unset = await runHere(['database', 'check']);
    t.match(unset, { code: 2, errors: 'SERVICE_DATABASE_URL is not set\n' });
    t.match(await check('none'), { code: 1, errors: /the database 'none' does not exist/ });
  });

  await t.test('the printed schema is enough for a role that may create nothing', async (t) => {
    const name = postgres.createDatabase();
    const { code, output } = await runHere(['database', 'schema']);
    t.equal(code, 0);
    postgres.sql(name, output);
    const grants = [...output.matchAll(/^-- +(GRANT .*;)$/gm)].map(([, grant = '']) =>
      grant.replace(' role;', ' worker;'),
    );
    t.equal(grants.length, 3);
    postgres.sql(name, `CREATE ROLE worker LOGIN; ${grants.join(' ')}`);
    const database = await openFor(t, postgres.url(name).replace('troupe@', 'worker@'));
    const [outcome] = await (await joinWith(database, 'a')).sink.ship([put('row')]);
    t.match(outcome, { result: 'applied' });
    t.equal(postgres.sql(name, `SELECT count(*) FROM ${ROW}`), '1');
    const other = await runHere(['database', 'schema'], {
      SERVICE_DATABASE_SCHEMA: 'other',
      SERVICE_DATABASE_URL: 'postgresql://x@y/z',
    });
    t.match(other.output, 'CREATE SCHEMA IF NOT EXISTS "other";');
    t.notMatch(other.output, '"troupe"');
  });
});
