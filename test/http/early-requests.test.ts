import t, { type Test } from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { get, type Served, serve, turn, when, wire } from './serve.ts';

/** Requests that arrive while the routes are being loaded. */

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const health = route.get('/health', { id: 'getHealth', ...base, handle: () => 'healthy' });

const LIMIT = 200_000;

const rest = [
  route.get('/items/:id', {
    id: 'getItem',
    ...base,
    params: z.object({ id: z.string() }),
    query: z.object({ q: z.string().optional() }),
    handle: ({ params, query, header }) => ({ ...params, ...query, tag: header('x-tag') }),
  }),
  route.post('/lengths', {
    id: 'postLength',
    ...base,
    body: z.object({ text: z.string() }),
    handle: ({ body }) => body.text.length,
  }),
];

const serveFirst = (t: Test): Promise<Served> =>
  serve(t, [health], { isPartial: true, settings: { body_limit_bytes: LIMIT } });

/** Sends a request for a loaded route until it is answered, so that the server has read what was sent before. */
const untilRead = async (t: Test, port: number): Promise<void> => {
  for (let round = 0; round < 3; round += 1) await wire(t, port, get('/health')).until('"healthy"');
  await turn();
};

const post = (body: string, ...headers: string[]): string =>
  [
    'POST /lengths HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    '',
    body,
  ].join('\r\n');

t.test('serves the first routes at once, and the others when they are complete', async (t) => {
  const { server, port, inFlight } = await serveFirst(t);
  const item = wire(t, port, get('/items/a%20b?q=1', 'X-Tag: x'));
  const missing = wire(t, port, get('/missing'));
  const late = wire(t, port, get('/health'));
  await late.until('"healthy"');
  await untilRead(t, port);
  t.equal(item.text() + missing.text(), '');
  t.equal(inFlight(), 0);

  server.complete({ routes: rest });
  t.match(await item.until('}'), /200 OK[\s\S]*\{"id":"a b","q":"1","tag":"x"\}$/);
  t.match(await missing.until('}'), /404 Not Found[\s\S]*no such path: \/missing/);
  item.send(get('/items/2'));
  await item.until('{"id":"2"}');
  const document = await fetch(`http://127.0.0.1:${port}/openapi.json`);
  const { paths } = z.object({ paths: z.record(z.string(), z.unknown()) }).parse(await document.json());
  t.strictSame(Object.keys(paths), ['/health', '/items/{id}', '/lengths', '/openapi.json']);
});

t.test('keeps bodies, of which a client may have sent any part', async (t) => {
  const { server, port } = await serveFirst(t);
  const body = JSON.stringify({ text: 'x'.repeat(LIMIT / 2) });
  const whole = wire(t, port, post(JSON.stringify({ text: 'short' })));
  const long = wire(t, port, post(body));
  const part = wire(t, port, post(body).slice(0, 400));
  const none = wire(t, port, post(body).slice(0, post(body).indexOf('\r\n\r\n') + 4));
  await untilRead(t, port);

  server.complete({ routes: rest });
  part.send(post(body).slice(400));
  none.send(body);
  t.match(await whole.until('\r\n\r\n5'), /200 OK/);
  for (const client of [long, part, none]) t.match(await client.until(`\r\n\r\n${LIMIT / 2}`), /200 OK/);
});

t.test('reads the rest of a body that the answer does not need', async (t) => {
  const { server, port } = await serveFirst(t);
  const body = JSON.stringify({ text: 'x'.repeat(LIMIT / 2) });
  const text = post(body).replace('/lengths', '/missing');
  const client = wire(t, port, text.slice(0, 400));
  await untilRead(t, port);
  server.complete({ routes: rest });
  await client.until('no such path');
  client.send(text.slice(400));
  client.send(get('/items/3'));
  await client.until('{"id":"3"}');
});

t.test('drops requests whose clients have disconnected', async (t) => {
  const { server, port, observed, errors } = await serveFirst(t);
  const client = wire(t, port, get('/items/1'));
  await untilRead(t, port);
  client.socket.destroy();
  await client.end();
  await untilRead(t, port);
  server.complete({ routes: rest });
  t.strictSame(
    observed.filter((each) => each.route !== '/health'),
    [],
  );
  t.strictSame(errors, []);
});

t.test('refuses them when the server stops first', async (t) => {
  const { server, port } = await serveFirst(t);
  const client = wire(t, port, get('/items/1'));
  await untilRead(t, port);
  server.stopListening();
  t.match(await client.end(), /503 Service Unavailable[\s\S]*the service is stopping/);
});

t.test('keeps requests of the embedding program', async (t) => {
  const { server } = await serveFirst(t);
  const response = server.fetch(
    new Request('http://localhost/lengths', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'abc' }),
    }),
    { from: 'stranger' },
  );
  let isAnswered = false;
  response.then(() => {
    isAnswered = true;
  });
  await turn();
  t.notOk(isAnswered);
  server.complete({ routes: rest });
  t.equal(await (await response).json(), 3);
  await when(() => isAnswered);
});
