import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { runCommand } from './service.ts';

/** The compiled code that a start leaves for the next one. */

/** By path. A replaced file has another inode. */
type Files = Record<string, { inode: number; text: string }>;

const start = (t: Test, folder: string, cache: string) =>
  runCommand(t, ['dev', '--http-addr', '127.0.0.1:0', '--storage-dir', join(folder, 'data')], {
    NODE_COMPILE_CACHE: cache,
    NODE_DISABLE_COMPILE_CACHE: '',
  });

const filesIn = (cache: string): Files => {
  const [folder] = readdirSync(cache).filter((name) => name.startsWith('troupe-compiled-'));
  if (folder === undefined) return {};
  const path = join(cache, folder);
  return Object.fromEntries(
    readdirSync(path).map((name) => {
      const file = join(path, name);
      return [file, { inode: statSync(file).ino, text: readFileSync(file, 'latin1') }];
    }),
  );
};

/** Starts the service, waits until it has stored code, and kills it. */
const leave = async (t: Test, folder: string, isStored: (files: Files) => boolean): Promise<Files> => {
  const cache = join(folder, 'cache');
  const { child, says } = start(t, folder, cache);
  await says(/Troupe is ready/);
  while (!isStored(filesIn(cache))) await new Promise((resolve) => setTimeout(resolve, 50));
  child.kill('SIGKILL');
  return filesIn(cache);
};

t.test('a killed service leaves compiled code, and the next start replaces only invalid code', async (t) => {
  const folder = t.testdir({ cache: {} });
  const first = await leave(t, folder, (files) => Object.keys(files).length > 0);
  const names = Object.keys(first);
  t.ok(names.length > 0);

  const [damaged = ''] = names;
  const text = first[damaged]?.text ?? '';
  writeFileSync(damaged, `${text.slice(0, -1)}${text.endsWith('a') ? 'b' : 'a'}`, 'latin1');
  const second = await leave(t, folder, (files) => files[damaged]?.inode !== first[damaged]?.inode);
  for (const name of names.slice(1)) t.equal(second[name]?.inode, first[name]?.inode, name);
});

t.test('starts where no code can be stored', async (t) => {
  const folder = t.testdir({ file: 'text' });
  const cache = join(folder, 'file');
  const { child, says, ended } = start(t, folder, cache);
  await says(/Troupe is ready/);
  child.kill('SIGTERM');
  t.equal(await ended(), 0);
  t.equal(readFileSync(cache, 'utf8'), 'text');
});
