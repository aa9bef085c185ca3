import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { refuseUnseenData } from '../../src/postgres/index.ts';
import { examine, openStore } from '../../src/store/index.ts';
import { runHere } from '../e2e/in-process.ts';
import { startPlace } from '../upgrade/place.ts';
import { type Answers, readAll } from '../upgrade/read.ts';
import { joinWith, openFor, put } from './batches.ts';
import { copy, copyUntil, KEY, unpackFixture } from './copies.ts';
import { startPostgres } from './postgres.ts';
import { NO_POSTGRES } from './programs.ts';

/** Data directories that are copied into a database, and back (cluster.md 12.1). */

const CONTENT = Buffer.alloc(2_500_000, 'every byte of it is copied\n');

/** All answers of a service on a folder, without work. */
const answersOf = async (dir: string, now: number) => {
  const place = await startPlace({ dir, now, lifecycle: 'manual' });
  const answers = await readAll(place).finally(place.stop);
  return answers;
};

/** Without what the first start of this version on a folder writes: entries of the configuration. */
const withoutSeeds = (answers: Answers): Answers =>
  Object.fromEntries(Object.entries(answers).filter(([path]) => !/^\/v1\/(?:config|audit-log)/.test(path)));

/** Adds a file to a folder, as an upload does. */
const addFile = async (dir: string): Promise<string> => {
  const place = await startPlace({ dir, now: Date.now(), lifecycle: 'manual' });
  try {
    const text = CONTENT.toString();
    const { status, body } = await place.client.call(
      'POST',
      '/v1/files?filename=a.txt&purpose=user_data',
      text,
      {
        'content-type': 'text/plain',
      },
    );
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    return String(Object(body).id);
  } finally {
    await place.stop();
  }
};

const checkClean = async (t: Test, dir: string): Promise<void> => {
  const { findings, blobs } = await examine({ dir, secretsKey: KEY });
  t.strictSame(findings, [], 'the doctor has no findings');
  t.strictSame(blobs?.orphaned ?? 0, 0);
};

t.test('copies', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await startPostgres(t);
  const create = () => {
    const name = postgres.createDatabase();
    const meta = (key: string): string =>
      postgres.sql(name, `SELECT value FROM troupe.meta WHERE name = '${key}'`);
    return { name, url: postgres.url(name), meta };
  };

  await t.test('a folder goes into a database and back, with two kills on the way (check 33)', async (t) => {
    const { name, url, meta } = create();
    const { dir, now } = unpackFixture(t.testdir(), 'format-6');
    const file = await addFile(dir);
    t.ok(await copyUntil([dir, url], 3), 'the first process is killed');
    t.equal(meta('ready'), 'false');
    await t.rejects(openFor(t, url), { message: /is not ready/ }, 'no member joins');
    const copied = Number(postgres.sql(name, 'SELECT count(*) FROM troupe.row'));
    t.ok(await copyUntil([dir, url], 5), 'the second process is killed');
    t.equal(meta('ready'), 'false');
    t.ok(
      Number(postgres.sql(name, 'SELECT count(*) FROM troupe.row')) > copied,
      'the second process has continued',
    );
    t.match(await copy([dir, url, '--verify']), { code: 0, output: /"event":"verified"/, errors: '' });
    t.equal(meta('ready'), 'true');
    t.equal(meta('copied'), '');
    t.equal(postgres.sql(name, `SELECT count(*) FROM troupe.member WHERE state <> 'gone'`), '0');

    const back = join(t.testdirName, 'back');
    const returned = await copy([url, back, '--verify']);
    t.match(returned, { code: 0, output: /"event":"verified"/, errors: '' });
    t.notMatch(returned.output, url);
    await checkClean(t, back);
    t.strictSame(await answersOf(back, now), await answersOf(dir, now));
    const place = await startPlace({ dir: back, now: Date.now(), lifecycle: 'manual' });
    t.teardown(place.stop);
    const { body } = await place.client.call('GET', `/v1/files/${file}`);
    t.match(body, { bytes: CONTENT.byteLength });
    const path = `blobs/${String(Object(body).sha256).slice(0, 2)}/${Object(body).sha256}`;
    t.ok(readFileSync(join(back, path)).equals(CONTENT), 'the content of the file is the same');
  });

  await t.test('the folder of an earlier version goes the same way (check 34)', async (t) => {
    const { url } = create();
    const { dir, now } = unpackFixture(t.testdir(), 'format-3');
    t.match(await copy([dir, url, '--verify']), { code: 0, output: /"event":"verified"/ });
    const back = join(t.testdirName, 'back');
    t.match(await copy([url, back, '--verify']), { code: 0, output: /"event":"verified"/ });
    await checkClean(t, back);
    t.strictSame(withoutSeeds(await answersOf(back, now)), withoutSeeds(await answersOf(dir, now)));
  });

  await t.test('refusals are one line, and change nothing', async (t) => {
    const { name, url } = create();
    const { dir } = unpackFixture(t.testdir(), 'format-6');
    const secret = url.replace('troupe@', 'troupe:geheim@');
    const refused = async (
      args: readonly string[],
      errors: RegExp,
      { code = 1, environment }: { code?: number; environment?: Record<string, string> } = {},
    ): Promise<void> => {
      const result = await copy(args, environment);
      t.match(result, { code, output: '', errors });
      t.match(result.errors, /^[^\n]+\n$/, 'one line');
      t.notMatch(result.errors, /geheim|host=/, 'no URL');
    };
    await refused([dir, join(t.testdirName, 'other')], /must be a URL/, { code: 2 });
    await refused([url, url], /must be a URL/, { code: 2 });
    await refused([dir, 'mysql://host/name'], /must be a URL/, { code: 2 });
    await refused([join(t.testdirName, 'none'), url], /contains no store/);
    await refused([dir, url], /set SERVICE_SECRETS_KEY/, { environment: {} });
    await refused([dir, secret], /is not the key/, { environment: { SERVICE_SECRETS_KEY: 'another' } });
    await refused([url, join(t.testdirName, 'other')], /schema 'troupe' does not exist/);
    await refused([url, dir], /is not empty/);
    t.strictSame(
      readdirSync(dir).filter((entry) => entry.includes('copying')),
      [],
    );
    const inUse = await openStore({ dir, durability: 'process', secretsKey: KEY });
    await refused([dir, url], /is in use/);
    await inUse.close();
    t.equal(postgres.sql(name, `SELECT count(*) FROM pg_namespace WHERE nspname = 'troupe'`), '0');

    const database = await openFor(t, url);
    await (await joinWith(database, 'a')).sink.ship([put('row')]);
    await refused([dir, url], /schema 'troupe' is not empty/);
    t.equal(postgres.sql(name, 'SELECT count(*) FROM troupe.row'), '1');
  });

  await t.test('the key of the database is checked in both directions (secrets_check)', async (t) => {
    const { url, meta } = create();
    const { dir } = unpackFixture(t.testdir(), 'format-6');
    t.match(await copy([dir, url]), { code: 0 });
    t.match(meta('secrets_check'), /^[\w-]{43}$/);
    const back = join(t.testdirName, 'back');
    for (const [environment, errors] of [
      [{}, /are encrypted: set SERVICE_SECRETS_KEY/],
      [{ SERVICE_SECRETS_KEY: 'another' }, /is not the key/],
    ] as const)
      t.match(await copy([url, back], { ...environment }), { code: 1, errors });
    t.notOk(existsSync(back));
    t.match(await copy([url, back]), { code: 0 });
  });

  await t.test('a folder that was used since, or another one, does not continue a copy', async (t) => {
    const { url } = create();
    const { dir } = unpackFixture(t.testdir(), 'format-6');
    const other = join(t.testdirName, 'other');
    cpSync(dir, other, { recursive: true });
    t.ok(await copyUntil([dir, url], 3));
    await (await openStore({ dir, durability: 'process', secretsKey: KEY })).close();
    t.match(await copy([dir, url]), { code: 1, errors: /was used since.*DROP SCHEMA troupe CASCADE/ });
  });

  await t.test('data that an empty schema would hide are refused (check 35)', async (t) => {
    const { url } = create();
    const { dir } = unpackFixture(t.testdir({ empty: {} }), 'format-6');
    const database = await openFor(t, url);
    await t.rejects(refuseUnseenData(database, dir), {
      name: 'DatabaseRefused',
      message: `the data of ${dir} would not be seen: run "troupe copy ${dir} $SERVICE_DATABASE_URL", or set SERVICE_STORAGE_DIR elsewhere`,
    });
    await refuseUnseenData(database, join(t.testdirName, 'none'));
    const empty = join(t.testdirName, 'empty');
    await (await openStore({ dir: empty, durability: 'process' })).close();
    await refuseUnseenData(database, empty);
    await (await joinWith(database, 'a')).sink.ship([put('row')]);
    await refuseUnseenData(database, dir);
    t.pass('an empty folder hides nothing, nor does a schema with rows');
  });

  await t.test('a backup names the ways of the database instead', async (t) => {
    const { url } = create();
    const target = join(t.testdir(), 'backup');
    const environment = { SERVICE_DATABASE_URL: url, SERVICE_HTTP_ADDR: '127.0.0.1:0' };
    const ended = await runHere(['backup', target], environment);
    t.match(ended, { code: 1, errors: /^troupe: the data are in the database.*pg_dump.*base backups.*\n$/ });
    t.notOk(existsSync(target));
  });

  await t.test('verification finds a row that differs', async (t) => {
    const { name, url } = create();
    const { dir } = unpackFixture(t.testdir(), 'format-6');
    t.ok(await copyUntil([dir, url], 6));
    postgres.sql(name, `UPDATE troupe.row SET value = '{}' WHERE kind = 1 AND key LIKE '%talk%'`);
    t.match(await copy([dir, url, '--verify']), { code: 1, errors: /the copy differs: threads \(\d+ rows/ });
  });
});
