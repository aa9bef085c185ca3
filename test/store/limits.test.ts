import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { diskReason } from '../../src/store/engine/disk-reason.ts';
import { openStore } from '../../src/store/index.ts';
import { startChild } from './child.ts';
import { SCOPE } from './records.ts';

/** Limits of the operating system that the store reaches, and the resulting errors. */

t.test('reports a limit of the address space that prevents mapping the store', async (t) => {
  const child = startChild(t, './child-hold.ts', [t.testdir()], 'ulimit -v 3000000;');
  await t.rejects(child.line(), {
    message: /cannot be opened: the process may use 2\.9 GiB of address space \(ulimit -v\)/,
  });
});

t.test('reports an I/O error with its cause', (t) => {
  const dir = t.testdir({ full: {} });
  const cause = new Error('i/o error');
  t.equal(diskReason(dir, cause), cause, 'the disk has free space');
  const full = join(dir, 'full');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', full], { stdio: 'ignore' });
  } catch {
    t.comment('the user may not mount a file system');
    return t.end();
  }
  const reason = diskReason(full, cause);
  execFileSync('umount', [full]);
  t.match(reason, { message: 'the disk is full', cause });
  t.end();
});

t.test('rejects reads of a closed store as unavailable', async (t) => {
  const store = await openStore({ dir: t.testdir(), durability: 'process' });
  await store.close();
  t.throws(() => store.runs.get(SCOPE, 'r'), {
    message: 'the store is closed: the service is shutting down',
  });
  t.throws(() => store.events.last(SCOPE, 't'), { message: /is closed/ });
  t.throws(() => store.runs.list(SCOPE, {}, { offset: 0, limit: 1 }), { message: /is closed/ });
});
