import assert from 'node:assert/strict';
import t from 'tap';
import { createReplayBuffers, type ReplayBuffer } from '../../src/protocols/replay-buffer.ts';
import type { Block } from '../../src/protocols/replay-retained.ts';
import fc from '../random.ts';

const scope = 'default';

const setup = ({ capacity = 1024, idleMs = 300_000 } = {}) => {
  const clock = { at: 0, now: () => clock.at };
  const buffers = createReplayBuffers({ capacity, idleMs, clock });
  const open = (thread_id = 'T', active = (): boolean => true): ReplayBuffer =>
    buffers.open(scope, thread_id, active);
  const attach = (after?: number, thread_id = 'T') => {
    const reader = createReader();
    const detach = buffers.attach(scope, thread_id, after, reader);
    return { ...reader, detach };
  };
  /** Attaches before the first frame, like the client that requested the stream. */
  const own = (buffer: ReplayBuffer) => {
    const reader = createReader();
    return { ...reader, detach: buffer.attach(undefined, reader) };
  };
  return { clock, buffers, open, attach, own };
};

type Received = { id: number; data: string };

const createReader = () => {
  const received: Received[] = [];
  let ended = 0;
  return {
    write(frames: string, count: number): void {
      const texts = frames.split('\n\n').slice(0, -1);
      if (texts.length !== count) throw new Error(`${count} frames announced: ${frames}`);
      for (const text of texts) {
        const [, id, data] = /^id: (\d+)\ndata: (.*)$/s.exec(text) ?? [];
        received.push({ id: Number(id), data: data ?? text });
      }
    },
    end(): void {
      ended += 1;
    },
    received,
    ended: () => ended,
    data: () => received.map(({ data }) => data),
  };
};

const plain = (text: string): string => `data: ${text}\n\n`;

const block = (name: string): Block => ({ encode: (text) => plain(`${name}+${text}`) });

const grow = (buffer: ReplayBuffer, part: Block, text: string): void =>
  buffer.append(part.encode(text), { block: part, text });

t.test('sends all retained frames, then live ones, with positions from 1', async (t) => {
  const { open, attach } = setup();
  const buffer = open();
  buffer.append(plain('start'));
  buffer.append(plain('one'));
  const reader = attach();
  buffer.append(plain('two'));
  t.strictSame(reader.received, [
    { id: 1, data: 'start' },
    { id: 2, data: 'one' },
    { id: 3, data: 'two' },
  ]);
});

t.test('sends the frames after a given position', async (t) => {
  const { open, attach } = setup();
  const buffer = open();
  for (const text of ['start', 'one', 'two']) buffer.append(plain(text));
  const readers = [0, 2, 3, 99].map((after) => attach(after));
  buffer.append(plain('three'));
  t.strictSame(
    readers.map((reader) => reader.data()),
    [['start', 'one', 'two', 'three'], ['two', 'three'], ['three'], ['three']],
  );
});

t.test('sends nothing to a detached reader, but to the others', async (t) => {
  const { open, own } = setup();
  const buffer = open();
  const [gone, stays] = [own(buffer), own(buffer)];
  gone.detach();
  buffer.append(plain('start'));
  buffer.close();
  t.strictSame([gone.data(), gone.ended()], [[], 0]);
  t.strictSame([stays.data(), stays.ended()], [['start'], 1]);
});

t.test('has no stream for a thread without frames', async (t) => {
  const { open, attach, buffers } = setup();
  t.equal(attach().detach, undefined);
  const buffer = open();
  t.equal(attach().detach, undefined, 'a thread has no stream before its first frame');
  buffer.append(plain('start'));
  t.equal(attach(undefined, 'U').detach, undefined);
  t.equal(buffers.attach('other', 'T', undefined, createReader()), undefined, 'another scope has no stream');
  buffer.close();
  t.equal(attach().detach, undefined);
});

t.test('ends every reader once on close, and ignores later frames', async (t) => {
  const { open, own } = setup();
  const buffer = open();
  const reader = own(buffer);
  buffer.close();
  buffer.close();
  buffer.append(plain('late'));
  const late = createReader();
  buffer.attach(undefined, late);
  t.strictSame([reader.data(), reader.ended()], [[], 1]);
  t.strictSame([late.data(), late.ended()], [[], 1]);
});

t.test('continues the positions of a thread across runs', async (t) => {
  const { open, attach } = setup();
  const first = open();
  first.append(plain('a'));
  first.append(plain('b'));
  first.close();
  open('U').append(plain('x'));
  open().append(plain('c'));
  t.strictSame(attach().received, [{ id: 3, data: 'c' }]);
  t.strictSame(attach(undefined, 'U').received, [{ id: 1, data: 'x' }], 'positions are counted per thread');
});

t.test('keeps the stream of a newer run when an older one ends', async (t) => {
  const { open, attach } = setup();
  const older = open();
  older.append(plain('old'));
  const ofOlder = attach();
  const newer = open();
  newer.append(plain('new'));
  older.append(plain('old end'));
  newer.append(plain('more'));
  older.close();
  t.strictSame(ofOlder.data(), ['old', 'old end'], 'readers of the older run receive its end');
  t.equal(ofOlder.ended(), 1);
  t.strictSame(attach().received, [
    { id: 2, data: 'new' },
    { id: 4, data: 'more' },
  ]);
});

t.test('follows the previous stream until the new one has a frame', async (t) => {
  const { buffers, open, attach } = setup();
  const running = open();
  running.append(plain('old'));
  const joined = open();
  const newer = open();
  t.strictSame(attach().data(), ['old']);
  const joining = createReader();
  buffers.join(scope, 'T', joining);
  newer.append(plain('new'));
  joined.append(plain('late'));
  t.strictSame(joining.data(), ['new']);
  t.strictSame(joining.data(), ['new']);
  t.strictSame(attach().received, [{ id: 2, data: 'new' }]);
  for (const buffer of [running, joined]) buffer.close();
  newer.append(plain('more'));
  t.strictSame(attach().received, [
    { id: 2, data: 'new' },
    { id: 4, data: 'more' },
  ]);
});

t.test('joins adjacent deltas above the capacity, oldest first', async (t) => {
  const { open, attach } = setup({ capacity: 4 });
  const buffer = open();
  const text = block('text');
  buffer.append(plain('start'));
  for (const delta of ['a', 'b', 'c', 'd', 'e']) grow(buffer, text, delta);
  t.strictSame(attach().received, [
    { id: 1, data: 'start' },
    { id: 4, data: 'text+abc' },
    { id: 5, data: 'text+d' },
    { id: 6, data: 'text+e' },
  ]);
  t.strictSame(
    attach(3).data(),
    ['text+c', 'text+d', 'text+e'],
    'a reader inside a joined delta receives the rest',
  );
  t.strictSame(attach(4).data(), ['text+d', 'text+e']);
});

t.test('never joins deltas of different blocks, and drops nothing', async (t) => {
  const { open, attach } = setup({ capacity: 2 });
  const buffer = open();
  const [one, other] = [block('one'), block('other')];
  buffer.append(plain('start'));
  for (const delta of ['a', 'b']) {
    grow(buffer, one, delta);
    grow(buffer, other, delta);
  }
  grow(buffer, other, 'c');
  t.strictSame(attach().data(), ['start', 'one+a', 'other+a', 'one+b', 'other+bc']);
});

t.test('sends every delta separately to a live reader', async (t) => {
  const { open, own } = setup({ capacity: 1 });
  const buffer = open();
  const reader = own(buffer);
  const text = block('text');
  for (const delta of ['a', 'b', 'c']) grow(buffer, text, delta);
  t.strictSame(reader.data(), ['text+a', 'text+b', 'text+c']);
});

/** The content as a client sees it: single frames unchanged, deltas of a block as one text. */
const shown = (frames: readonly Received[]): Map<string, string> => {
  const parts = new Map<string, string>();
  for (const { data } of frames) {
    const [name = '', text] = data.split('+');
    parts.set(name, `${parts.get(name) ?? ''}${text ?? '!'}`);
  }
  return parts;
};

t.test('sends every reader exactly the missing frames from any position', async (t) => {
  const blocks = { a: block('a'), b: block('b') };
  const step = fc.record({
    kind: fc.constantFrom('a', 'a', 'a', 'b', 'other'),
    text: fc.string({ unit: fc.constantFrom('x', 'y', '"', 'é', '😀'), maxLength: 3 }),
  });
  const everywhere = fc.property(
    fc.array(step, { maxLength: 60 }),
    fc.integer({ min: 1, max: 12 }),
    (steps, capacity) => {
      const { open, attach, own } = setup({ capacity });
      const buffer = open();
      const live = own(buffer);
      for (const [index, { kind, text }] of steps.entries()) {
        if (kind === 'other') buffer.append(plain(`other${index}`));
        else grow(buffer, kind === 'a' ? blocks.a : blocks.b, text);
      }
      for (let after = 0; after <= steps.length; after += 1) {
        const rest = attach(after).received;
        const before = live.received.slice(0, after);
        assert.deepEqual(shown([...before, ...rest]), shown(live.received));
        const ids = rest.map(({ id }) => id);
        assert.deepEqual(
          ids,
          [...new Set(ids)].sort((one, other) => one - other),
        );
      }
    },
  );
  t.doesNotThrow(() => fc.assert(everywhere, { numRuns: 60 }));
});

t.test('closes an idle stream whose run has ended', async (t) => {
  const { open, attach, buffers, clock } = setup({ idleMs: 100 });
  let active = true;
  const buffer = open('T', () => active);
  clock.at = 50;
  buffer.append(plain('start'));
  const reader = attach();
  buffers.sweep(1000);
  t.equal(reader.ended(), 0, 'the run is still active');
  active = false;
  buffers.sweep(149);
  t.equal(reader.ended(), 0, 'the stream was idle for less than the limit');
  buffers.sweep(150);
  t.equal(reader.ended(), 1);
  t.equal(attach().detach, undefined);
});

t.test('closes a stream without frames whose run has ended', async (t) => {
  const { open, own, buffers } = setup({ idleMs: 100 });
  let active = true;
  const reader = own(open('T', () => active));
  buffers.sweep(1000);
  t.equal(reader.ended(), 0, 'the run may still start');
  active = false;
  buffers.sweep(1000);
  t.equal(reader.ended(), 1);
  t.equal(buffers.join(scope, 'T', createReader()), undefined);
});

t.test('continues positions even for an evicted thread', async (t) => {
  const { open, attach } = setup();
  const first = open();
  for (const text of ['a', 'b', 'c']) first.append(plain(text));
  first.close();
  for (let index = 0; index <= 10_000; index += 1) {
    const other = open(`T${index}`);
    other.append(plain('x'));
    other.close();
  }
  open().append(plain('d'));
  t.ok((attach().received[0]?.id ?? 0) > 3);
});

t.test('repeats earlier calls for new readers only', async (t) => {
  const { open, attach, own } = setup({ capacity: 2 });
  const buffer = open();
  const asking = own(buffer);
  buffer.append(plain('start'));
  const early = attach();
  buffer.recall([plain('call'), plain('asks')]);
  buffer.append(plain('one'));
  const later = [undefined, 1, 2, 3].map((after) => attach(after));
  t.strictSame(asking.received, [
    { id: 1, data: 'start' },
    { id: 4, data: 'one' },
  ]);
  const whole = ['start', 'call', 'asks', 'one'];
  t.strictSame(early.data(), whole);
  t.strictSame(
    later.map((reader) => reader.data()),
    [whole, ['one'], ['asks', 'one'], ['one']],
  );
  early.detach?.();
  buffer.recall([plain('more')]);
  t.strictSame(early.data(), whole);
  t.strictSame(later[0]?.data(), [...whole, 'more']);
});
