import type { IssuedTickets } from '../../src/tools/find-ticket.ts';

/** Earlier tickets of a thread: their ids, and the ids of their calls, one for each ticket. */
export const issuedBefore = (tickets: readonly string[], calls: readonly string[]): IssuedTickets => ({
  has: (id) => tickets.includes(id),
  ofCall: (call_id) => calls.filter((id) => id === call_id).length,
});

export const NONE_ISSUED = issuedBefore([], []);
