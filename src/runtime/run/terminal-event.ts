import type { RunEnding, WaitsFor } from '../../../machines/run-types.ts';
import { retriesOf } from '../../loop/answer.ts';
import { isOpenTicket } from '../../loop/calls.ts';
import { clearScheduled } from '../../loop/phases.ts';
import { setLifecycle } from '../../loop/state.ts';
import { abandonStep } from '../../loop/step.ts';
import type { StepCall, Turn } from '../../loop/turn.ts';
import { AUTH_REQUIRED } from '../../schema/authorization.ts';
import type { Run, Termination } from '../../schema/run.ts';
import type { RunEventOf, RunResult } from '../../schema/run-event.ts';
import { finishOf, statusReason, terminationOf } from './outcome.ts';

/** The final events of the stream of a run, whether or not the run is stored. */

const noteLifecycle = (turn: Turn, status: Run['status'], status_reason: string): void =>
  setLifecycle(turn.state, {
    run_id: turn.run_id,
    status,
    status_reason,
    updated_at: turn.clock.now(),
    step_count: turn.steps,
  });

type Result = Pick<RunEventOf<'run_finish'>, 'result'>;

/** Returns the result in the last event of a stream, for an ended run and for a waiting run. */
const resultOf = (turn: Turn, { type }: Termination, status_reason: string): Result => {
  const { agent, outcome, response } = turn;
  const structured = type === 'natural_end' &&
    turn.structured && { structured_output: turn.structured.value };
  if (agent.remote) {
    if (!outcome && type !== 'cancelled') return {};
    return { result: { ...remoteResult(turn, status_reason), ...structured } };
  }
  if (type === 'error' || type === 'suspended') return {};
  const status = status_reason === 'awaiting_tasks' ? 'waiting' : 'done';
  return { result: { response, status, status_reason, ...structured } };
};

/** A remote agent has a separate status for each of its outcomes (a2a.md 12.7). */
const REMOTE_STATUS: Readonly<Record<string, string>> = {
  natural: 'done',
  error: 'failed',
  cancelled: 'cancelled',
  'stopped:timeout': 'timeout',
  input_required: 'waiting_input',
  auth_required: 'waiting_auth',
};

const remoteResult = ({ outcome, response }: Turn, status_reason: string): RunResult => ({
  response,
  status: REMOTE_STATUS[status_reason] ?? 'done',
  ...(outcome && { output: outcome.output }),
  status_reason,
});

/** Returns the status reason of a wait (runtime.md 2.6); remote agents have separate reasons. */
export const waitMessage = ({ agent, calls }: Turn, waits: WaitsFor): string => {
  if (waits === 'forTasks') return 'awaiting_tasks';
  if (waits === 'forBudget') return 'budget_exceeded';
  if (!agent.remote)
    return waits === 'forAuthentication' && calls.some(lacksAccount) ? 'auth_required' : 'suspended';
  return waits === 'forInput' ? 'input_required' : 'auth_required';
};

/** A call that waits for the login of a delegate is suspended like any other. */
const lacksAccount = (entry: StepCall): boolean =>
  isOpenTicket(entry) && entry.ticket?.reason === AUTH_REQUIRED;

/** Emits the tail of the stream of a waiting run, up to the terminal event, which the caller emits. */
export const waitEvent = (turn: Turn, run: Run, waits: WaitsFor): RunEventOf<'run_finish'> => {
  const termination: Termination = { type: waits === 'forTasks' ? 'natural_end' : 'suspended' };
  const status_reason = waitMessage(turn, waits);
  noteLifecycle(turn, 'waiting', status_reason);
  turn.stream.emit({ event_type: 'state_snapshot', snapshot: turn.state.snapshot() });
  return Object.assign(finishOf(run, termination), resultOf(turn, termination, status_reason));
};

/** Emits the tail of the stream (runtime.md 6.3), up to the terminal event, which the caller emits. */
export const terminalEvent = (turn: Turn, run: Run, ending: RunEnding): RunEventOf<'run_finish'> => {
  const termination = terminationOf(ending);
  const failed = termination.type === 'error' ? retriesOf(turn.step) : {};
  abandonStep(turn);
  clearScheduled(turn);
  const status_reason = statusReason(termination);
  noteLifecycle(turn, 'done', status_reason);
  if (ending.type !== 'error')
    turn.stream.emit({ event_type: 'state_snapshot', snapshot: turn.state.snapshot() });
  return Object.assign(finishOf(run, termination), resultOf(turn, termination, status_reason), failed);
};
