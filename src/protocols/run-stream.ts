import { startOf, syntheticFinish } from '../runtime/index.ts';
import type { Encoder } from '../runtime/run/live-channel.ts';
import type { RunEvent } from '../schema/run-event.ts';
import type { RunRecord } from '../schema/run-state.ts';
import { type LogRow, replayedRows } from './replay-events.ts';

/** The stream of a run in a protocol after it has ended, for a request that is repeated (runtime.md 0.8). */

/**
 * Returns the frames of the first stream that ends at `from` or later; undefined if the log does not contain its end.
 *
 * A stream of several processes has one start.
 *
 * @param rows all rows of the run
 * @param from milliseconds
 */
export const loggedStream = (
  rows: Iterable<LogRow>,
  encoder: Encoder,
  { run, from }: { run: RunRecord; from: number },
): string | undefined => {
  let text = '';
  for (const event of withOneStart(eventsFrom(rows, from), run)) {
    text += encoder.event(event);
    if (event.event_type === 'run_finish') return text;
  }
  return undefined;
};

/** A request that joined an executing run has no start in the log. */
function* withOneStart(events: Iterable<RunEvent>, run: RunRecord): Iterable<RunEvent> {
  let hasStarted = false;
  for (const event of events) {
    const isStart = event.event_type === 'run_start';
    if (!hasStarted && !isStart) yield startOf(run);
    if (!hasStarted || !isStart) yield event;
    hasStarted = true;
  }
}

/** All rows are read, because steps are reconstructed from earlier ones. */
function* eventsFrom(rows: Iterable<LogRow>, from: number): Iterable<RunEvent> {
  for (const { row, events } of replayedRows(rows)) if (row.event.created_at >= from) yield* events;
}

/** Returns a stream with the final text of a run that has no log. */
export const recordedStream = (run: RunRecord, encoder: Encoder): string => {
  const { final_output = '' } = run;
  const answer: RunEvent[] =
    final_output === ''
      ? []
      : [
          { event_type: 'step_start', message_id: '' },
          { event_type: 'text_delta', delta: final_output },
          { event_type: 'step_end' },
        ];
  return [startOf(run), ...answer, syntheticFinish(run)].map((event) => encoder.event(event)).join('');
};
