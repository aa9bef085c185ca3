import type { ResolvedAgent } from '../loop/agent.ts';
import { monotonic } from '../schema/clock.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import { Conflict } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';
import { advanceDispatch, claimChanges, logDispatch } from './dispatch-records.ts';
import { endDormant } from './dormant.ts';
import type { Ledger } from './ledger.ts';
import { targetedAt } from './pending.ts';
import { CLAIMED, claimedRun } from './run-records.ts';
import { deliver, putDispatch, putRun, type Write } from './write.ts';

/**
 * The dispatches of one thread that wait for their turn, in claim order. Everything here writes into the commit
 * of the caller; what turns out to be void is settled there, with its run, and leaves its input in the history.
 */

export type Queue = {
  readonly deps: RuntimeDeps;
  readonly ledger: Ledger;
  /** The process ended between the removal of the thread and the end of what executed there. */
  readonly isGone: boolean;
  /** Claimed when the queue was made, by a worker that is gone or by an actor that failed. */
  orphans: readonly Dispatch[];
  waiting: readonly Dispatch[];
  /**
   * When work that was queued with a delay may start, by the monotonic clock: a step of the wall clock neither holds
   * it back nor lets it go early. Work that is not in here may start at once.
   */
  readonly dues: Map<string, number>;
  /** Of runs that had begun and were given back, or are to be tried again: they keep their turn. */
  begun: readonly Dispatch[];
  /** Ids of dispatches whose process died while they executed. */
  readonly interrupted: Set<string>;
};

export type Claimed = {
  agent: ResolvedAgent;
  run: Run;
  dispatch: Dispatch;
  from: Exclude<Run['status'], 'done'>;
  /** The process that executed it before died. */
  interrupted: boolean;
};

export const createQueue = (deps: RuntimeDeps, ledger: Ledger): Queue => {
  const open = deps.store.dispatches.openOf(ledger.scope, ledger.id);
  const waiting = open.filter((dispatch) => dispatch.status === 'Queued');
  const begun = waiting.filter(({ run_status }) => run_status === CLAIMED);
  const queue: Queue = {
    deps,
    ledger,
    isGone: !ledger.record,
    orphans: open.filter((dispatch) => dispatch.status === 'Claimed'),
    waiting,
    dues: new Map(),
    begun,
    interrupted: new Set(),
  };
  for (const dispatch of waiting) if (!begun.includes(dispatch)) setDue(queue, dispatch, deps.clock.now());
  return queue;
};

/** What is left of a delay is never more than the delay, whatever the wall clock was set to since. */
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

/** May something start now? */
export const isDue = (queue: Queue): boolean => nextDue(queue) !== undefined;

const nextDue = (queue: Queue): Dispatch | undefined => {
  const now = monotonic(queue.deps.clock);
  return queue.waiting.find((dispatch) => dueOf(queue, dispatch) <= now);
};

/** Until the first one may start; milliseconds. */
export const untilDue = (queue: Queue): number | undefined => {
  if (queue.waiting.length === 0) return undefined;
  const first = queue.waiting.reduce(
    (least, each) => Math.min(least, dueOf(queue, each)),
    Number.POSITIVE_INFINITY,
  );
  return Math.max(0, first - monotonic(queue.deps.clock));
};

/** The work of a run that waits for its turn. */
export const workOf = ({ waiting }: Queue, run_id: string): Dispatch | undefined =>
  waiting.find((dispatch) => dispatch.run_id === run_id);

/** Is a dispatch of the run open, here or in the hands of a worker that is gone? */
export const hasWork = ({ orphans, waiting }: Queue, run_id: string): boolean =>
  [...orphans, ...waiting].some((dispatch) => dispatch.run_id === run_id);

/** @throws Conflict when work with the same key is not done yet; `active` is what executes */
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
  setDue(queue, dispatch, write.at);
  queue.waiting = [...queue.waiting, dispatch].sort(
    (a, b) => a.priority - b.priority || a.created_at - b.created_at,
  );
};

/** The work of a run that goes on without it, if there is some, is done. */
export const consumeWork = (queue: Queue, write: Write, run_id: string): void => {
  const dispatch = workOf(queue, run_id);
  if (!dispatch) return;
  const change = { completed_at: write.at, updated_at: write.at };
  putDispatch(write, advanceDispatch(dispatch, { type: 'CANCEL' }, change), dispatch);
  leaves(queue, dispatch);
};

/** Claims the next one that may start. Undefined when it was void and has been settled, or when there is none. */
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
  const interrupted = queue.interrupted.delete(dispatch.dispatch_id) && before.status === 'running';
  return { agent, run, dispatch, from: before.status, interrupted };
};

/** The one of a run is cancelled, and the run done. */
export const cancelWork = (queue: Queue, write: Write, run_id: string): void => {
  const dispatch = workOf(queue, run_id);
  if (dispatch) end(queue, write, dispatch, 'CANCEL');
};

/** Every one becomes superseded, and its run done. Returns how many. */
export const withdrawWork = (queue: Queue, write: Write, reason: string): number => {
  const withdrawn = queue.waiting;
  for (const dispatch of withdrawn) end(queue, write, dispatch, 'SUPERSEDE', reason);
  return withdrawn.length;
};

/** Is there something to reclaim? */
export const isOrphaned = ({ orphans, begun, isGone, waiting }: Queue): boolean =>
  orphans.length + begun.length > 0 || (isGone && waiting.length > 0);

/**
 * Claimed ones whose worker is gone come back, or end with their run when they have been tried enough. One that
 * this process has let go of comes back as if it had not been claimed, unless `isFailing`: no worker was lost.
 */
export const reclaimWork = (queue: Queue, write: Write, isFailing: boolean): void => {
  const { orphans, begun } = queue;
  queue.orphans = [];
  queue.begun = [];
  if (queue.isGone) {
    for (const dispatch of [...orphans, ...queue.waiting]) end(queue, write, dispatch, 'SUPERSEDE', GONE);
    return;
  }
  for (const orphan of orphans) reclaimOne(queue, write, orphan, isFailing);
  for (const dispatch of begun) {
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
  if (run?.status === 'waiting' && !isAnswered(ledger, run)) {
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

const runOf = ({ ledger, deps }: Queue, { run_id }: Dispatch): Run | undefined =>
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

/** A decision or input came while the wait was being written, and was to end it. */
const isAnswered = (ledger: Ledger, run: Run): boolean => {
  const decided = new Set(run.activation?.seeded_decisions?.map(([call_id]) => call_id));
  return (
    run.waiting?.tickets?.some(({ tool_call_id }) => decided.has(tool_call_id)) === true ||
    targetedAt(ledger.pending, run.run_id).length > 0
  );
};

const leaves = (queue: Queue, dispatch: Dispatch): void => {
  queue.waiting = queue.waiting.filter((other) => other !== dispatch);
  queue.dues.delete(dispatch.dispatch_id);
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

/** Input that was accepted is never lost: it joins the history before its run ends (runtime.md 9.3). */
const endRun = (
  { ledger, deps }: Queue,
  write: Write,
  run: Run,
  event: Parameters<typeof endDormant>[2],
): void => {
  deliver(write, targetedAt(ledger.pending, run.run_id), run.run_id);
  endDormant(write, run, event, deps.settings.event_capture_mode);
};

const deadLetter = (
  queue: Queue,
  write: Write,
  { claimed, queued, run, reason }: { claimed: Dispatch; queued: Dispatch; run: Run; reason: string },
): void => {
  const change = { last_error: reason, completed_at: write.at, updated_at: write.at };
  const event = { type: 'DEAD_LETTER', threadEpoch: queue.ledger.epoch } as const;
  const dead = advanceDispatch(claimed, event, change);
  putDispatch(write, dead, queued);
  logFailedResume(write, run, dead, reason);
  endRun(queue, write, run, { type: 'DEAD_LETTER', reason });
};

/** Decisions that were accepted and cannot be applied any more (runtime.md 13.4). */
const logFailedResume = (write: Write, run: Run, dispatch: Dispatch, error: string): void => {
  const decisions = run.activation?.seeded_decisions ?? [];
  if (run.status !== 'waiting' || decisions.length === 0) return;
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
