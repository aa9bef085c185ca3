import { openTickets, restoredCalls } from '../../loop/calls.ts';
import { createRunState } from '../../loop/state.ts';
import type { TicketExpiry } from '../../schema/run-event.ts';
import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { DecisionTarget } from '../thread/submission.ts';

/** Returns the tickets with a time limit that have no decision, and the outcome to apply at that time. */

const expiringIn = (run: RunRecord): { ticket_id: string; expires: TicketExpiry }[] => {
  if (!hasTag(run, 'waiting')) return [];
  const decided = new Set(run.activation?.seeded_decisions?.map(([call_id]) => call_id));
  return openTickets(restoredCalls(createRunState(run.state))).flatMap(({ call, ticket }) =>
    ticket?.expires && !decided.has(call.id) ? [{ ticket_id: ticket.id, expires: ticket.expires }] : [],
  );
};

/** Returns when the first ticket of a waiting run expires, in milliseconds. */
export const expiryOf = (run: RunRecord): number | undefined => {
  const times = expiringIn(run).map(({ expires }) => expires.at);
  return times.length === 0 ? undefined : Math.min(...times);
};

/** Returns the decisions that replace the missing ones. */
export const expiredDecisions = (run: RunRecord, now: number): DecisionTarget[] =>
  expiringIn(run)
    .filter(({ expires }) => expires.at <= now)
    .map(({ ticket_id, expires: { at, outcome } }) => ({
      run_id: run.run_id,
      tool_call_id: ticket_id,
      form: 'native',
      action: outcome,
      payload: { approved: outcome === 'resume', expired: true },
      reason: `no decision until ${new Date(at).toISOString()}`,
      decided_by: 'timeout',
    }));
