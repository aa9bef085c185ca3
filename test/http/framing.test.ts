import t from 'tap';
import { z } from 'zod';
import { reply, route } from '../../src/http/route.ts';
import { get, serve, wire } from './serve.ts';

/** An ambiguous head closes the connection, and nothing after it is executed. */

const executed: string[] = [];

const routes = [
  route.get('/behind', {
    id: 'getBehind',
    summary: 'what must not be executed',
    needs: 'nothing',
    responses: { 200: 'empty' },
    handle() {
      executed.push('behind');
      return undefined;
    },
  }),
  route.post('/in-front', {
    id: 'postInFront',
    summary: 'the request with the ambiguous head',
    needs: 'nothing',
    body: z.unknown(),
    responses: { 200: 'empty' },
    handle() {
      executed.push('in front');
      return reply(204);
    },
  }),
];

const BEHIND = get('/behind');
const CHUNKED = '2\r\n{}\r\n0\r\n\r\n';

const post = (headers: readonly string[], body: string): string =>
  ['POST /in-front HTTP/1.1', 'Content-Type: application/json', ...headers, '', body].join('\r\n');

const HOST = 'Host: localhost';

const AMBIGUOUS: [name: string, request: string][] = [
  ['two lengths', post([HOST, 'Content-Length: 0', `Content-Length: ${BEHIND.length}`], BEHIND)],
  [
    'two lengths, the long one first',
    post([HOST, `Content-Length: ${BEHIND.length}`, 'Content-Length: 0'], BEHIND),
  ],
  ['the same length twice', post([HOST, 'Content-Length: 2', 'Content-Length: 2'], `{}${BEHIND}`)],
  ['a list of lengths', post([HOST, 'Content-Length: 2, 2'], `{}${BEHIND}`)],
  ['a length with a sign', post([HOST, 'Content-Length: +2'], `{}${BEHIND}`)],
  ['an empty length', post([HOST, 'Content-Length: '], BEHIND)],
  ['a length and chunks', post([HOST, 'Content-Length: 2', 'Transfer-Encoding: chunked'], CHUNKED + BEHIND)],
  ['chunks and a length', post([HOST, 'Transfer-Encoding: chunked', 'Content-Length: 2'], CHUNKED + BEHIND)],
  [
    'two codings',
    post([HOST, 'Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], CHUNKED + BEHIND),
  ],
  ['two hosts', post([HOST, 'Host: other', 'Content-Length: 2'], `{}${BEHIND}`)],
  ['two hosts of a GET', `GET /behind HTTP/1.1\r\n${HOST}\r\nHost: other\r\n\r\n${BEHIND}`],
  ...[
    'identity',
    'x',
    'gzip',
    'xchunked',
    'chunkedx',
    'gzip, chunked',
    'chunked, chunked',
    '"chunked"',
    '',
  ].map((coding): [string, string] => [
    `the coding '${coding}'`,
    post([HOST, `Transfer-Encoding: ${coding}`], CHUNKED + BEHIND),
  ]),
];

t.test('closes the connection on an ambiguous head without a response', async (t) => {
  const { port, inFlight } = await serve(t, routes);
  for (const [name, request] of AMBIGUOUS) {
    const client = wire(t, port, request);
    const answer = await client.end();
    t.notMatch(answer, 'HTTP/1.1 2', name);
    t.strictSame(executed, [], name);
  }
  t.equal(inFlight(), 0);
});

t.test('closes the connection on an ambiguous head in a later packet', async (t) => {
  const { port } = await serve(t, routes);
  const client = wire(t, port, post([HOST, 'Content-Length: 2'], '{}'));
  await client.until('204');
  executed.length = 0;
  client.send(post([HOST, 'Content-Length: 0', 'Content-Length: 5'], ''));
  await client.end();
  client.send(BEHIND);
  t.strictSame(executed, []);
});

t.test('accepts one content length, or one coding in any case, or neither', async (t) => {
  const { port } = await serve(t, routes);
  for (const head of [['Content-Length: 2'], ['Content-Length: 0002']]) {
    await wire(t, port, post([HOST, ...head], `{}${BEHIND}`)).until('HTTP/1.1 200');
  }
  for (const coding of ['chunked', 'Chunked', 'CHUNKED ']) {
    const request = post([HOST, `Transfer-Encoding: ${coding}`], CHUNKED + BEHIND);
    await wire(t, port, request).until('HTTP/1.1 200');
  }
  await wire(t, port, BEHIND).until('HTTP/1.1 200');
});
