import t from 'tap';
import { route } from '../../src/http/route.ts';
import { createEventStream, type EventStream } from '../../src/http/sse.ts';
import { installTime } from '../property/time.ts';
import { get, serve, settle, turn, type Wire, when, wire } from './serve.ts';

/**
 * Sockets accept some megabytes before they block. Therefore a client stops reading, and one frame is written per tick
 * until the stream reports that it is stalled.
 */
const FRAME = `data: ${'x'.repeat(64_000)}\n\n`;
const BOUND = 10;

const open = new Map<string, EventStream>();
let overflows = 0;

const streamRoute = (path: string, onOverflow?: () => void) =>
  route.get(path, {
    id: 'getPath',
    summary: 'stream',
    needs: 'nothing',
    responses: { 200: 'text/event-stream' },
    handle({ header }) {
      const stream = createEventStream(onOverflow && { onOverflow });
      open.set(header('x-name') ?? '', stream);
      return stream;
    },
  });

const routes = [
  streamRoute('/cut'),
  streamRoute('/reread', () => {
    overflows += 1;
  }),
];

const connectTo = async (t: Parameters<typeof wire>[0], port: number, path: string, name: string) => {
  const client = wire(t, port, get(path, `X-Name: ${name}`));
  await client.until(':\n\n');
  const stream = open.get(name);
  if (!stream) throw new Error('no stream');
  return { client, stream };
};

const stall = async (client: Wire, stream: EventStream): Promise<number> => {
  client.socket.pause();
  let frames = 0;
  while (!stream.stalled) {
    stream.write(FRAME);
    frames += 1;
    await turn();
  }
  return frames;
};

const framesIn = (client: Wire, pattern: RegExp): number => client.text().match(pattern)?.length ?? 0;

t.test('disconnects a reader beyond the limit, and no other reader', async (t) => {
  const { port, streams, inFlight, observed } = await serve(t, routes, {
    settings: { sse_buffer_size: BOUND },
  });
  const slow = await connectTo(t, port, '/cut', 'slow');
  const fast = await connectTo(t, port, '/cut', 'fast');
  const told: string[] = [];
  slow.stream.onClose(() => told.push('closed'));

  await stall(slow.client, slow.stream);
  for (let frame = 0; frame < BOUND; frame += 1) {
    slow.stream.write('data: held\n\n');
    await turn();
  }
  t.equal(slow.stream.closed, false, 'a reader at the limit stays connected');
  t.strictSame(told, []);
  slow.stream.write('data: one too many\n\n');
  t.equal(slow.stream.closed, true);
  t.strictSame(told, ['closed']);
  t.match(observed, [{ route: '/cut', status: 200 }]);

  fast.stream.write('data: still here\n\n');
  await fast.client.until('data: still here\n\n');
  t.equal(fast.stream.closed, false);
  t.equal(streams(), 1);
  t.equal(inFlight(), 1);
  slow.client.socket.resume();
  await slow.client.end();
});

t.test('counts the frames of a write as the writer reports them', async (t) => {
  const { port } = await serve(t, routes, { settings: { sse_buffer_size: BOUND } });
  const { client, stream } = await connectTo(t, port, '/cut', 'counted');
  await stall(client, stream);
  stream.write('data: held\n\n', BOUND);
  t.equal(stream.closed, false);
  stream.write('data: held\n\n', 1);
  t.equal(stream.closed, true);
});

t.test('accepts any number of frames in a tick while the socket accepts data', async (t) => {
  const { port } = await serve(t, routes, { settings: { sse_buffer_size: BOUND } });
  const { client, stream } = await connectTo(t, port, '/cut', 'many');
  for (let frame = 0; frame < BOUND * 100; frame += 1) stream.write('data: n\n\n');
  stream.write('data: last\n\n');
  await client.until('data: last\n\n');
  t.equal(framesIn(client, /data: n\n\n/g), BOUND * 100);
  t.equal(stream.closed, false);
});

t.test('delivers all frames to a reader that resumes before the limit', async (t) => {
  const { port } = await serve(t, routes, { settings: { sse_buffer_size: BOUND } });
  const { client, stream } = await connectTo(t, port, '/cut', 'back');
  let drains = 0;
  stream.onDrain(() => {
    drains += 1;
  });
  const frames = await stall(client, stream);
  stream.write('data: held 1\n\n');
  stream.write('data: held 2\n\n');
  await settle();
  client.socket.resume();
  await client.until('data: held 2\n\n');
  await when(() => drains === 1);
  t.equal(stream.stalled, false);
  stream.write('data: after\n\n');
  stream.end();
  await client.until('data: after\n\n');
  t.equal(framesIn(client, /data: x+\n\n/g), frames);
  t.ok(client.text().indexOf('held 1') < client.text().indexOf('held 2'));
});

t.test('sends no heartbeat to a stalled socket', async (t) => {
  const time = installTime();
  t.teardown(time.uninstall);
  const { port } = await serve(t, routes, { settings: { sse_buffer_size: BOUND, sse_heartbeat_ms: 10 } });
  const { client, stream } = await connectTo(t, port, '/cut', 'silent');
  await stall(client, stream);
  await time.advance(60, settle);
  t.equal(stream.stalled, true);
  client.socket.resume();
  stream.write('data: held\n\n');
  await client.until('data: held\n\n');
  const afterStall = client.text().slice(client.text().lastIndexOf('xx\n\n'));
  t.match(afterStall, /^xx\n\n\r\nc\r\ndata: held\n\n/);
});

t.test('drops held frames with onOverflow, and lets the owner rewrite them after the drain', async (t) => {
  const { port } = await serve(t, routes, { settings: { sse_buffer_size: BOUND } });
  const { client, stream } = await connectTo(t, port, '/reread', 'reread');
  overflows = 0;
  let drains = 0;
  stream.onDrain(() => {
    drains += 1;
    stream.write('data: read again\n\n');
  });
  const frames = await stall(client, stream);
  for (let frame = 0; frame <= BOUND; frame += 1) stream.write('data: dropped\n\n');
  t.equal(overflows, 1);
  for (let frame = 0; frame <= BOUND; frame += 1) stream.write('data: ignored\n\n');
  t.equal(overflows, 1, 'one stall is reported once');
  t.equal(stream.closed, false);

  client.socket.resume();
  await client.until('data: read again\n\n');
  t.equal(drains, 1);
  t.equal(
    framesIn(client, /data: x+\n\n/g),
    frames,
    'frames that were written before the stall are delivered',
  );
  t.equal(framesIn(client, /dropped|ignored/g), 0);

  await stall(client, stream);
  stream.write('data: dropped\n\n', BOUND + 1);
  t.equal(overflows, 2, 'each stall is reported once');
});

t.test('delivers everything of a stream that ends while it is stalled', async (t) => {
  const { port, inFlight } = await serve(t, routes, { settings: { sse_buffer_size: BOUND } });
  const { client, stream } = await connectTo(t, port, '/cut', 'ending');
  await stall(client, stream);
  stream.write('data: last words\n\n');
  stream.end();
  await settle();
  t.equal(inFlight(), 0);
  client.socket.resume();
  await client.until('data: last words\n\n\r\n0\r\n\r\n');
});
