import { reportInference } from './infer.ts';
import { setLifecycle } from './state.ts';
import type { Turn } from './turn.ts';

/** Ends the open step of a turn, in one of the ways of runtime.md 6.3. Without an open step nothing happens. */

/** State, snapshot, `step_end`. An inference that was cut off by a cancel is reported here and not counted. */
export const completeStep = (turn: Turn): void => {
  if (!turn.step) return;
  if (turn.step.reported) turn.steps += 1;
  else reportInference(turn);
  turn.step = undefined;
  setLifecycle(turn.state, {
    run_id: turn.run_id,
    status: 'running',
    updated_at: turn.clock.now(),
    step_count: turn.steps,
  });
  turn.stream.emit({ event_type: 'state_snapshot', snapshot: turn.state.snapshot() });
  turn.stream.emit({ event_type: 'step_end' });
};

/** The inference failed: the step is closed and does not count; what it streamed is not kept. */
export const abandonStep = (turn: Turn, resetReason?: string): void => {
  if (resetReason !== undefined) turn.stream.emit({ event_type: 'stream_reset', reason: resetReason });
  if (!turn.step) return;
  turn.step = undefined;
  turn.stream.emit({ event_type: 'step_end' });
};
