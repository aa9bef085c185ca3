import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { defer, errorOf, get, serve, settle, when, wire } from './serve.ts';

const Body = z.object({
  name: z.string(),
  messages: z.array(z.object({ content: z.string() })).optional(),
  choice: z.union([z.string(), z.object({ budget: z.int() })]).optional(),
});
const Query = z.object({
  limit: z.string().regex(/^\d+$/, 'expected a count').transform(Number).optional(),
  text: z.string().optional(),
});

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const routes = [
  route.post('/typed', {
    id: 'postTyped',
    ...base,
    body: Body,
    query: Query,
    handle: ({ body, query }) => ({ body, query }),
  }),
  route.post('/large', {
    id: 'postLarge',
    ...base,
    body: Body,
    bodyLimit: 'attachments',
    handle: ({ body }) => body.name.length,
  }),
  route.post('/untyped', {
    id: 'postUntyped',
    ...base,
    handle: ({ body }) => ({ body: body === undefined ? 'none' : 'some' }),
  }),
  route.get('/query', { id: 'getQuery', ...base, query: Query, handle: ({ query }) => query }),
];

const JSON_TYPE = 'application/json';
const VALID = '{"name":"x"}';

const post = (url: string, body: string | undefined, contentType?: string) =>
  fetch(url, {
    method: 'POST',
    headers: contentType === undefined ? {} : { 'content-type': contentType },
    // A text body would add its own content type.
    ...(body !== undefined && { body: Buffer.from(body) }),
  });

t.test('returns a specific status for each kind of invalid body', async (t) => {
  const { url } = await serve(t, routes);
  const table: [string, string | undefined, string | undefined, number][] = [
    ['a valid body', VALID, JSON_TYPE, 200],
    ['parameters of the type', VALID, 'Application/JSON; charset=utf-8', 200],
    ['a +json type', VALID, 'application/vnd.api+json', 200],
    ['no type', VALID, undefined, 415],
    ['a text', VALID, 'text/plain', 415],
    ['almost json', VALID, 'application/jsonp', 415],
    ['neither body nor type', undefined, undefined, 415],
    ['an empty body', '', JSON_TYPE, 400],
    ['half a body', '{"name":', JSON_TYPE, 400],
    ['JSON of another shape', '{"name":5}', JSON_TYPE, 422],
    ['no object', '[]', JSON_TYPE, 422],
    ['a body that just fits', `{"name":"${'x'.repeat(989)}"}`, JSON_TYPE, 200],
    ['one byte too many', `{"name":"${'x'.repeat(990)}"}`, JSON_TYPE, 413],
    ['too large and of a wrong type', 'x'.repeat(2000), 'text/plain', 415],
  ];
  for (const [name, body, type, status] of table) {
    const response = await post(`${url}/typed`, body, type);
    t.equal(response.status, status, name);
    if (status !== 200) t.ok(await errorOf(response), name);
  }
});

t.test('applies a separate limit to a route with attachments', async (t) => {
  const { url } = await serve(t, routes);
  t.equal((await post(`${url}/large`, `{"name":"${'x'.repeat(3000)}"}`, JSON_TYPE)).status, 200);
  t.equal((await post(`${url}/large`, `{"name":"${'x'.repeat(6000)}"}`, JSON_TYPE)).status, 413);
});

t.test('names the path of an invalid value in a body', async (t) => {
  const { url } = await serve(t, routes);
  const table: [string, RegExp][] = [
    ['{"name":"x","messages":[{"content":[]}]}', /^messages\[0\]\.content: must be a string, not an array$/],
    ['{"name":"x","choice":{"budget":"5"}}', /^choice\.budget: must be a number, not a string$/],
    ['{}', /^missing field 'name'$/],
    ['7', /^must be an object, not a number$/],
  ];
  for (const [body, message] of table) {
    const response = await post(`${url}/typed`, body, JSON_TYPE);
    t.equal(response.status, 422);
    t.match(await errorOf(response), message);
  }
});

t.test('checks the JSON before the query, and the query before the shape of the body', async (t) => {
  const { url } = await serve(t, routes);
  const first = await post(`${url}/typed?limit=abc`, '{', JSON_TYPE);
  t.match(await errorOf(first), /not valid JSON/);
  const second = await post(`${url}/typed?limit=abc`, '{"name":5}', JSON_TYPE);
  t.equal(second.status, 400);
  t.match(await errorOf(second), 'limit: expected a count');
});

t.test('decodes a query, takes the first value of a key and ignores unknown keys', async (t) => {
  const { url } = await serve(t, routes);
  const query = async (text: string) => (await fetch(`${url}/query${text}`)).json();
  t.strictSame(await query(''), {});
  t.strictSame(await query('?limit=5&limit=6&other=1'), { limit: 5 });
  t.strictSame(await query('?text=a+b%20c%26d%3D'), { text: 'a b c&d=' });
  t.strictSame(await query('?t%65xt=%C3%A9&__proto__=1'), { text: 'é' });
  t.equal((await fetch(`${url}/query?limit=-1`)).status, 400);
});

t.test('ignores the body and content type on a route without a body', async (t) => {
  const { url, port } = await serve(t, routes);
  t.strictSame(await (await post(`${url}/untyped`, undefined)).json(), { body: 'none' });
  t.equal((await post(`${url}/untyped`, '{', JSON_TYPE)).status, 200);
  t.equal((await post(`${url}/untyped`, 'x'.repeat(20_000), 'text/plain')).status, 200);

  const client = wire(t, port, 'POST /untyped HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345');
  await client.until('none');
  client.send(`67890${get('/query?text=next')}`);
  await client.until('{"text":"next"}');
});

t.test('reassembles a body that arrives in chunks split within a character', async (t) => {
  const { port, inFlight } = await serve(t, routes);
  const body = Buffer.from('{"name":"é"}');
  const cut = body.indexOf(0xc3) + 1;
  const client = wire(t, port);
  client.socket.setNoDelay(true);
  const head = `POST /typed HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  // In one write, so that the server receives the chunk together with the head.
  client.send(Buffer.concat([Buffer.from(head), body.subarray(0, cut)]));
  await when(() => inFlight() === 1);
  client.send(body.subarray(cut));
  const text = await client.until('"query"');
  t.match(Buffer.from(text, 'latin1').toString(), '{"name":"é"}');
});

const chunked = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

t.test('rejects a chunked body as soon as it is too large, and discards its rest', async (t) => {
  const { port } = await serve(t, routes);
  const client = wire(t, port, chunked('/typed'));
  client.send(chunk('x'.repeat(600)));
  client.send(chunk('x'.repeat(600)));
  await client.until('HTTP/1.1 413');
  client.send(chunk('x'.repeat(5000)));
  client.send(`0\r\n\r\n${get('/query?text=next')}`);
  await client.until('{"text":"next"}');
  t.equal(client.text().match(/HTTP\/1\.1/g)?.length, 2);
});

t.test('rejects an excessive content length before the body arrives', async (t) => {
  const { port } = await serve(t, routes);
  const client = wire(
    t,
    port,
    'POST /typed HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1001\r\n\r\n',
  );
  await client.until('HTTP/1.1 413');
});

t.test('keeps a body that arrives while the scope is resolved, and checks it afterwards', async (t) => {
  const scope = defer<string>();
  const seen: unknown[] = [];
  const scoped = route.post('/scoped', {
    id: 'postScoped',
    ...base,
    needs: 'invoke',
    body: Body,
    handle: ({ body, scope }) => seen.push({ name: body.name, scope }),
  });
  let answer: () => Promise<string> = () => scope.promise;
  let asked = 0;
  const resolveScope = (): Promise<string> => {
    asked += 1;
    return answer();
  };
  const { url } = await serve(t, [scoped], { resolveScope });

  const pending = post(`${url}/scoped`, VALID, JSON_TYPE);
  await when(() => asked === 1);
  await settle();
  scope.resolve('late');
  t.equal((await pending).status, 200);
  t.strictSame(seen, [{ name: 'x', scope: 'late' }]);

  t.equal((await post(`${url}/scoped`, VALID, 'text/plain')).status, 415);
  t.equal((await post(`${url}/scoped`, 'x'.repeat(1001), JSON_TYPE)).status, 413);
  answer = () => Promise.reject(new Error('no tenant'));
  const refused = await post(`${url}/scoped`, '{', 'text/plain');
  t.equal(refused.status, 401);
  t.strictSame(await refused.json(), { error: 'scope resolution failed: no tenant' });
});

t.test('parses, validates and handles a long body in separate ticks, and a short one at once', async (t) => {
  const done: string[] = [];
  const note = (what: string): void => {
    done.push(what);
    setImmediate(() => done.push('another turn'));
  };
  const Noted = z.object({
    name: z.string().refine(() => {
      note('checked');
      return true;
    }),
  });
  const handle = (): number => {
    note('handled');
    return 0;
  };
  const { url } = await serve(t, [route.post('/noted', { id: 'postNoted', ...base, body: Noted, handle })], {
    settings: { body_limit_bytes: 100_000 },
  });
  const seen = async (length: number): Promise<string[]> => {
    done.length = 0;
    t.equal((await post(`${url}/noted`, `{"name":"${'x'.repeat(length)}"}`, JSON_TYPE)).status, 200);
    await when(() => done.length === 4);
    return done;
  };
  t.strictSame(await seen(40_000), ['checked', 'another turn', 'handled', 'another turn']);
  t.strictSame(await seen(10), ['checked', 'handled', 'another turn', 'another turn']);
});
