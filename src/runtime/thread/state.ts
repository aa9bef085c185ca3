import type { ActorRef, Snapshot } from 'xstate';
import type { ThreadEvent } from '../../../machines/thread-types.ts';
import type { Compactors } from '../../loop/compactors.ts';
import type { BudgetSubject } from '../../schema/budget.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { Peers } from '../delegation/agent-messages.ts';
import type { TaskBoard } from '../delegation/background-tasks.ts';
import type { ChildRuns } from '../delegation/child-runs.ts';
import type { Settlements } from '../delegation/settlements.ts';
import type { RuntimeDeps } from '../deps.ts';
import { commit } from '../ledger/commit.ts';
import { type Ledger, runUnderWay } from '../ledger/ledger.ts';
import { openWrite, type Write } from '../ledger/transaction.ts';
import { dropRun, leaveWait } from '../run/control.ts';
import type { Execution, RunOwner } from '../run/execution.ts';
import type { Channel } from '../run/live-channel.ts';
import { subjectOfRun } from '../run/payer.ts';
import { releaseSlot, type Slot, takeSlot } from './concurrency.ts';
import type { Readers } from './pending-readers.ts';
import type { Queue } from './queue.ts';
import type { Input, Requests } from './request-types.ts';

/**
 * The actor of one thread: it processes every change of the thread, one event at a time. The machine decides; its
 * actions carry the decision out in one commit, synchronously, and settle the request when the commit is durable. An
 * action that throws, or a commit that fails, retires the actor: it is rebuilt from the store, which is the only source
 * of truth.
 *
 * This module contains the state of the actor. It is created and released in `thread/lifecycle.ts` and receives requests
 * in `thread/requests.ts`. Its actions, which `thread/machine.ts` binds, are in `thread/accept-input.ts`,
 * `thread/pending-foreground.ts`, `thread/launch.ts`, `thread/waiting-runs.ts` and `thread/cancel.ts`.
 */

export type Thread = {
  readonly deps: RuntimeDeps;
  readonly scope: string;
  readonly id: string;
  readonly host: ThreadHost;
  readonly ledger: Ledger;
  readonly queue: Queue;
  readonly readers: Readers;
  readonly settlements: Settlements;
  readonly compactors: Compactors;
  /** Receives the notifications of its runs. */
  readonly owner: RunOwner;
  readonly slot: Slot;
  /** The subject of the request that is being processed; undefined while no budget limits concurrent runs. */
  asking: BudgetSubject | undefined;
  /** Ends the count of the executing run. */
  leaveRoom: () => void;
  /** Set once, directly after the thread that its guards and actions receive. */
  actor: ThreadActor;
  /** Reports the end of the actor to its listeners. */
  reportEnd: () => void;
  /** The executing run; never the same as `suspended`. */
  active: Execution | undefined;
  /** The run that is suspended here until a decision. */
  suspended: Execution | undefined;
  /** Callbacks for the moment when the last execution has ended. */
  idleCallbacks: (() => void)[];
  /** A foreground run that waits for the end of another one. */
  pendingForeground: Input | undefined;
  alarm: NodeJS.Timeout | undefined;
  /** Number of consecutive failures of this actor and its predecessors. */
  failures: number;
  /** Whether the work itself may have caused the failure of the actor. */
  isOwnFault: boolean;
};

export type ThreadActor = Pick<
  ActorRef<Snapshot<unknown>, ThreadEvent<Requests>>,
  'send' | 'getSnapshot' | 'stop'
>;

/** The process context of a thread. */
export type ThreadHost = {
  tasks: TaskBoard;
  peers: Peers;
  /** False while the service stops: queued work is no longer started. */
  accepting(): boolean;
  children: ChildRuns;
  /** The actor must not be used again; a replacement may be created once `quiet` resolves. */
  onRetired(quiet: Promise<void>, past?: FailureHistory): void;
  /** The run and its readers continue with another actor. */
  onStreamLeft(run_id: string, channel: Channel): void;
  /** The actor may have become idle. */
  onSettled(): void;
};

/** `counts`: the work itself may be the cause, so that a retry counts as an attempt. */
export type FailureHistory = { failures: number; counts: boolean };

export const NO_FAILURES: FailureHistory = { failures: 0, counts: false };

/** Why queued work was superseded by newer work, as worded in runtime.md 10.4. */
export const SUPERSEDED = 'queued dispatch superseded by newer dispatch epoch';
export const INTERRUPTED = 'queued dispatch superseded by interrupt';

/** Opens a write with the current time. */
export const writeNow = ({ ledger, deps }: Thread): Write => openWrite(ledger, deps.clock.now());

/** Commits without a waiting caller: a failure has already retired the actor. */
export const commitInBackground = (write: Write): void => {
  commit(write, 'progress').catch(() => {});
};

/** Returns the run as last written, including one that the store does not contain yet. */
export const knownRun = ({ active, ledger, deps, scope }: Thread, run_id: string): RunRecord | undefined =>
  active?.run_id === run_id
    ? active.run
    : (ledger.created.get(run_id) ??
      ledger.waiting.get(run_id) ??
      runUnderWay(ledger, run_id) ??
      deps.store.runs.get(scope, run_id));

export const setActive = (thread: Thread, execution: Execution): void => {
  thread.active = execution;
  occupySlot(thread, execution);
};

/** Suspends the run: it waits, and nothing executes. */
export const suspend = (thread: Thread, execution: Execution): void => {
  thread.active = undefined;
  thread.suspended = execution;
  thread.leaveRoom();
  notifyIdle(thread);
};

/** The suspended run executes again. */
export const resumeSuspended = (thread: Thread): Execution | undefined => {
  thread.active = thread.suspended;
  thread.suspended = undefined;
  if (thread.active) occupySlot(thread, thread.active);
  return thread.active;
};

/** Detaches the suspended run for other work: its wait continues without this process. */
export const detachSuspended = (thread: Thread, write: Write): void => {
  if (thread.suspended) leaveWait(thread.suspended, write);
  thread.suspended = undefined;
};

/** Drops the suspended run, because another writer has stored its end. */
export const discardSuspended = (thread: Thread): void => {
  if (thread.suspended) dropRun(thread.suspended);
  thread.suspended = undefined;
};

/** The execution has ended, or was released. */
export const clearActive = (thread: Thread, execution: Execution): void => {
  if (thread.active === execution) {
    thread.active = undefined;
    thread.leaveRoom();
  }
  if (thread.suspended === execution) thread.suspended = undefined;
  notifyIdle(thread);
};

/** Frees the slot for another thread if nothing executes. */
export const releaseSlotIfIdle = ({ active, slot }: Thread): void => {
  if (!active) releaseSlot(slot);
};

/** Resolves when nothing executes. */
export const whenIdle = (thread: Thread): Promise<void> =>
  new Promise((resolve) => {
    if (thread.active) thread.idleCallbacks.push(resolve);
    else resolve();
  });

const notifyIdle = (thread: Thread): void => {
  const callbacks = thread.idleCallbacks;
  thread.idleCallbacks = [];
  for (const resolve of callbacks) resolve();
};

/** Counts the execution against budgets until the returned function is called. */
const countExecution = ({ deps, scope }: Thread, { run, dispatch }: Execution): (() => void) =>
  dispatch && deps.meter?.limitsRuns() ? deps.meter.begin(subjectOfRun(deps, scope, run)) : nothing;

const nothing = (): void => {};

/** A run that a tool call drives uses the slot of its parent. */
const occupySlot = (thread: Thread, execution: Execution): void => {
  if (execution.dispatch) takeSlot(thread.slot);
  thread.leaveRoom = countExecution(thread, execution);
};
