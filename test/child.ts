import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildSync } from 'esbuild';
import { asShipped } from '../bench/as-shipped.ts';
import { placesOfWorker, ROOT } from './run/places.ts';

/**
 * Node processes that tests start.
 *
 * The test runner puts its loaders into the NODE_OPTIONS of every child, regardless of the child's environment, and
 * they double the startup time. So a child is started by `env`, which removes them. A TypeScript program is bundled
 * first: a program that compiles itself takes seconds to start.
 */

type Command = [command: string, args: string[]];

/** A command whose node processes have exactly these NODE_OPTIONS. */
export const unhooked = (command: string, args: readonly string[], options?: string): Command => {
  const environment = options === undefined ? ['-u', 'NODE_OPTIONS'] : [`NODE_OPTIONS=${options}`];
  return ['env', [...environment, command, ...args]];
};

/**
 * Most code of a test runs only a few times. Baseline compilation at the first call and a late first garbage collection
 * in one thread save CPU time. The shipped service has none of these flags. Each of them must exist in every supported
 * Node version, because Node exits at an unknown flag.
 */
export const SHORT_LIVED = [
  '--always-sparkplug',
  '--single-threaded-gc',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
];

/** The command that starts a short-lived node process with these arguments. */
export const nodeCommand = (args: readonly string[], options?: string): Command =>
  unhooked(process.execPath, [...SHORT_LIVED, ...args], options);

/** Inside the project, so that a bundle resolves packages as its sources do. */
const FOLDER = fileURLToPath(new URL('../.tap/children', import.meta.url));

const bundles = new Map<string, string>();

/**
 * The program as JavaScript: from the bundle of the tests if that contains it, otherwise built once per process. In
 * both cases it knows the location of its source.
 */
export const bundled = (source: string): string => {
  const shared = placesOfWorker(process.argv[1] ?? '').bundleOf(relative(ROOT, source));
  if (existsSync(shared)) return shared;
  const made = bundles.get(source);
  if (made !== undefined) return made;
  mkdirSync(FOLDER, { recursive: true });
  const outfile = join(FOLDER, `${basename(source, '.ts')}-${process.pid}-${bundles.size}.mjs`);
  buildSync({
    entryPoints: [source],
    outfile,
    ...asShipped(),
    define: { 'import.meta': JSON.stringify({ url: pathToFileURL(source).href }) },
  });
  bundles.set(source, outfile);
  process.once('exit', () => rmSync(outfile, { force: true }));
  return outfile;
};
