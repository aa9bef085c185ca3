import { existsSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type BuiltFiles, createBuiltFiles } from '../http/built-files.ts';
import { etagOf, isCached } from '../http/etag.ts';
import { fileReply, type Reply, reply } from '../http/reply.ts';
import { plainText } from '../http/route.ts';
import type { Unrouted } from '../http/unrouted.ts';

/**
 * Serves the manual: the index at `/docs`, a page at `/docs/<page>`, its Markdown at `/docs/<page>.md`, and the list of
 * pages at `/llms.txt`. The build has rendered all of them. They are public and contain no data of the service.
 *
 * Guarantees: only files that the build has listed are read. All links in pages are relative, so that the manual works
 * below any base path.
 * Cost: the memory of the requested files. A rebuild under a running service takes effect with the next page request.
 */
export const createManual = (folder: string): Unrouted => {
  let built: Built | undefined;
  const current = (): Built | undefined => {
    const at = statSync(join(folder, RECORD), { throwIfNoEntry: false })?.mtimeMs;
    if (at === undefined) built = undefined;
    else if (built?.at !== at) built = readBuilt(folder, at);
    return built;
  };
  return {
    label: 'manual',
    answer({ method, path, header }) {
      if ((method !== 'GET' && method !== 'HEAD') || !isOfManual(path)) return undefined;
      // Links of the index are relative to the address without a slash.
      if (path === `${BASE}/`) return reply(308, undefined, { location: `..${BASE}` });
      if (path.startsWith(ASSETS)) {
        const name = path.slice(ASSETS.length);
        return (built ?? current())?.assets.get(name, takesGzip(header), NOSNIFF);
      }
      return answerPage(current(), path, header);
    },
  };
};

const answerPage = (manual: Built | undefined, path: string, header: Header): Reply | undefined => {
  const file = manual && fileAt(path, manual);
  if (file) return answerOf(file, takesGzip(header), header('if-none-match'));
  if (!takesHtml(header)) return undefined;
  return manual ? unknownPage(path) : NOT_BUILT;
};

const isOfManual = (path: string): boolean => path === LIST || path === BASE || path.startsWith(`${BASE}/`);

/** A page is listed with its extension, and requested without it. */
const fileAt = (path: string, { names, read }: Built): File | undefined => {
  const name = path === LIST ? LIST.slice(1) : path.slice(BASE.length + 1) || 'index';
  const found = [name, `${name}.html`].find((each) => names.has(each));
  return found === undefined ? undefined : read(found);
};

const RECORD = 'manual.json';
const BASE = '/docs';
const LIST = '/llms.txt';
const ASSETS = `${BASE}/assets/`;

type File = { type: string; plain: Uint8Array; gzip: Uint8Array | undefined; etag: string };

type Built = { at: number; assets: BuiltFiles; names: ReadonlySet<string>; read(name: string): File };

/** The part of the record of the build that the service needs. */
type Listing = { pages: string[]; files: string[] };

const readBuilt = (folder: string, at: number): Built => {
  const { pages, files }: Listing = JSON.parse(readFileSync(join(folder, RECORD), 'utf8'));
  const held = new Map<string, File>();
  return {
    at,
    assets: createBuiltFiles(join(folder, 'assets')),
    names: new Set([...pages.map((page) => `${page}.html`), ...files]),
    read(name) {
      const file = held.get(name) ?? readFile(folder, name);
      held.set(name, file);
      return file;
    },
  };
};

const readFile = (folder: string, name: string): File => {
  const path = join(folder, name);
  const plain = readFileSync(path);
  const gzip = existsSync(`${path}.gz`) ? readFileSync(`${path}.gz`) : undefined;
  return { type: TYPES[extname(name)] ?? TEXT, plain, gzip, etag: etagOf(plain) };
};

type Header = (name: string) => string | undefined;

const takesGzip = (header: Header): boolean => /\bgzip\b/.test(header('accept-encoding') ?? '');

const takesHtml = (header: Header): boolean => header('accept')?.includes('text/html') === true;

const TEXT = 'text/plain; charset=utf-8';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
};

const NOSNIFF = { 'x-content-type-options': 'nosniff' };

const HEADERS = {
  ...NOSNIFF,
  'cache-control': 'no-cache',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  vary: 'accept-encoding',
};

const answerOf = (file: File, takesGzip: boolean, ifNoneMatch: string | undefined): Reply => {
  const gzip = takesGzip ? file.gzip : undefined;
  const etag = gzip ? file.etag.replace(/"$/, '-gzip"') : file.etag;
  const headers = { ...HEADERS, etag };
  if (isCached(ifNoneMatch, etag)) return reply(304, undefined, headers);
  return gzip
    ? fileReply(gzip, file.type, { ...headers, 'content-encoding': 'gzip' })
    : fileReply(file.plain, file.type, headers);
};

const page = (status: number, title: string, content: string): Reply => ({
  ...plainText(
    `<!doctype html>\n<html lang="en">\n<title>${title}</title>\n<h1>${title}</h1>\n${content}\n</html>\n`,
    'text/html; charset=utf-8',
    status,
  ),
  headers: HEADERS,
});

/** The path is not part of the page, so that a link cannot write into it. */
const unknownPage = (path: string): Reply => {
  const up = '../'.repeat(path.split('/').length - 2);
  return page(
    404,
    'No such page',
    `<p>The manual has no page at this address. <a href="${up}docs">The index</a> lists all pages.</p>`,
  );
};

const NOT_BUILT = page(
  503,
  'The manual is not built',
  '<p>In a checkout, build the manual and load this page again:</p>\n<pre>npm run build:console</pre>',
);
