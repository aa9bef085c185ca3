import { Conflict } from '../schema/outcome.ts';
import type { TicketBelow, WaitingTicket } from '../schema/run.ts';

/**
 * The ticket that an id means (runtime.md 12). Ids of tickets are unique in their thread; ids of calls come from
 * providers and repeat, so that one of them names a ticket only while it can mean nothing else.
 */

export type OpenTicket = Pick<WaitingTicket, 'ticket_id' | 'tool_call_id' | 'resume_mode' | 'tickets'>;

/** The tickets that the thread has ever had. */
export type IssuedTickets = {
  /** The number of tickets of calls with this id. */
  ofCall(call_id: string): number;
  has(ticket_id: string): boolean;
};

/** `below`: the one that is meant of those below a delegating call. */
export type FoundTicket<Ticket> = { ticket: Ticket; below?: TicketBelow };

/** By the id of a ticket, or of a call. @throws Conflict when the id means more than one */
export const findTicket = <Ticket extends OpenTicket>(
  open: readonly Ticket[],
  issued: IssuedTickets,
  id: string,
): FoundTicket<Ticket> | undefined => {
  const own = open.find(({ ticket_id }) => ticket_id === id);
  if (own) return { ticket: own };
  // It was decided or dropped.
  if (issued.has(id)) return undefined;
  const listed = open.flatMap((ticket): FoundTicket<Ticket>[] =>
    (ticket.tickets ?? []).filter((below) => below.id === id).map((below) => ({ ticket, below })),
  );
  const [below, another] = listed;
  if (!below) return findTicketOfCall(open, issued, id);
  if (another || open.some(({ tool_call_id }) => tool_call_id === id)) throw ambiguous(id);
  return below;
};

/** Of protocols that know calls only. @throws Conflict when the id means more than one */
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
