import type { Actor } from 'xstate';
import type { threadMachine } from '../../machines/thread.ts';
import type { Compactors } from '../loop/compactors.ts';
import type { Run } from '../schema/run.ts';
import type { Channel } from './channel.ts';
import type { ChildRuns, Rests } from './child-runs.ts';
import type { RuntimeDeps } from './deps.ts';
import type { Execution, RunOwner } from './execution.ts';
import { type Ledger, runUnderWay } from './ledger.ts';
import type { Peers } from './mail.ts';
import type { Queue } from './queue.ts';
import type { Readers } from './readers.ts';
import type { Input } from './requests.ts';
import { dropRun, leaveWait } from './run-control.ts';
import { giveBackSlot, type Slot, takeSlot } from './slots.ts';
import type { TaskBoard } from './tasks.ts';
import { commit, openWrite, type Write } from './write.ts';

/**
 * The actor of one thread: everything that changes the thread goes through it, one event after the other. The
 * machine decides; its actions carry the decision out in one commit, synchronously, and answer the request when the
 * commit is durable. An action that throws, or a commit that fails, retires the actor: it is made again from the
 * store, which is the only truth.
 *
 * This is what the actor has. It is made and retired in `thread-life.ts`, asked in `thread-requests.ts`, and its
 * actions are in `thread-starts.ts`, `thread-waits.ts` and `thread-ends.ts`.
 */

export type Thread = {
  readonly deps: RuntimeDeps;
  readonly scope: string;
  readonly id: string;
  readonly around: ThreadAround;
  readonly ledger: Ledger;
  readonly queue: Queue;
  readonly readers: Readers;
  readonly rests: Rests;
  readonly compactors: Compactors;
  /** What its runs tell it. */
  readonly owner: RunOwner;
  readonly slot: Slot;
  readonly actor: Actor<typeof threadMachine>;
  /** Tells those who watch actors that this one is gone. */
  readonly gone: () => void;
  /** What executes; never also what is held. */
  active: Execution | undefined;
  /** What waits here for a decision without executing. */
  held: Execution | undefined;
  /** Told when nothing executes any more. */
  whenVacant: (() => void)[];
  /** A foreground run that waits for the end of another one. */
  claimant: Input | undefined;
  alarm: NodeJS.Timeout | undefined;
  /** How often it and the actors before it failed, one after the other. */
  failures: number;
  /** The work itself may be why the actor fails. */
  isOwnFault: boolean;
};

/** What a thread knows of the process around it. */
export type ThreadAround = {
  tasks: TaskBoard;
  peers: Peers;
  /** False while the service stops: nothing queued is started any more. */
  accepting(): boolean;
  children: ChildRuns;
  /** The actor must not be used again; another one may be made once `quiet` resolves. */
  onRetired(quiet: Promise<void>, past?: Past): void;
  /** The run goes on with another actor, and so do its readers. */
  onStreamLeft(run_id: string, channel: Channel): void;
  /** It may have become passive. */
  onSettled(): void;
};

/** `counts`: the work itself may be why, so that trying it again is an attempt. */
export type Past = { failures: number; counts: boolean };

export const NO_PAST: Past = { failures: 0, counts: false };

/** Queued work that newer work has overtaken, in the words of runtime.md 10.4. */
export const OVERTAKEN = 'queued dispatch superseded by newer dispatch epoch';
export const INTERRUPTED = 'queued dispatch superseded by interrupt';

/** A write of now. */
export const writeNow = ({ ledger, deps }: Thread): Write => openWrite(ledger, deps.clock.now());

/** For commits that nobody waits for: a failure has already retired the actor. */
export const commitInBackground = (write: Write): void => {
  commit(write, 'progress').catch(() => {});
};

/** The run of this id as it was last written, also where the store does not have that yet. */
export const knownRun = ({ active, ledger, deps, scope }: Thread, run_id: string): Run | undefined =>
  active?.run_id === run_id
    ? active.run
    : (ledger.created.get(run_id) ??
      ledger.waiting.get(run_id) ??
      runUnderWay(ledger, run_id) ??
      deps.store.runs.get(scope, run_id));

export const occupy = (thread: Thread, execution: Execution): void => {
  thread.active = execution;
  takeTurn(thread, execution);
};

/** It waits, and nothing executes. */
export const hold = (thread: Thread, execution: Execution): void => {
  thread.active = undefined;
  thread.held = execution;
  tellVacant(thread);
};

/** What is held executes again. */
export const takeUpHeld = (thread: Thread): Execution | undefined => {
  thread.active = thread.held;
  thread.held = undefined;
  if (thread.active) takeTurn(thread, thread.active);
  return thread.active;
};

/** Other work takes the thread: the wait goes on without this process. */
export const leaveHeld = (thread: Thread, write: Write): void => {
  if (thread.held) leaveWait(thread.held, write);
  thread.held = undefined;
};

/** Somebody else has written the end of what is held. */
export const dropHeld = (thread: Thread): void => {
  if (thread.held) dropRun(thread.held);
  thread.held = undefined;
};

/** It has ended, or was let go. */
export const vacate = (thread: Thread, execution: Execution): void => {
  if (thread.active === execution) thread.active = undefined;
  if (thread.held === execution) thread.held = undefined;
  tellVacant(thread);
};

/** Nothing follows what executed last: its slot is for another thread. */
export const giveBackTurn = ({ active, slot }: Thread): void => {
  if (!active) giveBackSlot(slot);
};

/** Resolves when nothing executes. */
export const vacant = (thread: Thread): Promise<void> =>
  new Promise((resolve) => {
    if (thread.active) thread.whenVacant.push(resolve);
    else resolve();
  });

const tellVacant = (thread: Thread): void => {
  const told = thread.whenVacant;
  thread.whenVacant = [];
  for (const resolve of told) resolve();
};

/** One that a tool call drives executes in the slot of its parent. */
const takeTurn = ({ slot }: Thread, { dispatch }: Execution): void => {
  if (dispatch) takeSlot(slot);
};
