import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { createFeed } from '../../src/protocols/ai-sdk/feed.ts';
import { deltaHead } from '../../src/protocols/ai-sdk/frames.ts';
import { createReplayBuffers } from '../../src/protocols/replay-buffer.ts';

/** The memory of a long completion while it is streamed (runtime.md 14), measured after a garbage collection. */

const CAPACITY = 1024;
const DELTAS = 100_000;
/** Four bytes for the end position of a delta, and its text; both buffers may be twice as long as needed. */
const BYTES_A_DELTA = 2 * (4 + 8);
/** The frames that are not joined yet. */
const BYTES_A_FRAME = 1024;

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

const used = (): number => {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

t.test(`stores ${DELTAS} deltas with a few bytes of overhead each`, async (t) => {
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
  t.equal(text.match(/\d{1,6}(?=[ "])/g)?.at(-1), String(DELTAS - 1), 'no delta is lost');
});
