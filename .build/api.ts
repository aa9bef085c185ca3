import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { ApiModule } from './api-modules.ts';
import { hashOfSources, modulesOf, ROOT } from './sources.ts';

/**
 * Reads the docstrings and declarations of all exports of the package for the API reference. TypeDoc reads the
 * declarations that the package contains.
 *
 * Guarantees: a warning of TypeDoc fails the build. Several processes may build at the same time: each of them works in a
 * separate folder and replaces the kept result as a whole.
 * Cost: about ten seconds of CPU, in a separate process so that the console can be built at the same time. The result is
 * kept in `.tap/api` until a source on which it depends changes.
 */

const OUT = join(ROOT, '.tap/api');
const RECORD = join(OUT, 'record.json');

type ApiRecord = {
  hash: string;
  /** Sources of the declarations, relative to the root of the project. */
  sources: string[];
  modules: ApiModule[];
};

/** Sources of every build, in addition to those of the declarations. */
const OWN_SOURCES = [...modulesOf('.build/api.ts'), 'package.json', 'package-lock.json', 'tsconfig.json'];

/** A hash of the sources of the kept result; empty if there is none. */
export function hashOfApi(): string {
  if (!existsSync(RECORD)) return '';
  return hashOfSources([...OWN_SOURCES, ...readRecord().sources]);
}

const readRecord = (): ApiRecord => JSON.parse(readFileSync(RECORD, 'utf8'));

/** Returns the modules of the package with their exports, from the kept result if it is current. */
export async function buildApi(): Promise<ApiModule[]> {
  if (hashOfApi() === '' || readRecord().hash !== hashOfApi()) {
    // Hooks of the caller, such as those of a test runner, must not affect the compiler.
    const env = { ...process.env, NODE_OPTIONS: '' };
    const program = join(ROOT, '.build/api.ts');
    await promisify(execFile)(process.execPath, ['--import', 'tsx', program], { cwd: ROOT, env });
  }
  return readRecord().modules;
}

/** TypeDoc needs the API of the compiler, which TypeScript 7 lacks. */
const COMPILER = `export const resolve = (name, context, next) =>
  next(name === 'typescript' ? 'typescript-5' : name, context);`;

async function generate(): Promise<void> {
  // Imported lazily: a current result needs none of them.
  const { writeParts } = await import('./declarations.ts');
  register(`data:text/javascript,${encodeURIComponent(COMPILER)}`);
  const { readModules } = await import('./api-modules.ts');
  mkdirSync(OUT, { recursive: true });
  const folder = mkdtempSync(`${OUT}-`);
  try {
    const parts = join(folder, 'parts');
    mkdirSync(parts);
    const sources = writeParts(parts);
    const hash = hashOfSources([...OWN_SOURCES, ...sources]);
    const modules = await readModules(parts);
    const written = join(folder, 'record.json');
    writeFileSync(written, JSON.stringify({ hash, sources, modules } satisfies ApiRecord));
    renameSync(written, RECORD);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await generate();
