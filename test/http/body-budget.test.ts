import t from 'tap';
import { z } from 'zod';
import { FREE_BYTES } from '../../src/http/body-budget.ts';
import { reply, route } from '../../src/http/route.ts';
import { type ServeOptions, serve, settle, when, wire } from './serve.ts';

const MIB = 1024 * 1024;

const routes = [
  route.post('/body', {
    id: 'postBody',
    summary: 'a body',
    needs: 'nothing',
    body: z.array(z.string()),
    responses: { 204: 'taken' },
    handle: () => reply(204),
  }),
];

const start = (t: Parameters<typeof serve>[0], settings: NonNullable<ServeOptions['settings']>) =>
  serve(t, routes, { settings: { body_limit_bytes: 8 * MIB, ...settings } });

const headOf = (length: number): string =>
  `POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

const bodyOf = (length: number): string => JSON.stringify(['x'.repeat(length - 4)]);

t.test('limits the size of all pending bodies: a long one above it gets 503', async (t) => {
  const { port, received } = await start(t, { request_buffer_bytes: 4 * MIB });
  const slow = [0, 1].map(() => wire(t, port, headOf(8 * MIB) + bodyOf(8 * MIB).slice(0, 2 * MIB)));
  await when(() => received() === 2 * (2 * MIB - FREE_BYTES));
  const excess = wire(t, port, headOf(2 * MIB) + bodyOf(2 * MIB).slice(0, -1));
  const answer = await excess.until('try again');
  t.match(answer, 'HTTP/1.1 503');
  t.match(answer, /retry-after: \d/);
  const short = bodyOf(60_000);
  const client = wire(t, port, headOf(short.length) + short.slice(0, 30_000));
  await settle();
  client.send(short.slice(30_000));
  t.match(await client.until('\r\n\r\n'), 'HTTP/1.1 204');
  for (const { socket } of slow) socket.destroy();
  await when(() => received() === 0);
  const whole = bodyOf(3 * MIB);
  t.match(await wire(t, port, headOf(whole.length) + whole).until('\r\n\r\n'), 'HTTP/1.1 204');
  t.equal(received(), 0);
});

t.test('returns 408 for a body that exceeds its timeout, and releases its memory', async (t) => {
  const { port, received, inFlight } = await start(t, { body_timeout_ms: 50 });
  const client = wire(t, port, headOf(4 * MIB) + bodyOf(4 * MIB).slice(0, MIB));
  t.match(await client.until('body_timeout_ms'), 'HTTP/1.1 408');
  t.equal(received(), 0);
  t.equal(inFlight(), 0);
  client.send(bodyOf(4 * MIB).slice(MIB));
  await settle();
  t.equal(received(), 0);
});

t.test('releases the memory of a body whose scope is rejected', async (t) => {
  const guarded = route.post('/body', { ...spec, needs: 'invoke' });
  const { port, received } = await serve(t, [guarded], {
    settings: { body_limit_bytes: 8 * MIB },
    resolveScope: async () => {
      throw new Error('no');
    },
  });
  const client = wire(t, port, headOf(4 * MIB) + bodyOf(4 * MIB).slice(0, MIB));
  await client.until('401');
  client.send(bodyOf(4 * MIB).slice(MIB, 2 * MIB));
  await when(() => received() === 0);
  t.equal(received(), 0);
});

const spec = {
  id: 'postBody',
  summary: 'a body',
  body: z.array(z.string()),
  responses: { 204: 'taken' },
  handle: () => reply(204),
};
