import {
  type Checkpointed,
  endOf,
  type RunContext,
  type RunEnding,
  type RunEntry,
  type WaitsFor,
} from '../../../machines/run-types.ts';
import { stoppedAnswer } from '../../loop/answer.ts';
import { keepLeftParts } from '../../loop/answer-parts.ts';
import { cancelCalls, openTickets } from '../../loop/calls.ts';
import { InferenceFailed } from '../../loop/infer.ts';
import { hasMail, sendOut } from '../../loop/outbox.ts';
import { wantedOutput } from '../../loop/output.ts';
import { hasHooks, runPhase } from '../../loop/phases.ts';
import { restoreCalls } from '../../loop/recover.ts';
import { abandonStep, completeStep, completeStepNow } from '../../loop/step.ts';
import { mustWait } from '../../loop/tasks.ts';
import { Conflict } from '../../schema/outcome.ts';
import type { Boundary } from '../../schema/pending.ts';
import { entryOf } from '../../schema/run-state.ts';
import type { RuntimeSettings } from '../deps.ts';
import { commit } from '../ledger/commit.ts';
import { selectPending, targetedAt } from '../ledger/pending.ts';
import { deliver, openWrite, persistState, type Write } from '../ledger/transaction.ts';
import { claimChanges, logDispatch, retryDelay } from './dispatch-records.ts';
import { endLeg } from './end-leg.ts';
import { beginStream, correlationOf, count, type Execution, RESUMED } from './execution.ts';
import { observeWait } from './observe.ts';
import {
  advanceWork,
  currentState,
  gather,
  keepStopped,
  putEnd,
  putRecord,
  stateOfWait,
  takeInput,
  waitingOn,
} from './record.ts';
import { terminalEvent, waitEvent } from './terminal-event.ts';

/**
 * The services of the run machine. Each service that writes makes one commit; the last one contains the messages, the
 * record, the dispatch, the terminal event and the thread's pointers together, and only after it the terminal frame is
 * emitted.
 */

const writeOf = ({ ledger, deps }: Execution): Write => openWrite(ledger, deps.clock.now());

/** Commits all progress; pending input for this boundary joins the history after it. */
export const commitProgress = async (
  execution: Execution,
  boundary?: Boundary,
): Promise<{ taken: number }> => {
  const write = writeOf(execution);
  gather(
    execution,
    write,
    hasDecidedAll(execution, boundary) ? 'running.inferring' : currentState(execution),
  );
  const taken = boundary ? takeInput(execution, write, boundary) : 0;
  putRecord(execution, write);
  await commit(write, 'progress');
  execution.owner.progressed();
  return { taken };
};

/** Whether this is the last commit of the decisions, and no call waits for another one: an inference follows. */
const hasDecidedAll = ({ turn }: Execution, boundary: Boundary | undefined): boolean =>
  boundary === 'resume_input' && openTickets(turn.calls).length === 0;

/** Called before the decisions that ended a wait are applied. */
export const beginDeciding = async (execution: Execution, signal: AbortSignal): Promise<void> => {
  await completeStep(execution.turn, signal);
  if (execution.stream.reopen()) beginStream(execution, true);
};

/** After an answer of the model: input that was pending for the natural end causes another step. */
export const answered = ({ ledger, run_id, actor }: Execution): void => {
  if (selectPending(ledger.pending, 'on_natural_end', run_id).length > 0) actor?.send({ type: 'STEER' });
};

export const checkpoint = async (execution: Execution, signal: AbortSignal): Promise<Checkpointed> => {
  const { turn } = execution;
  await completeStep(turn, signal);
  if (signal.aborted) return { over: false };
  const { taken } = await commitProgress(execution, turn.answered ? 'on_natural_end' : 'next_step');
  if (taken > 0) turn.answered = false;
  await sendOut(turn, signal);
  if (!turn.answered) return { over: false };
  const unchecked = wantedOutput(turn) !== undefined && turn.structured === undefined;
  return { over: true, waits: await mustWait(turn, signal), unchecked };
};

/** Records and logs a failed inference; with its number among the attempts if such failures are tried again. */
export const noteFailure = (
  execution: Execution,
  error: unknown,
  { attempt, maxAttempts }: Pick<RunContext, 'attempt' | 'maxAttempts'>,
): void => {
  const fields = error instanceof InferenceFailed ? error.logFields : { err: error };
  const isCounted = error instanceof InferenceFailed && error.transient && !error.heldBack;
  const { run_id, thread_id } = execution.run;
  execution.deps.log.warn('run.inference_failed', {
    ...fields,
    run_id,
    thread_id,
    ...(isCounted && { attempt: attempt + 1, max_attempts: maxAttempts }),
  });
  execution.failure = error;
};

/** Logs any other failure: a hook, the store, or a bug that would otherwise go unnoticed. */
export const noteFault = ({ deps, run: { run_id, thread_id } }: Execution, err: unknown): void =>
  deps.log.error('run.step_failed', { err, run_id, thread_id });

/** Returns the delay after a failure: the backoff of the attempt, or the delay that the failure asks for if longer. */
export const delayOf = (
  settings: RuntimeSettings['mailbox'],
  { attempt, pauseMs }: Pick<RunContext, 'attempt' | 'pauseMs'>,
): number => Math.max(retryDelay(settings, attempt), pauseMs);

/** Requeues the dispatch with a delay, after a failed attempt or one that could not start. */
export const reschedule = (execution: Execution, retry: RunContext): Promise<void> => {
  const { turn, failure, deps, ledger } = execution;
  const error = failure instanceof Error ? failure.message : String(failure);
  abandonStep(turn, {
    reason: RESUMED,
    error,
    attempt: retry.attempt + 1,
    max_attempts: retry.maxAttempts,
  });
  turn.produced = [];
  const write = writeOf(execution);
  gather(execution, write, currentState(execution));
  putRecord(execution, write);
  const available_at = write.at + delayOf(deps.settings.mailbox, retry);
  const event = { type: retry.counted ? 'NACK' : 'RELEASE', threadEpoch: ledger.epoch } as const;
  advanceWork(execution, write, event, { last_error: error, available_at });
  logDispatch(write, 'RunRescheduled', execution.dispatch, { reason: 'retry_backoff', error });
  return commit(write, 'progress');
};

/** @throws Conflict when the dispatch is no longer available */
export const reclaim = async (execution: Execution): Promise<{ entry: RunEntry }> => {
  const { deps, ledger, turn } = execution;
  const write = writeOf(execution);
  const session_id = execution.dispatch?.dispatch_instance_id ?? deps.ids.uuid();
  const event = { type: 'CLAIM', threadEpoch: ledger.epoch } as const;
  advanceWork(execution, write, event, claimChanges(deps, session_id, write.at));
  const { dispatch } = execution;
  if (dispatch?.status === 'Claimed') logDispatch(write, 'RunSubmitted', dispatch);
  const entry = entryOf(execution.stored);
  restoreCalls(turn, entry);
  if (entry === 'inference') takeInput(execution, write, 'next_step');
  putRecord(execution, write);
  await commit(write, 'progress');
  if (dispatch && dispatch.status !== 'Claimed')
    throw new Conflict(`dispatch '${dispatch.dispatch_id}' is ${dispatch.status}`);
  return { entry };
};

/** Makes the wait durable, and ends the stream with it. */
export const park = async (execution: Execution, waits: WaitsFor, signal: AbortSignal): Promise<void> => {
  const { turn, stream, deps } = execution;
  await completeStep(turn, signal);
  await sendMail(execution, signal);
  if (signal.aborted) return;
  const terminal = waitEvent(turn, execution.run, waits);
  const write = writeOf(execution);
  gather(execution, write, stateOfWait(execution, waits));
  const waiting = waitingOn(execution, waits);
  const tickets = waiting.ticket_ids?.join('\n') ?? '';
  // The same tickets are not logged again (runtime.md 13.5 rule 2).
  if (tickets !== execution.reported || tickets === '') stream.log(terminal);
  execution.reported = tickets;
  stream.flush(write, correlationOf(execution));
  execution.trace?.write(write.batch, 'later');
  execution.run.waiting = waiting;
  putRecord(execution, write);
  endLeg(execution, write);
  const lease_until = write.at + deps.settings.mailbox.suspended_lease_ms;
  const event = { type: 'RENEW' } as const;
  advanceWork(execution, write, event, { lease_until, run_status: 'waiting' });
  await commit(write, 'progress');
  if (signal.aborted) return;
  stream.channel().emit(terminal);
  stream.close();
};

/** Called when the wait is durable and nothing executes. */
export const reportParked = (execution: Execution): void => {
  const { deps, owner, run, turn, startedAt } = execution;
  count(execution, false);
  if (owner.isObserved) observeWait(deps, { run, model_id: turn.agent.spec.model_id, startedAt });
  owner.suspended(execution);
};

/** Whether other work than closing the step remains between the answer and the last commit. */
export const mustConclude = ({ turn, stream }: Execution): boolean =>
  !stream.isOpen() ||
  hasHooks(turn, 'step_end') ||
  hasHooks(turn, 'run_end') ||
  turn.tasks?.pending() === true ||
  hasMail(turn);

export const conclude = async (
  execution: Execution,
  ending: RunEnding,
  signal: AbortSignal,
): Promise<void> => {
  const { turn, ledger } = execution;
  reopenFor(execution, ending);
  if (ending.type !== 'error') await completeStep(turn, signal);
  await runPhase(turn, 'run_end', signal);
  turn.tasks?.end();
  if (ledger.record) await sendMail(execution, signal, true);
};

/**
 * Makes the last commit, and emits the terminal frame after it. No other request is processed between the decision that
 * the run ends and the write of its end: later requests find an ended run.
 */
export const finish = async (execution: Execution, ending: RunEnding): Promise<void> => {
  const { turn, stream, owner } = execution;
  reopenFor(execution, ending);
  if (ending.type === 'natural_end') completeStepNow(turn);
  if (ending.type !== 'error' && ending.type !== 'cancelled') keepLeftParts(turn);
  turn.tasks?.end();
  const publicEnding =
    ending.type === 'error' ? { type: ending.type, value: owner.publicReason(ending.value) } : ending;
  const terminal = terminalEvent(turn, execution.run, publicEnding);
  const write = writeOf(execution);
  gather(execution, write, endOf(ending));
  const stopped = ending.type === 'cancelled' ? stoppedAnswer(turn) : undefined;
  if (stopped) keepStopped(write, stopped, execution.run_id);
  takeLeftover(execution, write);
  // The terminal event is the last one of its run, after the messages of the same commit.
  stream.log(terminal);
  stream.flush(write, correlationOf(execution));
  putEnd(execution, write, ending);
  endLeg(execution, write, stopped);
  execution.trace?.end(write.batch, execution.run);
  await commit(write, 'progress');
  stream.channel().emit(terminal);
};

/** The end of a wait has a separate stream; open calls are no longer executed. */
const reopenFor = (execution: Execution, { type }: RunEnding): void => {
  if (execution.stream.reopen()) beginStream(execution, false);
  if (type === 'cancelled') cancelCalls(execution.turn);
};

/** Moves events of background tasks into the history; other leftover input becomes separate work. */
const takeLeftover = (execution: Execution, write: Write): void => {
  const { ledger, run_id, owner } = execution;
  const entries = targetedAt(ledger.pending, run_id);
  const taskEvents = entries.filter(({ message }) => message.visibility === 'internal');
  const leftover = entries.filter((entry) => !taskEvents.includes(entry));
  if (taskEvents.length > 0) deliver(write, taskEvents, run_id);
  if (leftover.length > 0) owner.requeueUnconsumed(execution, write, leftover);
};

/** Commits mail in the state of the thread before sending it. */
const sendMail = async (execution: Execution, signal: AbortSignal, last = false): Promise<void> => {
  const { turn, run_id } = execution;
  if (!hasMail(turn)) return;
  const write = writeOf(execution);
  const kept = turn.state.takePersisted();
  if (kept) persistState(write, run_id, kept);
  await commit(write, 'progress');
  await sendOut(turn, signal, last);
};
