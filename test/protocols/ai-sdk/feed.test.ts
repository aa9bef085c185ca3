import t from 'tap';
import { createChatEncoder } from '../../../src/protocols/ai-sdk/encoder.ts';
import { createFeed } from '../../../src/protocols/ai-sdk/feed.ts';
import { createReplayBuffers } from '../../../src/protocols/replay-buffer.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';
import fc, { anyText } from '../../random.ts';
import { encodeAll, play } from './client.ts';
import {
  callDelta,
  callReady,
  callStart,
  reasoning,
  runFinish,
  runStart,
  stepEnd,
  stepStart,
  text,
} from './events.ts';

/** chat-and-agui.md 6. */

const follow = (capacity: number) => {
  const buffers = createReplayBuffers({ capacity, idleMs: 1_000, clock: { now: () => 0 } });
  const buffer = buffers.open('default', 'T', () => true);
  const feed = createFeed(buffer);
  const attach = (after?: number) => {
    const reader = { text: '', count: 0, ended: false };
    buffer.attach(after, {
      write(frames, count) {
        reader.text += frames;
        reader.count += count;
      },
      end: () => {
        reader.ended = true;
      },
    });
    return reader;
  };
  return { feed, attach };
};

const withoutIds = (frames: string): string => frames.replaceAll(/^id: \d+\n/gm, '');

t.test('assigns a position to each of several joined frames', async (t) => {
  const { feed, attach } = follow(100);
  const reader = attach();
  const frames = encodeAll([runStart(), stepStart(), text('a "b" \n'), stepEnd, runFinish()]);
  feed.write(frames, 1);
  t.equal(withoutIds(reader.text), frames);
  t.strictSame(
    [...reader.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  t.equal(reader.count, 8);
  const late = attach(5);
  t.match(late.text, /^id: 6\ndata: \{"type":"text-end"/);
  feed.end();
  t.strictSame([reader.ended, late.ended], [true, true]);
});

const deltas = fc.array(
  fc.oneof(
    fc.record({ of: fc.constant('text'), delta: anyText() }),
    fc.record({ of: fc.constant('reasoning'), delta: fc.string({ unit: 'grapheme' }) }),
    fc.record({ of: fc.constantFrom('c1', 'c"2', ',"delta":"'), delta: fc.json() }),
  ),
  { maxLength: 60 },
);

const eventOf = ({ of, delta }: { of: string; delta: string }): RunEvent => {
  if (of === 'text') return text(delta);
  return of === 'reasoning' ? reasoning(delta) : callDelta(of, delta);
};

t.test('joins deltas above the capacity without changing the message of the client', async () => {
  const calls = ['c1', 'c"2', ',"delta":"'];
  const begun = [runStart(), stepStart(), ...calls.map((id) => callStart(id))];
  await fc.assert(
    fc.asyncProperty(deltas, fc.nat(30), async (given, taken) => {
      const ended = [...calls.map((id) => callReady(id)), stepEnd, runFinish()];
      const encoder = createChatEncoder();
      const pieces = [...begun, ...given.map(eventOf), ...ended].map((event) => encoder.event(event));
      const { feed, attach } = follow(10);
      for (const piece of pieces) if (piece !== '') feed.write(piece, 1);
      const whole = await play(pieces.join(''));
      const joined = attach();
      const replayed = await play(withoutIds(joined.text));
      assertSame(replayed, whole);
      // A client that has the first frames reconnects and receives the rest.
      const had = [...pieces.join('').matchAll(/data: [^\n]*\n\n/g)].map(([frame]) => frame);
      const rest = attach(Math.min(taken, had.length));
      assertSame(await play(had.slice(0, taken).join('') + withoutIds(rest.text)), whole);
    }),
    { numRuns: 60 },
  );
});

t.test('joins the deltas of a call with any id', async (t) => {
  for (const id of ['c1', 'c"2', ',"delta":"', 'c\u2028']) {
    const encoder = createChatEncoder();
    const { feed, attach } = follow(10);
    feed.write(encoder.event(callStart(id)), 1);
    for (let i = 0; i < 100; i += 1) feed.write(encoder.event(callDelta(id, `${i}`)), 1);
    t.ok(attach().count <= 10, id);
  }
});

const assertSame = (found: unknown, wanted: unknown): void => {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`found ${JSON.stringify(found)}\nwanted ${JSON.stringify(wanted)}`);
  }
};
