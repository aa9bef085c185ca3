import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The service as it is published: compiled, because a process that compiles itself takes seconds to start. `npm test`
 * builds it first; a single test file uses the last build. TROUPE_TEST_PROGRAM is the directory of another build.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const BUILD = process.env.TROUPE_TEST_PROGRAM ?? join(ROOT, 'dist');

const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;

const newestIn = (folder: string): number =>
  Math.max(
    ...readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => changedAt(join(ROOT, folder, name))),
  );

const changed = Math.max(newestIn('src'), newestIn('machines'));

/** @param source for example `src/main.ts` */
const builtFrom = (source: string): string => {
  const file = join(BUILD, source.replace(/\.ts$/, '.js'));
  if (changedAt(file) < changed) {
    throw new Error(`${file} is older than the sources: npm run build`);
  }
  return file;
};

export const MAIN = builtFrom('src/main.ts');

export const INDEX = builtFrom('src/index.ts');
