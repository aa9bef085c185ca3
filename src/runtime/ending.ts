import type { RunEnded } from '../../machines/dispatch.ts';
import type { RunEnding } from '../../machines/run.ts';
import { InferenceFailed } from '../loop/infer.ts';
import type { Turn } from '../loop/turn.ts';
import { seconds } from '../schema/clock.ts';
import type { Dispatch, RunOutcome } from '../schema/dispatch.ts';
import type { Message } from '../schema/message.ts';
import type { Run, Termination } from '../schema/run.ts';
import type { RunEventOf } from '../schema/run-event.ts';
import { awaitsTasks } from '../schema/run-state.ts';
import { advanceDispatch } from './dispatch-records.ts';
import { identityOf } from './run-records.ts';

/** What the end of a run writes: record, dispatch, and the words for it on the wire (runtime.md 2.7, 10.4). */

/** RunEnding is the machine's name for the terminations that end a run; its stop codes come from the loop. */
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

/** The last event of a run that came to rest without an execution to say so. */
export const restOf = (run: Run): RunEventOf<'run_finish'> => {
  if (run.status !== 'done') {
    return finishOf(run, { type: awaitsTasks(run) ? 'natural_end' : 'suspended' });
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

/** The record of a run that ends now. */
export const finishedRun = (
  run: Run,
  ending: RunEnding,
  turn: Turn,
  history: readonly Message[],
  at: number,
): Run => {
  const outcome: NonNullable<Run['outcome']> = { termination_reason: terminationOf(ending) };
  if (turn.response !== '') outcome.final_output = turn.response;
  if (ending.type === 'natural_end' && turn.structured) outcome.structured_output = turn.structured.value;
  if (ending.type === 'error') outcome.error_payload = { message: ending.value };
  const finished: Run = Object.assign({ ...run }, outcome);
  if (run.output) {
    finished.output = { ...run.output };
    finished.output.message_ids = producedIds(run, history);
  }
  finished.outcome = outcome;
  finished.finished_at = seconds(at);
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

/** What becomes of the dispatch when its run is done (runtime.md 10.4 rule 4). */
export const settleDispatch = (
  dispatch: Dispatch,
  run: Run,
  failure: unknown,
  threadEpoch: number,
  at: number,
): Dispatch => {
  const changes = {
    run_status: run.status,
    ...(run.termination_reason && { termination: run.termination_reason }),
    ...(run.final_output !== undefined && { run_response: run.final_output }),
    ...(run.error_payload && { run_error: run.error_payload.message, last_error: run.error_payload.message }),
    completed_at: at,
    updated_at: at,
  };
  const settled = advanceDispatch(
    dispatch,
    { type: 'RUN_ENDED', threadEpoch, how: howItEnded(run, failure) },
    changes,
  );
  const last_error = whyUnanswered(dispatch, settled, failure);
  return last_error === undefined ? settled : { ...settled, last_error };
};

const howItEnded = ({ termination_reason }: Run, failure: unknown): RunEnded => {
  if (termination_reason?.type !== 'error' || !(failure instanceof InferenceFailed)) return 'consumed';
  return failure.permanent ? 'failed' : 'exhausted';
};

const whyUnanswered = (before: Dispatch, { status }: Dispatch, failure: unknown): string | undefined => {
  if (status === 'Superseded' && before.status === 'Claimed')
    return 'claimed dispatch superseded before run result';
  const exhausted = status === 'DeadLetter' && failure instanceof InferenceFailed && !failure.permanent;
  return exhausted ? `${failure.message}: max attempts reached` : undefined;
};

export const outcomeOf = (
  how: 'ended' | 'released',
  run: Run,
  dispatch: Dispatch | undefined,
  failure: unknown,
): RunOutcome => {
  if (how === 'released') return 'transient_error';
  if (dispatch?.status === 'Superseded') return 'superseded';
  if (run.termination_reason?.type === 'cancelled') return 'cancelled';
  if (dispatch ? dispatch.status !== 'DeadLetter' : howItEnded(run, failure) === 'consumed')
    return 'completed';
  return failure instanceof InferenceFailed && failure.permanent ? 'permanent_error' : 'dead_letter';
};
