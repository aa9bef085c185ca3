import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import * as lmdb from 'lmdb';
import t from 'tap';
import { Unavailable } from '../../src/schema/outcome.ts';
import { backupFolder, openStore, type Store } from '../../src/store/index.ts';
import { FORMAT } from '../../src/store/repair/format.ts';
import { openStoreOfFormat } from '../../src/store/store.ts';
import { startChild } from './child.ts';
import { copyKey, storeFor } from './open.ts';
import { event, SCOPE, threadRecord, write } from './records.ts';

t.test('creates a directory with its parents for its owner only, whatever its name', async (t) => {
  const dir = join(t.testdir(), 'a', 'sessions.v2');
  const store = await openStore({ dir, durability: 'process' });
  await write(store, (batch) => store.state.put(batch, SCOPE, 't1', { kept: 1 }));
  await store.close();
  t.equal(statSync(dir).mode & 0o777, 0o700);
  t.ok(readdirSync(dir).includes('data.mdb'));
});

t.test('names an unusable directory in the error, with the requirement', async (t) => {
  const dir = join(t.testdir({ file: 'not a folder' }), 'file');
  const opened = openStore({ dir, durability: 'process' });
  await t.rejects(opened, Unavailable);
  await t.rejects(opened, { message: new RegExp(`'${dir}' cannot be used \\(E[A-Z]+: .*must be a folder`) });
});

t.test('names the directory of a damaged file in the error, and opens it after a repair', async (t) => {
  const dir = t.testdir({ 'data.mdb': 'x'.repeat(20_000) });
  await t.rejects(openStore({ dir, durability: 'process' }), {
    message: /is not a store, or its first page is overwritten: restore a backup/,
  });
  rmSync(join(dir, 'data.mdb'));
  const store = await openStore({ dir, durability: 'process' });
  await store.close();
});

t.test('leaves no table in the process after a close or a copy', async (t) => {
  const { allDbs } = Object(lmdb);
  const before = new Set(allDbs.keys());
  const root = t.testdir();
  const store = await openStore({ dir: join(root, 'store'), durability: 'process' });
  t.ok(allDbs.size > before.size);
  await store.backup(join(root, 'copy'));
  await store.close();
  await backupFolder(join(root, 'store'), join(root, 'copy2'));
  await t.rejects(openStore({ dir: join(root, 'copy'), durability: 'process', secretsKey: '' }), {
    message: /is blank/,
  });
  t.strictSame(
    [...allDbs.keys()].filter((name) => !before.has(name)),
    [],
  );
});

t.test('opens a directory once per process', async (t) => {
  const dir = t.testdir();
  const first = await openStore({ dir, durability: 'process' });
  await t.rejects(openStore({ dir: `${dir}/.`, durability: 'process' }), {
    name: 'Unavailable',
    message: new RegExp(`in use by process ${process.pid}`),
  });
  await first.close();
  const second = await openStore({ dir, durability: 'process' });
  await second.close();
});

t.test('opens a directory in one process, until that process ends', async (t) => {
  const dir = t.testdir();
  const holder = startChild(t, 'child-hold.ts', [dir]);
  t.equal(await holder.line(), 'open');
  const refused = openStore({ dir, durability: 'process' });
  await t.rejects(refused, Unavailable);
  await t.rejects(refused, { message: new RegExp(`'${dir}' is in use by process ${holder.pid}:`) });
  holder.kill();
  await holder.exit;
  const store = await openStore({ dir, durability: 'process' });
  await store.close();
});

t.test('migrates a directory of an older format once, step by step', async (t) => {
  const dir = t.testdir();
  const options = { dir, durability: 'process' } as const;
  await (await openStoreOfFormat(options, { version: 1, migrations: {} })).close();
  const steps: number[] = [];
  const newer = { version: 3, migrations: { 1: () => steps.push(1), 2: () => steps.push(2) } };
  await (await openStoreOfFormat(options, newer)).close();
  await (await openStoreOfFormat(options, newer)).close();
  t.strictSame(steps, [1, 2]);
});

t.test('reports the progress of a long upgrade', async (t) => {
  const dir = join(t.testdir(), 'data');
  const notices: string[] = [];
  const options = { dir, durability: 'process', warn: (notice: string) => notices.push(notice) } as const;
  await (await openStoreOfFormat(options, { version: 1, migrations: {} })).close();
  const open = () => {
    let slices = 0;
    return () => {
      slices += 1;
      return slices <= 120 ? ['default', `r${slices}`] : undefined;
    };
  };
  await (await openStoreOfFormat(options, { version: 2, migrations: { 1: { open } } })).close();
  t.strictSame(
    notices,
    [50, 100].map(
      (slices) =>
        `data directory '${dir}' is being upgraded to format 2, up to row ["default","r${slices}"]: the service starts when the upgrade is complete`,
    ),
  );
});

t.test('leaves the directory unchanged when a migration fails', async (t) => {
  const dir = t.testdir();
  const options = { dir, durability: 'process' } as const;
  await (await openStoreOfFormat(options, { version: 1, migrations: {} })).close();
  const half = {
    version: 3,
    migrations: {
      1: (root: RootDatabase) => root.put('half', 'done'),
      2: () => {
        throw new Error('broken');
      },
    },
  };
  await t.rejects(openStoreOfFormat(options, half), { message: 'broken' });
  let found: unknown = 'unset';
  const look = {
    version: 2,
    migrations: { 1: (root: RootDatabase) => (found = root.get('half')) },
  };
  await (await openStoreOfFormat(options, look)).close();
  t.equal(found, undefined);
});

t.test('rejects a directory of a newer version with both versions', async (t) => {
  const dir = t.testdir();
  const newer = { version: FORMAT.version + 1, migrations: {} };
  await (await openStoreOfFormat({ dir, durability: 'process' }, newer)).close();
  const refused = openStore({ dir, durability: 'process' });
  await t.rejects(refused, Unavailable);
  await t.rejects(refused, {
    message: new RegExp(
      `'${dir}' has format ${FORMAT.version + 1}, this version supports up to ${FORMAT.version}`,
    ),
  });
});

const writeWhile = async (store: Store, work: Promise<void>): Promise<number> => {
  let number = 0;
  let working = true;
  work.finally(() => {
    working = false;
  });
  while (working || number < 50) {
    number += 1;
    await write(store, (batch) => {
      store.threads.put(batch, SCOPE, threadRecord(`t${number}`, number), undefined);
      store.events.append(batch, SCOPE, `t${number}`, 1, [event('e', `r${number}`)]);
    });
  }
  await work;
  return number;
};

t.test('backs up a consistent state of a busy service, which opens with its key', async (t) => {
  const root = t.testdir();
  const target = join(root, 'copy');
  const store = await storeFor(t, { dir: join(root, 'store') });
  await write(store, (batch) => store.threads.put(batch, SCOPE, threadRecord('before', 1), undefined));
  const written = await writeWhile(store, store.backup(target));
  t.equal(store.threads.list(SCOPE, {}, { offset: 0, limit: 1 }).total, written + 1);
  copyKey(join(root, 'store'), target);
  const copy = await openStore({ dir: target, durability: 'process' });
  t.teardown(() => copy.close());
  const { items, total } = copy.threads.list(SCOPE, {}, { offset: 0, limit: 100_000 });
  t.equal(items.length, total);
  t.ok(copy.threads.get(SCOPE, 'before'));
  for (const { thread } of items) {
    if (thread.id !== 'before') t.equal(copy.events.last(SCOPE, thread.id), 1);
  }
  await write(copy, (batch) => copy.threads.put(batch, SCOPE, threadRecord('later', 9), undefined));
  t.equal(store.threads.get(SCOPE, 'later'), undefined);
});

t.test('copies a directory that another process has open', async (t) => {
  const root = t.testdir();
  const dir = join(root, 'store');
  const store = await openStore({ dir, durability: 'process' });
  await write(store, (batch) => store.state.put(batch, SCOPE, 't1', { kept: true }));
  await store.close();
  const holder = startChild(t, 'child-hold.ts', [dir]);
  await holder.line();
  await backupFolder(dir, join(root, 'copy'));
  copyKey(dir, join(root, 'copy'));
  const copy = await openStore({ dir: join(root, 'copy'), durability: 'process' });
  t.teardown(() => copy.close());
  t.strictSame(copy.state.get(SCOPE, 't1'), { kept: true });
  await t.rejects(backupFolder(join(root, 'nothing'), join(root, 'copy2')), { message: /contains no store/ });
});

t.test('never writes a backup to a non-empty directory', async (t) => {
  const root = t.testdir();
  const target = join(root, 'target');
  mkdirSync(target);
  writeFileSync(join(target, 'data.mdb'), 'precious');
  const store = await storeFor(t, { dir: join(root, 'store') });
  await t.rejects(store.backup(target), {
    name: 'Unavailable',
    message: new RegExp(`'${target}' is not empty`),
  });
  t.equal(readFileSync(join(target, 'data.mdb'), 'utf8'), 'precious');
});
