import type { RunEnding } from '../../machines/run.ts';
import { clearScheduled } from '../loop/phases.ts';
import { setLifecycle } from '../loop/state.ts';
import { abandonStep } from '../loop/step.ts';
import type { Turn } from '../loop/turn.ts';
import type { Run } from '../schema/run.ts';
import type { RunEventOf } from '../schema/run-event.ts';
import { finishOf, statusReason, terminationOf } from './ending.ts';

/** What the stream of a run says at its end, whether or not anything of the run is stored. */

export const noteLifecycle = (turn: Turn, status: Run['status'], status_reason: string): void =>
  setLifecycle(turn.state, {
    run_id: turn.run_id,
    status,
    status_reason,
    updated_at: turn.clock.now(),
    step_count: turn.steps,
  });

/** The tail of the stream (runtime.md 6.3), up to the terminal event, which the caller lets go. */
export const lastWords = (turn: Turn, run: Run, ending: RunEnding): RunEventOf<'run_finish'> => {
  const termination = terminationOf(ending);
  abandonStep(turn);
  clearScheduled(turn);
  const status_reason = statusReason(termination);
  noteLifecycle(turn, 'done', status_reason);
  if (ending.type !== 'error')
    turn.stream.emit({ event_type: 'state_snapshot', snapshot: turn.state.snapshot() });
  return {
    ...finishOf(run, termination),
    ...(ending.type !== 'error' && { result: { response: turn.response, status: 'done', status_reason } }),
  };
};
