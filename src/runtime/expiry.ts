import { openTickets, restoredCalls } from '../loop/calls.ts';
import { createRunState } from '../loop/state.ts';
import type { Run } from '../schema/run.ts';
import type { TicketExpiry } from '../schema/run-event.ts';
import type { DecisionTarget } from './submission.ts';

/** Tickets with a time limit: what is applied when nobody has decided until then. */

const expiringIn = (run: Run): { ticket_id: string; expires: TicketExpiry }[] => {
  if (run.status !== 'waiting') return [];
  const decided = new Set(run.activation?.seeded_decisions?.map(([call_id]) => call_id));
  return openTickets(restoredCalls(createRunState(run.state))).flatMap(({ call, ticket }) =>
    ticket?.expires && !decided.has(call.id) ? [{ ticket_id: ticket.id, expires: ticket.expires }] : [],
  );
};

/** When the first ticket of a waiting run expires; milliseconds. */
export const expiryOf = (run: Run): number | undefined => {
  const times = expiringIn(run).map(({ expires }) => expires.at);
  return times.length === 0 ? undefined : Math.min(...times);
};

/** The decisions that take the place of those that did not come. */
export const expiredDecisions = (run: Run, now: number): DecisionTarget[] =>
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
