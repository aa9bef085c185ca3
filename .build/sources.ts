import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Files below a folder, or the file itself, in a stable order. */
export function listFiles(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  if (stats.isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile())
    .sort();
}

/** A hash of the names and contents of these files and folders of the project. */
export function hashOfSources(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => listFiles(join(ROOT, path))).sort()) {
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

/** A module of the project and all modules of the project that it needs, by paths relative to the root. */
export function modulesOf(entry: string): string[] {
  const found = new Set([entry]);
  for (const module of found) {
    const source = readFileSync(join(ROOT, module), 'utf8');
    for (const [, path = ''] of source.matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      found.add(posix.join(posix.dirname(module), path));
    }
  }
  return [...found];
}

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** The folder of the package that a file relative to the project belongs to. */
export const packageOf = (file: string): string | undefined => PACKAGE.exec(file)?.[0];
