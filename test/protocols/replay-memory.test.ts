import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { createFeed } from '../../src/protocols/ai-sdk/feed.ts';
import { deltaHead } from '../../src/protocols/ai-sdk/frames.ts';
import { createReplayBuffers } from '../../src/protocols/replay-buffer.ts';

/** What a long answer keeps in memory while it is streamed (runtime.md 14): measured after a collection of garbage. */

const CAPACITY = 1024;
const DELTAS = 100_000;
/** Four bytes for the end of a delta and its text; both may be allocated twice as long as they are used. */
const BYTES_A_DELTA = 2 * (4 + 8);
/** Those that are not joined yet, each with its frame. */
const BYTES_A_FRAME = 1024;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const used = (): number => {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

t.test(`${DELTAS} deltas cost their text and a few bytes each`, async (t) => {
  const buffers = createReplayBuffers({ capacity: CAPACITY, idleMs: 1, clock: Date });
  const buffer = buffers.open('default', 'T', () => true);
  const feed = createFeed(buffer);
  const head = deltaHead('text', 'block');
  const before = used();
  for (let number = 0; number < DELTAS; number += 1)
    feed.write(`${head}${JSON.stringify(String(number).padStart(8, ' '))}}\n\n`, 1);
  const bytes = used() - before;
  t.comment(`${Math.round(bytes / 1024)} KiB`);
  t.ok(bytes < DELTAS * BYTES_A_DELTA + CAPACITY * BYTES_A_FRAME, `${bytes} bytes`);
  let text = '';
  buffer.attach(undefined, {
    write(frames) {
      text += frames;
    },
    end() {},
  });
  t.equal(text.match(/\d{1,6}(?=[ "])/g)?.at(-1), String(DELTAS - 1), 'and nothing is lost');
});
