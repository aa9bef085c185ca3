import { createActor } from 'xstate';
import { createCompactors } from '../loop/compactors.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { Channel } from './channel.ts';
import { createRests } from './child-runs.ts';
import type { RuntimeDeps } from './deps.ts';
import { finishOf } from './ending.ts';
import { createLedger, type LedgerDeps } from './ledger.ts';
import { tellLeftTasks } from './left-tasks.ts';
import { createQueue, hasWork, isOrphaned, reclaimWork, workOf } from './queue.ts';
import { channelOf, createReaders, dismiss, isAwaited, unread } from './readers.ts';
import { releaseRun, renewLease } from './run-control.ts';
import { isInLine, type Slot } from './slots.ts';
import { endStray } from './stray-runs.ts';
import {
  commitInBackground,
  knownRun,
  leaveHeld,
  type Past,
  type Thread,
  type ThreadAround,
  writeNow,
} from './thread.ts';
import { ownerOf } from './thread-launch.ts';
import { boundThreadMachine } from './thread-machine.ts';
import { retireThread } from './thread-retired.ts';
import { refuseClaimant } from './thread-starts.ts';

/**
 * How the actor of a thread is made, and what keeps it. The process has the store for itself, so a dispatch that is
 * claimed when the actor is made has lost its worker: it is reclaimed here. Recovery after a crash is therefore
 * nothing but making the actor.
 */

type Made = {
  scope: string;
  id: string;
  around: ThreadAround;
  slot: Slot;
  /** How often the actors before it failed, one after the other, and whether it was their own fault. */
  past: Past;
};

export const makeThread = (deps: RuntimeDeps, { scope, id, around, slot, past }: Made): Thread => {
  const ledger = createLedger(
    told(deps, () => thread),
    scope,
    id,
  );
  const state: Omit<Thread, 'actor' | 'gone'> = {
    deps,
    scope,
    id,
    around,
    ledger,
    queue: createQueue(deps, ledger),
    readers: createReaders(),
    rests: createRests(),
    compactors: createCompactors({ clock: deps.clock, ids: deps.ids }),
    owner: ownerOf(id, () => thread),
    slot,
    active: undefined,
    held: undefined,
    whenVacant: [],
    claimant: undefined,
    alarm: undefined,
    failures: past.failures,
    isOwnFault: true,
  };
  const actor = createActor(boundThreadMachine, { id, input: { host: state } });
  actor.subscribe({ error: (error) => retireThread(thread, error) });
  const gone = deps.actors.began(actor, scope);
  const thread: Thread = Object.assign(state, { actor, gone });
  takeUp(thread, past);
  actor.start();
  return thread;
};

/** What the commits of a thread lead to. */
const told = (deps: RuntimeDeps, thread: () => Thread): LedgerDeps => ({
  store: deps.store,
  clock: deps.clock,
  ids: deps.ids,
  events: deps.events,
  runs: deps.runs,
  traces: deps.traces,
  observe: deps.observe,
  onStored(run) {
    const { around, readers, rests } = thread();
    around.children.stored(run);
    if (run.status === 'done') dismiss(readers, run);
    if (run.status === 'done' && !rests.tell(run.run_id, run)) around.children.ended(run);
  },
  onRunDone: (run_id) => thread().around.tasks.endRun(thread().scope, run_id),
  onRunWritten: (after, before) => tellLeftTasks(deps, after, before),
  onFailure: (error) => retireThread(thread(), error),
  onQuiet: () => thread().around.onSettled(),
  onDeafListener: (error) =>
    deps.log.error({ err: error, thread_id: thread().id }, 'what was committed could not be told'),
});

/** What an earlier process, or an actor that failed, left behind. */
const takeUp = (thread: Thread, { counts }: Past): void => {
  const { queue, around, deps } = thread;
  const stray = strayOf(thread);
  if (!stray && !isOrphaned(queue)) return;
  const write = writeNow(thread);
  if (stray) endStray(write, stray, deps.store.dispatches, deps.settings.event_capture_mode);
  reclaimWork(queue, write, counts);
  commitInBackground(write);
  around.children.endStrays();
};

/** The active run of the thread, where nothing is open that would resume it (`stray-runs.ts`). */
const strayOf = ({ ledger, queue, deps, scope }: Thread): Run | undefined => {
  const active = ledger.record?.thread.active_run_id;
  const run = active === undefined ? undefined : deps.store.runs.get(scope, active);
  return run?.status === 'running' && !hasWork(queue, run.run_id) ? run : undefined;
};

/** Prolongs the lease of what executes; a wait that was held long enough goes on without this process. */
export const renewThread = (thread: Thread): void => {
  const { active, held, deps } = thread;
  const isLeaving = held !== undefined && (held.dispatch?.lease_until ?? 0) < deps.clock.now();
  const { status, run_status } = active?.dispatch ?? {};
  // A run whose wait is being written has the longer lease already.
  const executes = status === 'Claimed' && run_status === 'running';
  if (!isLeaving && !executes) return;
  const write = writeNow(thread);
  if (isLeaving) leaveHeld(thread, write);
  if (executes && active) renewLease(active, write);
  commitInBackground(write);
};

/** Gives back what executes and what is held: the next start takes it up again. */
export const releaseThread = (thread: Thread, reason: string): void => {
  const { active, held, ledger, readers } = thread;
  clearTimeout(thread.alarm);
  refuseClaimant(thread, new Unavailable(reason));
  for (const run_id of unread(readers)) endUnread(thread, run_id, reason);
  if (active) releaseRun(active, reason);
  if (!held || ledger.broken) return;
  // The wait is durable, and needs nobody until it is over.
  const write = writeNow(thread);
  leaveHeld(thread, write);
  commitInBackground(write);
};

/** The service stops, and the run has not begun: its readers are told that it will go on without them. */
const endUnread = (thread: Thread, run_id: string, reason: string): void => {
  const run = knownRun(thread, run_id);
  const { channel } = channelOf(thread.readers, run_id);
  if (run) channel.emit(finishOf(run, { type: 'error', value: reason }));
  channel.close();
};

/** Readers of a run that an earlier actor of the thread let go of, if they are somebody's. */
export const adoptReaders = (thread: Thread, run_id: string, channel: Channel): void => {
  const { readers, queue } = thread;
  const run = knownRun(thread, run_id);
  readers.adopted.set(run_id, channel);
  if (!run) channelOf(readers, run_id).channel.close();
  // One that was executing goes on, or its end is under way.
  else if (run.status !== 'running' && !workOf(queue, run_id)) dismiss(readers, run);
};

/**
 * Nothing executes, is held, is queued (but behind other threads) or is being written, and nobody waits to read:
 * the actor may be dropped and made again.
 */
export const isPassive = ({ active, held, queue, slot, claimant, readers, rests, ledger }: Thread): boolean =>
  active === undefined &&
  held === undefined &&
  (queue.waiting.length === 0 || isInLine(slot)) &&
  claimant === undefined &&
  !isAwaited(readers) &&
  rests.size() === 0 &&
  ledger.underWay === 0;

/** No run executes, waits or is queued. */
export const isWithoutWork = ({ active, queue, ledger }: Thread): boolean =>
  active === undefined && queue.waiting.length === 0 && ledger.waiting.size === 0;

/** The actor is not used any more. */
export const closeThread = ({ alarm, gone }: Thread): void => {
  clearTimeout(alarm);
  gone();
};
