import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';
import MiniSearch from 'minisearch';
import { OPTIONS, type Passage } from '../src/manual/index-options.ts';
import { buildApi, hashOfApi } from './api.ts';
import { pageOf } from './api-page.ts';
import { ENTRIES } from './entries.ts';
import { type Assets, renderDocument } from './manual-layout.ts';
import { type Page, readOutline, renderPage } from './manual-pages.ts';
import { hashOfSources, listFiles, packageOf, ROOT } from './sources.ts';

/**
 * Builds the manual into `dist/docs`: the Markdown files of `src/docs` and of the API reference, an HTML page of each,
 * the search, and `llms.txt`. `manual.json` lists them for the service.
 */

const SOURCE = join(ROOT, 'src/docs');
const OUT = join(ROOT, 'dist/docs');

export const MANUAL_RECORD = join(OUT, 'manual.json');

export type ManualRecord = {
  /** A hash of all inputs of the build except packages, which the lock file covers. */
  sources: string;
  /** Folders of the bundled packages, relative to the root of the project. */
  packages: string[];
  /** Paths of pages without an extension. */
  pages: string[];
  /** Other files: Markdown, and files that pages link to. */
  files: string[];
};

const SOURCES = [
  'src/docs',
  'src/manual',
  'src/console/design/tokens.css',
  'src/console/mark.svg',
  '.build/api-page.ts',
  '.build/entries.ts',
  '.build/manual.ts',
  '.build/manual-layout.ts',
  '.build/manual-pages.ts',
  'package-lock.json',
];

/** @returns false if the build was up to date */
export async function buildManual(): Promise<boolean> {
  if (isBuiltOf(`${hashOfSources(SOURCES)} ${hashOfApi()}`)) return false;
  const modules = await buildApi();
  const sources = `${hashOfSources(SOURCES)} ${hashOfApi()}`;
  rmSync(OUT, { recursive: true, force: true });
  cpSync(SOURCE, OUT, { recursive: true });
  for (const path of listPaths(SOURCE)) linkToApi(path);
  mkdirSync(join(OUT, 'api'));
  for (const module of modules) writeFileSync(join(OUT, `${module.page}.md`), pageOf(module, modules));
  const files = listFiles(OUT).map((file) => relative(OUT, file));
  const pages = readPages();
  const { assets, packages } = await writeAssets(pages);
  for (const page of pages) write(`${page.path}.html`, renderDocument(page, pages, assets));
  writeFileSync(join(OUT, 'llms.txt'), listOf(pages));
  const record: ManualRecord = {
    sources,
    packages,
    pages: pages.map(({ path }) => path),
    files: [...files, 'llms.txt'],
  };
  // The record comes last, because it marks a complete build.
  writeFileSync(MANUAL_RECORD, `${JSON.stringify(record)}\n`);
  return true;
}

function isBuiltOf(sources: string): boolean {
  if (!existsSync(MANUAL_RECORD)) return false;
  const record: ManualRecord = JSON.parse(readFileSync(MANUAL_RECORD, 'utf8'));
  return record.sources === sources;
}

/** Replaces links to sources of entry points by links to their pages of the API reference. */
function linkToApi(path: string): void {
  const file = join(OUT, `${path}.md`);
  const folder = posix.dirname(path);
  const markdown = readFileSync(file, 'utf8').replace(/\]\((\.\.[^)#\s]+)\)/g, (link, href) => {
    const target = posix.join('src/docs', folder, href);
    const entry = ENTRIES.find(({ source }) => source === target);
    return entry ? `](${posix.relative(folder, entry.page)}.md)` : link;
  });
  writeFileSync(file, markdown);
}

/** The built pages in the order in which the map of the manual, `index.md`, links to them. */
export const readPages = (): Page[] =>
  listPaths(OUT).map((path) => renderPage(path, readFileSync(join(OUT, `${path}.md`), 'utf8')));

/** Paths of pages in the order of the map, without an extension. */
export function listPaths(folder = SOURCE): string[] {
  const paths = listFiles(folder)
    .map((file) => relative(folder, file))
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -'.md'.length));
  const { links } = readOutline(readFileSync(join(folder, 'index.md'), 'utf8'));
  const map = ['index.md', ...links.map((link) => link.replace(/#.*/, ''))];
  const rank = (path: string): number => {
    const at = map.indexOf(`${path}.md`);
    return at < 0 ? map.length : at;
  };
  return paths.sort((one, other) => rank(one) - rank(other));
}

/** Passages of the search: one per heading. */
export const createPassages = (pages: readonly Page[]): Passage[] =>
  pages.flatMap(({ path, title, sections }) =>
    sections.map(({ text, anchor, level, body }) => ({
      id: `${path}#${anchor}`,
      page: path,
      title,
      heading: text,
      anchor: level === 1 ? '' : anchor,
      excerpt: body.length > EXCERPT ? `${body.slice(0, EXCERPT).trimEnd()}…` : body,
      text: body,
    })),
  );

/** Characters of a section that a search result shows. */
const EXCERPT = 140;

async function writeAssets(pages: readonly Page[]): Promise<{ assets: Assets; packages: string[] }> {
  const search = new MiniSearch<Passage>(OPTIONS);
  search.addAll(createPassages(pages));
  const { script, packages } = await bundleScript();
  const assets = {
    style: asset('page', '.css', await styleSheet()),
    script: asset('search', '.js', script),
    index: asset('index', '.json', JSON.stringify(search)),
    icon: asset('mark', '.svg', readFileSync(join(ROOT, 'src/console/mark.svg'), 'utf8')),
  };
  return { assets, packages };
}

async function bundleScript(): Promise<{ script: string; packages: string[] }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(ROOT, 'src/manual/search.ts')],
    absWorkingDir: ROOT,
    bundle: true,
    minify: true,
    target: 'es2022',
    format: 'esm',
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const packages = new Set(Object.keys(metafile.inputs).flatMap((file) => packageOf(file) ?? []));
  return { script: outputFiles[0]?.text ?? '', packages: [...packages].sort() };
}

/** The colors of the console, chosen by the system. */
async function styleSheet(): Promise<string> {
  const tokens = readFileSync(join(ROOT, 'src/console/design/tokens.css'), 'utf8')
    .replace(':root[data-theme="light"]', ':root')
    .replace(/:root\[data-theme="dark"\] (\{[^}]*\})/, '@media (prefers-color-scheme: dark) { :root $1 }');
  const page = readFileSync(join(ROOT, 'src/manual/page.css'), 'utf8');
  const { code } = await transform(tokens + page, { loader: 'css', minify: true });
  return code;
}

/** One line per page, with addresses relative to that of the list (https://llmstxt.org). */
function listOf(pages: readonly Page[]): string {
  const [index, ...others] = pages;
  const lines = others.map(({ path, title, summary }) => `- [${title}](docs/${path}.md): ${summary}`);
  return `# Troupe\n\n> ${index?.summary ?? ''}\n\n## Documentation\n\n${lines.join('\n')}\n`;
}

/** Returns the name of the file, which contains a hash of its content. */
function asset(name: string, extension: string, content: string): string {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8);
  const file = `${name}-${hash}${extension}`;
  write(`assets/${file}`, content);
  return file;
}

/** Writes a file and, if worthwhile, a compressed copy of it. */
function write(file: string, content: string): void {
  const path = join(OUT, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  if (content.length > WORTH_GZIP) writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
}

/** Minimum size in bytes of files to compress; smaller files do not benefit. */
const WORTH_GZIP = 1024;
