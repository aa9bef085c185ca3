import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { clearReaders, closePrivate, openRoot } from '../../src/store/engine/environment.ts';
import { backupFolder, openStore } from '../../src/store/index.ts';
import { startChild } from './child.ts';

/** Interrupted copies: what they leave in the data directory of the service and in their target. */

t.test('releases the slot of a killed reader while the store is open', async (t) => {
  const dir = t.testdir();
  await (await openStore({ dir, durability: 'process' })).close();
  const root = openRoot(dir);
  t.teardown(() => closePrivate(root));
  const child = startChild(t, './child-read.ts', [dir]);
  t.equal(await child.line(), 'reads');
  const slots = (): string[] => root.readerList().match(new RegExp(`^\\s*${child.pid}\\s`, 'gm')) ?? [];
  t.equal(slots().length, 1);
  root.readerCheck();
  t.equal(slots().length, 1, 'the slot of a live reader is kept');
  child.kill();
  await child.exit;
  t.equal(slots().length, 1);
  const stop = clearReaders(root, 5);
  t.teardown(stop);
  while (slots().length > 0) await pause(5);
});

t.test('replaces the partial copy of a killed backup, and nothing else', async (t) => {
  const child = startChild(t, './child-hold.ts', [t.testdir({ other: {} })]);
  await child.line();
  const dir = join(t.testdirName, 'other');
  await (await openStore({ dir, durability: 'process' })).close();
  const target = join(t.testdirName, 'copy');
  const unfinished = join(target, `making-${child.pid}-abcdef`);
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(join(unfinished, 'data.mdb'), 'half');
  await t.rejects(
    backupFolder(dir, target),
    { message: /is not empty \(1 entries\)/ },
    'the copy of a live process is kept',
  );
  child.kill();
  await child.exit;
  await backupFolder(dir, target);
  t.strictSame(readdirSync(target), ['data.mdb']);
});

t.test('removes an aborted backup, and succeeds the next time', async (t) => {
  const store = await openStore({ dir: t.testdir({ first: {} }), durability: 'process' });
  t.teardown(() => store.close());
  const target = join(t.testdirName, 'copy');
  const stopped = backupFolder(t.testdirName, target, { signal: AbortSignal.abort('SIGINT') });
  await stopped.then(
    () => t.fail('the backup was not aborted'),
    (reason) => t.equal(reason, 'SIGINT'),
  );
  t.strictSame(readdirSync(target), []);
  await backupFolder(t.testdirName, target);
  t.strictSame(readdirSync(target), ['data.mdb']);
});
