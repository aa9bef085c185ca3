import type { RunMachineEvent } from '../../machines/run.ts';
import { cancelStoredCalls } from '../loop/calls.ts';
import { createRunState, setLifecycle } from '../loop/state.ts';
import { seconds } from '../schema/clock.ts';
import { Integrity } from '../schema/outcome.ts';
import type { Run, Termination } from '../schema/run.ts';
import { restStateOf } from '../schema/run-state.ts';
import { type CaptureMode, kindsOf } from './capture.ts';
import { restOf, statusReason, terminationOf } from './ending.ts';
import { advanceDormant, ENDED } from './run-records.ts';
import type { Write } from './write.ts';
import { logEvent, putRun } from './write.ts';

/**
 * Ends a run that nothing executes: queued work that is withdrawn, a wait that is cancelled, a run whose workers
 * keep dying. Record, terminal event and pointers go into the caller's commit.
 */
export const endDormant = (write: Write, before: Run, event: RunMachineEvent, mode: CaptureMode): Run => {
  if (before.status === 'done') return before;
  const next = advanceDormant(restStateOf(before), event);
  const { ending } = next.context;
  if (!ending) throw new Integrity(`run '${before.run_id}': '${event.type}' does not end it`);
  const termination_reason = terminationOf(ending);
  const outcome = {
    termination_reason,
    ...(before.final_output !== undefined && { final_output: before.final_output }),
    ...(ending.type === 'error' && { error_payload: { message: ending.value } }),
  };
  const { waiting: _over, ...rest } = before;
  const after: Run = {
    ...rest,
    ...outcome,
    state: endedState(before, termination_reason, write.at),
    status: ENDED,
    outcome,
    finished_at: seconds(write.at),
    updated_at: seconds(write.at),
  };
  putRun(write, after, before);
  write.ledger.deps.traces?.ended(write.batch, after.run_id, after);
  logTerminal(write, after, mode);
  return after;
};

/** A run that never began has none. */
const endedState = (before: Run, termination: Termination, at: number): Run['state'] => {
  if (!before.state) return before.state;
  const state = createRunState(before.state);
  if (termination.type === 'cancelled') cancelStoredCalls(state, at);
  setLifecycle(state, {
    run_id: before.run_id,
    status: 'done',
    status_reason: statusReason(termination),
    updated_at: at,
    step_count: before.steps,
  });
  return state.ofRun();
};

const logTerminal = (write: Write, run: Run, mode: CaptureMode): void => {
  const finish = restOf(run);
  for (const kind of kindsOf(finish, mode, false)) {
    logEvent(write, kind, finish, {
      run_id: run.run_id,
      ...(run.dispatch_id !== undefined && { correlation_id: run.dispatch_id }),
    });
  }
};
