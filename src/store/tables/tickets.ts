import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId } from '../engine/keys.ts';

/**
 * All tickets that a thread has ever issued, by their ids and by those of their calls. The rows stay when the tickets
 * are decided, so that no id is issued twice.
 * Cost: one read per lookup, regardless of the length of the thread.
 */

export type TicketTable = {
  /** Returns the number of tickets of calls with this id. */
  ofCall(scope: string, thread_id: string, call_id: string): number;
  has(scope: string, thread_id: string, ticket_id: string): boolean;
  /** @param ofCall the number of tickets of calls with this id, including this one */
  put(
    batch: Batch,
    scope: string,
    thread_id: string,
    ticket: { ticket_id: string; call_id: string; ofCall: number },
  ): void;
  removeAll(batch: Batch, scope: string, thread_id: string): void;
};

const CALL = 'call';
const TICKET = 'ticket';

export const createTicketTable = (env: Environment): TicketTable => {
  const rows = env.table<{ tickets: number }>('tickets');
  return {
    ofCall: (scope, thread_id, call_id) =>
      isId(thread_id) ? (rows.get([scope, thread_id, CALL, indexed(call_id)])?.tickets ?? 0) : 0,
    has: (scope, thread_id, ticket_id) =>
      isId(thread_id) && rows.has([scope, thread_id, TICKET, indexed(ticket_id)]),
    put(batch, scope, thread_id, { ticket_id, call_id, ofCall }) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      rows.put(batch, [scope, thread_id, TICKET, indexed(ticket_id)], { tickets: 1 });
      rows.put(batch, [scope, thread_id, CALL, indexed(call_id)], { tickets: ofCall });
    },
    removeAll: (batch, scope, thread_id) => rows.clear(batch, [scope, thread_id]),
  };
};
