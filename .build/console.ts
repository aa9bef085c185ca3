import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { InlineConfig, Plugin } from 'vite';
import { statecharts } from './statecharts.ts';

/**
 * Builds the browser console into `dist/console`, unless what is there was made of the same sources. With `--serve` it
 * serves the sources themselves, as they are changed, at http://127.0.0.1:3002.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUT = join(ROOT, 'dist/console');

/** What the last build was made of: no part of the package. */
export const RECORD = join(ROOT, 'dist/console.json');

export type ConsoleRecord = {
  /** A hash of everything that the build reads, apart from packages, of which the lock file tells. */
  sources: string;
  /** Folders of the packages that are inside, from the root of the project. */
  packages: string[];
};

const SOURCES = [
  'src/console',
  'src/client',
  'src/react',
  'src/schema',
  'src/statecharts',
  'machines',
  '.build/console.ts',
  '.build/statecharts.ts',
  'package-lock.json',
];

const filesOf = (path: string): string[] => {
  if (!existsSync(path)) return [];
  const entries =
    path.includes('.') && /\.\w+$/.test(path) ? undefined : readdirSync(path, { recursive: true });
  return entries
    ? entries.map((name) => join(path, String(name))).filter((name) => /\.\w+$/.test(name))
    : [path];
};

const sourcesNow = (): string => {
  const hash = createHash('sha256');
  for (const file of SOURCES.flatMap((path) => filesOf(join(ROOT, path))).sort()) {
    hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
};

const isBuiltOf = (sources: string): boolean => {
  if (!existsSync(RECORD) || !existsSync(join(OUT, 'index.html'))) return false;
  const record: ConsoleRecord = JSON.parse(readFileSync(RECORD, 'utf8'));
  return record.sources === sources;
};

/** Of what may be sent as it is: smaller files do not gain. */
const WORTH_GZIP = 1024;

const PACKAGE = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Puts a compressed form beside each asset, and records what the build was made of. */
const finish = (sources: string): Plugin => ({
  name: 'finish',
  writeBundle(_, bundle) {
    const packages = new Set<string>();
    for (const output of Object.values(bundle)) {
      const content = output.type === 'chunk' ? output.code : output.source;
      if (content.length > WORTH_GZIP && output.fileName.startsWith('assets/')) {
        writeFileSync(join(OUT, `${output.fileName}.gz`), gzipSync(content, { level: 9 }));
      }
      const modules = output.type === 'chunk' ? output.moduleIds : output.originalFileNames;
      for (const id of modules) {
        const [folder] = PACKAGE.exec(relative(ROOT, id.replace(/^\0/, ''))) ?? [];
        if (folder) packages.add(folder);
      }
    }
    const record: ConsoleRecord = { sources, packages: [...packages].sort() };
    writeFileSync(RECORD, `${JSON.stringify(record)}\n`);
  },
});

/** The service tells its console where it is; here nobody else does, and nothing has to be told. */
const emptyConfiguration: Plugin = {
  name: 'empty-configuration',
  configureServer(server) {
    server.middlewares.use('/console-config.json', (_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  },
};

const configuration: InlineConfig = {
  root: join(ROOT, 'src/console'),
  configFile: false,
  logLevel: 'warn',
  // What is small stays a file too: the page loads nothing that is inside of something else.
  build: {
    outDir: OUT,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Packages tell servers of React which files are for browsers; here all are.
      onwarn: (warning, tell) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') tell(warning);
      },
    },
  },
};

/** @returns whether there was anything to do */
export const buildConsole = async (): Promise<boolean> => {
  const sources = sourcesNow();
  if (isBuiltOf(sources)) return false;
  // Not before: whoever has a build does not need the bundler.
  const { build } = await import('vite');
  // Which a build sets for what it builds, and leaves set for whoever asked for it.
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
  await (process.argv.includes('--serve') ? serve() : buildConsole());
}
