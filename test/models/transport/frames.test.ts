import t from 'tap';
import { BOUNDS } from '../../../src/models/bounds.ts';
import { AMAZON_FRAMES } from '../../../src/models/transport/frames.ts';
import { errorFrame, frame } from './frames.ts';
import { ask, openTransport, startRawServer } from './open.ts';

const BODY = Buffer.concat([
  frame('messageStart', { role: 'assistant' }),
  frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: '😀' } }),
  frame('throttlingException', { message: 'slow' }, 'exception'),
  errorFrame('InternalError', 'oops'),
]);
const SEEN = [
  ['messageStart', '{"role":"assistant"}'],
  ['contentBlockDelta', '{"contentBlockIndex":0,"delta":{"text":"😀"}}'],
  ['exception:throttlingException', '{"message":"slow"}'],
  ['error', '{"message":"oops","code":"InternalError"}'],
];

/** The outcome of a body in these chunks. */
const readAll = (chunks: readonly Buffer[]) => {
  const seen: string[][] = [];
  const reader = AMAZON_FRAMES();
  const sink = {
    event(name: string, data: string) {
      seen.push([name, data]);
      return false;
    },
  };
  const results = chunks.map((chunk) => reader.read(chunk, sink));
  return { seen, results, end: reader.end(sink), reader };
};

const failureOf = (chunks: readonly Buffer[]): unknown => {
  try {
    return readAll(chunks).results;
  } catch (error) {
    return error;
  }
};

t.test('reads the same events from every split of the bytes', async (t) => {
  for (let cut = 0; cut <= BODY.length; cut += 1) {
    const { seen, end } = readAll([BODY.subarray(0, cut), BODY.subarray(cut)]);
    t.strictSame(seen, SEEN);
    t.equal(end, 'more');
  }
  t.strictSame(readAll(Array.from(BODY, (byte) => Buffer.of(byte))).seen, SEEN);
});

t.test('reports a body that ends within a frame as cut', async (t) => {
  t.equal(readAll([BODY.subarray(0, -1)]).end, 'cut');
  t.equal(readAll([BODY.subarray(0, 3)]).end, 'cut');
});

t.test('reads nothing after the end of a completion', async (t) => {
  let count = 0;
  const reader = AMAZON_FRAMES();
  const sink = {
    event: () => {
      count += 1;
      return true;
    },
  };
  t.equal(reader.read(BODY, sink), 'complete');
  t.equal(count, 1);
});

const withByte = (at: number, value: number): Buffer => {
  const bytes = Buffer.from(BODY);
  bytes[at] = value;
  return bytes;
};
const length = (bytes: number): Buffer => {
  const prelude = Buffer.alloc(16);
  prelude.writeUInt32BE(bytes);
  return prelude;
};
const broken: [name: string, body: Buffer, error: object][] = [
  ['whose content was changed', withByte(60, 0), { class: 'stream_interrupted' }],
  ['whose checksum was changed', withByte(9, BODY[9] === 0 ? 1 : 0), { class: 'stream_interrupted' }],
  ['that is shorter than any frame', length(8), { class: 'stream_interrupted' }],
  [
    'that is longer than the bound',
    length(BOUNDS.frameBytes + 1),
    { class: 'provider', transient: false, message: /an event of the response has more than \d+ bytes/ },
  ],
];
for (const [name, body, error] of broken) {
  t.test(`rejects a frame ${name}`, async (t) => {
    t.match(failureOf([body]), error);
    t.match(failureOf(Array.from(body, (byte) => Buffer.of(byte))), error);
  });
}

t.test('aborts an endless completion', async (t) => {
  const large = frame('x', 'y'.repeat(BOUNDS.frameBytes - 1000));
  t.match(failureOf(Array.from({ length: 64 }, () => large)), {
    class: 'provider',
    transient: false,
    message: /the response has more than \d+ bytes/,
  });
});

t.test('recognizes JSON and pages in place of frames', async (t) => {
  const bodies: [body: string, message: RegExp][] = [
    ['{"message":"no such model"}', /no such model/],
    ['<html><title>Proxy</title></html>', /an HTML page: Proxy/],
  ];
  for (const [body, message] of bodies) {
    const { url } = await startRawServer(
      t,
      (socket) =>
        void socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`),
    );
    const asked = ask(openTransport(t), url, { reader: { framing: AMAZON_FRAMES } });
    await t.rejects(asked, { class: 'provider', message });
  }
});
