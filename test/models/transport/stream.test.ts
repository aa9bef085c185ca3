import { createHook } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { setImmediate as nextTick } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { BOUNDS } from '../../../src/models/bounds.ts';
import {
  ask,
  chunked,
  HEAD,
  LAST_CHUNK,
  openTransport,
  response,
  type Seen,
  startRawServer,
} from './open.ts';

const EVENTS = [
  'data: {"a":"😀"}\r\n\r\n',
  ': alive\n\n',
  'event: x\ndata: {"finish":1}\n\n',
  'data: [DONE]\n\n',
];
const SEEN: Seen = [
  ['', '{"a":"😀"}'],
  ['x', '{"finish":1}'],
  ['', '[DONE]'],
];

const answering = (bytes: Buffer | string) => (socket: Socket) => void socket.write(bytes);

t.test('reads a stream in chunks of one byte', async (t) => {
  const bytes = Array.from(Buffer.from(EVENTS.join('')), (byte) => chunked(Buffer.of(byte)));
  const { url } = await startRawServer(t, answering(Buffer.concat([Buffer.from(HEAD), ...bytes])));
  t.strictSame(await ask(openTransport(t), url), { end: 'complete', seen: SEEN });
});

t.test('reads a body that ends with its connection', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
  const { url } = await startRawServer(t, (socket) => void socket.end(head + EVENTS.slice(0, 2).join('')));
  t.strictSame(await ask(openTransport(t), url), { end: 'ended', seen: SEEN.slice(0, 1) });
});

t.test('fails a request whose connection breaks at any byte, unless the completion had ended', async (t) => {
  const bytes = response(EVENTS);
  const cuts = Array.from({ length: bytes.length + 1 }, (_, cut) => cut);
  const finished = bytes.indexOf('{"finish":1}\n\n') + '{"finish":1}\n\n'.length;
  const done = bytes.indexOf('[DONE]\n\n') + '[DONE]\n\n'.length;
  const transport = openTransport(t);
  let cut = 0;
  const { url, connections } = await startRawServer(t, (socket) => void socket.end(bytes.subarray(0, cut)));
  for (cut of cuts) {
    const outcome = await ask(transport, url).then(
      ({ end }) => end,
      ({ class: kind, message }) => `${kind}: ${message}`,
    );
    if (cut >= done) t.equal(outcome, 'complete', `byte ${cut}`);
    else if (cut >= finished) t.equal(outcome, 'ended', `byte ${cut}`);
    else if (cut >= HEAD.length) {
      t.equal(outcome, 'stream_interrupted: stream interrupted (connection reset)', `byte ${cut}`);
    } else t.match(outcome, /^provider: provider error: Cannot connect to API: /, `byte ${cut}`);
  }
  // Only a request on an idle connection is repeated; these connections are new.
  t.equal(connections(), cuts.length);
});

for (const [coding, compress] of [
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
] as const) {
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ntransfer-encoding: chunked\r\n\r\n`;

  t.test(`${coding}: decompresses a stream, and reuses its connection`, async (t) => {
    const bytes = Array.from(compress(EVENTS.join('')), (byte) => chunked(Buffer.of(byte)));
    const whole = Buffer.concat([Buffer.from(head), ...bytes, Buffer.from(LAST_CHUNK)]);
    const { url, connections } = await startRawServer(t, answering(whole));
    const transport = openTransport(t);
    for (let turn = 0; turn < 2; turn += 1) {
      t.strictSame(await ask(transport, url), { end: 'complete', seen: SEEN });
      await nextTick();
    }
    t.equal(connections(), 1);
  });

  t.test(`${coding}: enforces the limit of an event after decompression`, async (t) => {
    const bomb = compress(Buffer.concat([Buffer.from('data: '), Buffer.alloc(64 * 1024 * 1024, 'x')]));
    const { url } = await startRawServer(t, answering(Buffer.concat([Buffer.from(head), chunked(bomb)])));
    await t.rejects(ask(openTransport(t), url), {
      class: 'provider',
      message: /an event of the response has more than 8388608 bytes/,
    });
  });

  t.test(`${coding}: reports a truncated body as an interrupted stream`, async (t) => {
    const bytes = compress(EVENTS.slice(0, 1).join(''));
    const cut = Buffer.concat([Buffer.from(head), chunked(bytes.subarray(0, -4)), Buffer.from(LAST_CHUNK)]);
    const { url } = await startRawServer(t, answering(cut));
    await t.rejects(ask(openTransport(t), url), {
      name: 'ModelError',
      class: 'stream_interrupted',
    });
  });
}

t.test('rejects an unsupported content coding', async (t) => {
  const head = HEAD.replace('content-type', 'content-encoding: zstd\r\ncontent-type');
  const { url } = await startRawServer(t, answering(response(EVENTS, head)));
  await t.rejects(ask(openTransport(t), url), {
    class: 'provider',
    transient: false,
    message: 'provider error: content-encoding must be one of gzip, x-gzip, deflate, br (got zstd)',
  });
});

t.test('reads a stream of 52 MB', async (t) => {
  const event = `data: ${JSON.stringify({ text: 'x'.repeat(52 * 1024) })}\n\n`;
  const { url } = await startRawServer(t, (socket) => {
    socket.write(HEAD);
    for (let turn = 0; turn < 1024; turn += 1) socket.write(chunked(event));
    socket.write(chunked('data: [DONE]\n\n'));
    socket.write(LAST_CHUNK);
  });
  const { end, seen } = await ask(openTransport(t), url);
  t.equal(end, 'complete');
  t.equal(seen.length, 1025);
});

t.test('rejects an event beyond its limit, and closes the connection', async (t) => {
  const closed = new Promise<void>((resolve) => {
    const flood = (socket: Socket): void => {
      socket.on('close', () => resolve());
      socket.write(HEAD);
      for (let sent = 0; sent <= BOUNDS.frameBytes; sent += 65_536)
        socket.write(chunked(Buffer.alloc(65_536, 'x')));
    };
    startRawServer(t, flood).then(({ url }) =>
      t.rejects(ask(openTransport(t), url), { name: 'ModelError', class: 'provider', transient: false }),
    );
  });
  await closed;
});

const RESPONSES: [name: string, bytes: string, error: object][] = [
  [
    'a redirect',
    'HTTP/1.1 307 Elsewhere\r\nlocation: https://other.test/path?key=hidden\r\ncontent-length: 0\r\n\r\n',
    {
      class: 'invalid_request',
      status: 307,
      message:
        'invalid request: the provider redirects to https://other.test/path; base_url must lead there itself',
    },
  ],
  [
    'a rate limit',
    'HTTP/1.1 429 Slow down\r\nretry-after: 7\r\ncontent-length: 27\r\n\r\n{"error":{"message":"why"}}',
    { class: 'rate_limited', status: 429, retryAfterSeconds: 7, message: 'rate limited: why' },
  ],
  [
    'a status without a body',
    'HTTP/1.1 503 Gone away\r\ncontent-length: 0\r\n\r\n',
    { class: 'overloaded', status: 503, message: 'provider overloaded: Gone away' },
  ],
  [
    'a refusal whose body is cut off',
    'HTTP/1.1 401 No\r\ncontent-length: 270\r\n\r\n{"error":{"message":"why"}}',
    { class: 'unauthorized', status: 401 },
  ],
  [
    'a page with status 200',
    'HTTP/1.1 200 OK\r\ncontent-length: 38\r\n\r\n<html><title>Sign in</title><body>here',
    { class: 'provider', transient: false, message: /not an event stream but an HTML page: Sign in$/ },
  ],
  [
    'an error with status 200',
    'HTTP/1.1 200 OK\r\ncontent-length: 38\r\n\r\n{"error":{"message":"why","code":401}}',
    { class: 'unauthorized', status: 401, message: 'unauthorized: why' },
  ],
  [
    'an error behind an event',
    `HTTP/1.1 200 OK\r\ncontent-length: 49\r\n\r\ndata: 1\n\n\n\n{"error":{"message":"why","code":401}}`,
    { class: 'unauthorized', message: 'unauthorized: why' },
  ],
  [
    'JSON that is no error',
    'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"a": 12}',
    { class: 'provider', transient: false, message: /not an event stream but JSON that is no error$/ },
  ],
];
for (const [name, bytes, error] of RESPONSES) {
  t.test(`classifies ${name}`, async (t) => {
    const { url } = await startRawServer(t, (socket) => void socket.end(bytes));
    await t.rejects(ask(openTransport(t), url), { name: 'ModelError', ...error });
  });
}

t.test('reads only the beginning of an error response', async (t) => {
  const { url } = await startRawServer(t, (socket) => {
    socket.write('HTTP/1.1 500 Oops\r\n\r\n{"error":"why');
    socket.write(Buffer.alloc(BOUNDS.errorBytes, 'x'));
  });
  await t.rejects(ask(openTransport(t), url), { name: 'ModelError', class: 'provider', status: 500 });
});

t.test('passes a whole completion in place of a stream to the reader', async (t) => {
  const body = `{"choices":["${'x'.repeat(2 * BOUNDS.errorBytes)}"]}`;
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
  const { url } = await startRawServer(t, answering(head + body));
  let given = '';
  const whole = (text: string): boolean => {
    given = text;
    return true;
  };
  t.equal((await ask(openTransport(t), url, { reader: { whole } })).end, 'complete');
  t.ok(given === body);
  await t.rejects(ask(openTransport(t), url, { reader: { whole: () => false } }), {
    name: 'ModelError',
    class: 'provider',
  });
});

const STALLS: [name: string, bytes: string, message: string][] = [
  ['before the head', '', 'timeout: inference timeout after 1s'],
  ['inside of the head', 'HTTP/1.1 200', 'timeout: inference timeout after 1s'],
  ['after the head', HEAD, 'timeout: stream idle timeout after 1s'],
  ['inside of an event', HEAD + chunked('data: {').toString(), 'timeout: stream idle timeout after 1s'],
  ['after a status of failure', 'HTTP/1.1 500 Oops\r\n\r\n{', 'timeout: inference timeout after 1s'],
];
for (const [name, bytes, message] of STALLS) {
  t.test(`reports an upstream that stalls ${name} as a timeout, and closes its connection`, async (t) => {
    const closed = new Promise<void>((resolve) => {
      const stall = (socket: Socket): void => {
        socket.on('close', () => resolve());
        socket.write(bytes);
      };
      startRawServer(t, stall).then(({ url }) =>
        t.rejects(ask(openTransport(t), url, { seconds: 1 }), { class: 'timeout', message }),
      );
    });
    await closed;
  });
}

t.test('events, but not single bytes, keep a slow completion alive', async (t) => {
  const { url } = await startRawServer(t, (socket) => {
    socket.write(HEAD);
    const timer = setInterval(() => socket.write(chunked('x')), 20);
    socket.on('close', () => clearInterval(timer));
  });
  await t.rejects(ask(openTransport(t), url, { idle: 0.2 }), { message: 'stream interrupted (idle stall)' });
});

t.test('waits only briefly for the body after the end was reported', async (t) => {
  const { url, sockets } = await startRawServer(t, answering(HEAD + chunked(EVENTS[2] ?? '').toString()));
  t.strictSame(await ask(openTransport(t), url), { end: 'ended', seen: [['x', '{"finish":1}']] });
  while (sockets.size > 0) await nextTick();
});

t.test('an exception of the reader ends the request, and nothing is read afterwards', async (t) => {
  const { url, sockets } = await startRawServer(t, answering(response(EVENTS)));
  let calls = 0;
  const event = (): boolean => {
    calls += 1;
    throw new TypeError('full');
  };
  await t.rejects(ask(openTransport(t), url, { reader: { event } }), new TypeError('full'));
  t.equal(calls, 1);
  while (sockets.size > 0) await nextTick();
});

t.test('creates no promise per chunk', async (t) => {
  const count = async (chunks: number): Promise<number> => {
    const { url } = await startRawServer(t, (socket) => {
      socket.write(HEAD);
      let sent = 0;
      const send = (): void => {
        sent += 1;
        socket.write(chunked(sent > chunks ? 'data: [DONE]\n\n' : `data: {"n":${sent}}\n\n`));
        if (sent <= chunks) setImmediate(send);
      };
      send();
    });
    const transport = openTransport(t);
    let promises = 0;
    const hook = createHook({
      init(_, type) {
        if (type === 'PROMISE') promises += 1;
      },
    }).enable();
    const { seen } = await ask(transport, url);
    hook.disable();
    t.equal(seen.length, chunks + 1);
    return promises;
  };
  await count(1);
  const few = await count(10);
  const many = await count(1000);
  t.ok(many - few < 20, `${few} promises for 10 chunks, ${many} for 1,000`);
});
