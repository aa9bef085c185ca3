import type { Reader } from '../../runtime/run/live-channel.ts';
import type { ReplayBuffer } from '../replay-buffer.ts';
import type { Block } from '../replay-retained.ts';
import { splitFrames } from '../split-frames.ts';
import { findDeltaHead, isRunInfo } from './frames.ts';

/**
 * Writes the live channel of a run to the replay buffer of its thread, frame by frame, so that each frame has a
 * separate position. Deltas stay in the form of JSON text: JSON string contents can be joined and cut at the boundaries
 * of deltas, so no delta is parsed.
 *
 * `earlier`: frames with the initial content of the client's message; they follow the head of the stream.
 */
export const createFeed = (buffer: ReplayBuffer, earlier: readonly string[] = []): Reader => {
  let hasStarted = earlier.length === 0;
  let head = '';
  let block: Block = { encode: (text) => text };

  const blockOf = (next: string): Block => {
    if (next === head) return block;
    head = next;
    block = { encode: (text) => `${next}"${text}"}\n\n` };
    return block;
  };

  /** Most deltas belong to the same block as the previous one, so no search is needed. */
  const headOf = (frame: string): string | undefined =>
    head !== '' && frame.startsWith(head) ? head : findDeltaHead(frame);

  const take = (frame: string): void => {
    const start = headOf(frame);
    if (start === undefined) buffer.append(frame);
    else buffer.append(frame, { block: blockOf(start), text: frame.slice(start.length + 1, -QUOTED_END) });
    if (hasStarted || !isRunInfo(frame)) return;
    hasStarted = true;
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
