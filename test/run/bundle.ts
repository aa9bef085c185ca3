import { readFile, rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { onlyUsedParts } from '../../.build/only-used-parts.ts';
import { asShipped } from '../../bench/as-shipped.ts';
import { inProject, type Places, ROOT } from './places.ts';

/** Texts that replace source files, by path in the project. */
export type Replaced = Record<string, string>;

/** Bundled modules keep the URL of their source, by which they find their files. */
const sources = (replaced: Replaced): Plugin => ({
  name: 'sources',
  setup(build) {
    build.onLoad({ filter: /\/(src|test|machines|bench|\.build)\/.*\.tsx?$/ }, async ({ path }) => {
      const standIn = replaced[relative(ROOT, path)];
      const text = standIn ?? (await readFile(path, 'utf8'));
      if (standIn === undefined && !text.includes('import.meta.url')) return undefined;
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: text.replaceAll('import.meta.url', url), loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
});

/** The `t` imported by a test file is the test of that file, not of its process. */
const testOfFile: Plugin = {
  name: 'test-of-file',
  setup(build) {
    build.onResolve({ filter: /^tap$/ }, ({ importer }) =>
      importer.endsWith('.test.ts') ? { path: inProject('test/run/file.ts') } : undefined,
    );
  },
};

/** The program and the package, which tests start as processes. */
export const PROGRAM = ['src/main.ts', 'src/index.ts'];

/** Builds the shipped programs from the sources, with the given replacements. */
export const buildProgram = async (outdir: string, replaced: Replaced): Promise<void> => {
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAM,
    outbase: ROOT,
    outdir,
    ...asShipped(),
    splitting: true,
    sourcemap: true,
    plugins: [onlyUsedParts, sources(replaced)],
  });
};

/**
 * Compiles tests, the programs that they start and all reachable sources once; the files of a process share the loaded
 * modules.
 *
 * @returns the import graph, by paths in the project
 */
export const bundle = async (
  files: readonly string[],
  places: Places,
  replaced: Replaced = {},
): Promise<Metafile> => {
  await rm(places.bundle, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [...files, 'test/run/worker.ts', 'test/run/no-async-hooks.ts'],
    outbase: ROOT,
    outdir: places.bundle,
    ...asShipped(),
    splitting: true,
    jsx: 'automatic',
    sourcemap: true,
    sourcesContent: false,
    metafile: true,
    plugins: [onlyUsedParts, sources(replaced), testOfFile],
  });
  return metafile;
};
