import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { createEventStream } from '../../src/http/sse.ts';
import { ADMIN_TOKEN, errorOf, serve, wire } from './serve.ts';

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const routes = [
  route.post('/body', {
    id: 'postBody',
    ...base,
    body: z.object({ name: z.string() }),
    handle: ({ body }) => body,
  }),
  route.get('/open', { id: 'getOpen', ...base, handle: () => 'open' }),
  route.get('/scoped', { id: 'getScoped', ...base, needs: 'invoke', handle: () => 'scoped' }),
  route.get('/admin', { id: 'getAdmin', ...base, needs: 'observe', handle: () => 'admin' }),
  route.get('/admin/stream', {
    id: 'getAdminStream',
    ...base,
    needs: 'observe',
    handle() {
      const stream = createEventStream();
      stream.write('data: 1\n\n');
      stream.end();
      return stream;
    },
  }),
  route.get('/bug', {
    id: 'getBug',
    ...base,
    handle() {
      throw new TypeError('secret of the house');
    },
  }),
];

t.test('names the content coding of a rejected body', async (t) => {
  const { url } = await serve(t, routes);
  const send = (coding: string) =>
    fetch(`${url}/body`, {
      method: 'POST',
      body: '{"name":"x"}',
      headers: { 'content-type': 'application/json', 'content-encoding': coding },
    });
  for (const coding of ['gzip', 'br', 'gzip, identity']) {
    const response = await send(coding);
    t.equal(response.status, 415);
    t.equal(response.headers.get('accept-encoding'), 'identity');
    t.equal(await errorOf(response), `content-encoding '${coding}' is not supported: send the body as it is`);
  }
  t.equal((await send('Identity')).status, 200);
});

t.test('closes the connection without a response on two content lengths', async (t) => {
  const { port } = await serve(t, routes);
  const request = (...lengths: number[]): string =>
    [
      'POST /body HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      ...lengths.map((length) => `Content-Length: ${length}`),
      '',
      '{"name":"x"}',
    ].join('\r\n');
  for (const lengths of [
    [12, 40],
    [12, 12],
  ])
    t.equal(await wire(t, port, request(...lengths)).end(), '');
});

t.test('names the required credential on every 401', async (t) => {
  const { url } = await serve(t, routes, {
    resolveScope: () => {
      throw new Error('no tenant');
    },
  });
  for (const path of ['/admin', '/admin/stream', '/scoped']) {
    const response = await fetch(url + path);
    t.equal(response.status, 401);
    t.equal(response.headers.get('www-authenticate'), 'Bearer');
  }
});

t.test('disables caching and sniffing of responses to operators', async (t) => {
  const { url } = await serve(t, routes);
  for (const path of ['/admin', '/admin/stream']) {
    for (const authorization of [`Bearer ${ADMIN_TOKEN}`, 'Bearer wrong']) {
      const { headers } = await fetch(url + path, { headers: { authorization } });
      t.equal(headers.get('cache-control'), 'no-store');
      t.equal(headers.get('x-content-type-options'), 'nosniff');
    }
  }
  t.equal((await fetch(`${url}/open`)).headers.get('cache-control'), null);
});

t.test('reports a bug by its request id only, and logs it under that id', async (t) => {
  const { url, errors } = await serve(t, routes);
  const response = await fetch(`${url}/bug`);
  const id = response.headers.get('x-request-id');
  t.equal(response.status, 500);
  t.equal(await errorOf(response), `internal error (request id ${id})`);
  t.match(errors, [
    { data: { request_id: id, err: { message: 'secret of the house' } }, event: 'http.request_failed' },
  ]);
});

t.test('assigns a unique request id to every response', async (t) => {
  const { url } = await serve(t, routes);
  const ids = await Promise.all(
    ['/open', '/unknown', '/admin', '/admin/stream', '/bug'].map(
      async (path) => (await fetch(url + path)).headers.get('x-request-id') ?? '',
    ),
  );
  for (const id of ids) t.match(id, /^[\da-f-]{36}$/);
  t.equal(new Set(ids).size, ids.length);
});
