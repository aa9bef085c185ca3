import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Script } from 'node:vm';
import { importModule } from './import-module.ts';
import { type CodeStore, codeFolder, createCodeStore, type Source } from './store.ts';

/**
 * Loads the bundled programs, CommonJS in ASCII without `import()`, with the code that V8 compiled in an earlier process.
 *
 * Guarantees: a file is evaluated once per process; without stored code, everything works, but a start takes longer.
 * The compile cache of Node has only functions that are compiled when a file is loaded, and Node 20 has none; this code
 * includes each function that a start has called.
 */

/** Time after which code is stored: a start has called its functions by then. */
const STORE_AFTER_MS = 5_000;

/** The name by which loaded code requires what this module provides. */
const OWN_NAME = 'troupe:loader';

type Exports = Record<string, unknown>;

type Loaded = { source: Source; script: Script };

export type Loader = {
  /** Returns the exports of a file, by its path relative to the folder. */
  load(name: string): Exports;
  /** Takes compiled code from this store from now on, and stores the code that it lacks later. Only the first call counts. */
  keepIn(store: CodeStore, storeAfterMs?: number): void;
};

export function createLoader(folder: string): Loader {
  const modules = new Map<string, { exports: Exports }>();
  const unstored: Loaded[] = [];
  let store: CodeStore | undefined;

  const load = (path: string): Exports => {
    const known = modules.get(path);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(path, module);
    const { script, source } = compile(path, store);
    if (script.cachedDataRejected !== false) unstored.push({ script, source });
    script.runInThisContext()(module.exports, requireFrom(path, load), module, path, dirname(path));
    return module.exports;
  };

  return {
    load: (name) => load(join(folder, name)),
    keepIn(given, storeAfterMs = STORE_AFTER_MS) {
      if (store) return;
      store = given;
      setTimeout(() => storeAll(unstored, given), storeAfterMs).unref();
    },
  };
}

/** The programs are next to this file. */
const programs = createLoader(dirname(fileURLToPath(import.meta.url)));

export const { load } = programs;

/** Keeps compiled code in the folder of this user. Without this call, the process writes no files. */
export function storeCode(): void {
  const folder = codeFolder(process.env);
  if (folder !== undefined) programs.keepIn(createCodeStore(folder));
}

// An embedding program asks for it as for the compile cache of Node.
if (process.env.NODE_COMPILE_CACHE) storeCode();

function compile(path: string, store: CodeStore | undefined): Loaded {
  const { text, source } = read(path);
  const script = new Script(`(function (exports, require, module, __filename, __dirname) { ${text}\n})`, {
    filename: pathToFileURL(path).href,
    cachedData: store?.read(source),
  });
  return { script, source };
}

function read(path: string): { text: string; source: Source } {
  const descriptor = openSync(path, 'r');
  try {
    const { size, mtimeMs } = fstatSync(descriptor);
    // Bytes that are one character each need no decoding.
    const text = readFileSync(descriptor, 'latin1');
    return { text, source: { path, bytes: size, mtimeMs } };
  } finally {
    closeSync(descriptor);
  }
}

function requireFrom(path: string, load: (path: string) => Exports): NodeJS.Require {
  const native = createRequire(path);
  const find = (name: string): unknown => {
    if (name === OWN_NAME) return { importModule };
    return /^\.\.?\//.test(name) ? load(join(dirname(path), name)) : withoutDocument(() => native(name));
  };
  return Object.assign(find, native);
}

/**
 * Packages that are CommonJS for Node and for browsers take a program with a `document` or `location`, as tests with a
 * simulated browser have, for a browser.
 */
function withoutDocument<Value>(evaluate: () => Value): Value {
  const found = BROWSER.flatMap((name) => {
    const given = Object.getOwnPropertyDescriptor(globalThis, name);
    return given?.configurable ? [[name, given] as const] : [];
  });
  for (const [name] of found) Reflect.deleteProperty(globalThis, name);
  try {
    return evaluate();
  } finally {
    for (const [name, given] of found) Object.defineProperty(globalThis, name, given);
  }
}

const BROWSER = ['document', 'location'] as const;

/** One script at a time, because serializing a large one takes tens of milliseconds. */
function storeAll(scripts: Loaded[], store: CodeStore): void {
  const next = scripts.shift();
  if (!next) return;
  store.write(next.source, next.script.createCachedData());
  setImmediate(() => storeAll(scripts, store));
}
