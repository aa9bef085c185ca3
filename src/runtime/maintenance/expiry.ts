import { openTickets, restoredCalls } from '../../loop/calls.ts';
import { createRunState } from '../../loop/state.ts';
import type { OpenTicket } from '../../loop/turn.ts';
import { BUDGET_EXCEEDED } from '../../schema/budget.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { DecisionTarget } from '../thread/submission.ts';

/** Returns the tickets with a time limit that have no decision, and the outcome to apply at that time. */

/**
 * A wait for a budget without an end is listed too: all waits that the service itself can end are found by their
 * deadlines.
 */
const NEVER = Number.MAX_SAFE_INTEGER;

const endOf = ({ expires, reason }: OpenTicket): number | undefined =>
  expires?.at ?? (reason === BUDGET_EXCEEDED ? NEVER : undefined);

const expiringIn = (run: RunRecord): { ticket: OpenTicket; at: number }[] => {
  if (!hasTag(run, 'waiting')) return [];
  const decided = new Set(run.activation?.seeded_decisions?.map(([call_id]) => call_id));
  return openTickets(restoredCalls(createRunState(run.state))).flatMap(({ call, ticket }) => {
    const at = ticket && endOf(ticket);
    return ticket && at !== undefined && !decided.has(call.id) ? [{ ticket, at }] : [];
  });
};

/** Returns when the first ticket of a waiting run expires, in milliseconds. */
export const expiryOf = (run: RunRecord): number | undefined => {
  const times = expiringIn(run).map(({ at }) => at);
  return times.length === 0 ? undefined : Math.min(...times);
};

/** Returns the decisions that replace the missing ones. */
export const expiredDecisions = (run: RunRecord, now: number): DecisionTarget[] =>
  expiringIn(run)
    .filter(({ at }) => at <= now)
    .map(({ ticket, at }) => ({
      run_id: run.run_id,
      tool_call_id: ticket.id,
      form: 'native',
      ...outcomeOf(ticket, new Date(at).toISOString()),
    }));

const outcomeOf = (
  { reason, expires }: OpenTicket,
  at: string,
): Pick<DecisionTarget, 'action' | 'payload' | 'reason' | 'decided_by'> => {
  if (reason === BUDGET_EXCEEDED)
    return {
      action: 'resume',
      payload: null,
      reason: `the window of the budget has ended at ${at}`,
      decided_by: 'budget',
    };
  const action = expires?.outcome ?? 'cancel';
  return {
    action,
    payload: { approved: action === 'resume', expired: true },
    reason: `no decision until ${at}`,
    decided_by: 'timeout',
  };
};
