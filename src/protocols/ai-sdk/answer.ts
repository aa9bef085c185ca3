import { replayCursor } from '../replay-cursor.ts';
import { type LogRow, replayedRows } from '../replay-events.ts';
import type { ReplayFrame } from '../replay-log.ts';
import { splitFrames } from '../split-frames.ts';
import { isFinish, isHead } from './frames.ts';
import { chatReplay } from './replay.ts';

/**
 * The answer of a run to one of its questions, from its log, as one response (chat-and-agui.md 5, 7).
 *
 * A run answers question after question where it goes on after a wait, each in a turn of its own; a turn has several
 * streams where a decision was asked for, or where a process died. Frames have the cursors of the durable replay.
 * Costs a read of the run's log.
 *
 * @param rows of the run, all of them
 * @returns nothing when the log does not have it, or not any more
 */
export const answerTo = (message_id: string, rows: Iterable<LogRow>): ReplayFrame[] => {
  const encoder = chatReplay.createEncoder();
  let frames: ReplayFrame[] = [];
  let turn: string | undefined;
  let isAsked = false;
  let isOver = true;
  for (const { row, events } of replayedRows(rows)) {
    if (isCommitOf(row, message_id)) {
      isAsked = true;
      // What ended before the question came is no answer to it.
      if (isOver) frames = [];
    }
    const [event] = events;
    if (event?.event_type === 'run_start') {
      const begun = event.turn_id ?? event.run_id;
      if (begun !== turn && isAsked && frames.length > 0) break;
      if (begun !== turn) frames = [];
      turn = begun;
      isOver = false;
    }
    if (events.some(({ event_type }) => event_type === 'run_finish')) isOver = true;
    const text = events.map((each) => encoder.event(each)).join('');
    for (const [index, frame] of splitFrames(text).entries())
      frames.push({ cursor: replayCursor(chatReplay.code, row, index), frame });
  }
  return isAsked ? inOneStream(frames) : [];
};

const isCommitOf = ({ event }: LogRow, message_id: string): boolean =>
  event.event_kind === 'MessageCommitted' && event.payload.message_id === message_id;

/** One head and one end, however many streams it came in. */
const inOneStream = (frames: readonly ReplayFrame[]): ReplayFrame[] => {
  const start = frames.findIndex(({ frame }) => isHead(frame));
  const last = frames.findLastIndex(({ frame }) => isFinish(frame));
  return frames.filter(
    ({ frame }, index) => (index <= start + 1 || !isHead(frame)) && (index === last || !isFinish(frame)),
  );
};
