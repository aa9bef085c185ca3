import t from 'tap';
import { z } from 'zod';
import { route } from '../../src/http/route.ts';
import { createEventStream, type EventStream } from '../../src/http/sse.ts';
import { installTime } from '../property/time.ts';
import { get, ORIGIN, serve, settle, when, wire } from './serve.ts';

const base = { summary: 'test', needs: 'nothing', responses: { 200: 'text/event-stream' } } as const;

/** A route that passes every stream it creates to the test. */
const streaming = (prepare: (stream: EventStream) => void = () => {}) => {
  const streams: EventStream[] = [];
  const declared = route.get('/stream', {
    id: 'getStream',
    ...base,
    handle() {
      const stream = createEventStream({ headers: { 'x-extra': 'yes' } });
      prepare(stream);
      streams.push(stream);
      return stream;
    },
  });
  const latest = (): EventStream => {
    const stream = streams.at(-1);
    if (!stream) throw new Error('no stream yet');
    return stream;
  };
  return { routes: [declared], streams, latest };
};

const body = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4);

t.test('sends everything written before the binding as one response with stream headers', async (t) => {
  const { routes } = streaming((stream) => {
    stream.write('data: 1\n\n');
    stream.write('data: 2\n\n');
    stream.end();
    stream.write('data: late\n\n');
  });
  const { url, observed, streams, inFlight } = await serve(t, routes);
  const response = await fetch(`${url}/stream`, { headers: { origin: ORIGIN, 'x-request-id': 'r1' } });
  t.equal(response.status, 200);
  t.match(Object.fromEntries(response.headers), {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    connection: 'keep-alive',
    'x-extra': 'yes',
    'x-request-id': 'r1',
    vary: 'origin',
    'access-control-allow-origin': ORIGIN,
  });
  t.equal(await response.text(), 'data: 1\n\ndata: 2\n\n');
  t.match(observed, [{ method: 'GET', route: '/stream', status: 200 }]);
  t.equal(streams(), 0);
  t.equal(inFlight(), 0);
});

t.test('sends the frames of one tick in one write', async (t) => {
  const { routes, streams, latest } = streaming((stream) => stream.write('data: first\n\n'));
  const { port } = await serve(t, routes);
  const client = wire(t, port, get('/stream'));
  await client.until('data: first\n\n');
  t.equal(streams.length, 1);
  latest().write('data: a\n\n');
  latest().write('data: b\n\n');
  latest().write('data: c\n\n');
  await settle();
  latest().write('data: d\n\n');
  latest().end();
  await client.until('\r\n0\r\n\r\n');
  t.equal(
    body(client.text()),
    ['d\r\ndata: first\n\n', '1b\r\ndata: a\n\ndata: b\n\ndata: c\n\n', '9\r\ndata: d\n\n', '0\r\n\r\n'].join(
      '\r\n',
    ),
  );
});

t.test('sends the head with an empty comment if there is no output yet', async (t) => {
  const { routes, latest } = streaming();
  const { url } = await serve(t, routes);
  const response = await fetch(`${url}/stream`);
  latest().write('data: 1\n\n');
  latest().end();
  t.equal(await response.text(), ':\n\ndata: 1\n\n');
});

t.test('keeps the bytes of non-ASCII characters', async (t) => {
  const { routes, latest } = streaming();
  const { url } = await serve(t, routes);
  const response = await fetch(`${url}/stream`);
  latest().write('data: é€😀\n\n');
  latest().end();
  t.equal(await response.text(), ':\n\ndata: é€😀\n\n');
});

t.test('closes at once on end, and notifies every listener once, including later ones', async (t) => {
  const { routes, latest } = streaming();
  const { url, streams, inFlight, observed } = await serve(t, routes);
  const response = await fetch(`${url}/stream`);
  t.equal(streams(), 1);
  t.equal(observed.length, 0, 'a request is counted after its stream has ended');
  const told: string[] = [];
  const stream = latest();
  stream.onClose(() => told.push('first'));
  stream.onClose(() => told.push('second'));
  t.equal(stream.closed, false);
  stream.end();
  stream.end();
  t.equal(stream.closed, true);
  stream.onClose(() => told.push('late'));
  t.strictSame(told, ['first', 'second', 'late']);
  await response.text();
  t.strictSame(told, ['first', 'second', 'late']);
  t.equal(streams(), 0);
  t.equal(inFlight(), 0);
  t.equal(observed.length, 1);
});

t.test('closes once when the client disconnects, and ignores later writes', async (t) => {
  const { routes, latest } = streaming();
  const { port, streams, inFlight, observed } = await serve(t, routes);
  const client = wire(t, port, get('/stream'));
  await client.until(':\n\n');
  const stream = latest();
  let told = 0;
  stream.onClose(() => {
    told += 1;
  });
  client.socket.destroy();
  await when(() => stream.closed);
  stream.write('data: late\n\n');
  stream.end();
  await settle();
  t.equal(told, 1);
  t.equal(streams(), 0);
  t.equal(inFlight(), 0);
  t.match(observed, [{ route: '/stream', status: 200 }]);
});

t.test('does not report an error when the client disconnects during the last write', async (t) => {
  const { routes, latest } = streaming();
  const { port, streams, errors } = await serve(t, routes);
  const client = wire(t, port, get('/stream'));
  await client.until(':\n\n');
  client.socket.destroy();
  const stream = latest();
  while (!stream.closed) {
    stream.write('data: x\n\n');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await settle();
  t.equal(streams(), 0);
  t.strictSame(errors, []);
});

t.test('logs a throwing listener without affecting others', async (t) => {
  const { routes, latest } = streaming();
  const { url, port, errors, streams } = await serve(t, routes);
  const client = wire(t, port, get('/stream'));
  await client.until(':\n\n');
  latest().onClose(() => {
    throw new Error('bad listener');
  });
  client.socket.destroy();
  await when(() => errors.length === 1);
  t.match(errors[0], { data: { err: { message: 'bad listener' } } });
  t.equal(streams(), 0);
  t.equal((await fetch(`${url}/unknown`)).status, 404);
});

t.test('sends heartbeats on an idle stream, and delays them after output', async (t) => {
  const time = installTime();
  t.teardown(time.uninstall);
  const { routes, latest } = streaming((stream) => stream.write('data: 1\n\n'));
  const { port } = await serve(t, routes, { settings: { sse_heartbeat_ms: 15_000 } });
  const client = wire(t, port, get('/stream'));
  await client.until('data: 1\n\n');
  await time.advance(14_999, settle);
  latest().write('data: 2\n\n');
  await client.until('data: 2\n\n');
  await time.advance(15_000, settle);
  // Everything sent earlier has arrived with this.
  latest().write('data: 3\n\n');
  await client.until('data: 3\n\n');
  t.notMatch(client.text(), 'heartbeat', 'no heartbeat is sent early');
  const beats = (): number => client.text().split(': heartbeat\n\n').length - 1;
  await time.advance(16_000, settle);
  await when(() => beats() === 1);
  await time.advance(16_000, settle);
  await when(() => beats() === 2);
  latest().end();
  await client.until('\r\n0\r\n\r\n');
  await time.advance(60_000, settle);
  t.equal(beats(), 2, 'no heartbeat follows the end');
  t.match(client.text(), /data: 3\n\n\r\nd\r\n: heartbeat\n\n\r\nd\r\n: heartbeat\n\n\r\n0/);
});

t.test('sends only the head of a stream on HEAD, and closes it', async (t) => {
  const { routes, latest } = streaming();
  const { url, streams, inFlight } = await serve(t, routes);
  const response = await fetch(`${url}/stream`, { method: 'HEAD' });
  t.equal(response.headers.get('content-type'), 'text/event-stream');
  t.equal(latest().closed, true);
  t.equal(streams(), 0);
  t.equal(inFlight(), 0);
});

t.test('buffers an unbound stream, which can be ended', (t) => {
  const stream = createEventStream();
  let told = 0;
  stream.onClose(() => {
    told += 1;
  });
  stream.write('data: 1\n\n', 1);
  t.equal(stream.closed, false);
  t.equal(stream.stalled, false);
  stream.end();
  t.equal(told, 1);
  t.end();
});

t.test('accepts a schema of events in the options of a route', (t) => {
  t.ok(
    route.get('/x', { id: 'getX', ...base, responses: { 200: z.json() }, handle: () => createEventStream() }),
  );
  t.end();
});
