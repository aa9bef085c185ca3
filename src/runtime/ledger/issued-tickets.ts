import type { WantedTicket } from '../../loop/turn.ts';
import type { Ids } from '../../schema/clock.ts';
import type { IssuedTickets } from '../../tools/find-ticket.ts';
import { LATER } from '../../tools/tickets.ts';
import type { Ledger } from './ledger.ts';

/**
 * Issues the ids of the tickets of a thread (runtime.md 12). The first ticket of a call id gets the requested id; a
 * later one, or one whose id already has another meaning, gets a suffix.
 *
 * Guarantees: an id is issued once in the life of a thread.
 * Relies on the loop committing before a client sees the id.
 * Cost: two reads of the store for each ticket.
 */

export const issuedTickets = ({ deps, scope, id, issuing }: Ledger): IssuedTickets => ({
  ofCall: (call_id) => issuing.calls.get(call_id) ?? deps.store.tickets.ofCall(scope, id, call_id),
  has: (ticket_id) => issuing.ids.has(ticket_id) || deps.store.tickets.has(scope, id, ticket_id),
});

export const issueTicket = (ledger: Ledger, ids: Ids, wanted: WantedTicket): string => {
  const { issuing } = ledger;
  const { call_id } = wanted;
  const issued = issuedTickets(ledger);
  const ofCall = issued.ofCall(call_id) + 1;
  const ticket_id = freeId(issued, ids, wanted);
  issuing.ids.add(ticket_id);
  issuing.calls.set(call_id, ofCall);
  issuing.unsaved.push({ ticket_id, call_id, ofCall });
  return ticket_id;
};

const SUFFIX_LENGTH = 8;

const freeId = (issued: IssuedTickets, ids: Ids, { id, call_id, numbered, before }: WantedTicket): string => {
  // A call with this id has a ticket with another id: a decision by call id would be ambiguous.
  const isCall = id !== call_id && issued.ofCall(id) > 0;
  const isFirst = numbered || issued.ofCall(call_id) === 0;
  if (isFirst && !isCall && !issued.has(id) && id !== before) return id;
  for (let number = 1; ; number += 1) {
    const suffix = numbered ? number : ids.uuid().replaceAll('-', '').slice(-SUFFIX_LENGTH);
    const free = `${id}${LATER}${suffix}`;
    if (!issued.has(free) && free !== before) return free;
  }
};
