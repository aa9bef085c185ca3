import type { RunEvent } from '../../schema/run-event.ts';
import { replayCursor } from '../replay-cursor.ts';
import { type LogRow, replayedRows } from '../replay-events.ts';
import type { ReplayFrame } from '../replay-log.ts';
import { splitFrames } from '../split-frames.ts';
import { isFinish, isHead } from './frames.ts';
import { chatReplay } from './replay.ts';

/**
 * Returns the response of a run to one of its messages from its log, as one stream (chat-and-agui.md 5, 7).
 *
 * A run that continues after a wait responds to several messages, each in a separate turn. A turn has several streams
 * if a decision was requested or a process ended. Frames have the cursors of the durable replay.
 * Cost: reads the whole log of the run.
 *
 * @param rows all rows of the run
 * @returns an empty list if the log does not contain the response, or no longer
 */
export const answerTo = (message_id: string, rows: Iterable<LogRow>): ReplayFrame[] => {
  const encoder = chatReplay.createEncoder();
  const response: Response = { frames: [], turn: undefined, isRequested: false, isOver: true };
  for (const { row, events } of replayedRows(rows)) {
    if (isCommitOf(row, message_id)) markRequested(response);
    const turn = turnStartedBy(events);
    if (turn !== undefined && !startTurn(response, turn)) break;
    if (events.some(({ event_type }) => event_type === 'run_finish')) response.isOver = true;
    const text = events.map((each) => encoder.event(each)).join('');
    for (const [index, frame] of splitFrames(text).entries())
      response.frames.push({ cursor: replayCursor(chatReplay.code, row, index), frame });
  }
  return response.isRequested ? inOneStream(response.frames) : [];
};

type Response = {
  /** The frames of the current turn. */
  frames: ReplayFrame[];
  turn: string | undefined;
  /** Whether the message has arrived. */
  isRequested: boolean;
  /** Whether no stream is open. */
  isOver: boolean;
};

/** A response that ended before the message arrived does not belong to it. */
const markRequested = (response: Response): void => {
  response.isRequested = true;
  if (response.isOver) response.frames = [];
};

/** Returns false if the response is complete, so that the turn belongs to a later message. */
const startTurn = (response: Response, turn: string): boolean => {
  if (turn !== response.turn) {
    if (response.isRequested && response.frames.length > 0) return false;
    response.frames = [];
  }
  response.turn = turn;
  response.isOver = false;
  return true;
};

const turnStartedBy = ([event]: readonly RunEvent[]): string | undefined =>
  event?.event_type === 'run_start' ? (event.turn_id ?? event.run_id) : undefined;

const isCommitOf = ({ event }: LogRow, message_id: string): boolean =>
  event.event_kind === 'MessageCommitted' && event.payload.message_id === message_id;

/** Keeps one head and one end of several streams. */
const inOneStream = (frames: readonly ReplayFrame[]): ReplayFrame[] => {
  const start = frames.findIndex(({ frame }) => isHead(frame));
  const last = frames.findLastIndex(({ frame }) => isFinish(frame));
  return frames.filter(
    ({ frame }, index) => (index <= start + 1 || !isHead(frame)) && (index === last || !isFinish(frame)),
  );
};
