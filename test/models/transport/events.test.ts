import t from 'tap';
import { BOUNDS } from '../../../src/models/bounds.ts';
import { createEventDecoder, decode, decodeEnd } from '../../../src/models/transport/events.ts';

type Event = [name: string, data: string];

/** The outcome of a body in these chunks. */
const read = (chunks: readonly Buffer[]) => {
  const events: Event[] = [];
  const decoder = createEventDecoder();
  const sink = {
    event: (name: string, data: string) => {
      events.push([name, data]);
      return data === '[DONE]';
    },
  };
  for (const chunk of chunks) {
    const decoded = decode(decoder, chunk, sink);
    if (decoded !== 'more') return { events, decoded, rest: decoder.unframed.toString() };
  }
  return { events, decoded: decodeEnd(decoder, sink), rest: decoder.unframed.toString() };
};

const inTwo = (bytes: Buffer, at: number): Buffer[] => [bytes.subarray(0, at), bytes.subarray(at)];
const inBytes = (bytes: Buffer): Buffer[] => Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));

const REFERENCE = [
  '\uFEFFdata: first\n\n',
  ': a comment\ndata:{"a":"😀é"}\r\n\r\n',
  'event: ping\rdata: x\r\r',
  'event: content_block_delta\r\ndata: line one\r\ndata: line two\r\ndata\r\n\r\n',
  'id: 7\nretry: 10\ndata:  two spaces\n\n',
  'event: lost without data\n\n',
  'database: ignored\nevents: ignored\n\n',
  'data: {"html":"<p>[1]{2}"}\n\n',
  'data:\n\n',
  '\n\n\r\n\r',
  'data: [DONE]\n\n',
].join('');

const EVENTS: Event[] = [
  ['', 'first'],
  ['', '{"a":"😀é"}'],
  ['ping', 'x'],
  ['content_block_delta', 'line one\nline two\n'],
  ['', ' two spaces'],
  ['', '{"html":"<p>[1]{2}"}'],
  ['', ''],
  ['', '[DONE]'],
];

t.test('decodes the same events from every split of a stream', async (t) => {
  const bytes = Buffer.from(REFERENCE);
  const whole = { events: EVENTS, decoded: 'complete', rest: '' };
  t.strictSame(read([bytes]), whole);
  t.strictSame(read(inBytes(bytes)), whole);
  let different = 0;
  for (let one = 0; one <= bytes.length; one += 1) {
    if (JSON.stringify(read(inTwo(bytes, one))) !== JSON.stringify(whole)) different += 1;
    for (const two of [one + 1, one + 2, one + 5]) {
      const chunks = [bytes.subarray(0, one), bytes.subarray(one, two), bytes.subarray(two)];
      if (JSON.stringify(read(chunks)) !== JSON.stringify(whole)) different += 1;
    }
  }
  t.equal(different, 0);
});

t.test('decodes the same events with each kind of line break', async (t) => {
  const lines = ['event: a', 'data: 1', 'data: 2', '', 'data: [DONE]', '', ''];
  for (const end of ['\n', '\r\n', '\r']) {
    const bytes = Buffer.from(lines.join(end));
    const events = [
      ['a', '1\n2'],
      ['', '[DONE]'],
    ];
    for (const chunks of [[bytes], inBytes(bytes)]) t.match(read(chunks), { events, decoded: 'complete' });
  }
});

t.test('delivers an event without its blank line only if its data is whole JSON', async (t) => {
  const ended: [tail: string, delivered: boolean][] = [
    ['data: {"a":1}\n', true],
    ['data: {"a":1}', true],
    ['data: {"a":1', false],
    ['data: {"a":1\n', false],
    ['data: 12', false],
    ['event: x', false],
    ['', false],
  ];
  for (const [tail, delivered] of ended) {
    const { events, decoded } = read([Buffer.from(`data: 1\n\n${tail}`)]);
    t.equal(events.length, delivered ? 2 : 1, tail);
    t.equal(decoded, tail.includes('{') && !delivered ? 'cut' : 'more');
  }
});

t.test('recognizes a body that is not an event stream, in any split', async (t) => {
  const bodies: [before: string, rest: string][] = [
    ['', '{"error":{\n"message":"x"}}'],
    ['', '\uFEFF {"error":1}'],
    ['', '[{"error":1}]\n'],
    ['', '<html>\n<body>'],
    ['\n\n', ' <html>'],
    [': comment\n\n', '{"error":1}'],
    ['data: 1\n\n', '{"error":1}\n\n'],
    ['data: 1\n', '{"error":1}'],
    ['data: 1\n\n', '<html>'],
  ];
  for (const [before, rest] of bodies) {
    const bytes = Buffer.from(before + rest);
    for (let at = 0; at <= bytes.length; at += 1) {
      const [first = bytes, second = bytes] = inTwo(bytes, at);
      const found = read([first, second]);
      t.equal(found.decoded, 'unframed', `${before}${rest} split at ${at}`);
      t.ok(rest.startsWith(found.rest), `${found.rest} begins ${rest}`);
    }
  }
  t.equal(
    read([Buffer.from('data: a\n[1]\n<b>\n\n')]).decoded,
    'more',
    'lines inside an event are not inspected',
  );
});

t.test('rejects an event beyond its limit, in one line or in many', async (t) => {
  const bytes = Buffer.alloc(64 * 1024, 'x');
  const chunks = (chunk: Buffer) => Array.from({ length: BOUNDS.frameBytes / chunk.length + 1 }, () => chunk);
  const problem = {
    class: 'provider',
    transient: false,
    message: /an event of the response has more than 8388608 bytes/,
  };
  t.throws(() => read([Buffer.from('data: '), ...chunks(bytes)]), problem);
  t.throws(() => read(chunks(Buffer.from(`data: ${'x'.repeat(64 * 1024 - 7)}\n`))), problem);
  const within = Buffer.concat([Buffer.from('data: '), ...chunks(bytes).slice(2), Buffer.from('\n\n')]);
  t.equal(read([within]).events.length, 1);
});

t.test('rejects a stream beyond its limit, including comments', async (t) => {
  const chunk = Buffer.from(`: ${'x'.repeat(1024 * 1024 - 3)}\n`);
  const chunks = Array.from({ length: BOUNDS.streamBytes / chunk.length + 1 }, () => chunk);
  t.throws(() => read(chunks), { class: 'provider', message: /the response has more than 268435456 bytes/ });
  t.equal(read(chunks.slice(1)).decoded, 'more');
});

t.test('copies a long event in small chunks a bounded number of times', async (t) => {
  let copied = 0;
  const { copy } = Buffer.prototype;
  t.intercept(Buffer.prototype, 'copy', {
    value(this: Buffer, ...args: Parameters<typeof copy>) {
      const count = copy.apply(this, args);
      copied += count;
      return count;
    },
  });
  const chunk = Buffer.alloc(64, 'x');
  const chunks = Array.from({ length: (1024 * 1024) / chunk.length }, () => chunk);
  const { events } = read([Buffer.from('data: '), ...chunks, Buffer.from('\n\n')]);
  t.equal(events[0]?.[1].length, 1024 * 1024);
  t.ok(copied < 3 * 1024 * 1024, `${copied} bytes were copied`);
});

t.test('copies nothing of chunks with whole events', async (t) => {
  const copies = t.capture(Buffer.prototype, 'copy', Buffer.prototype.copy);
  read(Array.from({ length: 100 }, () => Buffer.from('data: {"a":1}\r\n\r\n')));
  t.equal(copies().length, 0);
});
