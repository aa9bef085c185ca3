import {
  chmodSync,
  chownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { codeFolder, createCodeStore, type Source } from '../../src/compiled-code/store.ts';

const SOURCE: Source = {
  path: '/opt/troupe/dist/chunk-0123abcd.cjs',
  bytes: 1000,
  mtimeMs: 1_700_000_000_000.5,
};

const CODE = Buffer.from('compiled code');

const stored = (t: Test) => {
  const folder = join(t.testdir(), 'code');
  const store = createCodeStore(folder);
  store.write(SOURCE, CODE);
  const [name = ''] = readdirSync(folder);
  return { folder, store, file: join(folder, name) };
};

t.test('returns the code of the same source to this user alone', async (t) => {
  const { folder, store, file } = stored(t);
  t.strictSame(store.read(SOURCE), CODE);
  t.strictSame(createCodeStore(folder).read(SOURCE), CODE, 'another process reads it');
  t.equal(statSync(folder).mode & 0o777, 0o700);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(readdirSync(folder).length, 1, 'no partial file remains');
});

t.test('removes code that was stored more than a week ago', async (t) => {
  const { folder, store, file } = stored(t);
  const daysAgo = (days: number): Date => new Date(Date.now() - days * 24 * 3_600_000);
  const other = { ...SOURCE, path: '/opt/troupe/dist/chunk-89abcdef.cjs' };
  utimesSync(file, daysAgo(6), daysAgo(6));
  createCodeStore(folder).write(other, CODE);
  t.strictSame(store.read(SOURCE), CODE);
  utimesSync(file, daysAgo(8), daysAgo(8));
  createCodeStore(folder).write(other, CODE);
  t.equal(store.read(SOURCE), undefined);
  t.strictSame(store.read(other), CODE);
});

t.test('replaces code', async (t) => {
  const { store } = stored(t);
  store.write(SOURCE, Buffer.from('other code'));
  t.strictSame(store.read(SOURCE), Buffer.from('other code'));
});

const OTHERS: readonly [what: string, other: Partial<Source>][] = [
  ['another size', { bytes: 1001 }],
  ['another time', { mtimeMs: SOURCE.mtimeMs + 1 }],
  ['another name', { path: '/opt/troupe/dist/chunk-4567abcd.cjs' }],
  ['another installation', { path: '/opt/other/dist/chunk-0123abcd.cjs' }],
];

for (const [what, other] of OTHERS) {
  t.test(`returns no code for a source with ${what}`, async (t) => {
    const { store } = stored(t);
    t.equal(store.read({ ...SOURCE, ...other }), undefined);
    t.strictSame(store.read(SOURCE), CODE);
  });
}

t.test('returns no code to a process with other flags or another version of Node', async (t) => {
  const { store } = stored(t);
  const { execArgv, version } = process;
  t.teardown(() => {
    process.execArgv = execArgv;
    Object.defineProperty(process, 'version', { value: version });
  });
  process.execArgv = [...execArgv, '--max-lazy'];
  t.equal(store.read(SOURCE), undefined);
  process.execArgv = execArgv;
  Object.defineProperty(process, 'version', { value: 'v20.19.0' });
  t.equal(store.read(SOURCE), undefined);
});

t.test('returns no damaged code', async (t) => {
  const { store, file } = stored(t);
  const contents = readFileSync(file);
  for (let at = 0; at < contents.length; at += 1) {
    const damaged = Buffer.from(contents);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
    writeFileSync(file, damaged);
    t.equal(store.read(SOURCE), undefined, `byte ${at}`);
  }
  for (const bytes of [0, 31, 32, contents.length - 1]) {
    writeFileSync(file, contents.subarray(0, bytes));
    t.equal(store.read(SOURCE), undefined, `${bytes} bytes`);
  }
  writeFileSync(file, contents);
  t.strictSame(store.read(SOURCE), CODE);
});

t.test('reads no symbolic link', async (t) => {
  const { folder, store, file } = stored(t);
  renameSync(file, join(folder, 'elsewhere'));
  symlinkSync(join(folder, 'elsewhere'), file);
  t.equal(store.read(SOURCE), undefined);
  store.write(SOURCE, CODE);
  t.notOk(lstatSync(file).isSymbolicLink());
  t.strictSame(store.read(SOURCE), CODE);
});

t.test('uses no folder that other users may read or write', async (t) => {
  const { folder } = stored(t);
  for (const mode of [0o710, 0o704, 0o720, 0o777]) {
    chmodSync(folder, mode);
    t.equal(createCodeStore(folder).read(SOURCE), undefined);
  }
  chmodSync(folder, 0o700);
  const link = join(dirname(folder), 'link');
  symlinkSync(folder, link);
  t.equal(createCodeStore(link).read(SOURCE), undefined, 'a symbolic link');
});

const skip = process.getuid?.() === 0 ? false : 'only root can change the owner of a file';

t.test('uses nothing of another user', { skip }, async (t) => {
  const { folder, store, file } = stored(t);
  chownSync(file, 1, 1);
  t.equal(store.read(SOURCE), undefined, 'a file');
  store.write(SOURCE, CODE);
  t.strictSame(store.read(SOURCE), CODE);
  chownSync(folder, 1, 1);
  const other = createCodeStore(folder);
  t.equal(other.read(SOURCE), undefined, 'a folder');
  other.write({ ...SOURCE, path: '/opt/other.cjs' }, CODE);
  t.equal(readdirSync(folder).length, 1);
});

t.test('stores nothing where it cannot write', async (t) => {
  const { file, folder } = stored(t);
  for (const other of [file, join(file, 'code'), '/proc/code']) {
    const store = createCodeStore(other);
    store.write(SOURCE, CODE);
    t.equal(store.read(SOURCE), undefined, other);
  }
  t.equal(readdirSync(folder).length, 1);
});

t.test('follows the variables of the compile cache of Node', async (t) => {
  const name = `troupe-compiled-${process.getuid?.() ?? 'code'}`;
  t.equal(codeFolder({}), join(tmpdir(), name));
  t.equal(codeFolder({ NODE_COMPILE_CACHE: '/var/cache' }), join('/var/cache', name));
  t.equal(codeFolder({ NODE_COMPILE_CACHE: '/var/cache', NODE_DISABLE_COMPILE_CACHE: '1' }), undefined);
});
