import { Conflict } from '../schema/outcome.ts';
import type { TicketBelow, WaitingTicket } from '../schema/run.ts';

/**
 * Resolves an id to an open ticket (runtime.md 12). Ticket ids are unique in their thread; call ids come from providers
 * and repeat, so a call id resolves only while it is unambiguous.
 */

export type OpenTicket = Pick<WaitingTicket, 'ticket_id' | 'tool_call_id' | 'resume_mode' | 'tickets'>;

/** All tickets that the thread has ever issued. */
export type IssuedTickets = {
  /** Number of tickets of calls with this id. */
  ofCall(call_id: string): number;
  has(ticket_id: string): boolean;
};

/** `below` is set if the id names a ticket below a delegating call. */
export type FoundTicket<Ticket> = { ticket: Ticket; below?: TicketBelow };

/** Finds a ticket by ticket id or call id. @throws Conflict if the id is ambiguous */
export const findTicket = <Ticket extends OpenTicket>(
  open: readonly Ticket[],
  issued: IssuedTickets,
  id: string,
): FoundTicket<Ticket> | undefined => {
  const own = open.find(({ ticket_id }) => ticket_id === id);
  if (own) return { ticket: own };
  // The ticket was decided or dropped.
  if (issued.has(id)) return undefined;
  const listed = open.flatMap((ticket): FoundTicket<Ticket>[] =>
    (ticket.tickets ?? []).filter((below) => below.id === id).map((below) => ({ ticket, below })),
  );
  const [below, another] = listed;
  if (!below) return findTicketOfCall(open, issued, id);
  if (another || open.some(({ tool_call_id }) => tool_call_id === id)) throw ambiguous(id);
  return below;
};

/** For protocols that only use call ids. @throws Conflict if the id is ambiguous */
export const findTicketOfCall = <Ticket extends OpenTicket>(
  open: readonly Ticket[],
  issued: IssuedTickets,
  call_id: string,
): FoundTicket<Ticket> | undefined => {
  const found = open.filter(({ tool_call_id }) => tool_call_id === call_id);
  const [ticket, another] = found;
  if (!ticket) return undefined;
  if (another || issued.ofCall(call_id) > found.length) throw ambiguous(call_id);
  return { ticket };
};

const ambiguous = (id: string): Conflict =>
  new Conflict(`'${id}' names more than one call; decide by ticket id`);
