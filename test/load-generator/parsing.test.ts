import t from 'tap';
import { createFrames } from '../../src/load-generator/frames.ts';
import { createResponseReader } from '../../src/load-generator/response.ts';
import fc from '../random.ts';

const LOOK_FOR = { first: '"text_delta"', terminal: '"run_finish"' };

const BODY = [
  'data: {"event_type":"run_start","text":"not data: at the start"}\n\n',
  ': heartbeat\n\n',
  'data: {"event_type":"text_delta","delta":"é\\n"}\n\n',
  'event: named\nid: 4\ndata: {"event_type":"text_delta","delta":""}\n\n',
  'dat: no\n\nd\n\n',
  'data: {"event_type":"run_finish"}\n\n',
];

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n';

const chunked = (parts: readonly string[], trailer = ''): string =>
  `${HEAD}Transfer-Encoding: chunked\r\n\r\n${parts
    .map((part) => `${Buffer.byteLength(part).toString(16)};x=1\r\n${part}\r\n`)
    .join('')}0\r\n${trailer}\r\n`;

/** Every chunk arrives in the same memory, as it does from the sockets of a load. */
const read = (text: string, sizes: readonly number[]) => {
  const whole = Buffer.from(text);
  const shared = Buffer.alloc(whole.length);
  const frames = createFrames(LOOK_FOR);
  const seen = { status: 0, events: 0, ends: 0, reusable: false };
  const reader = createResponseReader({
    head: (status) => {
      seen.status = status;
    },
    body: (piece, from, to) => {
      seen.events += frames.push(piece, from, to);
    },
    end: (reusable) => {
      seen.ends += 1;
      seen.reusable = reusable;
    },
  });
  let fault: string | undefined;
  for (let at = 0, turn = 0; at < whole.length && fault === undefined; turn += 1) {
    const length = Math.min(whole.length - at, sizes[turn % sizes.length] ?? 1);
    shared.fill('x');
    whole.copy(shared, 0, at, at + length);
    fault = reader.push(shared, length);
    frames.settle();
    at += length;
  }
  reader.finish();
  return { ...seen, fault, sawFirst: frames.sawFirst, atTerminal: frames.atTerminal };
};

t.test('a chunked response gives the same result wherever it is split', (t) => {
  const pieces = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 });
  const joins = fc.array(fc.boolean(), { minLength: BODY.length, maxLength: BODY.length });
  fc.assert(
    fc.property(pieces, joins, (sizes, joined) => {
      const chunks: string[] = [];
      for (const [index, part] of BODY.entries()) {
        if (joined[index] && chunks.length > 0) chunks.push(`${chunks.pop()}${part}`);
        else chunks.push(part);
      }
      t.match(
        read(chunked(chunks, 'Trailer: x\r\n'), sizes),
        {
          status: 200,
          events: 4,
          ends: 1,
          reusable: true,
          fault: undefined,
          sawFirst: true,
          atTerminal: true,
        },
        'counted',
      );
    }),
    { numRuns: 60 },
  );
  t.end();
});

t.test('reads a body of known length and one that ends with the connection', (t) => {
  const body = BODY.join('');
  const known = read(`${HEAD}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, [7]);
  t.match(known, { events: 4, ends: 1, reusable: true, atTerminal: true });
  const open = read(`${HEAD}\r\n${body}`, [7]);
  t.match(open, { events: 4, ends: 1, reusable: false, atTerminal: true });
  t.end();
});

t.test('does not reuse a connection that the server is about to close', (t) => {
  const closing = read(`${HEAD}Connection: close\r\ncontent-length: 0\r\n\r\n`, [100]);
  t.match(closing, { ends: 1, reusable: false });
  t.match(read('HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n', [100]), { ends: 1, reusable: false });
  t.end();
});

t.test('reports data that is not a response', (t) => {
  t.equal(read('SSH-2.0-x\r\n\r\n', [100]).fault, 'not an HTTP/1.1 response');
  t.equal(read(`${HEAD}transfer-encoding: chunked\r\n\r\nxyz\r\n`, [100]).fault, 'a chunk without a size');
  t.equal(read(`${chunked(BODY)}HTTP`, [10_000]).fault, 'bytes after the end of the response');
  t.end();
});

t.test('a stream with data after its terminal frame is not at its terminal frame', (t) => {
  t.notOk(read(chunked([...BODY, 'data: {"event_type":"error"}\n\n']), [10_000]).atTerminal);
  t.end();
});

t.test('an unfinished line does not count', (t) => {
  t.match(read(chunked(['data: {"event_type":"run_start"}\n\n', 'data: {"event_type":"run_finish"']), [9]), {
    events: 1,
    atTerminal: false,
  });
  t.end();
});
