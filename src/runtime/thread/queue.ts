import type { ResolvedAgent } from '../../loop/agent.ts';
import { monotonic } from '../../schema/clock.ts';
import type { Dispatch } from '../../schema/dispatch.ts';
import { Conflict } from '../../schema/outcome.ts';
import type { Run } from '../../schema/run.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { RuntimeDeps } from '../deps.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { targetedAt } from '../ledger/pending.ts';
import { deliver, putDispatch, putRun, type Write } from '../ledger/transaction.ts';
import { advanceDispatch, claimChanges, logDispatch } from '../run/dispatch-records.ts';
import { endDormant } from '../run/end-inactive.ts';
import { subjectOfRun } from '../run/payer.ts';
import { claimedRun, claimedStatus } from '../run/transitions.ts';

/**
 * The queued dispatches of one thread, in claim order. All functions write into the commit of the caller; dispatches
 * that turn out to be void are settled there, with their runs, and their input stays in the history.
 */

export type Queue = {
  readonly deps: RuntimeDeps;
  readonly ledger: Ledger;
  /** The process ended after the removal of the thread, before its execution had stopped. */
  readonly isGone: boolean;
  /** Claimed when the queue was created, by a dead worker or by an actor that failed. */
  orphans: readonly Dispatch[];
  waiting: readonly Dispatch[];
  /**
   * When delayed work may start, by the monotonic clock: a step of the wall clock neither delays it nor starts it
   * early. Work without an entry may start at once.
   */
  readonly dues: Map<string, number>;
  /** Dispatches of runs that had started and were released, or are to be retried: they keep their position. */
  started: readonly Dispatch[];
  /** Ids of dispatches whose process died while they executed. */
  readonly interrupted: Set<string>;
};

export type Claimed = {
  agent: ResolvedAgent;
  run: RunRecord;
  dispatch: Dispatch;
  from: Exclude<RunRecord['status'], 'done'>;
  /** Whether the process that executed the run before died. */
  interrupted: boolean;
};

export const createQueue = (deps: RuntimeDeps, ledger: Ledger): Queue => {
  const open = deps.store.dispatches.openOf(ledger.scope, ledger.id);
  const waiting = open.filter((dispatch) => dispatch.status === 'Queued');
  const claimed = claimedStatus();
  const started = waiting.filter(({ run_status }) => run_status === claimed);
  const queue: Queue = {
    deps,
    ledger,
    isGone: !ledger.record,
    orphans: open.filter((dispatch) => dispatch.status === 'Claimed'),
    waiting,
    dues: new Map(),
    started,
    interrupted: new Set(),
  };
  for (const dispatch of waiting) {
    countQueued(queue, dispatch);
    if (!started.includes(dispatch)) setDue(queue, dispatch, deps.clock.now());
  }
  return queue;
};

/** Counts the dispatch against budgets until it leaves the queue. */
const countQueued = (queue: Queue, dispatch: Dispatch): void => {
  const { deps, ledger } = queue;
  const run = deps.meter?.limitsQueue() ? runOf(queue, dispatch) : undefined;
  if (run) deps.meter?.addQueued(dispatch.dispatch_id, subjectOfRun(deps, ledger.scope, run));
};

/** The rest of a delay never exceeds the delay itself, even if the wall clock was set back. */
const setDue = (
  { dues, deps }: Queue,
  { dispatch_id, available_at, created_at }: Dispatch,
  now: number,
): void => {
  const left = Math.min(available_at - now, available_at - created_at);
  if (left > 0) dues.set(dispatch_id, monotonic(deps.clock) + left);
};

const dueOf = ({ dues }: Queue, { dispatch_id }: Dispatch): number =>
  dues.get(dispatch_id) ?? Number.NEGATIVE_INFINITY;

/** Returns the run of the first dispatch that may start. */
export const nextRun = (queue: Queue): RunRecord | undefined => {
  const next = nextDue(queue);
  return next && runOf(queue, next);
};

export const isDue = (queue: Queue): boolean => nextDue(queue) !== undefined;

const nextDue = (queue: Queue): Dispatch | undefined => {
  const now = monotonic(queue.deps.clock);
  return queue.waiting.find((dispatch) => dueOf(queue, dispatch) <= now);
};

/** Returns the time until the first dispatch may start, in milliseconds. */
export const untilDue = (queue: Queue): number | undefined => {
  if (queue.waiting.length === 0) return undefined;
  const first = queue.waiting.reduce(
    (least, each) => Math.min(least, dueOf(queue, each)),
    Number.POSITIVE_INFINITY,
  );
  return Math.max(0, first - monotonic(queue.deps.clock));
};

/** Returns the queued dispatch of a run. */
export const workOf = ({ waiting }: Queue, run_id: string): Dispatch | undefined =>
  waiting.find((dispatch) => dispatch.run_id === run_id);

/** Whether a dispatch of the run is open, queued here or claimed by a dead worker. */
export const hasWork = ({ orphans, waiting }: Queue, run_id: string): boolean =>
  [...orphans, ...waiting].some((dispatch) => dispatch.run_id === run_id);

/** @throws Conflict when work with the same key is not done yet; `active` is the executing dispatch */
export const refuseDuplicate = (
  { waiting }: Queue,
  dedupe_key: string | undefined,
  active: Dispatch | undefined,
): void => {
  if (dedupe_key === undefined) return;
  const open = active ? [...waiting, active] : waiting;
  if (open.some((other) => other.dedupe_key === dedupe_key))
    throw new Conflict(`already exists: dedupe_key=${dedupe_key}`);
};

export const addWork = (queue: Queue, write: Write, dispatch: Dispatch): void => {
  putDispatch(write, dispatch, undefined);
  logDispatch(write, 'RunQueued', dispatch);
  countQueued(queue, dispatch);
  setDue(queue, dispatch, write.at);
  queue.waiting = [...queue.waiting, dispatch].sort(
    (a, b) => a.priority - b.priority || a.created_at - b.created_at,
  );
};

/** Settles the queued dispatch of a run, if any, when the run continues without it. */
export const consumeWork = (queue: Queue, write: Write, run_id: string): void => {
  const dispatch = workOf(queue, run_id);
  if (!dispatch) return;
  const change = { completed_at: write.at, updated_at: write.at };
  putDispatch(write, advanceDispatch(dispatch, { type: 'CANCEL' }, change), dispatch);
  leaves(queue, dispatch);
};

/** Claims the next dispatch that may start. Undefined when it was void and has been settled, or when there is none. */
export const claimNext = (queue: Queue, write: Write): Claimed | undefined => {
  const { deps, ledger } = queue;
  const queued = nextDue(queue);
  if (!queued) return undefined;
  leaves(queue, queued);
  const before = runOf(queue, queued);
  if (!before || before.status === 'done') {
    const change = { completed_at: write.at, updated_at: write.at };
    putDispatch(write, advanceDispatch(queued, { type: 'CANCEL' }, change), queued);
    return undefined;
  }
  const session_id = deps.ids.uuid();
  const event = { type: 'CLAIM', threadEpoch: ledger.epoch } as const;
  const dispatch = advanceDispatch(queued, event, claimChanges(deps, session_id, write.at));
  if (dispatch.status !== 'Claimed') {
    putDispatch(write, { ...dispatch, completed_at: write.at }, queued);
    endRun(queue, write, before, { type: 'CANCEL' });
    return undefined;
  }
  const agent = resolve(deps, before);
  if ('failure' in agent) {
    deadLetter(queue, write, { claimed: dispatch, queued, run: before, reason: agent.failure });
    return undefined;
  }
  putDispatch(write, dispatch, queued);
  logDispatch(write, 'RunSubmitted', dispatch);
  const run = claimedRun(before, session_id, write.at);
  putRun(write, run, before);
  const interrupted = queue.interrupted.delete(dispatch.dispatch_id) && hasTag(before, 'running');
  return { agent, run, dispatch, from: before.status, interrupted };
};

/** Cancels the queued dispatch of a run, and ends the run. */
export const cancelWork = (queue: Queue, write: Write, run_id: string): void => {
  const dispatch = workOf(queue, run_id);
  if (dispatch) end(queue, write, dispatch, 'CANCEL');
};

/** Supersedes every queued dispatch, and ends their runs. Returns their number. */
export const withdrawWork = (queue: Queue, write: Write, reason: string): number => {
  const withdrawn = queue.waiting;
  for (const dispatch of withdrawn) end(queue, write, dispatch, 'SUPERSEDE', reason);
  return withdrawn.length;
};

/** Whether there are dispatches to reclaim. */
export const isOrphaned = ({ orphans, started, isGone, waiting }: Queue): boolean =>
  orphans.length + started.length > 0 || (isGone && waiting.length > 0);

/**
 * Requeues dispatches that were claimed by a dead worker, or ends them with their runs when their attempts are used up.
 * A dispatch that this process has released is requeued without counting an attempt, unless `isFailing`: no worker was
 * lost.
 */
export const reclaimWork = (queue: Queue, write: Write, isFailing: boolean): void => {
  const { orphans, started } = queue;
  queue.orphans = [];
  queue.started = [];
  if (queue.isGone) {
    for (const dispatch of [...orphans, ...queue.waiting]) end(queue, write, dispatch, 'SUPERSEDE', GONE);
    return;
  }
  for (const orphan of orphans) reclaimOne(queue, write, orphan, isFailing);
  for (const dispatch of started) {
    const now = { ...dispatch, available_at: write.at, updated_at: write.at };
    putDispatch(write, now, dispatch);
    queue.waiting = [now, ...queue.waiting.filter((other) => other !== dispatch)];
  }
};

const GONE = 'claimed dispatch superseded: its thread was deleted';

const reclaimOne = (queue: Queue, write: Write, orphan: Dispatch, isFailing: boolean): void => {
  const { ledger, deps } = queue;
  const run = runOf(queue, orphan);
  const threadEpoch = ledger.epoch;
  if (run && hasTag(run, 'waiting') && !hasTag(run, 'answered')) {
    // The wait is durable: nothing was executing that could have been lost.
    const done = { run_status: run.status, completed_at: write.at, updated_at: write.at };
    putDispatch(write, advanceDispatch(orphan, { type: 'ACK', threadEpoch }, done), orphan);
    return;
  }
  const isReleased = orphan.claimed_by === deps.worker && !isFailing;
  const now = { available_at: write.at, updated_at: write.at };
  const after = isReleased
    ? advanceDispatch(orphan, { type: 'RELEASE', threadEpoch }, now)
    : advanceDispatch(
        orphan,
        { type: 'LEASE_EXPIRED', threadEpoch },
        { last_error: 'lease expired', ...now },
      );
  putDispatch(write, after.status === 'Queued' ? after : { ...after, completed_at: write.at }, orphan);
  if (after.status === 'Queued') {
    queue.waiting = [after, ...queue.waiting];
    if (!isReleased) queue.interrupted.add(after.dispatch_id);
    const reason = isReleased ? 'released' : 'expired_lease_reclaimed';
    logDispatch(write, 'RunRescheduled', after, { reason });
    return;
  }
  const reason = 'lease expired: max attempts reached';
  const isDead = after.status === 'DeadLetter';
  if (run) endRun(queue, write, run, isDead ? { type: 'DEAD_LETTER', reason } : { type: 'CANCEL' });
};

const runOf = ({ ledger, deps }: Queue, { run_id }: Dispatch): RunRecord | undefined =>
  ledger.waiting.get(run_id) ?? ledger.created.get(run_id) ?? deps.store.runs.get(ledger.scope, run_id);

const resolve = (
  deps: RuntimeDeps,
  { agent_id, resolution_id }: Run,
): ResolvedAgent | { failure: string } => {
  try {
    return deps.resolve(agent_id, resolution_id);
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
};

const leaves = (queue: Queue, dispatch: Dispatch): void => {
  queue.waiting = queue.waiting.filter((other) => other !== dispatch);
  queue.dues.delete(dispatch.dispatch_id);
  queue.deps.meter?.removeQueued(dispatch.dispatch_id);
};

const end = (
  queue: Queue,
  write: Write,
  dispatch: Dispatch,
  type: 'CANCEL' | 'SUPERSEDE',
  last_error?: string,
): void => {
  const change = { completed_at: write.at, updated_at: write.at, ...(last_error && { last_error }) };
  const run = runOf(queue, dispatch);
  putDispatch(write, advanceDispatch(dispatch, { type }, change), dispatch);
  if (run) endRun(queue, write, run, { type: 'CANCEL' });
  leaves(queue, dispatch);
};

/** Accepted input is never lost: it joins the history before its run ends (runtime.md 9.3). */
const endRun = (
  { ledger, deps }: Queue,
  write: Write,
  run: RunRecord,
  event: Parameters<typeof endDormant>[2],
): void => {
  deliver(write, targetedAt(ledger.pending, run.run_id), run.run_id);
  endDormant(write, run, event, deps.settings.event_capture_mode);
};

const deadLetter = (
  queue: Queue,
  write: Write,
  { claimed, queued, run, reason }: { claimed: Dispatch; queued: Dispatch; run: RunRecord; reason: string },
): void => {
  const change = { last_error: reason, completed_at: write.at, updated_at: write.at };
  const event = { type: 'DEAD_LETTER', threadEpoch: queue.ledger.epoch } as const;
  const dead = advanceDispatch(claimed, event, change);
  putDispatch(write, dead, queued);
  logFailedResume(write, run, dead, reason);
  endRun(queue, write, run, { type: 'DEAD_LETTER', reason });
};

/** Logs decisions that were accepted and can no longer be applied (runtime.md 13.4). */
const logFailedResume = (write: Write, run: RunRecord, dispatch: Dispatch, error: string): void => {
  const decisions = run.activation?.seeded_decisions ?? [];
  if (!hasTag(run, 'waiting') || decisions.length === 0) return;
  logDispatch(write, 'MailboxResumeFailed', dispatch, {
    reason: 'resume_failed',
    error,
    decisions: decisions.map(([tool_call_id, { decision_id, action, result, updated_at }]) => ({
      tool_call_id,
      decision_id,
      action,
      result,
      resume_updated_at: updated_at,
    })),
  });
};
