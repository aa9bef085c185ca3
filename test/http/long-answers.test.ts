import t from 'tap';
import { plainText, route } from '../../src/http/route.ts';
import { createEventStream } from '../../src/http/sse.ts';
import { PIECE_BYTES } from '../../src/http/unsent.ts';
import { get, serve, turn, when, wire } from './serve.ts';

const MIB = 1024 * 1024;

/** A loopback socket accepts a few megabytes before it blocks. */
const LONG = 'é'.repeat(8 * MIB);
const LONG_BYTES = 16 * MIB;

const routes = [
  route.get('/long', {
    id: 'getLong',
    summary: 'long',
    needs: 'nothing',
    responses: { 200: 'text' },
    handle: () => plainText(LONG, 'text/plain'),
  }),
  route.get('/later', {
    id: 'getLater',
    summary: 'long, later',
    needs: 'nothing',
    responses: { 200: 'text' },
    handle: async () => {
      await turn();
      return plainText(LONG, 'text/plain');
    },
  }),
  route.get('/stream', {
    id: 'getStream',
    summary: 'a stream that has ended',
    needs: 'nothing',
    responses: { 200: 'text' },
    handle: () => {
      const stream = createEventStream();
      stream.write(`data: ${LONG}\n\n`);
      stream.end();
      return stream;
    },
  }),
];

t.test('delivers a long response completely', async (t) => {
  const { url, unsent, inFlight } = await serve(t, routes);
  for (const path of ['/long', '/later']) {
    const response = await fetch(`${url}${path}`);
    t.equal((await response.text()) === LONG, true, path);
  }
  const stream = await (await fetch(`${url}/stream`)).text();
  t.equal(stream === `data: ${LONG}\n\n`, true, 'stream');
  t.equal(unsent(), 0);
  t.equal(inFlight(), 0);
});

t.test('delivers a long response completely without a socket', async (t) => {
  const { server } = await serve(t, routes);
  const response = await server.fetch(new Request('http://localhost/long'), { from: 'stranger' });
  t.equal((await response.text()) === LONG, true);
});

t.test('returns the length of a long response without a body on HEAD', async (t) => {
  const { port } = await serve(t, routes);
  const client = wire(t, port, get('/long').replace('GET', 'HEAD'));
  t.match(await client.until('\r\n\r\n'), `content-length: ${LONG_BYTES}`);
});

t.test('limits the total buffer of clients that do not read, without affecting others', async (t) => {
  const limit = 3 * LONG_BYTES;
  const { port, url, unsent, inFlight } = await serve(t, routes, {
    settings: { response_buffer_bytes: limit },
  });
  const stalled = Array.from({ length: 12 }, () => {
    const client = wire(t, port);
    client.socket.pause();
    client.send(get('/long'));
    return client;
  });
  await when(() => inFlight() > 0 && inFlight() <= 4);
  t.ok(unsent() <= limit, `${unsent()} of ${limit}`);
  t.equal((await (await fetch(`${url}/long`)).text()) === LONG, true);
  t.ok(unsent() <= limit);
  for (const client of stalled) client.socket.destroy();
  await when(() => inFlight() === 0);
  t.equal(unsent(), 0);
});

t.test('releases the buffer of a client that disconnects in the middle', async (t) => {
  const { port, unsent, inFlight, observed } = await serve(t, routes);
  const client = wire(t, port);
  client.socket.pause();
  client.send(get('/long'));
  await when(() => unsent() > 0);
  t.ok(unsent() > PIECE_BYTES);
  client.socket.destroy();
  await when(() => inFlight() === 0);
  t.equal(unsent(), 0);
  t.match(observed, [{ route: '/long', status: 200 }]);
});

t.test('closes connections with a long response when the server stops', async (t) => {
  const { server, port, unsent } = await serve(t, routes);
  const client = wire(t, port);
  client.socket.pause();
  client.send(get('/long'));
  await when(() => unsent() > 0);
  await server.close();
  client.socket.resume();
  await client.end();
  t.equal(unsent(), 0);
});
