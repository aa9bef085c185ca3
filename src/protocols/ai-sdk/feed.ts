import type { Reader } from '../../runtime/channel.ts';
import type { ReplayBuffer } from '../replay-buffer.ts';
import type { Block } from '../replay-retained.ts';
import { splitFrames } from '../split-frames.ts';
import { deltaHeadOf, isRunInfo } from './frames.ts';

/**
 * From a run's live channel into the replay buffer of its thread, frame by frame, so that each has a position of its
 * own. Deltas stay as the JSON text that they came as: texts of JSON strings can be joined and cut at the places
 * where they were joined, so a delta is parsed by nobody.
 *
 * `earlier`: what the client's message holds when the stream begins, as frames; they come behind its head.
 */
export const createFeed = (buffer: ReplayBuffer, earlier: readonly string[] = []): Reader => {
  let begun = earlier.length === 0;
  let head = '';
  let block: Block = { encode: (text) => text };

  const blockOf = (next: string): Block => {
    if (next === head) return block;
    head = next;
    block = { encode: (text) => `${next}"${text}"}\n\n` };
    return block;
  };

  /** Most deltas are of the block of the one before, and then nothing has to be searched. */
  const headOf = (frame: string): string | undefined =>
    head !== '' && frame.startsWith(head) ? head : deltaHeadOf(frame);

  const take = (frame: string): void => {
    const start = headOf(frame);
    if (start === undefined) buffer.append(frame);
    else buffer.append(frame, { block: blockOf(start), text: frame.slice(start.length + 1, -QUOTED_END) });
    if (begun || !isRunInfo(frame)) return;
    begun = true;
    buffer.recall(earlier);
  };

  return {
    write(frames) {
      if (frames.indexOf('\n\n') === frames.length - 2) take(frames);
      else for (const frame of splitFrames(frames)) take(frame);
    },
    end: () => buffer.close(),
  };
};

/** Length of `"}` and the empty line. */
const QUOTED_END = 4;
