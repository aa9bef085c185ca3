import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createScratchFolder } from '../../src/processes/scratch-folder.ts';

const HOST = hostname().replaceAll(/[^\w.]/g, '_');

const endedPid = async (): Promise<number> => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
};

/** The temporary folder of the system, for one test. */
const useFolder = (t: Test): string => {
  const dir = t.testdir();
  const before = process.env.TMPDIR;
  process.env.TMPDIR = dir;
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  t.equal(tmpdir(), dir);
  return dir;
};

const makeFolder = (name: string): string => {
  const dir = join(tmpdir(), name);
  mkdirSync(join(dir, 'blobs'), { recursive: true });
  writeFileSync(join(dir, 'blobs', 'x'), 'x');
  return dir;
};

t.test('a folder is private, and is removed with its contents', async (t) => {
  const parent = useFolder(t);
  const { dir, remove } = await createScratchFolder('copy');
  t.ok(dir.startsWith(join(parent, `troupe-copy-${HOST}-${process.pid}-`)));
  t.equal(statSync(dir).mode & 0o777, 0o700);
  mkdirSync(join(dir, 'blobs'));
  await remove();
  t.notOk(existsSync(dir));
  await remove();
});

t.test('folders of processes that have ended are removed, and no others', async (t) => {
  useFolder(t);
  const pid = await endedPid();
  const abandoned = ['copy', 'check'].map((purpose) => makeFolder(`troupe-${purpose}-${HOST}-${pid}-aB3_xZ`));
  const kept = [
    `troupe-copy-${HOST}-${process.pid}-aB3_xZ`,
    `troupe-copy-another.${HOST}-${pid}-aB3_xZ`,
    `troupe-copy-${HOST}-${pid}-aB3_xZ.tar`,
    `troupe-copy-${pid}-aB3_xZ`,
    `other-copy-${HOST}-${pid}-aB3_xZ`,
  ].map(makeFolder);
  const own = await createScratchFolder('copy');
  const second = await createScratchFolder('eval');
  for (const dir of abandoned) t.notOk(existsSync(dir), dir);
  for (const dir of [...kept, own.dir, second.dir]) t.ok(existsSync(dir), dir);
});
