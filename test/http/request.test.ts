import t from 'tap';
import { z } from 'zod';
import { type RouteRequest, route } from '../../src/http/route.ts';
import { get, serve, turn, wire } from './serve.ts';

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const seen = ({ header, ip }: RouteRequest<unknown, unknown, unknown>) => ({
  custom: header('X-Custom') ?? null,
  lastEventId: header('last-event-id') ?? null,
  missing: header('x-missing') ?? null,
  ip: ip(),
});

const routes = [
  route.get('/now', { id: 'getNow', ...base, handle: seen }),
  route.get('/later', {
    id: 'getLater',
    ...base,
    async handle(request) {
      await turn();
      return seen(request);
    },
  }),
  route.post('/body', { id: 'postBody', ...base, body: z.json(), handle: seen }),
];

t.test('reads headers at once and later, in any case, with the first value of each', async (t) => {
  const { url, port } = await serve(t, routes);
  const headers = { 'x-custom': 'a', 'last-event-id': '7' };
  const expected = { custom: 'a', lastEventId: '7', missing: null, ip: '127.0.0.1' };
  t.strictSame(await (await fetch(`${url}/now`, { headers })).json(), expected);
  t.strictSame(await (await fetch(`${url}/later`, { headers })).json(), expected);
  const posted = await fetch(`${url}/body`, {
    method: 'POST',
    body: '1',
    headers: { ...headers, 'content-type': 'application/json' },
  });
  t.strictSame(await posted.json(), expected);
  for (const path of ['/now', '/later']) {
    await wire(t, port, get(path, 'X-Custom: first', 'X-Custom: second')).until('"custom":"first"');
  }
});

t.test('takes the client address from a trusted proxy', async (t) => {
  const { url } = await serve(t, routes);
  const ip = async (headers: Record<string, string>) =>
    z.object({ ip: z.string() }).parse(await (await fetch(`${url}/later`, { headers })).json()).ip;
  t.equal(await ip({ 'x-forwarded-for': '192.0.2.1, 203.0.113.7', 'x-real-ip': '10.0.0.2' }), '203.0.113.7');
  t.equal(await ip({ 'x-real-ip': '203.0.113.8' }), '127.0.0.1');
  t.equal(await ip({ 'x-forwarded-for': ' ' }), '127.0.0.1');
});

t.test('uses the last of several forwarded lines, which the trusted proxy has added', async (t) => {
  const { port } = await serve(t, routes);
  for (const path of ['/now', '/later']) {
    const lines = ['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-For: 203.0.113.7, 127.0.0.1'];
    await wire(t, port, get(path, ...lines)).until('"ip":"203.0.113.7"');
  }
});

t.test('ignores forwarded headers from an untrusted peer', async (t) => {
  const { url } = await serve(t, routes, { settings: { trusted_proxies: ['192.0.2.0/24'] } });
  for (const path of ['/now', '/later']) {
    const response = await fetch(`${url}${path}`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
    t.match(await response.json(), { ip: '127.0.0.1' });
  }
});

t.test('ignores forwarded addresses when they are not trusted', async (t) => {
  const { url } = await serve(t, routes, { settings: { trust_forwarded_headers: false } });
  const response = await fetch(`${url}/now`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
  t.match(await response.json(), { ip: '127.0.0.1' });
});
