import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type BuiltFiles, createBuiltFiles } from '../http/built-files.ts';
import { type Reply, reply } from '../http/reply.ts';
import { plainText } from '../http/route.ts';
import type { Unrouted } from '../http/unrouted.ts';

/**
 * Serves the browser console (console.md 2.1): one page for every path without a route, its assets, and its startup
 * settings. All of these are public; the console loads its data from the routes with the token of its user.
 *
 * A rebuild under a running service takes effect with the next page request.
 */
export type ConsoleOptions = {
  /** The build folder of the console, which may not exist. */
  folder: string;
  settings: { backend_url?: string | undefined; title?: string | undefined };
};

export const createConsole = ({ folder, settings }: ConsoleOptions): Unrouted => {
  const { backend_url: backendUrl, title } = settings;
  const configuration = reply(200, { backendUrl, title }, { 'cache-control': 'no-cache', ...nosniff });
  let built: Built | undefined;
  const current = (): Built | undefined => {
    const at = statSync(join(folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (at === undefined) built = undefined;
    else if (built?.at !== at) built = readBuilt(folder, at, backendUrl);
    return built;
  };
  return {
    label: 'console',
    answer({ method, path, header }) {
      if (method !== 'GET' && method !== 'HEAD') return undefined;
      if (path === '/console-config.json') return configuration;
      if (path === '/licenses.txt') return readNotices(folder);
      if (path.startsWith(ASSETS)) {
        const takesGzip = /\bgzip\b/.test(header('accept-encoding') ?? '');
        return (built ?? current())?.files.get(path.slice(ASSETS.length), takesGzip, nosniff);
      }
      if (!isPage(path) || !header('accept')?.includes('text/html')) return undefined;
      return current()?.page ?? NOT_BUILT;
    },
  };
};

/** The third-party notices, which the build of the package puts alongside the console. Undefined in a checkout. */
const readNotices = (folder: string): Reply | undefined => {
  const file = join(folder, '../LICENSES.txt');
  if (!existsSync(file)) return undefined;
  const notices = plainText(readFileSync(file, 'utf8'), 'text/plain; charset=utf-8');
  return { ...notices, headers: { 'cache-control': 'no-cache', ...nosniff } };
};

type Built = { at: number; page: Reply; files: BuiltFiles };

const ASSETS = '/assets/';

/** Ids contain dots too, so only known file extensions identify a file. */
const isPage = (path: string): boolean =>
  !/^\/(v1|health|metrics|\.well-known)(\/|$)/.test(path) &&
  !/\.(css|gif|html?|ico|jpe?g|js|json|map|mjs|php|png|svg|txt|webmanifest|webp|woff2?|xml)$/i.test(path);

const nosniff = { 'x-content-type-options': 'nosniff' };

const readBuilt = (folder: string, at: number, backendUrl: string | undefined): Built => {
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  return {
    at,
    page: page(200, html, policyOf(html, backendUrl)),
    files: createBuiltFiles(join(folder, 'assets')),
  };
};

/** The only inline script of the page runs before the first paint. */
const policyOf = (html: string, backendUrl: string | undefined): string => {
  const inline = Array.from(html.matchAll(/<script>([\s\S]*?)<\/script>/g), ([, script = '']) => script);
  const hashes = inline.map((script) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  const backend = backendUrl === undefined ? '' : ` ${new URL(backendUrl).origin}`;
  return [
    "default-src 'self'",
    `script-src 'self'${hashes.join('')}`,
    `connect-src 'self'${backend}`,
    `img-src 'self'${backend} data: blob:`,
    `media-src 'self'${backend} data: blob:`,
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
};

const page = (status: number, html: string, policy: string): Reply => ({
  ...plainText(html, 'text/html; charset=utf-8', status),
  headers: {
    'cache-control': 'no-cache',
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    vary: 'accept',
    ...nosniff,
  },
});

const NOT_BUILT = page(
  503,
  `<!doctype html>
<html lang="en">
<title>Troupe</title>
<h1>The console is not built</h1>
<p>The service runs; what is missing are the files of its console. In a checkout, build them and load this page again:</p>
<pre>npm run build:console</pre>
<p>The interface of the service is described at <a href="/openapi.json">/openapi.json</a>.</p>
</html>
`,
  "default-src 'none'",
);
