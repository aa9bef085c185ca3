import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { createEventStream, type EventStream } from '../../src/http/sse.ts';
import { freePort } from '../ports.ts';
import { defer, get, LISTENER, serve, when, wire } from './serve.ts';

const base = { summary: 'test', needs: 'nothing', responses: { 200: z.json() } } as const;

const proceed = defer();
let stream: EventStream | undefined;

const routes = [
  route.get('/now', { id: 'getNow', ...base, handle: () => 'now' }),
  route.get('/slow', {
    id: 'getSlow',
    ...base,
    async handle() {
      await proceed.promise;
      return 'slow';
    },
  }),
  route.get('/stream', {
    id: 'getStream',
    ...base,
    handle() {
      stream = createEventStream();
      return stream;
    },
  }),
];

t.test('names an address that is in use', async (t) => {
  const port = await freePort();
  const first = await serve(t, routes);
  const second = await serve(t, routes);
  t.strictSame(await first.server.listen(LISTENER, { host: '127.0.0.1', port }), { port });
  await t.rejects(second.server.listen(LISTENER, { host: '127.0.0.1', port }), {
    message: `cannot listen on 127.0.0.1:${port}: the address is in use: choose another port, or 0 for any free one`,
  });
});

t.test('finishes open requests after stopListening, and returns 503 to new ones', async (t) => {
  const { server, port, inFlight } = await serve(t, routes);
  const idle = wire(t, port, get('/now'));
  await idle.until('"now"');
  const slow = wire(t, port, get('/slow'));
  const streaming = wire(t, port, get('/stream'));
  await streaming.until(':\n\n');
  await when(() => inFlight() === 2);

  server.stopListening();
  await t.rejects(fetch(`http://127.0.0.1:${port}/now`));
  idle.send(get('/now'));
  t.match(await idle.end(), /HTTP\/1\.1 503 [\s\S]*connection: close/i);

  stream?.write('data: 1\n\n');
  await streaming.until('data: 1\n\n');
  proceed.resolve();
  t.match(await slow.end(), /200 OK[\s\S]*"slow"$/, 'the connection closes after the response');
  stream?.end();
  t.match(await streaming.end(), /0\r\n\r\n$/);
});

t.test('closes everything, and flushes recent writes first', async (t) => {
  const { server, port, inFlight, streams } = await serve(t, routes);
  const client = wire(t, port, get('/stream'));
  await client.until(':\n\n');
  const other = wire(t, port, get('/stream'));
  const first = stream;
  await when(() => stream !== first);
  first?.write('data: last\n\n');
  first?.end();
  await server.close();
  t.match(await client.end(), /data: last\n\n\r\n0\r\n\r\n$/);
  t.match(await other.end(), /:\n\n\r\n0\r\n\r\n$/, 'the body of an idle stream is complete too');
  t.equal(stream?.closed, true);
  t.equal(inFlight(), 0);
  t.equal(streams(), 0);
  await server.close();
});
