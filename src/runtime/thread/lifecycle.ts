import { createActor, createEmptyActor } from 'xstate';
import { createCompactors } from '../../loop/compactors.ts';
import { Unavailable } from '../../schema/outcome.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import { cancelOrphanedTasks } from '../delegation/orphaned-remote-tasks.ts';
import { createSettlements } from '../delegation/settlements.ts';
import type { RuntimeDeps } from '../deps.ts';
import { createLedger, type LedgerDeps } from '../ledger/ledger.ts';
import { endStray } from '../maintenance/stray-runs.ts';
import { releaseRun, renewLease } from '../run/control.ts';
import { countStart } from '../run/count-start.ts';
import type { Channel } from '../run/live-channel.ts';
import { finishOf } from '../run/outcome.ts';
import { isWaitingForSlot, type Slot } from './concurrency.ts';
import { boundThreadMachine } from './machine.ts';
import { rejectPendingForeground } from './pending-foreground.ts';
import { awaitedRuns, createReaders, endReaders, isAwaited, takeChannel } from './pending-readers.ts';
import { createQueue, hasWork, isOrphaned, reclaimWork, workOf } from './queue.ts';
import { retireThread } from './retire.ts';
import { createRunOwner } from './run-owner.ts';
import {
  commitInBackground,
  detachSuspended,
  type FailureHistory,
  knownRun,
  type Thread,
  type ThreadHost,
  writeNow,
} from './state.ts';

/**
 * Creates, releases and closes the actor of a thread. The process has exclusive use of the store, so a dispatch that is
 * claimed when the actor is created has lost its worker: it is reclaimed here. Recovery after a crash therefore
 * consists of creating the actor.
 */

type Made = {
  scope: string;
  id: string;
  host: ThreadHost;
  slot: Slot;
  /** Consecutive failures of earlier actors, and whether they count as attempts. */
  past: FailureHistory;
};

export const makeThread = (deps: RuntimeDeps, { scope, id, host, slot, past }: Made): Thread => {
  const ledger = createLedger(
    ledgerDepsFor(deps, () => thread),
    scope,
    id,
  );
  const thread: Thread = {
    deps,
    scope,
    id,
    host,
    ledger,
    queue: createQueue(deps, ledger),
    readers: createReaders(),
    settlements: createSettlements(),
    compactors: createCompactors({ clock: deps.clock, ids: deps.ids }),
    owner: createRunOwner(id, () => thread),
    slot,
    asking: undefined,
    leaveRoom: nothing,
    active: undefined,
    suspended: undefined,
    idleCallbacks: [],
    pendingForeground: undefined,
    alarm: undefined,
    failures: past.failures,
    isOwnFault: true,
    actor: NOT_CREATED,
    reportEnd: nothing,
  };
  const actor = createActor(boundThreadMachine, { id, input: { host: thread } });
  actor.subscribe({ error: (error) => retireThread(thread, error) });
  thread.actor = actor;
  thread.reportEnd = deps.actors.began(actor, scope);
  resumeWork(thread, past);
  actor.start();
  return thread;
};

/** The actor of a thread whose machine is being created. */
const NOT_CREATED = createEmptyActor();

const nothing = (): void => {};

/** Handles the commits of a thread. */
const ledgerDepsFor = (deps: RuntimeDeps, thread: () => Thread): LedgerDeps => ({
  store: deps.store,
  clock: deps.clock,
  ids: deps.ids,
  events: deps.events,
  runs: deps.runs,
  traces: deps.traces,
  legs: deps.legs,
  recordAccess: deps.recordAccess,
  observe: deps.observe,
  onStored(run) {
    const { host, readers, settlements } = thread();
    host.children.stored(run);
    if (!hasTag(run, 'done')) return;
    endReaders(readers, run);
    if (!settlements.notify(run.run_id, run)) host.children.ended(run);
  },
  onStarting: (batch, run) => countStart(deps, batch, thread().scope, run),
  onRunDone: (run_id) => thread().host.tasks.endRun(thread().scope, run_id),
  onRunWritten(after, before, commit) {
    cancelOrphanedTasks(deps, after, before);
    deps.onRunWritten?.(thread().scope, { after, before, ...commit });
  },
  onFailure: (error) => retireThread(thread(), error),
  onQuiet: () => thread().host.onSettled(),
  onListenerError: (error) =>
    deps.log.error('thread.commit_listener_failed', { err: error, thread_id: thread().id }),
});

/** Resumes the work of an earlier process, or of an actor that failed. */
const resumeWork = (thread: Thread, { counts }: FailureHistory): void => {
  const { queue, host, deps } = thread;
  const stray = strayOf(thread);
  if (!stray && !isOrphaned(queue)) return;
  const write = writeNow(thread);
  if (stray) endStray(write, stray, deps.store.dispatches, deps.settings.event_capture_mode);
  reclaimWork(queue, write, counts);
  commitInBackground(write);
  host.children.endStrays();
};

/** Returns the active run of the thread if no open dispatch would resume it (`stray-runs.ts`). */
const strayOf = ({ ledger, queue, deps, scope }: Thread): RunRecord | undefined => {
  const active = ledger.record?.thread.active_run_id;
  const run = active === undefined ? undefined : deps.store.runs.get(scope, active);
  return run && hasTag(run, 'running') && !hasWork(queue, run.run_id) ? run : undefined;
};

/**
 * Renews the lease of the executing run; a run that was suspended long enough is detached, and its wait continues
 * without this process.
 */
export const renewThread = (thread: Thread): void => {
  const { active, suspended, deps } = thread;
  const isLeaving = suspended !== undefined && (suspended.dispatch?.lease_until ?? 0) < deps.clock.now();
  const { status, run_status } = active?.dispatch ?? {};
  // A run whose wait is being written already has the longer lease.
  const executes = status === 'Claimed' && run_status === 'running';
  if (!isLeaving && !executes) return;
  const write = writeNow(thread);
  if (isLeaving) detachSuspended(thread, write);
  if (executes && active) renewLease(active, write);
  commitInBackground(write);
};

/** Releases the executing and the suspended run: the next start resumes them. */
export const releaseThread = (thread: Thread, reason: string): void => {
  const { active, suspended, ledger, readers } = thread;
  clearTimeout(thread.alarm);
  rejectPendingForeground(thread, new Unavailable(reason));
  for (const run_id of awaitedRuns(readers)) endUnread(thread, run_id, reason);
  if (active) releaseRun(active, reason);
  if (!suspended || ledger.broken) return;
  // The wait is durable and needs no process until it is over.
  const write = writeNow(thread);
  detachSuspended(thread, write);
  commitInBackground(write);
};

/**
 * The service stops before the run has started: its streams end with the reason, and the run continues without them.
 */
const endUnread = (thread: Thread, run_id: string, reason: string): void => {
  const run = knownRun(thread, run_id);
  const { channel } = takeChannel(thread.readers, run_id);
  if (run) channel.emit(finishOf(run, { type: 'error', value: reason }));
  channel.close();
};

/** Adopts the readers of a run that an earlier actor of the thread released, unless the run is unknown or inactive. */
export const adoptReaders = (thread: Thread, run_id: string, channel: Channel): void => {
  const { readers, queue } = thread;
  const run = knownRun(thread, run_id);
  readers.adopted.set(run_id, channel);
  if (!run) takeChannel(readers, run_id).channel.close();
  // A run that was executing continues, or its end is being written.
  else if (!hasTag(run, 'running') && !workOf(queue, run_id)) endReaders(readers, run);
};

/**
 * Whether the actor may be evicted and rebuilt: nothing executes, is suspended, is queued (except for a concurrency
 * slot) or is being written, and no reader waits.
 */
export const isEvictable = ({
  active,
  suspended,
  queue,
  slot,
  pendingForeground,
  readers,
  settlements,
  ledger,
}: Thread): boolean =>
  active === undefined &&
  suspended === undefined &&
  (queue.waiting.length === 0 || isWaitingForSlot(slot)) &&
  pendingForeground === undefined &&
  !isAwaited(readers) &&
  settlements.size() === 0 &&
  ledger.underWay === 0;

/** Whether no run executes, waits or is queued. */
export const isWithoutWork = ({ active, queue, ledger }: Thread): boolean =>
  active === undefined && queue.waiting.length === 0 && ledger.waiting.size === 0;

export const closeThread = ({ alarm, reportEnd }: Thread): void => {
  clearTimeout(alarm);
  reportEnd();
};
