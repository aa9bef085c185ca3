import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { startTroupe } from '../service/troupe.ts';

/** The service serves the console to browsers that navigate to a page, and to no other client. */

const SCRIPT = "document.documentElement.dataset.theme = 'dark'";
const PAGE = `<!doctype html><script>${SCRIPT}</script><script type="module" src="/assets/a-1.js"></script>`;
const CODE = `console.log(${JSON.stringify('x'.repeat(2000))})`;

const dist = t.testdir({
  'LICENSES.txt': 'notices',
  console: {
    'index.html': PAGE,
    'secret.txt': 'not of the console',
    assets: { 'a-1.js': CODE, 'a-1.js.gz': gzipSync(CODE), 'b-2.css': 'b{}' },
  },
});
const folder = join(dist, 'console');

const HTML = { accept: 'text/html,application/xhtml+xml;q=0.9' };

t.test('serves the console', async (t) => {
  const { url, app } = await startTroupe(t, {
    settings: { console: { backend_url: 'https://troupe.example.com/base', title: 'Staging' } },
    app: { consoleFolder: folder },
  });
  const get = (path: string, headers: Record<string, string> = HTML, method = 'GET') =>
    fetch(`${url}${path}`, { headers, method });

  t.test('returns the third-party notices of the package', async (t) => {
    const answer = await get('/licenses.txt');
    t.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
    t.equal(await answer.text(), 'notices');
  });

  t.test('serves the page with security headers for each path without a route', async (t) => {
    const hash = createHash('sha256').update(SCRIPT).digest('base64');
    for (const path of ['/', '/agents', '/agents/gpt-4.1', '/agents/a%2Fb?tab=tools', '/healthy']) {
      const answer = await get(path);
      t.equal(answer.status, 200, path);
      t.equal(await answer.text(), PAGE);
      t.match(Object.fromEntries(answer.headers), {
        'cache-control': 'no-cache',
        'content-type': 'text/html; charset=utf-8',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        vary: /accept/,
      });
      t.equal(
        answer.headers.get('content-security-policy'),
        `default-src 'self'; script-src 'self' 'sha256-${hash}'; connect-src 'self' https://troupe.example.com; ` +
          "img-src 'self' https://troupe.example.com data: blob:; media-src 'self' https://troupe.example.com data: blob:; frame-src 'none'; base-uri 'none'; form-action 'none'",
      );
    }
    const head = await get('/agents', HTML, 'HEAD');
    t.equal(head.status, 200);
    t.equal(head.headers.get('content-length'), String(PAGE.length));
    t.equal(await head.text(), '');
  });

  t.test('returns errors to clients other than browsers that open a page', async (t) => {
    for (const [path, headers, method, status] of [
      ['/v1/nope', HTML, 'GET', 404],
      ['/health/nope', HTML, 'GET', 404],
      ['/metrics/nope', HTML, 'GET', 404],
      ['/.well-known/nope', HTML, 'GET', 404],
      ['/favicon.ico', HTML, 'GET', 404],
      ['/secret.txt', HTML, 'GET', 404],
      ['/agents', { accept: 'application/json' }, 'GET', 404],
      ['/agents', HTML, 'POST', 404],
      ['/v1/system/info', HTML, 'GET', 401],
    ] as const) {
      const answer = await get(path, headers, method);
      t.equal(answer.status, status, `${method} ${path}`);
      t.match(await answer.json(), { error: String });
    }
  });

  t.test('caches assets permanently and compresses them on request', async (t) => {
    const plain = await get('/assets/a-1.js', { 'accept-encoding': 'identity' });
    t.equal(await plain.text(), CODE);
    t.match(Object.fromEntries(plain.headers), {
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
      vary: /accept-encoding/,
    });
    const local = await app.fetch(
      new Request(`${url}/assets/a-1.js`, { headers: { 'accept-encoding': 'br, gzip' } }),
    );
    t.equal(local.headers.get('content-encoding'), 'gzip');
    t.equal(gunzipSync(await local.arrayBuffer()).toString(), CODE);
    t.equal(
      await (await get('/assets/a-1.js')).text(),
      CODE,
      'the browser receives the uncompressed content',
    );
    t.equal((await get('/assets/b-2.css')).headers.get('content-encoding'), null);
    for (const path of ['/assets/nope-3.js', '/assets/..%2fsecret.txt', '/assets/a-1.js.gz', '/assets/'])
      t.equal((await get(path)).status, 404, path);
  });

  t.test('serves the configuration of the console', async (t) => {
    const answer = await get('/console-config.json', {});
    t.strictSame(await answer.json(), { backendUrl: 'https://troupe.example.com/base', title: 'Staging' });
    t.equal(answer.headers.get('cache-control'), 'no-cache');
  });
});

t.test('explains how to build the console if the build is missing', async (t) => {
  const { url } = await startTroupe(t, { app: { consoleFolder: join(folder, 'nothing') } });
  const answer = await fetch(`${url}/agents`, { headers: HTML });
  t.equal(answer.status, 503);
  t.match(await answer.text(), /npm run build:console/);
  t.strictSame(await (await fetch(`${url}/console-config.json`)).json(), {});
});

t.test('can be disabled', async (t) => {
  const { url } = await startTroupe(t, {
    settings: { console: { enabled: false } },
    app: { consoleFolder: folder },
  });
  for (const path of ['/', '/agents', '/console-config.json', '/assets/a-1.js'])
    t.equal((await fetch(`${url}${path}`, { headers: HTML })).status, 404, path);
});

t.test('detects a removed build immediately', async (t) => {
  const own = t.testdir({ console: { 'index.html': PAGE, assets: {} } });
  const { createConsole } = await import('../../src/routes/console.ts');
  const pages = createConsole({ folder: join(own, 'console'), settings: {} });
  const head = {
    method: 'GET',
    path: '/',
    header: (name: string) => (name === 'accept' ? 'text/html' : undefined),
  };
  t.equal(pages.answer(head)?.status, 200);
  rmSync(join(own, 'console'), { recursive: true });
  t.equal(pages.answer(head)?.status, 503);
});
