import type { StreamTicket } from '../schema/stream-ticket.ts';
import { type Connection, call } from './connection.ts';

/**
 * Tickets for `EventSource`, which sends no header (identity.md 2.7): `client.tickets`. `client.events.follow` needs no
 * ticket.
 *
 * @example
 * ```ts
 * const path = '/v1/threads/first/events/stream';
 * const { ticket } = await client.tickets.create(path);
 * const events = new EventSource(`https://agents.example.com${path}?ticket=${ticket}`);
 * events.onmessage = ({ data, lastEventId }) => console.log(lastEventId, data);
 * ```
 */
export type Tickets = {
  /**
   * Creates a ticket that opens an event stream once, within a minute. A stream that breaks is continued by `cursor` with
   * another ticket.
   *
   * @param path of the event stream, exactly as it will be requested, without a query
   * @throws InvalidRequest if no event stream has this path; the errors of the event stream, such as Unauthorized
   */
  create(path: string, options?: { signal?: AbortSignal }): Promise<StreamTicket>;
};

export const createTickets = (connection: Connection): Tickets => ({
  create: (path, options) => call(connection, 'POST', '/v1/tickets', { ...options, body: { path } }),
});
