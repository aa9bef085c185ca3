import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { InlineConfig, Plugin, Rolldown } from 'vite';
import { buildManual } from './manual.ts';
import { hashOfSources, packageOf, ROOT } from './sources.ts';
import { statecharts } from './statecharts.ts';

/**
 * Builds the browser console into `dist/console` and the manual into `dist/docs`, unless their current builds are of the
 * same sources. With `--serve`, serves the sources of the console with live reload at http://127.0.0.1:3002.
 */

const OUT = join(ROOT, 'dist/console');

/** Record of the last build; not part of the package. */
export const RECORD = join(ROOT, 'dist/console.json');

export type ConsoleRecord = {
  /** A hash of all inputs of the build except packages, which the lock file covers. */
  sources: string;
  /** Folders of the bundled packages, relative to the root of the project. */
  packages: string[];
};

const SOURCES = [
  'src/console',
  'src/client',
  'src/react',
  'src/schema',
  'src/diagrams',
  'machines',
  '.build/console.ts',
  '.build/sources.ts',
  '.build/statecharts.ts',
  'package-lock.json',
];

const isBuiltOf = (sources: string): boolean => {
  if (!existsSync(RECORD) || !existsSync(join(OUT, 'index.html'))) return false;
  const record: ConsoleRecord = JSON.parse(readFileSync(RECORD, 'utf8'));
  return record.sources === sources;
};

/** Minimum size in bytes of assets to compress; smaller files do not benefit. */
const WORTH_GZIP = 1024;

type Output = Rolldown.OutputChunk | Rolldown.OutputAsset;

const packagesOf = (output: Output): string[] =>
  (output.type === 'chunk' ? output.moduleIds : output.originalFileNames).flatMap(
    (id) => packageOf(relative(ROOT, id.replace(/^\0/, ''))) ?? [],
  );

/** Writes a compressed copy of each asset, and records the inputs of the build. */
const finish = (sources: string): Plugin => ({
  name: 'finish',
  writeBundle(_, bundle) {
    const packages = new Set<string>();
    for (const output of Object.values(bundle)) {
      const content = output.type === 'chunk' ? output.code : output.source;
      if (content.length > WORTH_GZIP && output.fileName.startsWith('assets/')) {
        writeFileSync(join(OUT, `${output.fileName}.gz`), gzipSync(content, { level: 9 }));
      }
      for (const folder of packagesOf(output)) packages.add(folder);
    }
    const record: ConsoleRecord = { sources, packages: [...packages].sort() };
    writeFileSync(RECORD, `${JSON.stringify(record)}\n`);
  },
});

/** The service configures its console with this file; the development server needs no configuration. */
const emptyConfiguration: Plugin = {
  name: 'empty-configuration',
  configureServer(server) {
    server.middlewares.use('/console-config.json', (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  },
};

/**
 * Joins small modules into few files, so that a first visit needs about half of the requests: all that the entry
 * imports, and what most screens and most lists share.
 */
const CHUNKS: Rolldown.CodeSplittingGroup[] = [
  { name: 'start', tags: ['$initial'], priority: 2 },
  {
    name: 'frame',
    test: /src\/console\/((design|data|i18n|navigation|feedback)\/|list\/(use-query-state|list-state|match|use-typed))/,
    minShareCount: 4,
    priority: 1,
  },
  { name: 'list', test: /src\/console\/list\//, minShareCount: 4, priority: 1 },
];

const configuration: InlineConfig = {
  root: join(ROOT, 'src/console'),
  configFile: false,
  logLevel: 'warn',
  // Small assets stay separate files: the page loads no inlined resources.
  build: {
    outDir: OUT,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // In kilobytes before compression: the file with everything that the first screen needs.
    chunkSizeWarningLimit: 720,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: { codeSplitting: { groups: CHUNKS } },
      // Directives in packages mark browser files for React servers; here all files are for browsers.
      onwarn: (warning, log) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') log(warning);
      },
    },
  },
};

/** @returns false if the build was up to date */
export const buildConsole = async (): Promise<boolean> => {
  const sources = hashOfSources(SOURCES);
  if (isBuiltOf(sources)) return false;
  // Imported lazily: an up-to-date build does not need the bundler.
  const { build } = await import('vite');
  // Vite sets this variable for its build and does not restore it.
  const { NODE_ENV } = process.env;
  await build({ ...configuration, plugins: [statecharts(), finish(sources)] });
  if (NODE_ENV === undefined) delete process.env.NODE_ENV;
  else process.env.NODE_ENV = NODE_ENV;
  return true;
};

const serve = async (): Promise<void> => {
  const { createServer } = await import('vite');
  const server = await createServer({
    ...configuration,
    logLevel: 'info',
    cacheDir: join(ROOT, 'node_modules/.vite-console'),
    plugins: [statecharts(), emptyConfiguration],
    server: { host: '127.0.0.1', port: 3002, strictPort: true },
  });
  await server.listen();
  server.printUrls();
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--serve')) await serve();
  else await Promise.all([buildManual(), buildConsole()]);
}
