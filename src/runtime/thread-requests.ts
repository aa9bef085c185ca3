import type { ThreadEvent } from '../../machines/thread.ts';
import { editProblem } from '../loop/accept-decision.ts';
import type { ResolvedAgent } from '../loop/agent.ts';
import { Conflict, NotFound, Unavailable, Unprocessable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { Attach } from './channel.ts';
import { expiredDecisions } from './expiry.ts';
import { refuseExcess } from './history-bytes.ts';
import { openRunOf, quiet } from './ledger.ts';
import { blockingBarrier } from './pending.ts';
import { hasWork, refuseDuplicate, workOf } from './queue.ts';
import { attachTo } from './readers.ts';
import type { Cancel, ChildStrategy, Decision, Input, Interrupt, Removal, TaskTold } from './requests.ts';
import { followRun, isRunPausing, steerRun } from './run-control.ts';
import { endStray } from './stray-runs.ts';
import { type Accepted, type DecisionTarget, isAnswerTo, type Submission } from './submission.ts';
import type { TaskEvent } from './tasks.ts';
import { knownRun, type Thread, writeNow } from './thread.ts';
import { LET_GO } from './thread-retired.ts';
import { type ThreadView, viewOf } from './thread-view.ts';
import { resolveDecision } from './thread-waits.ts';
import { refuseUnaccepted } from './unaccepted.ts';
import { refuseUnsupported } from './unsupported.ts';
import type { Decided } from './wait.ts';
import { continuesOpen, openFor } from './work.ts';
import { commit } from './write.ts';

/** What may be asked of a thread: each request becomes an event of its machine, whose action answers it. */

/** An event at which the actor fails retires it; whoever asked for it must not wait for ever. */
const ask = <Answer>(
  { actor }: Thread,
  event: (accept: (answer: Answer) => void, refuse: (error: unknown) => void) => ThreadEvent,
): Promise<Answer> =>
  new Promise((accept, refuse) => {
    actor.send(event(accept, refuse));
    const { status, error } = actor.getSnapshot();
    if (status === 'error') refuse(error);
    // It was let go since it was looked up.
    if (status === 'stopped') refuse(new Unavailable(LET_GO));
  });

const EVENT_OF = {
  foreground: 'FOREGROUND',
  queue: 'QUEUE',
  live_then_queue: 'STEER',
  interrupt_then_queue: 'INTERRUPT_THEN_QUEUE',
  sub_agent: 'DRIVE',
  resume_open_run: 'CONTINUE',
} as const satisfies Record<Submission['mode'], string>;

/** Resolves when the input is durable. @throws Conflict, NotFound */
export const submit = async (thread: Thread, submission: Submission): Promise<Accepted> => {
  const twin = submission.run_id === undefined ? undefined : knownRun(thread, submission.run_id);
  if (twin) return acceptedBefore(twin);
  if (!isAnswerTo(thread.active?.run_id, submission)) refuseInput(thread, submission);
  const decided = (submission.decisions ?? []).flatMap((decision) => resolveDecision(thread, decision) ?? []);
  if (decided.some(({ edit }) => edit)) await checkEdits(thread, decided);
  const type = EVENT_OF[submission.mode];
  return ask(thread, (accept, refuse) => {
    const request: Input = { accept, refuse, decided, ...submission };
    return { type, request };
  });
};

const acceptedBefore = ({ run_id, thread_id, dispatch_id = '', status }: Run): Accepted => ({
  run_id,
  thread_id,
  dispatch_id,
  status: status === 'created' ? 'queued' : 'running',
});

/** What may be refused is looked at before the machine moves: an action that throws retires the actor. */
const refuseInput = (thread: Thread, submission: Submission): void => {
  const { queue, active, held, deps, ledger } = thread;
  refuseExcess(ledger, submission.messages, deps.settings.thread_limit_bytes);
  refuseDuplicate(queue, submission.dedupe_key, (active ?? held)?.dispatch);
  const open = openFor(thread, submission);
  const continues = open !== undefined && continuesOpen(thread, submission);
  const agent = continues ? deps.resolve(open.agent_id, open.resolution_id) : submission.agent;
  refuseUnsupported(agent, submission);
  refuseUnaccepted(agent, submission);
  if (submission.mode === 'sub_agent' && submission.into !== undefined && !continues)
    throw new NotFound(`run not found: ${submission.into}`);
  const blocker = submission.mode === 'foreground' && blockingBarrier(ledger.pending, 'interrupt');
  if (blocker)
    throw new Conflict(`delivery blocked by barrier: pending '${blocker.pending_id}' must be consumed first`);
};

/** The thread of this moment, for a request that is read and submitted in the same turn. */
export const viewThread = (thread: Thread): ThreadView =>
  viewOf(thread.ledger, thread.active, (run_id) => knownRun(thread, run_id));

/** Resolves when the run is done or waits for somebody; without the run when this process has let go of it. */
export const restedRun = async (thread: Thread, run_id: string): Promise<Run | undefined> => {
  const { active, ledger, rests, deps, scope } = thread;
  const waiting = ledger.waiting.get(run_id);
  if (active?.run_id === run_id) return rests.wait(run_id);
  if (waiting) return waiting;
  await quiet(ledger);
  const run = deps.store.runs.get(scope, run_id);
  return run?.status === 'done' ? run : undefined;
};

/** A reader for a run that executes or waits for its turn. False when it is at rest. */
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

/** Input was staged for whatever executes here. */
export const steerThread = ({ active }: Thread): void => {
  if (active) steerRun(active);
};

/** Resolves when the decision is durable; false when no such ticket is open. */
export const decideInThread = async (thread: Thread, target: DecisionTarget): Promise<boolean> => {
  const resolved = resolveDecision(thread, target);
  if (!resolved) return false;
  if (resolved.edit) await checkEdits(thread, [resolved]);
  // The ticket may have been decided meanwhile.
  const decided = resolved.edit ? resolveDecision(thread, target) : resolved;
  if (!decided) return false;
  await ask<void>(thread, (accept, refuse) => {
    const request: Decision = { decided, attach: target.attach, accept, refuse };
    return { type: 'DECIDE', request };
  });
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

/** Of a run of this thread, or of one below it. @throws NotFound, Invalid */
const agentOf = (thread: Thread, run_id: string): Pick<ResolvedAgent, 'tools'> => {
  const { active, held, deps } = thread;
  const execution = [active, held].find((each) => each?.run_id === run_id);
  if (execution) return execution.turn.agent;
  const run = knownRun(thread, run_id);
  if (!run) throw new NotFound(`run not found: ${run_id}`);
  return deps.resolve(run.agent_id, run.resolution_id);
};

/** Tickets of a waiting run whose time is over are decided as they say. */
export const expireTickets = async (thread: Thread, run_id: string): Promise<void> => {
  const run = thread.ledger.waiting.get(run_id);
  const decisions = run ? expiredDecisions(run, thread.deps.clock.now()) : [];
  await Promise.all(decisions.map((decision) => decideInThread(thread, decision)));
};

/** A task of one of its runs has told something. Resolves when that is durable, or for nobody. */
export const tellThread = (thread: Thread, event: TaskEvent): Promise<void> =>
  ask<void>(thread, (accept, refuse) => {
    const request: TaskTold & { into: string } = { into: event.run_id, accept, refuse, ...event };
    return { type: 'TASK_EVENT', request };
  });

/** The run that a cancel of the thread means: executing, else waiting, else the next in the queue. */
export const cancellableRun = ({ active, ledger, queue }: Thread): string | undefined =>
  active?.run_id ??
  openRunOf(ledger)?.run_id ??
  [...ledger.waiting.keys()].at(-1) ??
  queue.waiting[0]?.run_id;

/** False when the run has nothing to cancel any more. */
export const cancelInThread = (thread: Thread, run_id: string): Promise<boolean> =>
  ask(thread, (done, refuse) => {
    const request: Cancel = { run_id, done, refuse };
    return { type: 'CANCEL', request };
  });

/** A run of a sub-agent that waits ends when no call waits for it; of one that ended its parent may not know. */
export const takeUpChild = async (thread: Thread, run_id: string): Promise<void> => {
  const { children } = thread.around;
  const run = knownRun(thread, run_id);
  if (run?.status === 'done') children.ended(run);
  else if (run?.status === 'waiting' && !children.isAwaited(run)) await cancelInThread(thread, run_id);
  else if (run?.status === 'waiting') children.waits(run);
};

/** How many queued dispatches were superseded; undefined when there was nothing to interrupt. */
export const interruptThread = (thread: Thread): Promise<number | undefined> => {
  const { active, ledger, queue } = thread;
  const isSomething = active !== undefined || ledger.waiting.size > 0 || queue.waiting.length > 0;
  return ask(thread, (accept, refuse) => {
    const done = (superseded: number): void => accept(isSomething ? superseded : undefined);
    const request: Interrupt = { done, refuse };
    return { type: 'INTERRUPT', request };
  });
};

/** Stops the thread's work and removes its rows. Resolves when that is durable. */
export const deleteThread = (thread: Thread, strategy: ChildStrategy): Promise<void> =>
  ask<void>(thread, (done, refuse) => {
    const request: Removal = { strategy, done, refuse };
    return { type: 'DELETE', request };
  });

/** Ends a run of the thread that is listed as running although nothing executes it and no dispatch of it is open. */
export const settleRunning = async (thread: Thread, run_id: string): Promise<boolean> => {
  const { active, queue, deps } = thread;
  const run = knownRun(thread, run_id);
  if (run?.status !== 'running' || active?.run_id === run_id || hasWork(queue, run_id)) return false;
  const write = writeNow(thread);
  endStray(write, run, deps.store.dispatches, deps.settings.event_capture_mode);
  await commit(write, 'progress');
  return true;
};

export const isExecuting = ({ active }: Thread): boolean => active !== undefined;

/** What executes has failed, and waits for its next attempt. */
export const isPausing = ({ active }: Thread): boolean => active !== undefined && isRunPausing(active);
