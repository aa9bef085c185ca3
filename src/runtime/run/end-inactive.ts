import { endOf, type RunMachineEvent } from '../../../machines/run-types.ts';
import { cancelStoredCalls } from '../../loop/calls.ts';
import { createRunState, setLifecycle } from '../../loop/state.ts';
import { seconds } from '../../schema/clock.ts';
import { Integrity } from '../../schema/outcome.ts';
import type { Run, Termination } from '../../schema/run.ts';
import { hasTag, inState, type RunRecord } from '../../schema/run-state.ts';
import type { Write } from '../ledger/transaction.ts';
import { logEvent, putRun } from '../ledger/transaction.ts';
import { type CaptureMode, kindsOf } from './capture.ts';
import { endDormantLeg } from './end-leg.ts';
import { statusReason, syntheticFinish, terminationOf } from './outcome.ts';
import { advanceDormant } from './transitions.ts';

/**
 * Ends a run without an execution: withdrawn queued work, a cancelled wait, a run whose workers keep dying. Record,
 * terminal event and pointers become part of the caller's commit.
 */
export const endDormant = (
  write: Write,
  before: RunRecord,
  event: RunMachineEvent,
  mode: CaptureMode,
): RunRecord => {
  if (hasTag(before, 'done')) return before;
  const next = advanceDormant(before.machine_state, event);
  const { ending } = next.context;
  if (!ending) throw new Integrity(`run '${before.run_id}': '${event.type}' does not end it`);
  const termination_reason = terminationOf(ending);
  const outcome = {
    termination_reason,
    ...(before.final_output !== undefined && { final_output: before.final_output }),
    ...(ending.type === 'error' && { error_payload: { message: ending.value } }),
  };
  const { waiting: _over, ...rest } = before;
  const after: RunRecord = {
    ...rest,
    ...outcome,
    state: endedState(before, termination_reason, write.at),
    ...inState(endOf(ending)),
    outcome,
    finished_at: seconds(write.at),
    finished_at_ms: write.at,
    updated_at: seconds(write.at),
  };
  putRun(write, after, before);
  endDormantLeg(write, after);
  write.ledger.deps.traces?.ended(write.batch, after.run_id, after);
  logTerminal(write, after, mode);
  return after;
};

/** A run that never started has no state. */
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

const logTerminal = (write: Write, run: RunRecord, mode: CaptureMode): void => {
  const finish = syntheticFinish(run);
  for (const kind of kindsOf(finish, mode, false)) {
    logEvent(write, kind, finish, {
      run_id: run.run_id,
      ...(run.dispatch_id !== undefined && { correlation_id: run.dispatch_id }),
    });
  }
};
