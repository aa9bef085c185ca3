import type { Checkpointed, RunContext, RunEnding, RunEntry, WaitsFor } from '../../machines/run.ts';
import { stoppedAnswer } from '../loop/answer.ts';
import { keepLeftParts } from '../loop/answer-parts.ts';
import { cancelCalls } from '../loop/calls.ts';
import { InferenceFailed } from '../loop/infer.ts';
import { hasMail, sendOut } from '../loop/outbox.ts';
import { wantedOutput } from '../loop/output.ts';
import { hasHooks, runPhase } from '../loop/phases.ts';
import { recoverEntry } from '../loop/recover.ts';
import { abandonStep, completeStep, completeStepNow } from '../loop/step.ts';
import { mustWait } from '../loop/tasks.ts';
import { Conflict } from '../schema/outcome.ts';
import type { Boundary } from '../schema/pending.ts';
import type { RuntimeSettings } from './deps.ts';
import { claimChanges, logDispatch, retryDelay } from './dispatch-records.ts';
import { beginStream, correlationOf, count, type Execution, RESUMED } from './execution.ts';
import { lastWords, wordsOfWait } from './last-words.ts';
import { observeWait } from './observe.ts';
import { selectPending, targetedAt } from './pending.ts';
import { advanceWork, gather, keepStopped, putEnd, putRecord, takeInput, waitingOn } from './run-record.ts';
import { commit, deliver, keepState, openWrite, type Write } from './write.ts';

/**
 * What the services of the run machine do for an execution. Each that writes makes one commit; the last one holds the
 * messages, the record, the dispatch, the terminal event and the thread's pointers together, and only after it the
 * terminal frame leaves.
 */

const writeOf = ({ ledger, deps }: Execution): Write => openWrite(ledger, deps.clock.now());

/** Everything so far becomes durable, and input that waits for this boundary joins the history behind it. */
export const commitProgress = async (
  execution: Execution,
  boundary?: Boundary,
): Promise<{ taken: number }> => {
  const write = writeOf(execution);
  gather(execution, write);
  const taken = boundary ? takeInput(execution, write, boundary) : 0;
  putRecord(execution, write);
  await commit(write, 'progress');
  execution.owner.progressed();
  return { taken };
};

/** The decisions that ended a wait are about to be applied. */
export const beginDeciding = async (execution: Execution, signal: AbortSignal): Promise<void> => {
  await completeStep(execution.turn, signal);
  if (execution.stream.reopen()) beginStream(execution, true);
};

/** The model has answered: input that waited for this moment makes another step. */
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

/** An inference failed. */
export const noteFailure = (execution: Execution, error: unknown): void => {
  const told = error instanceof InferenceFailed ? error.told : { err: error };
  const { run_id, thread_id } = execution.run;
  execution.deps.log.warn({ ...told, run_id, thread_id }, 'an inference failed');
  execution.failure = error;
};

/** Something else did: a hook, the store, or a mistake that nobody else would hear of. */
export const noteFault = ({ deps, run: { run_id, thread_id } }: Execution, err: unknown): void =>
  deps.log.error({ err, run_id, thread_id }, 'what the run was doing failed');

/** How long a run waits after a failure: as its attempt says, and at least as long as the failure asks for. */
export const delayOf = (
  settings: RuntimeSettings['mailbox'],
  { attempt, pauseMs }: Pick<RunContext, 'attempt' | 'pauseMs'>,
): number => Math.max(retryDelay(settings, attempt), pauseMs);

/** The attempt has failed, or could not begin; the run is executed again after a delay. */
export const reschedule = (execution: Execution, retry: RunContext): Promise<void> => {
  const { turn, failure, deps, ledger } = execution;
  const error = failure instanceof Error ? failure.message : String(failure);
  abandonStep(turn, { reason: RESUMED, error });
  turn.produced = [];
  const write = writeOf(execution);
  gather(execution, write);
  putRecord(execution, write);
  const available_at = write.at + delayOf(deps.settings.mailbox, retry);
  const event = { type: retry.counted ? 'NACK' : 'RELEASE', threadEpoch: ledger.epoch } as const;
  advanceWork(execution, write, event, { last_error: error, available_at });
  logDispatch(write, 'RunRescheduled', execution.dispatch, { reason: 'retry_backoff', error });
  return commit(write, 'progress');
};

/** @throws Conflict when the work is not there for it any more */
export const reclaim = async (execution: Execution): Promise<{ entry: RunEntry }> => {
  const { deps, ledger, turn } = execution;
  const write = writeOf(execution);
  const session_id = execution.dispatch?.dispatch_instance_id ?? deps.ids.uuid();
  const event = { type: 'CLAIM', threadEpoch: ledger.epoch } as const;
  advanceWork(execution, write, event, claimChanges(deps, session_id, write.at));
  const { dispatch } = execution;
  if (dispatch?.status === 'Claimed') logDispatch(write, 'RunSubmitted', dispatch);
  const entry = recoverEntry(turn);
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
  const terminal = wordsOfWait(turn, execution.run, waits);
  const write = writeOf(execution);
  gather(execution, write);
  const waiting = waitingOn(execution, waits);
  const tickets = waiting.ticket_ids?.join('\n') ?? '';
  // The same tickets again are no news to the log (runtime.md 13.5 rule 2).
  if (tickets !== execution.reported || tickets === '') stream.log(terminal);
  execution.reported = tickets;
  stream.flush(write, correlationOf(execution));
  execution.trace?.write(write.batch, 'later');
  execution.run.waiting = waiting;
  putRecord(execution, write);
  const lease_until = write.at + deps.settings.mailbox.suspended_lease_ms;
  const event = { type: 'RENEW' } as const;
  advanceWork(execution, write, event, { lease_until, run_status: 'waiting' });
  await commit(write, 'progress');
  if (signal.aborted) return;
  stream.channel().emit(terminal);
  stream.close();
};

/** The wait is durable, and nothing executes. */
export const reportParked = (execution: Execution): void => {
  const { deps, owner, run, turn, startedAt } = execution;
  count(execution, false);
  if (owner.isObserved) observeWait(deps, { run, model_id: turn.agent.spec.model_id, startedAt });
  owner.parked(execution);
};

/** Whether something has to be done between the answer and the last commit, beside closing the step. */
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
 * The last commit, and the terminal frame behind it. Nothing comes between the decision that the run ends and the
 * write of its end: whatever overtakes the run later finds it ended.
 */
export const finish = async (execution: Execution, ending: RunEnding): Promise<void> => {
  const { turn, stream, owner } = execution;
  reopenFor(execution, ending);
  if (ending.type === 'natural_end') completeStepNow(turn);
  if (ending.type !== 'error' && ending.type !== 'cancelled') keepLeftParts(turn);
  turn.tasks?.end();
  const told = ending.type === 'error' ? { type: ending.type, value: owner.worded(ending.value) } : ending;
  const terminal = lastWords(turn, execution.run, told);
  const write = writeOf(execution);
  gather(execution, write);
  const stopped = ending.type === 'cancelled' ? stoppedAnswer(turn) : undefined;
  if (stopped) keepStopped(write, stopped, execution.run_id);
  takeLeftover(execution, write);
  // The terminal event is the last of its run, behind the messages of the same commit.
  stream.log(terminal);
  stream.flush(write, correlationOf(execution));
  putEnd(execution, write, ending);
  execution.trace?.end(write.batch, execution.run);
  await commit(write, 'progress');
  stream.channel().emit(terminal);
};

/** The end of a wait is told in a stream of its own; what was open is not executed any more. */
const reopenFor = (execution: Execution, { type }: RunEnding): void => {
  if (execution.stream.reopen()) beginStream(execution, false);
  if (type === 'cancelled') cancelCalls(execution.turn);
};

/** What tasks told is history and nothing else; other input becomes work of its own. */
const takeLeftover = (execution: Execution, write: Write): void => {
  const { ledger, run_id, owner } = execution;
  const entries = targetedAt(ledger.pending, run_id);
  const told = entries.filter(({ message }) => message.visibility === 'internal');
  const leftover = entries.filter((entry) => !told.includes(entry));
  if (told.length > 0) deliver(write, told, run_id);
  if (leftover.length > 0) owner.leftOver(execution, write, leftover);
};

/** Mail is durable in the state of the thread before it leaves. */
const sendMail = async (execution: Execution, signal: AbortSignal, last = false): Promise<void> => {
  const { turn, run_id } = execution;
  if (!hasMail(turn)) return;
  const write = writeOf(execution);
  const kept = turn.state.takeKept();
  if (kept) keepState(write, run_id, kept);
  await commit(write, 'progress');
  await sendOut(turn, signal, last);
};
