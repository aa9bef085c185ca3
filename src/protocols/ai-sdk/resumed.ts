import { type LogRow, replayedRows } from '../replay-events.ts';
import { splitFrames } from '../split-frames.ts';
import { isFinish, isHead } from './frames.ts';
import { chatReplay } from './replay.ts';

/**
 * Returns the frames that the client of a run received before its process ended, from its log: those of its last turn,
 * without the start and the end of its streams, which the stream of the resumed run contains itself.
 *
 * @param rows all rows of the run
 */
export const framesBefore = (rows: Iterable<LogRow>): string[] => {
  const encoder = chatReplay.createEncoder();
  let frames: string[] = [];
  let turn: string | undefined;
  for (const { events } of replayedRows(rows)) {
    const [event] = events;
    const currentTurn = event?.event_type === 'run_start' ? (event.turn_id ?? event.run_id) : turn;
    if (currentTurn !== turn) frames = [];
    turn = currentTurn;
    for (const each of events) frames.push(...splitFrames(encoder.event(each)));
  }
  return frames.filter((frame) => !isHead(frame) && !isFinish(frame));
};
