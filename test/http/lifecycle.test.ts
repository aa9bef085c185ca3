import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { createEventStream, type EventStream } from '../../src/http/sse.ts';
import { defer, get, LISTENER, serve, when, wire } from './serve.ts';

const base = { summary: 'test', scope: 'none', responses: { 200: z.json() } } as const;

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

t.test('an address that is taken is refused with its name', async (t) => {
  const { server, port } = await serve(t, routes);
  await server.close();
  const first = await serve(t, routes);
  const second = await serve(t, routes);
  t.strictSame(await first.server.listen(LISTENER, { host: '127.0.0.1', port }), { port });
  await t.rejects(second.server.listen(LISTENER, { host: '127.0.0.1', port }), {
    message: `cannot listen on 127.0.0.1:${port}: the address is in use or not of this machine`,
  });
});

t.test('after stopListening open requests go on, new ones on open connections get 503', async (t) => {
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
  t.match(await slow.end(), /200 OK[\s\S]*"slow"$/, 'and its connection closes after it');
  stream?.end();
  t.match(await streaming.end(), /0\r\n\r\n$/);
});

t.test('close ends everything, and lets out what was written just before', async (t) => {
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
  t.match(await other.end(), /:\n\n\r\n0\r\n\r\n$/, 'a stream that was idle has a whole body too');
  t.equal(stream?.closed, true);
  t.equal(inFlight(), 0);
  t.equal(streams(), 0);
  await server.close();
});
