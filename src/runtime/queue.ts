import type { ResolvedAgent } from '../loop/agent.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import { Conflict } from '../schema/outcome.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';
import { endDormant } from './dormant.ts';
import type { Ledger, Write } from './ledger.ts';
import { targetedAt } from './pending.ts';
import { advanceDispatch, CLAIMED, claimChanges, claimedRun, logDispatch } from './records.ts';

/**
 * The dispatches of one thread that wait for their turn, in claim order. Everything here writes into the commit
 * of the caller; what turns out to be void is settled there, with its run, and leaves its input in the history.
 */

export type Claimed = {
  agent: ResolvedAgent;
  run: Run;
  dispatch: Dispatch;
  from: Exclude<Run['status'], 'done'>;
};

export type Queue = {
  size(): number;
  /** May something start now? */
  ready(now: number): boolean;
  /** When the first one may start; milliseconds. */
  nextAt(): number | undefined;
  /** The one that is next, or the one of a run. */
  find(run_id?: string): Dispatch | undefined;
  /** @throws Conflict when work with the same key is not done yet; `active` is what executes */
  refuseDuplicate(dedupe_key: string | undefined, active?: Dispatch): void;
  add(write: Write, dispatch: Dispatch): void;
  /** The work of a run that goes on without it, if there is some, is done. */
  consume(write: Write, run_id: string): void;
  /** Claims the next one that may start. Undefined when it was void and has been settled, or when there is none. */
  take(write: Write): Claimed | undefined;
  /** The one of a run is cancelled, and the run done. */
  cancel(write: Write, run_id: string): void;
  /** Every one becomes superseded, and its run done. Returns how many. */
  withdraw(write: Write, reason: string): number;
  /**
   * Claimed ones whose worker is gone come back, or end with their run when they have been tried enough. One that
   * this process has let go of comes back as if it had not been claimed, unless `isFailing`: no worker was lost.
   */
  reclaim(write: Write, isFailing: boolean): void;
  /** Is there something to reclaim? */
  orphaned(): boolean;
};

export const createQueue = (deps: RuntimeDeps, ledger: Ledger): Queue => {
  const { ids, settings, store } = deps;
  const { scope, id } = ledger;
  const capture = settings.event_capture_mode;
  const open = store.dispatches.openOf(scope, id);
  // The process ended between the removal of the thread and the end of what executed there.
  const isGone = !ledger.record();
  let orphans = open.filter((dispatch) => dispatch.status === 'Claimed');
  let waiting = open.filter((dispatch) => dispatch.status === 'Queued');
  // A run that had begun, and was given back or to be tried again when its process ended, keeps its turn.
  let begun = waiting.filter(({ run_status }) => run_status === CLAIMED);

  const runOf = ({ run_id }: Dispatch): Run | undefined =>
    ledger.waiting().get(run_id) ?? ledger.created().get(run_id) ?? store.runs.get(scope, run_id);

  const resolve = ({ agent_id, resolution_id }: Run): ResolvedAgent | { failure: string } => {
    try {
      return deps.resolve(agent_id, resolution_id);
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  };

  /** A decision or input came while the wait was being written, and was to end it. */
  const isAnswered = (run: Run): boolean => {
    const decided = new Set(run.activation?.seeded_decisions?.map(([call_id]) => call_id));
    return (
      run.waiting?.tickets?.some(({ tool_call_id }) => decided.has(tool_call_id)) === true ||
      targetedAt(ledger.pending(), run.run_id).length > 0
    );
  };

  /** Input that was accepted is never lost: it joins the history before its run ends (runtime.md 9.3). */
  const endRun = (write: Write, run: Run, event: Parameters<typeof endDormant>[2]): void => {
    write.deliver(targetedAt(ledger.pending(), run.run_id), run.run_id);
    endDormant(write, run, event, capture);
  };

  const deadLetter = (write: Write, claimed: Dispatch, queued: Dispatch, run: Run, reason: string): void => {
    const change = { last_error: reason, completed_at: write.at, updated_at: write.at };
    const event = { type: 'DEAD_LETTER', threadEpoch: ledger.epoch() } as const;
    const dead = advanceDispatch(claimed, event, change);
    write.dispatch(dead, queued);
    logFailedResume(write, run, dead, reason);
    endRun(write, run, { type: 'DEAD_LETTER', reason });
  };

  const leaves = (dispatch: Dispatch): void => {
    waiting = waiting.filter((other) => other !== dispatch);
  };

  const end = (write: Write, dispatch: Dispatch, type: 'CANCEL' | 'SUPERSEDE', last_error?: string): void => {
    const change = { completed_at: write.at, updated_at: write.at, ...(last_error && { last_error }) };
    const run = runOf(dispatch);
    write.dispatch(advanceDispatch(dispatch, { type }, change), dispatch);
    if (run) endRun(write, run, { type: 'CANCEL' });
    leaves(dispatch);
  };

  return {
    size: () => waiting.length,
    ready: (now) => waiting.some((dispatch) => dispatch.available_at <= now),
    nextAt: () =>
      waiting.length === 0 ? undefined : Math.min(...waiting.map(({ available_at }) => available_at)),
    find: (run_id) =>
      run_id === undefined ? waiting[0] : waiting.find((dispatch) => dispatch.run_id === run_id),
    refuseDuplicate(dedupe_key, active) {
      if (dedupe_key === undefined) return;
      const open = active ? [...waiting, active] : waiting;
      if (open.some((other) => other.dedupe_key === dedupe_key))
        throw new Conflict(`already exists: dedupe_key=${dedupe_key}`);
    },
    consume(write, run_id) {
      const dispatch = waiting.find((other) => other.run_id === run_id);
      if (!dispatch) return;
      const change = { completed_at: write.at, updated_at: write.at };
      write.dispatch(advanceDispatch(dispatch, { type: 'CANCEL' }, change), dispatch);
      leaves(dispatch);
    },
    add(write, dispatch) {
      write.dispatch(dispatch, undefined);
      logDispatch(write, 'RunQueued', dispatch);
      waiting = [...waiting, dispatch].sort((a, b) => a.priority - b.priority || a.created_at - b.created_at);
    },
    take(write) {
      const queued = waiting.find((dispatch) => dispatch.available_at <= write.at);
      if (!queued) return undefined;
      leaves(queued);
      const before = runOf(queued);
      if (!before || before.status === 'done') {
        const change = { completed_at: write.at, updated_at: write.at };
        write.dispatch(advanceDispatch(queued, { type: 'CANCEL' }, change), queued);
        return undefined;
      }
      const session_id = ids.uuid();
      const dispatch = advanceDispatch(
        queued,
        { type: 'CLAIM', threadEpoch: ledger.epoch() },
        claimChanges(deps, session_id, write.at),
      );
      if (dispatch.status !== 'Claimed') {
        write.dispatch({ ...dispatch, completed_at: write.at }, queued);
        endRun(write, before, { type: 'CANCEL' });
        return undefined;
      }
      const agent = resolve(before);
      if ('failure' in agent) {
        deadLetter(write, dispatch, queued, before, agent.failure);
        return undefined;
      }
      write.dispatch(dispatch, queued);
      logDispatch(write, 'RunSubmitted', dispatch);
      const run = claimedRun(before, session_id, write.at);
      write.run(run, before);
      return { agent, run, dispatch, from: before.status };
    },
    cancel(write, run_id) {
      const dispatch = waiting.find((other) => other.run_id === run_id);
      if (dispatch) end(write, dispatch, 'CANCEL');
    },
    withdraw(write, reason) {
      const withdrawn = waiting;
      for (const dispatch of withdrawn) end(write, dispatch, 'SUPERSEDE', reason);
      return withdrawn.length;
    },
    orphaned: () => orphans.length + begun.length > 0 || (isGone && waiting.length > 0),
    reclaim(write, isFailing) {
      if (isGone) {
        for (const dispatch of [...orphans, ...waiting]) end(write, dispatch, 'SUPERSEDE', GONE);
        orphans = [];
        begun = [];
        return;
      }
      for (const orphan of orphans) {
        const run = runOf(orphan);
        const threadEpoch = ledger.epoch();
        if (run?.status === 'waiting' && !isAnswered(run)) {
          // The wait is durable: nothing was executing that could have been lost.
          const done = { run_status: run.status, completed_at: write.at, updated_at: write.at };
          write.dispatch(advanceDispatch(orphan, { type: 'ACK', threadEpoch }, done), orphan);
          continue;
        }
        const isOurs = orphan.claimed_by === deps.worker && !isFailing;
        const now = { available_at: write.at, updated_at: write.at };
        const after = isOurs
          ? advanceDispatch(orphan, { type: 'RELEASE', threadEpoch }, now)
          : advanceDispatch(
              orphan,
              { type: 'LEASE_EXPIRED', threadEpoch },
              { last_error: 'lease expired', ...now },
            );
        write.dispatch(after.status === 'Queued' ? after : { ...after, completed_at: write.at }, orphan);
        if (after.status === 'Queued') {
          waiting.unshift(after);
          const reason = isOurs ? 'released' : 'expired_lease_reclaimed';
          logDispatch(write, 'RunRescheduled', after, { reason });
          continue;
        }
        const reason = 'lease expired: max attempts reached';
        const dead = after.status === 'DeadLetter';
        if (run) endRun(write, run, dead ? { type: 'DEAD_LETTER', reason } : { type: 'CANCEL' });
      }
      for (const dispatch of begun) {
        const now = { ...dispatch, available_at: write.at, updated_at: write.at };
        write.dispatch(now, dispatch);
        waiting = [now, ...waiting.filter((other) => other !== dispatch)];
      }
      orphans = [];
      begun = [];
    },
  };
};

const GONE = 'claimed dispatch superseded: its thread was deleted';

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
