import { chmodSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Unavailable } from '../../src/schema/outcome.ts';
import { metaInUse, readDataFile } from '../../src/store/engine/data-file.ts';
import { openRoot } from '../../src/store/engine/environment.ts';
import { pageFindings } from '../../src/store/engine/pages.ts';
import { backupFolder, openStore } from '../../src/store/index.ts';
import { SCOPE, threadRecord, write } from './records.ts';

/** Files that other users can read, and damaged files. */

const fill = async (dir: string, threads = 200): Promise<void> => {
  const store = await openStore({ dir, durability: 'power' });
  for (let number = 0; number < threads; number += 20) {
    await write(store, (batch) => {
      for (let index = number; index < number + 20; index += 1) {
        store.threads.put(batch, SCOPE, threadRecord(`t${index}`, index), undefined);
        store.state.put(batch, SCOPE, `t${index}`, { filling: 'x'.repeat(5000) });
      }
    });
  }
  await store.close();
};

const refusal = async (t: Test, dir: string, what: RegExp): Promise<void> => {
  const refused = openStore({ dir, durability: 'process' });
  await t.rejects(refused, Unavailable);
  await t.rejects(refused, { message: what });
  await t.rejects(refused, { message: new RegExp(`'${dir}' has a data.mdb that .*restore a backup`) });
};

const modesIn = (dir: string): [name: string, mode: string][] =>
  readdirSync(dir).map((name) => [name, (statSync(join(dir, name)).mode & 0o777).toString(8)]);

t.test('creates files for their owner only, even in an existing directory', async (t) => {
  const dir = join(t.testdir(), 'before');
  mkdirSync(dir);
  chmodSync(dir, 0o755);
  const mask = process.umask(0);
  t.teardown(() => process.umask(mask));
  const warnings: string[] = [];
  const store = await openStore({ dir, durability: 'process', warn: (problem) => warnings.push(problem) });
  t.teardown(() => store.close());
  for (const [name, mode] of modesIn(dir)) t.equal(mode, '600', name);
  t.equal(warnings.length, 1);
  t.match(warnings[0], `data directory '${dir}' is open to other users (mode 755)`);
  t.match(warnings[0], /set its mode to 700/);
  const target = join(t.testdirName, 'copy');
  mkdirSync(target);
  chmodSync(target, 0o755);
  await store.backup(target);
  t.strictSame(modesIn(target), [['data.mdb', '600']]);
});

t.test('restricts files that other users could read at startup, and warns', async (t) => {
  const dir = t.testdir();
  await fill(dir, 20);
  chmodSync(dir, 0o700);
  chmodSync(join(dir, 'data.mdb'), 0o644);
  const warnings: string[] = [];
  const store = await openStore({ dir, durability: 'process', warn: (problem) => warnings.push(problem) });
  await store.close();
  for (const [name, mode] of modesIn(dir)) t.equal(mode, '600', name);
  t.equal(warnings.length, 1);
  t.match(warnings[0], /data\.mdb' could be read or written by other users \(mode 644\).*replace the keys/);
});

t.test('rejects a truncated file, wherever it was cut', async (t) => {
  const dir = t.testdir();
  await fill(dir);
  const { size } = statSync(join(dir, 'data.mdb'));
  for (const left of [size - 4096, Math.floor(size / 2), 40_960, 8192]) {
    truncateSync(join(dir, 'data.mdb'), left);
    await refusal(t, dir, /is cut off: page \d+ of \d+ is in use, and the file ends after \d+/);
  }
  await t.rejects(backupFolder(dir, join(dir, 'copy')), { message: /is cut off/ });
  for (const left of [4200, 4096, 100]) {
    truncateSync(join(dir, 'data.mdb'), left);
    await refusal(t, dir, new RegExp(`ends after ${left} bytes`));
  }
  truncateSync(join(dir, 'data.mdb'), 0);
  await refusal(t, dir, /is empty: its data is lost/);
});

t.test('rejects a foreign file, or one with overwritten headers', async (t) => {
  const dir = t.testdir();
  await fill(dir, 20);
  const file = await openFile(join(dir, 'data.mdb'), 'r+');
  t.teardown(() => file.close());
  const noise = Buffer.alloc(4096, 0x5a);
  const second = Buffer.alloc(4096);
  await file.read(second, 0, 4096, 4096);
  await file.write(noise, 0, 4096, 4096);
  await refusal(t, dir, /second page that is overwritten/);
  await file.write(second, 0, 4096, 4096);
  await (await openStore({ dir, durability: 'process' })).close();
  await file.write(noise, 0, 4096, 0);
  await refusal(t, dir, /is not a store, or its first page is overwritten/);
});

t.test('finds no damage in a store that grew and shrank', async (t) => {
  const dir = t.testdir();
  await fill(dir);
  const store = await openStore({ dir, durability: 'power' });
  await write(store, (batch) => {
    for (let number = 0; number < 100; number += 1) store.state.remove(batch, SCOPE, `t${number}`);
  });
  await store.close();
  const file = join(dir, 'data.mdb');
  const data = readDataFile(file, (what) => new Unavailable(what));
  const meta = metaInUse(data);
  t.ok(meta);
  if (!meta) return;
  t.strictSame(Array.from(pageFindings(file, data, meta)), []);
  const twice = { ...meta, free_root: meta.main_root };
  t.strictSame(
    Array.from(pageFindings(file, data, twice)),
    [{ page: Number(meta.main_root), what: 'in use twice' }],
    'each page belongs to one tree',
  );
});

t.test('throws when it reads an undecodable row, with table and key', async (t) => {
  const dir = t.testdir();
  await fill(dir, 20);
  const root = openRoot(dir);
  await root.openDB('threads', { encoding: 'binary' }).put([SCOPE, 't1'], Buffer.from([0xc1, 0xdf]));
  await root.close();
  const store = await openStore({ dir, durability: 'process' });
  t.teardown(() => store.close());
  const words =
    /\["default","t1"\] of table 'threads' cannot be read: stop the service and run troupe doctor/;
  t.throws(() => store.threads.get(SCOPE, 't1'), { name: 'Integrity', message: words });
  t.throws(() => store.threads.list(SCOPE, {}, { offset: 0, limit: 50 }), { message: words });
  t.ok(store.threads.get(SCOPE, 't2'));
});
