import type { ThreadEvent } from '../../../machines/thread-types.ts';
import { editProblem } from '../../loop/accept-decision.ts';
import type { ResolvedAgent } from '../../loop/agent.ts';
import type { BudgetSubject } from '../../schema/budget.ts';
import { Conflict, NotFound, Unavailable, Unprocessable } from '../../schema/outcome.ts';
import { baseOf, partitionOf } from '../../schema/partition.ts';
import type { Run } from '../../schema/run.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { TaskEvent } from '../delegation/task-list.ts';
import { commit } from '../ledger/commit.ts';
import { refuseExcess } from '../ledger/history-bytes.ts';
import { openRunOf, quiet } from '../ledger/ledger.ts';
import { blockingBarrier } from '../ledger/pending.ts';
import { expiredDecisions } from '../maintenance/expiry.ts';
import { endStray } from '../maintenance/stray-runs.ts';
import { followRun, isRunPausing, takesInput } from '../run/control.ts';
import type { Attach } from '../run/live-channel.ts';
import { spenderOf, subjectOfNew, subjectOfRun } from '../run/payer.ts';
import { acceptFiles } from './accept-files.ts';
import { isSlotFree } from './concurrency.ts';
import { refuseExcessRuns, refuseExhausted } from './exhausted.ts';
import { continuedRun, isOfUser, refuseForeign } from './open-run.ts';
import { attachTo } from './pending-readers.ts';
import { hasWork, refuseDuplicate, workOf } from './queue.ts';
import type { ChildStrategy, Requests } from './request-types.ts';
import { RELEASED } from './retire.ts';
import { knownRun, type Thread, writeNow } from './state.ts';
import { type Accepted, type DecisionTarget, isAnswerTo, type Submission } from './submission.ts';
import type { Decided } from './tickets.ts';
import { refuseUnaccepted } from './unaccepted.ts';
import { refuseUnsupported } from './unsupported.ts';
import { type ThreadView, viewOf } from './view.ts';
import { resolveDecision } from './waiting-runs.ts';

/** Requests to a thread: each becomes an event of its machine, whose action settles it. */

/**
 * Sends a request as an event. An actor that fails while processing it is retired, so the request must be rejected
 * here.
 */
const ask = <Answer>(
  thread: Thread,
  event: (accept: (answer: Answer) => void, refuse: (error: unknown) => void) => ThreadEvent<Requests>,
  asking?: BudgetSubject,
): Promise<Answer> =>
  new Promise((accept, refuse) => {
    const { actor } = thread;
    thread.asking = asking;
    actor.send(event(accept, refuse));
    thread.asking = undefined;
    const { status, error } = actor.getSnapshot();
    if (status === 'error') refuse(error);
    // The actor was released after it was looked up.
    if (status === 'stopped') refuse(new Unavailable(RELEASED));
  });

const EVENT_OF = {
  foreground: 'FOREGROUND',
  queue: 'QUEUE',
  live_then_queue: 'STEER',
  interrupt_then_queue: 'INTERRUPT_THEN_QUEUE',
  sub_agent: 'DRIVE',
  resume_open_run: 'CONTINUE',
} as const satisfies Record<Submission['mode'], string>;

/** Resolves when the input is durable. @throws Conflict, NotFound, Invalid for an unknown file */
export const submit = async (thread: Thread, given: Submission): Promise<Accepted> => {
  const submission = withFiles(thread, given);
  const earlier = submission.run_id === undefined ? undefined : knownRun(thread, submission.run_id);
  if (earlier) return acceptedBefore(earlier);
  let continues = checkInput(thread, submission);
  const decided = (submission.decisions ?? []).flatMap((decision) => resolveDecision(thread, decision) ?? []);
  if (decided.some(({ edit }) => edit)) {
    await checkEdits(thread, decided);
    // The thread may have changed during the check.
    continues = checkInput(thread, submission);
  }
  const type = EVENT_OF[submission.mode];
  return ask(
    thread,
    (accept, refuse) => ({ type, request: { accept, refuse, decided, continues, ...submission } }),
    subjectOf(thread, submission, continues),
  );
};

/** Users name their own files in any thread. Input of a sub-agent was accepted with that of its parent. */
const withFiles = ({ deps, scope }: Thread, submission: Submission): Submission => {
  const { messages, mode, by } = submission;
  if (mode === 'sub_agent') return submission;
  const accepted = acceptFiles(deps, partitionOf({ scope: baseOf(scope), user: by?.user }), messages);
  return accepted === messages ? submission : { ...submission, messages: accepted };
};

/** Undefined while no budget limits concurrent runs. */
const subjectOf = (
  { deps, scope }: Thread,
  { agent, by }: Submission,
  continues: RunRecord | undefined,
): BudgetSubject | undefined => {
  if (!deps.meter?.limitsRuns()) return undefined;
  return continues ? subjectOfRun(deps, scope, continues) : subjectOfNew(scope, agent, spenderOf(by ?? {}));
};

/** Returns the subject of a run of the thread. */
const subjectOfKnown = (thread: Thread, run_id: string): BudgetSubject | undefined => {
  const { deps, scope } = thread;
  const run = deps.meter?.limitsRuns() ? knownRun(thread, run_id) : undefined;
  return run && subjectOfRun(deps, scope, run);
};

const acceptedBefore = ({ run_id, thread_id, dispatch_id = '', status }: Run): Accepted => ({
  run_id,
  thread_id,
  dispatch_id,
  status: status === 'created' ? 'queued' : 'running',
});

/**
 * Validates the input before the machine receives it, since an action that throws retires the actor. Returns the run
 * that it continues: the event carries this run, so that guards and actions do not determine it again. Must be called
 * in the event-loop tick of the event.
 */
const checkInput = (thread: Thread, submission: Submission): RunRecord | undefined => {
  const { queue, active, suspended, deps, ledger } = thread;
  refuseForeign(thread, submission);
  const continues = continuedRun(thread, submission);
  if (isAnswerTo(active?.run_id, submission)) return continues;
  const { history = [], messages } = submission;
  refuseExcess(ledger, [...history, ...messages], deps.settings.thread_limit_bytes);
  refuseDuplicate(queue, submission.dedupe_key, (active ?? suspended)?.dispatch);
  const agent = continues ? deps.resolve(continues.agent_id, continues.resolution_id) : submission.agent;
  if (submission.mode !== 'sub_agent') {
    refuseExhausted(deps, thread.scope, agent, { spender: spenderOf(submission.by ?? {}), canWait: true });
  }
  if (!continues && !joinsActive(thread, submission))
    refuseExcessRuns(deps, thread.scope, agent, {
      spender: spenderOf(submission.by ?? {}),
      root: submission.parent?.root_run_id,
    });
  if (!continues && isQueuedBy(thread, submission))
    deps.meter?.checkQueue(subjectOfNew(thread.scope, agent, spenderOf(submission.by ?? {})));
  refuseUnsupported(agent, submission);
  refuseUnaccepted(agent, submission);
  if (submission.mode === 'sub_agent' && submission.into !== undefined && !continues)
    throw new NotFound(`run not found: ${submission.into}`);
  const blocker = submission.mode === 'foreground' && blockingBarrier(ledger.pending, 'interrupt');
  if (blocker)
    throw new Conflict(`delivery blocked by barrier: pending '${blocker.pending_id}' must be consumed first`);
  return continues;
};

/** Whether the input becomes a queued run. */
const isQueuedBy = (thread: Thread, submission: Submission): boolean => {
  const { active, slot, deps, scope } = thread;
  const { mode, agent, by, available_at = 0 } = submission;
  if (!deps.meter?.limitsQueue() || mode === 'sub_agent' || joinsActive(thread, submission)) return false;
  if (available_at > deps.clock.now() || !isSlotFree(slot)) return true;
  if (active) return mode !== 'foreground';
  return !deps.meter.hasRoom(subjectOfNew(scope, agent, spenderOf(by ?? {})));
};

/** Whether the input becomes part of the run that executes. */
const joinsActive = ({ active }: Thread, submission: Submission): boolean =>
  submission.mode === 'live_then_queue' &&
  active !== undefined &&
  takesInput(active) &&
  isOfUser(active.run, submission);

/** Returns the current view of the thread, for a request that is read and submitted in the same tick. */
export const viewThread = (thread: Thread): ThreadView =>
  viewOf(thread.ledger, thread.active, (run_id) => knownRun(thread, run_id));

/**
 * Resolves when the run is done or waits for a person or the client; without the run when this process has released it.
 */
export const untilInactive = async (thread: Thread, run_id: string): Promise<RunRecord | undefined> => {
  const { active, ledger, settlements, deps, scope } = thread;
  const waiting = ledger.waiting.get(run_id);
  if (active?.run_id === run_id) return settlements.wait(run_id);
  if (waiting) return waiting;
  await quiet(ledger);
  const run = deps.store.runs.get(scope, run_id);
  return run && hasTag(run, 'done') ? run : undefined;
};

/** Adds a reader for a run that executes or is queued. False when the run is inactive. */
export const followInThread = (
  { active, queue, readers }: Thread,
  run_id: string,
  attach: Attach,
): boolean => {
  if (active?.run_id === run_id) return followRun(active, attach);
  if (!workOf(queue, run_id)) return false;
  attachTo(readers, run_id, attach);
  return true;
};

/** Resolves when the decision is durable; false when no such ticket is open. */
export const decideInThread = async (thread: Thread, target: DecisionTarget): Promise<boolean> => {
  const resolved = resolveDecision(thread, target);
  if (!resolved) return false;
  if (resolved.edit) await checkEdits(thread, [resolved]);
  // The ticket may have been decided during the check.
  const decided = resolved.edit ? resolveDecision(thread, target) : resolved;
  if (!decided) return false;
  await ask<void>(
    thread,
    (accept, refuse) => ({
      type: 'DECIDE',
      request: { decided, attach: target.attach, keyed: target.keyed, accept, refuse },
    }),
    subjectOfKnown(thread, decided.run_id),
  );
  return true;
};

/** @throws Unprocessable */
const checkEdits = async (thread: Thread, decided: readonly Decided[]): Promise<void> => {
  for (const { edit } of decided) {
    const agent = edit && agentOf(thread, edit.run_id);
    const problem = agent && (await editProblem(agent, edit));
    if (problem !== undefined) throw new Unprocessable(`arguments: ${problem}`);
  }
};

/** Returns the agent of a run of this thread, or of one below it. @throws NotFound, Invalid */
const agentOf = (thread: Thread, run_id: string): Pick<ResolvedAgent, 'tools'> => {
  const { active, suspended, deps } = thread;
  const execution = [active, suspended].find((each) => each?.run_id === run_id);
  if (execution) return execution.turn.agent;
  const run = knownRun(thread, run_id);
  if (!run) throw new NotFound(`run not found: ${run_id}`);
  return deps.resolve(run.agent_id, run.resolution_id);
};

/** Applies the configured outcomes of expired tickets of a waiting run. */
export const expireTickets = async (thread: Thread, run_id: string): Promise<void> => {
  const run = thread.ledger.waiting.get(run_id);
  const decisions = run ? expiredDecisions(run, thread.deps.clock.now()) : [];
  await Promise.all(decisions.map((decision) => decideInThread(thread, decision)));
};

/** Delivers an event of a background task to its run. Resolves when it is durable, or its run no longer exists. */
export const deliverTaskEvent = (thread: Thread, event: TaskEvent): Promise<void> =>
  ask<void>(
    thread,
    (accept, refuse) => ({ type: 'TASK_EVENT', request: { into: event.run_id, accept, refuse, ...event } }),
    subjectOfKnown(thread, event.run_id),
  );

/**
 * Returns the run that a cancel of the thread refers to: the executing one, else a waiting one, else the next queued
 * one.
 */
export const cancellableRun = ({ active, ledger, queue }: Thread): string | undefined =>
  active?.run_id ??
  openRunOf(ledger)?.run_id ??
  [...ledger.waiting.keys()].at(-1) ??
  queue.waiting[0]?.run_id;

/** False when the run has nothing left to cancel. */
export const cancelInThread = (thread: Thread, run_id: string): Promise<boolean> =>
  ask(thread, (done, refuse) => ({ type: 'CANCEL', request: { run_id, done, refuse } }));

/**
 * Settles a sub-agent's run after a restart: a waiting run without a waiting call is cancelled, and the parent of an
 * ended run is notified.
 */
export const settleChildRun = async (thread: Thread, run_id: string): Promise<void> => {
  const { children } = thread.host;
  const run = knownRun(thread, run_id);
  if (!run) return;
  if (hasTag(run, 'done')) children.ended(run);
  if (!hasTag(run, 'waiting')) return;
  if (children.isAwaited(run)) children.waits(run);
  else await cancelInThread(thread, run_id);
};

/** Returns the number of superseded dispatches; undefined when there was nothing to interrupt. */
export const interruptThread = (thread: Thread): Promise<number | undefined> => {
  const { active, ledger, queue } = thread;
  const isSomething = active !== undefined || ledger.waiting.size > 0 || queue.waiting.length > 0;
  return ask(thread, (accept, refuse) => {
    const done = (superseded: number): void => accept(isSomething ? superseded : undefined);
    return { type: 'INTERRUPT', request: { done, refuse } };
  });
};

/** Stops the thread's work and removes its rows. Resolves when that is durable. */
export const deleteThread = (
  thread: Thread,
  strategy: ChildStrategy,
  { isErased = false }: { isErased?: boolean } = {},
): Promise<void> =>
  ask<void>(thread, (done, refuse) => ({ type: 'DELETE', request: { strategy, isErased, done, refuse } }));

/** Ends a run of the thread that is listed as running although it does not execute and has no open dispatch. */
export const settleRunning = async (thread: Thread, run_id: string): Promise<boolean> => {
  const { active, queue, deps } = thread;
  const run = knownRun(thread, run_id);
  if (!run || !hasTag(run, 'running') || active?.run_id === run_id || hasWork(queue, run_id)) return false;
  const write = writeNow(thread);
  endStray(write, run, deps.store.dispatches, deps.settings.event_capture_mode);
  await commit(write, 'progress');
  return true;
};

export const isExecuting = ({ active }: Thread): boolean => active !== undefined;

/** Whether the executing run has failed and pauses before its next attempt. */
export const isPausing = ({ active }: Thread): boolean => active !== undefined && isRunPausing(active);
