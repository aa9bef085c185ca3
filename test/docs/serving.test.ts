import { cpSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { buildManual } from '../../.build/manual.ts';
import { underPath } from '../../src/http/under-path.ts';
import { ROOT } from '../run/places.ts';
import { startTroupe } from '../service/troupe.ts';

/** The service serves the manual that the build has rendered. */

await buildManual();
const BUILT = join(ROOT, 'dist/docs');
const HTML = { accept: 'text/html,application/xhtml+xml;q=0.9' };

/** The attribute values of a page that are addresses. */
const addressesIn = (html: string): string[] =>
  Array.from(html.matchAll(/ (?:href|src|data-index|data-home)="([^"]+)"/g), ([, address = '']) => address);

/** Reads the body, because an unread one keeps its connection. */
const fetchWhole = async (address: string, init: RequestInit = {}): Promise<Response> => {
  const answer = await fetch(address, { ...init, redirect: 'manual' });
  const body = await answer.arrayBuffer();
  return new Response(body.byteLength === 0 ? null : body, answer);
};

for (const server of ['node', 'uws'] as const) {
  t.test(`serves the manual with the ${server} server`, async (t) => {
    const { url } = await startTroupe(t, {
      settings: { http_server: server, console: { enabled: false } },
      app: { manualFolder: BUILT },
    });
    const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetchWhole(`${url}${path}`, { headers, method });

    t.test('serves pages without a key and with a strict policy', async (t) => {
      for (const [path, title] of [
        ['/docs', 'Troupe'],
        ['/docs?q=1', 'Troupe'],
        ['/docs/concepts', 'Concepts · Troupe'],
        ['/docs/reference/log-events', 'Log events · Troupe'],
      ] as const) {
        const answer = await get(path);
        t.equal(answer.status, 200, path);
        t.match(await answer.text(), `<title>${title}</title>`);
        t.match(Object.fromEntries(answer.headers), {
          'cache-control': 'no-cache',
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy':
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          vary: /accept-encoding/,
        });
      }
    });

    t.test('returns no body for HEAD', async (t) => {
      const page = await get('/docs', { 'accept-encoding': 'identity' });
      const head = await get('/docs', { 'accept-encoding': 'identity' }, 'HEAD');
      t.equal(head.status, 200);
      t.equal(head.headers.get('etag'), page.headers.get('etag'));
      t.equal(head.headers.get('content-length'), String(Buffer.byteLength(await page.text())));
      t.equal(await head.text(), '');
    });

    t.test('confirms a cached page by its tag', async (t) => {
      for (const encoding of ['identity', 'gzip']) {
        const { headers } = await get('/docs/concepts', { 'accept-encoding': encoding });
        const etag = headers.get('etag') ?? '';
        t.equal(headers.get('content-encoding'), encoding === 'gzip' ? 'gzip' : null);
        t.equal(etag.includes('gzip'), encoding === 'gzip', 'each encoding has a tag');
        for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
          const answer = await get('/docs/concepts', { 'accept-encoding': encoding, 'if-none-match': tag });
          t.equal(answer.status, 304, tag);
          t.equal(answer.headers.get('etag'), etag);
          t.equal(await answer.text(), '');
        }
        const changed = await get('/docs/concepts', {
          'accept-encoding': encoding,
          'if-none-match': '"old"',
        });
        t.equal(changed.status, 200);
      }
    });

    t.test('returns the Markdown of a page, other files, and the list of pages', async (t) => {
      const markdown = await get('/docs/concepts.md');
      t.equal(markdown.headers.get('content-type'), 'text/markdown; charset=utf-8');
      t.match(await markdown.text(), /^# Concepts\n/);
      t.match(await (await get('/docs/index.md')).text(), /^# Troupe\n/);
      const dashboard = await get('/docs/deploy/grafana.json');
      t.equal(dashboard.headers.get('content-type'), 'application/json');
      t.ok(await dashboard.json());
      t.match((await get('/docs/deploy/alerts.yml')).headers.get('content-type'), 'text/plain');
      const picture = await get('/docs/pictures/run.jpg');
      t.equal(picture.headers.get('content-type'), 'image/jpeg');
      t.equal(Buffer.from(await picture.arrayBuffer()).readUInt16BE(), 0xffd8, 'the file is a JPEG');
      const list = await get('/llms.txt');
      t.equal(list.headers.get('content-type'), 'text/plain; charset=utf-8');
      const lines = (await list.text()).split('\n').filter((line) => line.startsWith('- '));
      t.ok(lines.length >= 3);
      for (const line of lines) {
        const [, path = '', summary = ''] = /^- \[[^\]]+\]\(([^)]+)\): (.+)$/.exec(line) ?? [];
        t.equal((await get(`/${path}`)).status, 200, line);
        t.ok(summary.length > 20, line);
      }
    });

    t.test('redirects the address with a slash, since links are relative to the other one', async (t) => {
      const answer = await get('/docs/');
      t.equal(answer.status, 308);
      t.equal(answer.headers.get('location'), '../docs');
    });

    t.test('rejects other paths, methods and files', async (t) => {
      for (const [path, method] of [
        ['/docs/nope', 'GET'],
        ['/docs/index', 'POST'],
        ['/docs/manual.json', 'GET'],
        ['/docs/concepts.html.gz', 'GET'],
        ['/docs/..%2f..%2fpackage.json', 'GET'],
        ['/docs/assets/nope.js', 'GET'],
        ['/docs', 'DELETE'],
        ['/docsx', 'GET'],
      ] as const) {
        const answer = await get(path, {}, method);
        t.equal(answer.status, 404, `${method} ${path}`);
        t.match(await answer.json(), { error: String });
      }
      t.equal(await statusOf(`${url}/docs/../../package.json`), 404);
      const page = await get('/docs/reference/nope', HTML);
      t.equal(page.status, 404);
      t.match(await page.text(), '<a href="../../docs">');
    });
  });
}

/** Sends the path unmodified, unlike `fetch`. */
const statusOf = (address: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address);
    const path = address.slice(address.indexOf('/docs'));
    request({ hostname, port, path }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });

t.test('resolves every address of every page below a base path', async (t) => {
  const { app } = await startTroupe(t, { app: { manualFolder: BUILT, listen: false } });
  const handler = underPath('/agents', app.fetch);
  const get = (address: string) => handler(new Request(address, { headers: { 'accept-encoding': 'gzip' } }));
  const start = 'http://shop.example/agents/docs';
  const seen = new Set([start]);
  const ids = new Map<string, Set<string>>();
  const anchors: string[] = [];
  for (const address of seen) {
    const answer = await get(address);
    t.equal(answer.status, 200, address);
    const isZipped = answer.headers.get('content-encoding') === 'gzip';
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
    const html = (isZipped ? gunzipSync(bytes) : bytes).toString();
    ids.set(address, new Set(Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id = '']) => id)));
    for (const found of addressesIn(html)) {
      const { href, hash, origin } = new URL(found, address);
      if (origin !== 'http://shop.example') continue;
      seen.add(href.replace(hash, ''));
      if (hash !== '') anchors.push(href);
    }
  }
  t.ok(seen.size > 8);
  const broken = anchors.filter((address) => {
    const [page = '', id = ''] = address.split('#');
    return !ids.get(page)?.has(decodeURIComponent(id));
  });
  t.strictSame(broken, []);
  t.match(await (await get('http://shop.example/agents/openapi.json')).json(), {
    externalDocs: { url: 'docs' },
  });
});

t.test('caches assets permanently', async (t) => {
  const { url } = await startTroupe(t, { app: { manualFolder: BUILT } });
  const html = await (await fetchWhole(`${url}/docs`)).text();
  const assets = addressesIn(html).filter((address) => address.startsWith('docs/assets/'));
  t.equal(assets.length, 4);
  for (const asset of assets) {
    const { status, headers } = await fetchWhole(`${url}/${asset}`);
    t.equal(status, 200, asset);
    t.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
  }
});

t.test('detects a rebuilt and a removed manual', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'docs-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(BUILT, folder, { recursive: true });
  const { url } = await startTroupe(t, { app: { manualFolder: folder } });
  const get = () => fetchWhole(`${url}/docs`, { headers: { ...HTML, 'accept-encoding': 'identity' } });
  t.match(await (await get()).text(), '<h1');
  writeFileSync(join(folder, 'index.html'), 'rebuilt');
  utimesSync(join(folder, 'manual.json'), 1, 1);
  t.equal(await (await get()).text(), 'rebuilt');
  rmSync(folder, { recursive: true });
  const answer = await get();
  t.equal(answer.status, 503);
  t.match(await answer.text(), 'npm run build:console');
  t.equal(
    (await fetchWhole(`${url}/docs`)).status,
    404,
    'clients other than browsers receive the error of an unknown path',
  );
});
