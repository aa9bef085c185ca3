import { statSync } from 'node:fs';
import path, { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { createLoader } from '../../src/compiled-code/load.ts';
import { type CodeStore, createCodeStore, type Source } from '../../src/compiled-code/store.ts';

const FILES = {
  'browser.cjs': `exports.kind = require('probe');`,
  node_modules: { probe: { 'index.js': `module.exports = typeof document + ' ' + typeof location;` } },
  'main.cjs': `
    const other = require('./lib/other.cjs');
    exports.path = require('node:path');
    exports.twice = (n) => other.plus(n, n);
    exports.other = other;
    exports.fail = () => { throw new Error('here'); };
    exports.place = [__dirname, __filename];
    exports.importModule = require('troupe:loader').importModule;`,
  lib: {
    'other.cjs': `
      exports.plus = (a, b) => a + b;
      exports.main = () => require('../main.cjs');`,
  },
};

type Main = {
  path: unknown;
  twice(n: number): number;
  other: { main(): unknown };
  fail(): void;
  place: string[];
  importModule(address: string): Promise<{ default: unknown }>;
};

/** The exports of `main.cjs`, whose types the loader does not know. */
const mainOf = (loaded: Record<string, unknown>): Main => loaded as Main;

/** A store that records the files whose code was found, and those whose code was stored. */
const recorded = (store: CodeStore) => {
  const [found, written]: [string[], string[]] = [[], []];
  const nameOf = ({ path }: Source): string => path.split('/').at(-1) ?? '';
  return {
    found,
    written,
    read(source: Source) {
      const code = store.read(source);
      if (code) found.push(nameOf(source));
      return code;
    },
    write(source: Source, code: Buffer) {
      store.write(source, code);
      written.push(nameOf(source));
    },
  };
};

/** Loads the files, and waits until their code is stored. */
const loadAndStore = async (folder: string, store: ReturnType<typeof recorded>, expected: number) => {
  const { load, keepIn } = createLoader(folder);
  keepIn(store, 0);
  const main = mainOf(load('main.cjs'));
  t.equal(main.twice(21), 42);
  while (store.written.length < expected) await new Promise((resolve) => setTimeout(resolve, 1));
  return main;
};

const folderOf = (t: Test) => {
  const folder = t.testdir(FILES);
  return { folder, kept: createCodeStore(join(folder, 'code')) };
};

t.test('hides a simulated browser from packages while they are evaluated', (t) => {
  const document = {};
  const there = (): unknown => Reflect.get(globalThis, 'document');
  Reflect.set(globalThis, 'document', document);
  t.teardown(() => Reflect.deleteProperty(globalThis, 'document'));
  t.equal(createLoader(t.testdir(FILES)).load('browser.cjs').kind, 'undefined undefined');
  t.equal(there(), document);
  t.end();
});

t.test('evaluates each file once, as CommonJS', async (t) => {
  const { folder } = folderOf(t);
  const { load } = createLoader(folder);
  const loaded = load('main.cjs');
  const main = mainOf(loaded);
  t.equal(main.twice(2), 4);
  t.equal(load('main.cjs'), loaded);
  t.equal(main.other.main(), loaded);
  t.equal(main.path, path);
  t.equal((await main.importModule('node:path')).default, main.path);
  t.strictSame(main.place, [folder, join(folder, 'main.cjs')]);
});

t.test('names the file in stack traces', async (t) => {
  const { folder } = folderOf(t);
  const { fail } = mainOf(createLoader(folder).load('main.cjs'));
  const at = `${pathToFileURL(join(folder, 'main.cjs')).href}:6:`;
  try {
    fail();
    t.fail('no error');
  } catch (error) {
    t.ok(error instanceof Error && error.stack?.includes(at), at);
  }
});

t.test('stores the compiled code of a file once, and loads it', async (t) => {
  const { folder, kept } = folderOf(t);
  const first = recorded(kept);
  await loadAndStore(folder, first, 2);
  t.strictSame(first.found, []);
  t.strictSame(first.written.sort(), ['main.cjs', 'other.cjs']);
  const second = recorded(kept);
  await loadAndStore(folder, second, 0);
  t.strictSame(second.found.sort(), ['main.cjs', 'other.cjs']);
  await new Promise((resolve) => setTimeout(resolve, 20));
  t.strictSame(second.written, [], 'valid code is not stored again');
});

t.test('replaces code that V8 rejects', async (t) => {
  const { folder, kept } = folderOf(t);
  const garbage = Buffer.from('no code of V8');
  const sources = ['main.cjs', 'lib/other.cjs'].map((name) => {
    const path = join(folder, name);
    const { size, mtimeMs } = statSync(path);
    return { path, bytes: size, mtimeMs };
  });
  for (const source of sources) kept.write(source, garbage);
  const next = recorded(kept);
  await loadAndStore(folder, next, 2);
  t.strictSame(next.found.sort(), ['main.cjs', 'other.cjs']);
  for (const source of sources) t.notSame(kept.read(source), garbage);
});

t.test('works without a folder for the code', async (t) => {
  const { folder } = folderOf(t);
  const none = recorded(createCodeStore(join(folder, 'main.cjs')));
  t.equal((await loadAndStore(folder, none, 2)).twice(1), 2);
});
