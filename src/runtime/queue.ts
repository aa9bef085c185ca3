import type { ResolvedAgent } from '../loop/agent.ts';
import type { Dispatch } from '../schema/dispatch.ts';
import type { Run } from '../schema/run.ts';
import type { RuntimeDeps } from './deps.ts';
import { endDormant } from './dormant.ts';
import type { Ledger, Write } from './ledger.ts';
import { advanceDispatch, CLAIMED, claim, dispatchFacts } from './records.ts';

/**
 * The dispatches of one thread that wait for their turn, in claim order. Taking, withdrawing and reclaiming
 * write into the commit of the caller; what turns out to be void is settled there, with its run.
 */

export type Claimed = { agent: ResolvedAgent; run: Run; dispatch: Dispatch; continued: boolean };

export type Queue = {
  size(): number;
  /** May something start now? */
  ready(now: number): boolean;
  /** When the first one may start; milliseconds. */
  nextAt(): number | undefined;
  /** Claims the next one that may start. Undefined when it was void and has been settled, or when there is none. */
  take(write: Write): Claimed | undefined;
  /** Every one becomes superseded, and its run done. */
  withdraw(write: Write): void;
  /** Claimed ones whose worker is gone come back, or end with their run when they have been tried enough. */
  reclaim(write: Write): void;
  /** Is there something to reclaim? */
  orphaned(): boolean;
};

export const logDispatch = (
  write: Write,
  kind: string,
  dispatch: Dispatch,
  more: Record<string, unknown> = {},
): void =>
  write.event(
    kind,
    { ...dispatchFacts(dispatch), ...more },
    { run_id: dispatch.run_id, correlation_id: dispatch.dispatch_id },
  );

export const createQueue = (deps: RuntimeDeps, ledger: Ledger): Queue => {
  const { ids, settings, store } = deps;
  const { scope, id } = ledger;
  const capture = settings.event_capture_mode;
  const open = store.dispatches.openOf(scope, id);
  let orphans = open.filter((dispatch) => dispatch.status === 'Claimed');
  let waiting = open.filter((dispatch) => dispatch.status === 'Queued');

  const runOf = (dispatch: Dispatch): Run | undefined => store.runs.get(scope, dispatch.run_id);

  const resolve = (agentId: string): ResolvedAgent | { failure: string } => {
    try {
      return deps.resolve(agentId);
    } catch (error) {
      return { failure: error instanceof Error ? error.message : String(error) };
    }
  };

  const deadLetter = (write: Write, claimed: Dispatch, queued: Dispatch, run: Run, reason: string): void => {
    const change = { last_error: reason, completed_at: write.at, updated_at: write.at };
    const event = { type: 'DEAD_LETTER', threadEpoch: ledger.epoch() } as const;
    write.dispatch(advanceDispatch(claimed, event, change), queued);
    endDormant(write, run, { type: 'DEAD_LETTER', reason }, capture);
  };

  return {
    size: () => waiting.length,
    ready: (now) => waiting.some((dispatch) => dispatch.available_at <= now),
    nextAt: () => waiting[0]?.available_at,
    take(write) {
      const queued = waiting.find((dispatch) => dispatch.available_at <= write.at);
      if (!queued) return undefined;
      waiting = waiting.filter((dispatch) => dispatch !== queued);
      const before = runOf(queued);
      const session_id = ids.uuid();
      const lease = { ...deps, lease_ms: settings.mailbox.lease_ms };
      const dispatch = claim(queued, ledger.epoch(), session_id, write.at, lease);
      if (!before || dispatch.status !== 'Claimed') {
        write.dispatch({ ...dispatch, completed_at: write.at }, queued);
        if (before) endDormant(write, before, { type: 'CANCEL' }, capture);
        return undefined;
      }
      const agent = resolve(before.agent_id);
      if ('failure' in agent) {
        deadLetter(write, dispatch, queued, before, agent.failure);
        return undefined;
      }
      write.dispatch(dispatch, queued);
      logDispatch(write, 'RunSubmitted', dispatch);
      const run: Run = { ...before, status: CLAIMED, session_id };
      write.run(run, before);
      return { agent, run, dispatch, continued: before.status !== 'created' };
    },
    withdraw(write) {
      for (const dispatch of waiting) {
        const last_error = 'queued dispatch superseded by newer dispatch epoch';
        const change = { last_error, completed_at: write.at, updated_at: write.at };
        const run = runOf(dispatch);
        write.dispatch(advanceDispatch(dispatch, { type: 'SUPERSEDE' }, change), dispatch);
        if (run) endDormant(write, run, { type: 'CANCEL' }, capture);
      }
      waiting = [];
    },
    orphaned: () => orphans.length > 0,
    reclaim(write) {
      for (const orphan of orphans) {
        const change = { last_error: 'lease expired', available_at: write.at, updated_at: write.at };
        const event = { type: 'LEASE_EXPIRED', threadEpoch: ledger.epoch() } as const;
        const after = advanceDispatch(orphan, event, change);
        write.dispatch(after, orphan);
        if (after.status === 'Queued') {
          waiting.unshift(after);
          logDispatch(write, 'RunRescheduled', after, { reason: 'expired_lease_reclaimed' });
          continue;
        }
        const run = runOf(after);
        const reason = 'lease expired: max attempts reached';
        if (run)
          endDormant(
            write,
            run,
            after.status === 'DeadLetter' ? { type: 'DEAD_LETTER', reason } : { type: 'CANCEL' },
            capture,
          );
      }
      orphans = [];
    },
  };
};
