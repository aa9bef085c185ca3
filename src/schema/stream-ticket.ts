import { z } from 'zod';

/** Tickets, with which `EventSource` opens event streams (identity.md 2.7). */

export const NewStreamTicket = z
  .strictObject({
    path: z.string().min(1).max(4096).meta({
      description: 'path of the event stream, exactly as it will be requested, without the query',
    }),
  })
  .meta({ id: 'NewStreamTicket', description: 'The event stream that a ticket opens.' });

export const StreamTicket = z
  .object({
    ticket: z.string().meta({ description: '`tpt_…`, for the query parameter `ticket`; valid once' }),
    expires_at: z.number().meta({ description: 'milliseconds since the epoch' }),
  })
  .meta({ id: 'StreamTicket', description: 'Opens one event stream within a minute.' });
/**
 * A ticket that opens one event stream within a minute (identity.md 2.7). `ticket` is the query parameter of that name.
 *
 * @example
 * ```ts
 * const path = '/v1/threads/first/events/stream';
 * const { ticket, expires_at }: StreamTicket = await client.tickets.create(path);
 * console.log(`${path}?ticket=${ticket} until ${new Date(expires_at).toISOString()}`);
 * ```
 */
export type StreamTicket = z.infer<typeof StreamTicket>;
