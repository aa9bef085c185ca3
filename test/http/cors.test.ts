import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { createEventStream } from '../../src/http/sse.ts';
import { ORIGIN, serve } from './serve.ts';

const base = { summary: 'test', responses: { 200: z.json() } } as const;

const routes = [
  route.get('/open', {
    id: 'getOpen',
    ...base,
    needs: 'nothing',
    handle: ({ requestId }) => ({ requestId: requestId ?? null }),
  }),
  route.post('/admin', { id: 'postAdmin', ...base, needs: 'observe', handle: () => 1 }),
  route.get('/bug', {
    id: 'getBug',
    ...base,
    needs: 'nothing',
    handle: async () => {
      throw new Error('broken');
    },
  }),
  route.get('/stream', {
    id: 'getStream',
    ...base,
    needs: 'nothing',
    handle() {
      const stream = createEventStream();
      stream.write('data: 1\n\n');
      stream.end();
      return stream;
    },
  }),
];

const EXPOSED =
  'x-trace-total-events, x-trace-next-offset, x-request-id, idempotency-replayed, mcp-session-id, retry-after, openai-processing-ms, x-should-retry, x-troupe-run-id, x-troupe-thread-id';

const corsHeaders = (headers: Headers) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));

t.test('echoes an allowed origin on every response, with the exposed headers', async (t) => {
  const { url } = await serve(t, routes);
  const table: [string, string, number][] = [
    ['GET', '/open', 200],
    ['GET', '/stream', 200],
    ['POST', '/admin', 401],
    ['GET', '/unknown', 404],
    ['DELETE', '/open', 405],
    ['GET', '/bug', 500],
  ];
  for (const [method, path, status] of table) {
    const response = await fetch(url + path, { method, headers: { origin: ORIGIN } });
    await response.text();
    t.equal(response.status, status, path);
    t.equal(response.headers.get('vary'), 'origin', path);
    t.strictSame(
      corsHeaders(response.headers),
      { 'access-control-allow-origin': ORIGIN, 'access-control-expose-headers': EXPOSED },
      path,
    );
  }
});

t.test('sends no CORS headers to other origins', async (t) => {
  const { url } = await serve(t, routes);
  for (const origin of ['http://evil.test', `${ORIGIN}.evil`, 'null', undefined]) {
    const response = await fetch(`${url}/open`, origin === undefined ? {} : { headers: { origin } });
    t.equal(response.status, 200);
    t.strictSame(corsHeaders(response.headers), {});
    t.equal(response.headers.get('vary'), 'origin');
  }
});

t.test('allows loopback origins on any port with `loopback` in the list, and no others', async (t) => {
  const { url } = await serve(t, routes, { settings: { cors_allowed_origins: [ORIGIN, 'loopback'] } });
  const admitted = async (origin: string) => {
    const { headers } = await fetch(`${url}/open`, { headers: { origin } });
    return headers.get('access-control-allow-origin') === origin;
  };
  const ours = [
    'http://localhost:5173',
    'https://localhost',
    'http://app.localhost:3000',
    'http://127.0.0.1:1',
  ];
  for (const origin of [...ours, 'http://127.8.9.1:80', 'http://[::1]:5173', ORIGIN]) {
    t.ok(await admitted(origin), origin);
  }
  const foreign = [
    'http://localhost.evil.test',
    'http://evillocalhost',
    'http://127.0.0.1.evil.test',
    'http://128.0.0.1',
    'http://[::2]',
    'http://evil.test:5173',
    'http://localhost:5173/x',
    'ftp://localhost',
    'loopback',
    'null',
  ];
  for (const origin of foreign) t.notOk(await admitted(origin), origin);
});

t.test('answers a preflight on any path without authentication', async (t) => {
  const { url } = await serve(t, routes, { adminToken: undefined });
  const preflight = (path: string, origin: string) =>
    fetch(url + path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });
  for (const path of ['/admin', '/unknown']) {
    const allowed = await preflight(path, ORIGIN);
    t.equal(allowed.status, 204);
    t.match(corsHeaders(allowed.headers), {
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET, POST, PUT, DELETE, PATCH, OPTIONS',
      'access-control-allow-headers':
        'authorization, content-type, x-service-actor, x-request-id, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, a2a-version, a2a-extensions, idempotency-key, x-service-user, x-troupe-thread-id, openai-organization, openai-project, openai-beta, x-stainless-arch, x-stainless-async, x-stainless-custom-poll-interval, x-stainless-helper-method, x-stainless-lang, x-stainless-os, x-stainless-package-version, x-stainless-poll-helper, x-stainless-raw-response, x-stainless-read-timeout, x-stainless-retry-count, x-stainless-runtime, x-stainless-runtime-version, x-stainless-timeout',
    });
    t.strictSame(corsHeaders((await preflight(path, 'http://evil.test')).headers), {});
  }
});

t.test('returns a valid request id from the request, or else a new one', async (t) => {
  const { url } = await serve(t, routes);
  const ask = (path: string, id: string) => fetch(url + path, { headers: { 'x-request-id': id } });
  for (const path of ['/open', '/unknown', '/bug', '/stream']) {
    t.equal((await ask(path, 'req-1')).headers.get('x-request-id'), 'req-1', path);
  }
  t.strictSame(await (await ask('/open', 'req-2')).json(), { requestId: 'req-2' });
  for (const id of ['', 'two words', 'é', 'x'.repeat(129)]) {
    const response = await ask('/open', id);
    const made = response.headers.get('x-request-id');
    t.match(made, /^[\da-f-]{36}$/, id);
    t.strictSame(await response.json(), { requestId: made });
  }
  t.equal((await ask('/open', 'x'.repeat(128))).headers.get('x-request-id'), 'x'.repeat(128));
});
