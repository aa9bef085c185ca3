import t from 'tap';
import { z } from 'zod';
import { plainText, reply, route } from '../../src/http/route.ts';
import { groupByPath } from '../../src/http/router.ts';
import { errorOf, get, serve, when, wire } from './serve.ts';

const Id = z.object({ id: z.string() });

const echo = { summary: 'echo', needs: 'nothing', responses: { 200: z.json() } } as const;

const routes = [
  route.get('/things', { id: 'getThings', ...echo, handle: () => ['list'] }),
  route.post('/things', {
    id: 'postThings',
    ...echo,
    handle: () => reply(201, { made: true }, { 'x-extra': 'yes' }),
  }),
  route.get('/things/summary', { id: 'getThingsSummary', ...echo, handle: () => 'summary' }),
  route.get('/things/:id', {
    id: 'getThingsId',
    ...echo,
    params: Id,
    handle: ({ params, route }) => ({ id: params.id, route }),
  }),
  route.delete('/things/:id', { id: 'deleteThingsId', ...echo, handle: () => reply(204) }),
  route.get('/things/:id/parts/:part', {
    id: 'getThingsIdPartsPart',
    ...echo,
    params: z.object({ id: z.string(), part: z.string() }),
    handle: ({ params }) => params,
  }),
  route.get('/nothing', { id: 'getNothing', ...echo, handle: () => undefined }),
  route.get('/known', { id: 'getKnown', ...echo, handle: () => reply(304) }),
  route.get('/text', {
    id: 'getText',
    ...echo,
    handle: () => plainText('a 1\n', 'text/plain; version=0.0.4'),
  }),
  route.get('/later', { id: 'getLater', ...echo, handle: async () => ({ later: true }) }),
  route.get('/split', {
    id: 'getSplit',
    ...echo,
    handle: () => reply(200, {}, { 'x-split': 'a\r\nx-forged: 1' }),
  }),
];

t.test('returns a value as 200 JSON, and a reply with its status, headers and body', async (t) => {
  const { url } = await serve(t, routes);
  const list = await fetch(`${url}/things`);
  t.equal(list.status, 200);
  t.equal(list.headers.get('content-type'), 'application/json');
  t.strictSame(await list.json(), ['list']);

  const made = await fetch(`${url}/things`, { method: 'POST' });
  t.equal(made.status, 201);
  t.equal(made.headers.get('x-extra'), 'yes');

  t.strictSame(await (await fetch(`${url}/later`)).json(), { later: true });

  const text = await fetch(`${url}/text`);
  t.equal(text.headers.get('content-type'), 'text/plain; version=0.0.4');
  t.equal(await text.text(), 'a 1\n');
});

t.test('returns an empty 200 for undefined, and no body or length for 204 and 304', async (t) => {
  const { url, port } = await serve(t, routes);
  const nothing = await fetch(`${url}/nothing`);
  t.equal(nothing.status, 200);
  t.equal(await nothing.text(), '');
  t.equal(nothing.headers.get('content-type'), null);

  const bodiless = [
    ['DELETE /things/1 HTTP/1.1\r\nHost: x\r\n\r\n', '204 No Content'],
    [get('/known'), '304 Not Modified'],
  ] as const;
  for (const [request, status] of bodiless) {
    const client = wire(t, port, request);
    const answer = await client.until('\r\n\r\n');
    t.ok(answer.startsWith(`HTTP/1.1 ${status}\r\n`), answer);
    t.notMatch(answer, /content-length/i);
    client.send(get('/nothing'));
    t.match(await client.until('200 OK'), /content-length: 0/i);
  }
});

t.test('prefers a static path over a parameter for every method', async (t) => {
  const { url } = await serve(t, routes);
  t.equal(await (await fetch(`${url}/things/summary`)).json(), 'summary');
  t.equal((await fetch(`${url}/things/summary`, { method: 'DELETE' })).status, 405);
  t.strictSame(await (await fetch(`${url}/things/summary/parts/2`)).json(), { id: 'summary', part: '2' });
});

t.test('decodes parameters, or keeps them if that is impossible', async (t) => {
  const { url } = await serve(t, routes);
  const table: [string, string][] = [
    ['a%2Fb', 'a/b'],
    ['%C3%A9', 'é'],
    ['100%', '100%'],
    ['%zz', '%zz'],
    ['a+b', 'a+b'],
  ];
  for (const [sent, id] of table) {
    t.strictSame(await (await fetch(`${url}/things/${sent}`)).json(), { id, route: '/things/:id' }, sent);
  }
});

t.test('returns 405 with the sorted allowed methods on a known path', async (t) => {
  const { url } = await serve(t, routes);
  const response = await fetch(`${url}/things`, { method: 'PATCH' });
  t.equal(response.status, 405);
  t.equal(response.headers.get('allow'), 'GET, HEAD, POST');
  t.ok(await errorOf(response));
  t.equal((await fetch(`${url}/things`, { method: 'OPTIONS' })).status, 405);
});

t.test('returns 404 with an error body for an unknown path without authentication', async (t) => {
  const { url } = await serve(t, routes, { adminToken: undefined });
  for (const path of ['/', '/thing', '/things/', '/things//parts/1', '/things/1/parts', '/things/1/']) {
    const response = await fetch(url + path);
    t.equal(response.status, 404, path);
    t.ok(await errorOf(response));
  }
  t.match(
    await errorOf(await fetch(`${url}/`)),
    /^no such path: \/; the manual is at \/docs, .* \/openapi\.json$/,
  );
});

t.test('answers HEAD like GET, with the length but without the body', async (t) => {
  const { port, observed } = await serve(t, routes);
  const client = wire(t, port, 'HEAD /things HTTP/1.1\r\nHost: x\r\n\r\n');
  await client.until('\r\n\r\n');
  client.send(get('/nothing'));
  const text = await client.until('content-length: 8');
  t.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  // The second response is complete.
  await when(() => client.text().split('HTTP/1.1 200 OK').length > 2);
  t.notMatch(client.text(), 'list');
  t.match(observed[0], { method: 'HEAD', route: '/things', status: 200 });
});

t.test('prevents header injection through a value', async (t) => {
  const { url } = await serve(t, routes);
  const response = await fetch(`${url}/split`);
  t.equal(response.headers.get('x-forged'), null);
  t.equal(response.headers.get('x-split'), 'a  x-forged: 1');
});

t.test('rejects two routes for one method and path at creation', async (t) => {
  const twice = route.get('/things', { id: 'getThings', ...echo, handle: () => 1 });
  await t.rejects(serve(t, [twice, twice]), { message: 'two routes for GET /things' });
});

t.test('observes requests by template and known method only', async (t) => {
  const { url, port, observed, inFlight } = await serve(t, routes);
  await fetch(`${url}/things/secret-id`);
  await fetch(`${url}/unknown/secret-id`);
  await fetch(`${url}/things`, { method: 'OPTIONS' });
  await wire(t, port, 'PROPFIND /things HTTP/1.1\r\nHost: x\r\n\r\n').until('405');
  t.match(observed, [
    { method: 'GET', route: '/things/:id', status: 200 },
    { method: 'GET', route: 'unmatched', status: 404 },
    { method: 'OPTIONS', route: '/things', status: 405 },
    { method: 'OTHER', route: '/things', status: 405 },
  ]);
  t.ok(observed.every(({ seconds }) => seconds >= 0 && seconds < 60));
  t.equal(inFlight(), 0);
});

t.test('a route that declares no grant does not compile, and is not served (check 98)', (t) => {
  const handle = () => ({});
  // @ts-expect-error `needs` is missing
  const undeclared = route.get('/open', { id: 'open', summary: 'test', responses: {}, handle });
  t.throws(() => groupByPath([undeclared]), 'the service does not start with it');
  const unknown = { id: 'open', summary: 'test', responses: {}, handle } as const;
  // @ts-expect-error no such grant
  const misspelled = route.get('/open', { ...unknown, needs: 'observes' });
  t.throws(() => groupByPath([misspelled]), { message: 'a route needs the unknown grant observes' });
  const limited = route.get('/open', { ...unknown, needs: 'nothing', security: 'extendedCardBearer' });
  t.throws(() => groupByPath([limited]), { message: /^route 'open' needs nothing/ });
  t.end();
});
