import type { RunEnded } from '../../../machines/dispatch.ts';
import { endOf, type RunEnding } from '../../../machines/run-types.ts';
import { InferenceFailed } from '../../loop/infer.ts';
import type { Turn } from '../../loop/turn.ts';
import { seconds } from '../../schema/clock.ts';
import type { Dispatch, RunOutcome } from '../../schema/dispatch.ts';
import type { Message } from '../../schema/message.ts';
import type { Run, Termination } from '../../schema/run.ts';
import type { RunEventOf } from '../../schema/run-event.ts';
import { hasTag, inState, type RunRecord } from '../../schema/run-state.ts';
import { advanceDispatch } from './dispatch-records.ts';
import { identityOf } from './transitions.ts';

/** The writes at the end of a run: record, dispatch, and their values on the wire (runtime.md 2.7, 10.4). */

/** `RunEnding` contains exactly the terminations that end a run; the loop provides its stop codes. */
export const terminationOf = (ending: RunEnding): Termination => ending as Termination;

export const statusReason = (termination: Termination): string => {
  switch (termination.type) {
    case 'natural_end':
      return 'natural';
    case 'stopped':
      return `stopped:${termination.value.code}`;
    case 'blocked':
      return `blocked:${termination.value}`;
    default:
      return termination.type;
  }
};

export const startOf = (run: Run): RunEventOf<'run_start'> => ({
  event_type: 'run_start',
  thread_id: run.thread_id,
  run_id: run.run_id,
  ...(run.parent_run_id !== null && { parent_run_id: run.parent_run_id }),
  identity: identityOf(run),
});

export const finishOf = (run: Run, termination: Termination): RunEventOf<'run_finish'> => ({
  event_type: 'run_finish',
  thread_id: run.thread_id,
  run_id: run.run_id,
  identity: identityOf(run),
  termination,
});

/** Returns the last event of a run that became inactive without an execution to emit it. */
export const syntheticFinish = (run: RunRecord): RunEventOf<'run_finish'> => {
  if (!hasTag(run, 'done')) {
    return finishOf(run, { type: hasTag(run, 'background_tasks') ? 'natural_end' : 'suspended' });
  }
  const termination = run.termination_reason ?? { type: 'natural_end' };
  if (termination.type === 'error') return finishOf(run, termination);
  const result = {
    response: run.final_output ?? '',
    status: 'done',
    status_reason: statusReason(termination),
    ...(run.structured_output !== undefined && { structured_output: run.structured_output }),
  } as const;
  return { ...finishOf(run, termination), result };
};

/** Returns the final record of a run. */
export const finishedRun = (
  run: RunRecord,
  ending: RunEnding,
  turn: Turn,
  history: readonly Message[],
  at: number,
): RunRecord => {
  const outcome: NonNullable<Run['outcome']> = { termination_reason: terminationOf(ending) };
  if (turn.response !== '') outcome.final_output = turn.response;
  if (ending.type === 'natural_end' && turn.structured) outcome.structured_output = turn.structured.value;
  if (ending.type === 'error') outcome.error_payload = { message: ending.value };
  const finished: RunRecord = Object.assign({ ...run }, inState(endOf(ending)), outcome);
  if (run.output) {
    finished.output = { ...run.output };
    finished.output.message_ids = producedIds(run, history);
  }
  finished.outcome = outcome;
  finished.finished_at = seconds(at);
  finished.finished_at_ms = at;
  finished.updated_at = seconds(at);
  return finished;
};

const producedIds = (run: Run, history: readonly Message[]): string[] => {
  const range = run.output?.range;
  if (!range) return [];
  return history
    .slice(range.from_seq - 1, range.to_seq)
    .filter((message) => message.metadata?.run_id === run.run_id && message.role !== 'user')
    .map((message) => message.id);
};

/** Returns how a finished run leaves its dispatch. `failure`: the last one of its execution. */
export const endedBy = (run: RunRecord, failure: unknown): RunEnded => {
  if (run.machine_state !== 'failed' || !(failure instanceof InferenceFailed)) return 'consumed';
  return failure.permanent ? 'failed' : 'exhausted';
};

/** Returns the dispatch of a finished run (runtime.md 10.4 rule 4). `reason`: the failure that exhausted its attempts. */
export const settleDispatch = (
  dispatch: Dispatch,
  run: Run,
  { how, reason, threadEpoch, at }: { how: RunEnded; reason?: string; threadEpoch: number; at: number },
): Dispatch => {
  const changes = {
    run_status: run.status,
    ...(run.termination_reason && { termination: run.termination_reason }),
    ...(run.final_output !== undefined && { run_response: run.final_output }),
    ...(run.error_payload && { run_error: run.error_payload.message, last_error: run.error_payload.message }),
    completed_at: at,
    updated_at: at,
  };
  const settled = advanceDispatch(dispatch, { type: 'RUN_ENDED', threadEpoch, how }, changes);
  const { status } = settled;
  if (status === 'Superseded' && dispatch.status === 'Claimed')
    return { ...settled, last_error: 'claimed dispatch superseded before run result' };
  if (status !== 'DeadLetter' || how !== 'exhausted') return settled;
  return { ...settled, last_error: `${reason}: max attempts reached` };
};

const OUTCOME = {
  consumed: 'completed',
  failed: 'permanent_error',
  exhausted: 'dead_letter',
} as const satisfies Record<RunEnded, RunOutcome>;

/** Returns the outcome of an ended execution: the final state of its dispatch, then that of its run. */
export const outcomeOf = (run: RunRecord, dispatch: Dispatch | undefined, how: RunEnded): RunOutcome => {
  if (dispatch?.status === 'Superseded') return 'superseded';
  return run.machine_state === 'cancelled' ? 'cancelled' : OUTCOME[how];
};
