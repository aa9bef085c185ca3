import type { Encoder } from '../runtime/channel.ts';
import { Gone } from '../schema/outcome.ts';
import { PAGE_BYTES } from '../schema/page-rows.ts';
import type { RunEvent } from '../schema/run-event.ts';
import { isAt, parseReplayCursor, type ReplayCursor, replayCursor } from './replay-cursor.ts';
import { type LogRow, type ReplayedRow, replayedRows, runEventOf } from './replay-events.ts';
import { splitFrames } from './split-frames.ts';

/**
 * The frames of all runs of a thread, made from its event log when they are asked for (chat-and-agui.md 7).
 *
 * Guarantees: the same log gives the same frames under the same cursors, wherever a page begins; one row per event
 * and frame, so that nothing is there twice. Relies on rows that never change. An encoder has state, so a page that
 * begins within a run, or in which a run goes on, reads that run from its beginning: that is what a page costs
 * beside its own rows.
 */

export type ReplaySource = {
  /** The log of the thread from a sequence number on, the oldest first. Read only as far as it is asked for. */
  thread(from: number): Iterable<LogRow>;
  /** The part of it that is about a run. */
  run(run_id: string, from: number): Iterable<LogRow>;
};

export type ReplayProtocol = {
  /** In its cursors: lowercase letters and digits. */
  code: string;
  createEncoder(): Encoder;
};

/** `frame`: without a line for its id. */
export type ReplayFrame = { cursor: string; frame: string };

/**
 * What follows the cursor, or the beginning. The page ends at its limit or with the frame that reaches `PAGE_BYTES`.
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
  const framesOf = createProjection(source, protocol);
  const page: ReplayFrame[] = [];
  let isFirst = true;
  let length = 0;
  for (const row of source.thread(after?.seq ?? 1)) {
    const frames = framesOf(row);
    const from = isFirst && after ? behind(after, row, frames) : 0;
    isFirst = false;
    for (let index = from; index < frames.length; index += 1) {
      const frame = frames[index] ?? '';
      page.push({ cursor: replayCursor(protocol.code, row, index), frame });
      length += frame.length;
      if (page.length === limit || length >= PAGE_BYTES) return page;
    }
  }
  if (isFirst && after) throw new Gone(after.text);
  return page;
};

/** The rows of a page as they are sent. */
export const replayText = (page: readonly ReplayFrame[]): string =>
  page.map(({ cursor, frame }) => `id: ${cursor}\n${frame}`).join('');

/** Of the event that the cursor names, the first frame behind it. */
const behind = (cursor: ReplayCursor & { text: string }, row: LogRow, frames: readonly string[]): number => {
  if (!isAt(cursor, row) || cursor.index >= frames.length) throw new Gone(cursor.text);
  return cursor.index + 1;
};

/** Rows are asked for in their order. */
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
 * The frames of each event of a run. All of its events are encoded, whether their frames are wanted or not. Where the
 * beginning of a run has expired, what is left of its first stream means nothing to a client but that it ended.
 */
const createRun = (rows: Iterable<ReplayedRow>, encoder: Encoder) => {
  const left = rows[Symbol.iterator]();
  let started = false;
  const encode = (event: RunEvent): string => {
    started ||= event.event_type === 'run_start';
    return started || event.event_type === 'run_finish' ? encoder.event(event) : '';
  };
  return (seq: number): string[] => {
    for (;;) {
      const next = left.next();
      if (next.done) return [];
      const { row, events } = next.value;
      const frames = events.map(encode).join('');
      if (row.seq === seq) return splitFrames(frames);
    }
  };
};
