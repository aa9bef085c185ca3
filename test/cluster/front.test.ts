import t from 'tap';
import { z } from 'zod';
import type { FrontDeps } from '../../src/cluster/front.ts';
import { fileReply, textReply, withCookies } from '../../src/http/reply.ts';
import { reply, route } from '../../src/http/route.ts';
import { createPrincipal } from '../../src/schema/principal.ts';
import { CERTIFICATE, tlsFiles } from '../certificate.ts';
import { get, ORIGIN, wire } from '../http/serve.ts';
import { peerOf, startPair } from './fronts.ts';

/** Requests and responses that pass through a member that does not serve. */

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const BYTES = Uint8Array.from({ length: 256 }, (_, index) => index);

const body = z.object({ text: z.string() });

const routes = [
  route.get('/echo/:id', {
    id: 'getEcho',
    ...base,
    params: z.object({ id: z.string() }),
    query: z.object({ q: z.string().optional() }),
    handle: ({ params, query, header, names }) => ({
      ...params,
      ...query,
      host: header('host'),
      tag: header('x-tag'),
      signature: names('x-troupe-member'),
    }),
  }),
  ...(['post', 'put', 'patch'] as const).map((method) =>
    route[method]('/text', {
      id: `${method}Text`,
      ...base,
      body,
      handle: ({ body: { text }, header }) => ({ text, length: header('content-length') ?? 'none' }),
    }),
  ),
  route.delete('/text', { id: 'deleteText', ...base, responses: { 204: 'done' }, handle: () => reply(204) }),
  route.get('/status/:status', {
    id: 'getStatus',
    ...base,
    params: z.object({ status: z.coerce.number() }),
    handle: ({ params: { status } }) =>
      status === 304
        ? reply(304, undefined, { etag: '"1"' })
        : withCookies(reply(status, { status: 'café 🎭' }, { 'x-answer': 'café' }), ['a=1', 'b=2']),
  }),
  route.get('/bytes', {
    id: 'getBytes',
    ...base,
    responses: { 200: 'bytes' },
    handle: () => fileReply(BYTES, 'application/octet-stream', { 'content-encoding': 'identity' }),
  }),
  route.get('/long', {
    id: 'getLong',
    ...base,
    responses: { 200: 'text' },
    handle: () => textReply('é'.repeat(400_000), 'text/plain; charset=utf-8'),
  }),
  route.get('/client', {
    id: 'getClient',
    ...base,
    needs: 'read',
    handle: ({ ip, origin, principal }) => ({
      ip: ip(),
      origin: origin(),
      kind: principal.credential.kind,
      user: principal.user ?? null,
      scope: principal.scope,
    }),
  }),
];

/** The response without the parts that differ between any two requests. */
const partsOf = async (response: Response) => {
  const headers = [...response.headers].filter(
    ([name]) => !['date', 'x-request-id', 'keep-alive', 'connection'].includes(name),
  );
  return {
    status: response.status,
    headers,
    body: Buffer.from(await response.arrayBuffer()).toString('hex'),
  };
};

t.test('returns what the active member answers, for every method and status', async (t) => {
  const { owner, entry } = await startPair(t, routes);
  const json = { 'content-type': 'application/json' };
  const text = JSON.stringify({ text: 'café 🎭' });
  const requests: [path: string, init?: RequestInit][] = [
    ['/echo/caf%C3%A9%20%F0%9F%8E%AD?q=a%26b', { headers: { 'x-tag': 'plain' } }],
    ['/echo/x', { method: 'HEAD' }],
    ['/echo/x', { method: 'OPTIONS' }],
    [
      '/text',
      {
        method: 'OPTIONS',
        headers: { origin: ORIGIN, 'access-control-request-method': 'POST' },
      },
    ],
    ['/text', { method: 'POST', headers: { ...json, origin: ORIGIN }, body: text }],
    ['/text', { method: 'PUT', headers: json, body: text }],
    ['/text', { method: 'PATCH', headers: json, body: text }],
    ['/text', { method: 'DELETE' }],
    ['/text', { method: 'POST', headers: json, body: '{' }],
    ['/text', { method: 'POST', headers: json, body: 'x'.repeat(2000) }],
    ['/text', { method: 'POST' }],
    ['/missing'],
    ...[200, 201, 202, 304, 400, 404, 409, 418, 429, 500, 503].map((status): [string] => [
      `/status/${status}`,
    ]),
    ['/bytes'],
    ['/long'],
    ['/long', { method: 'HEAD' }],
  ];
  for (const [path, init] of requests) {
    const direct = await partsOf(await fetch(owner.url + path, init));
    const forwarded = await partsOf(await fetch(entry.url + path, init));
    const name = `${init?.method ?? 'GET'} ${path}`;
    const port = (hex: string): string =>
      Buffer.from(hex, 'hex').toString().replaceAll(String(owner.port), String(entry.port));
    t.strictSame({ ...forwarded, body: port(forwarded.body) }, { ...direct, body: port(direct.body) }, name);
    t.equal(new Map(forwarded.headers).get('x-troupe-member'), 'owner', name);
  }
  t.strictSame([...new Set(entry.results)], ['ok']);
});

t.test('passes heads with UTF-8 bytes on unchanged', async (t) => {
  const { owner, entry } = await startPair(t, routes);
  const head = Buffer.from(
    'GET /echo/caf%C3%A9?q=%C3%A9 HTTP/1.1\r\nHost: localhost\r\nX-Tag: café 🎭 tag\r\nConnection: close\r\n\r\n',
  );
  const bodies = [owner, entry].map(
    async ({ port }) => (await wire(t, port, head).until('}')).split('\r\n\r\n')[1],
  );
  const [direct, forwarded] = await Promise.all(bodies);
  t.match(Buffer.from(forwarded ?? '', 'latin1').toString(), 'café 🎭 tag');
  t.equal(forwarded, direct);
});

t.test('hides the signature from handlers, and passes the host and length of the client', async (t) => {
  const { entry } = await startPair(t, routes);
  const client = wire(t, entry.port, get('/echo/1', 'X-Tag: 1').replace('localhost', 'localhost:99'));
  t.match(await client.until('}'), '{"id":"1","host":"localhost:99","tag":"1","signature":false}');

  const text = JSON.stringify({ text: 'x' });
  const posted = await fetch(`${entry.url}/text`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  });
  t.strictSame(await posted.json(), { text: 'x', length: String(text.length) });
});

t.test('authenticates, limits and logs by the facts of the entry', async (t) => {
  const listener = { scheme: 'https', isLocal: false } as const;
  const { owner, entry } = await startPair(t, routes, { anonymous: 'loopback' }, { listener });
  const admin = { authorization: 'Bearer correct-horse' };

  t.equal((await fetch(`${owner.url}/client`)).status, 200, 'local listener');
  t.equal((await fetch(`${entry.url}/client`)).status, 401, 'listener for other hosts');
  const direct = await (await fetch(`${entry.url}/client`, { headers: admin })).json();
  t.match(direct, { ip: '127.0.0.1', origin: `https://127.0.0.1:${entry.port}`, kind: 'admin' });
  const proxied = await fetch(`${entry.url}/client`, {
    headers: { ...admin, 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' },
  });
  t.match(await proxied.json(), { ip: '203.0.113.9', origin: `http://127.0.0.1:${entry.port}` });
});

t.test('refuses hosts that the entry does not accept', async (t) => {
  const listener = {
    scheme: 'http',
    isLocal: true,
    acceptsHost: (host: string) => host === 'a.test',
  } as const;
  const { entry } = await startPair(t, routes, {}, { listener });
  const asked = (host: string) => wire(t, entry.port, get('/echo/1').replace('localhost', host)).until('}');
  t.match(await asked('a.test'), / 200 OK/);
  t.match(await asked('b.test'), / 403 Forbidden[\s\S]*'b.test'/);
});

t.test('forwards requests of the embedding program with their principal', async (t) => {
  const { entry } = await startPair(t, routes, { anonymous: 'never' });
  const alice = createPrincipal({ scope: 'acme', user: 'alice', grants: ['member'] });
  const request = () => new Request('http://any.test/client');

  const byProgram = await entry.listeners.fetch(request(), { from: 'program', principal: alice });
  t.strictSame(await byProgram.json(), {
    ip: '',
    origin: 'http://any.test',
    kind: 'program',
    user: 'alice',
    scope: 'acme',
  });
  const stranger = await entry.listeners.fetch(request(), { from: 'stranger' });
  t.equal(stranger.status, 401);

  const posted = await entry.listeners.fetch(
    new Request('http://any.test/text', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'é'.repeat(200) }),
    }),
    { from: 'stranger' },
  );
  t.match(await posted.json(), { text: 'é'.repeat(200) });
});

t.test('closes the connection of a request with an ambiguous end', async (t) => {
  const { owner, entry } = await startPair(t, routes);
  const smuggled = wire(
    t,
    entry.port,
    'POST /text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /echo/1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
  );
  t.notMatch(await smuggled.end(), '200 OK');
  t.strictSame(owner.served.observed, []);
});

t.test('answers local requests and, once it may, all requests itself', async (t) => {
  const { owner, entry } = await startPair(
    t,
    routes,
    {},
    {
      local: (req) => (req.getUrl() === '/health' ? (res) => res.end('healthy here') : undefined),
    },
  );
  t.equal(await (await fetch(`${entry.url}/health`)).text(), 'healthy here');
  t.equal((await fetch(`${entry.url}/missing`)).status, 404);

  entry.known.own = (res) => res.end('served here');
  t.equal(await (await fetch(`${entry.url}/missing`)).text(), 'served here');
  t.equal(owner.served.observed.length, 1);
});

t.test('connects with TLS to a member whose certificate it accepts, and to no other', async (t) => {
  const text = JSON.stringify({ text: 'x'.repeat(900) });
  const statusWith = async (tls: FrontDeps['tls']): Promise<number> => {
    const { owner, entry } = await startPair(t, routes, { settings: { tls: tlsFiles(t) } }, { tls });
    entry.known.active = { ...peerOf(owner), url: `https://localhost:${owner.port}` };
    const { status } = await fetch(`${entry.url}/text`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text,
    });
    t.equal(owner.served.observed.length, status === 200 ? 1 : 0);
    return status;
  };
  t.equal(await statusWith({ ca: CERTIFICATE }), 200);
  t.equal(await statusWith(undefined), 503);
});
