import type { Encoder } from '../runtime/run/live-channel.ts';
import { Gone } from '../schema/outcome.ts';
import { PAGE_BYTES } from '../schema/page-rows.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { isAt, parseReplayCursor, type ReplayCursor, replayCursor } from './replay-cursor.ts';
import { type LogRow, type ReplayedRow, replayedRows, runEventOf } from './replay-events.ts';
import { splitFrames } from './split-frames.ts';

/**
 * Generates the frames of all runs of a thread from its event log (chat-and-agui.md 7).
 *
 * Guarantees: the same log produces the same frames with the same cursors, wherever a page begins. There is one row per
 * event and frame, so no frame occurs twice.
 * Relies on rows that never change.
 * Cost: encoders are stateful, so a page that contains part of a run also reads that run from its beginning, in
 * addition to the rows of the page.
 */

export type ReplaySource = {
  /** Reads the log of the thread from a sequence number on, oldest first and lazily. */
  thread(from: number): Iterable<LogRow>;
  /** Reads the rows of one run. */
  run(run_id: string, from: number): Iterable<LogRow>;
};

export type ReplayProtocol = {
  /** Name in cursors: lowercase letters and digits. */
  code: string;
  createEncoder(): Encoder;
};

/** `frame` has no line for its id. */
export type ReplayFrame = { cursor: string; frame: string };

/**
 * Returns the frames after the cursor, or from the beginning. The page ends at its limit or with the frame that reaches
 * `PAGE_BYTES`.
 * @throws Invalid, Gone
 */
export const replayPage = (
  source: ReplaySource,
  protocol: ReplayProtocol,
  cursor: string | undefined,
  limit: number,
): ReplayFrame[] => {
  const after = cursor === undefined ? undefined : { text: cursor, ...parseReplayCursor(cursor) };
  if (after && after.protocol !== protocol.code) throw new Gone(after.text);
  const page: ReplayFrame[] = [];
  let length = 0;
  for (const each of framesAfter(source, protocol, after)) {
    page.push(each);
    length += each.frame.length;
    if (page.length === limit || length >= PAGE_BYTES) return page;
  }
  return page;
};

type After = ReplayCursor & { text: string };

/** @throws Gone if the log does not contain the cursor */
function* framesAfter(
  source: ReplaySource,
  protocol: ReplayProtocol,
  after: After | undefined,
): Generator<ReplayFrame> {
  const framesOf = createProjection(source, protocol);
  let isFirst = true;
  for (const row of source.thread(after?.seq ?? 1)) {
    const frames = framesOf(row);
    const from = isFirst && after ? behind(after, row, frames) : 0;
    isFirst = false;
    for (let index = from; index < frames.length; index += 1)
      yield { cursor: replayCursor(protocol.code, row, index), frame: frames[index] ?? '' };
  }
  if (isFirst && after) throw new Gone(after.text);
}

/** Serializes a page. */
export const replayText = (page: readonly ReplayFrame[]): string =>
  page.map(({ cursor, frame }) => `id: ${cursor}\n${frame}`).join('');

/** Returns the index of the first frame after the cursor. */
const behind = (cursor: After, row: LogRow, frames: readonly string[]): number => {
  if (!isAt(cursor, row) || cursor.index >= frames.length) throw new Gone(cursor.text);
  return cursor.index + 1;
};

/** Requires rows in their order. */
const createProjection = (source: ReplaySource, protocol: ReplayProtocol) => {
  const runs = new Map<string, (seq: number) => string[]>();
  return (row: LogRow): string[] => {
    const { run_id } = row.event;
    if (run_id === undefined || !runEventOf(row)) return [];
    let run = runs.get(run_id);
    if (!run) {
      const first = row.event.event_kind === 'RunStarted' ? row.seq : 1;
      run = createRun(replayedRows(source.run(run_id, first)), protocol.createEncoder());
      runs.set(run_id, run);
    }
    return run(row.seq);
  };
};

/**
 * Returns the frames of each event of a run. All of its events are encoded, whether their frames are used or not. If
 * the beginning of a run has expired, only the end of its first stream is meaningful to a client.
 */
const createRun = (rows: Iterable<ReplayedRow>, encoder: Encoder) => {
  const remaining = rows[Symbol.iterator]();
  let started = false;
  const encode = (event: RunEvent): string => {
    started ||= event.event_type === 'run_start';
    return started || event.event_type === 'run_finish' ? encoder.event(event) : '';
  };
  return (seq: number): string[] => {
    for (;;) {
      const next = remaining.next();
      if (next.done) return [];
      const { row, events } = next.value;
      const frames = events.map(encode).join('');
      if (row.seq === seq) return splitFrames(frames);
    }
  };
};
