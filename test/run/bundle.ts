import { readFile, rm } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { BUNDLE, inProject, ROOT } from './places.ts';

/** A module of the bundle knows the place of its source, by which it finds its files. */
const sourceUrls: Plugin = {
  name: 'source-urls',
  setup(build) {
    build.onLoad({ filter: /\/(src|test|machines|bench)\/.*\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: text.replaceAll('import.meta.url', url), loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

/** The `t` that a test file imports is the test of that file, not of its process. */
const testOfFile: Plugin = {
  name: 'test-of-file',
  setup(build) {
    build.onResolve({ filter: /^tap$/ }, ({ importer }) =>
      importer.endsWith('.test.ts') ? { path: inProject('test/run/file.ts') } : undefined,
    );
  },
};

/** Compiles tests and the sources they reach, once: what a process loads of these it shares among its files. */
export const bundle = async (files: readonly string[]): Promise<void> => {
  await rm(BUNDLE, { recursive: true, force: true });
  await build({
    absWorkingDir: ROOT,
    entryPoints: [...files, 'test/run/group.ts'],
    outbase: ROOT,
    outdir: BUNDLE,
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    jsx: 'automatic',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [sourceUrls, testOfFile],
  });
};
