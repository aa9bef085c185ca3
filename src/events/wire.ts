import type { CanonicalEvent } from '../schema/canonical-event.ts';
import { Gone, Invalid, Outcome } from '../schema/outcome.ts';
import type { EventRow } from '../store/events.ts';
import type { EventScope, Store } from '../store/index.ts';
import { EVENTS_A_TURN } from './follower.ts';

/**
 * Logged events as clients see them, and cursors (runtime.md 13.1).
 *
 * A cursor names a sequence number and, by the end of its id, the event that stands there. So a cursor of another
 * log, of another scope, or of events that a restored backup no longer has is refused, and not taken for the
 * event that has the same number here. An event has the same cursor in the log of its thread and of its run.
 */

const ID_TAIL = 12;

/** In front of the first event of any log. */
export const START = 'cur_0';

const CURSOR = /^cur_([1-9]\d{0,14})_/;

export const cursorOf = ({ seq, event }: EventRow): string => `cur_${seq}_${event.event_id.slice(-ID_TAIL)}`;

/** The sequence number that a cursor of this log stands for. @throws Invalid (blank), Gone (any other text) */
export const positionOf = (
  events: Store['events'],
  scope: string,
  by: EventScope,
  cursor: string,
): number => {
  if (cursor.trim() === '') throw new Invalid('validation error: cursor is required');
  if (cursor === START) return 0;
  const seq = Number(CURSOR.exec(cursor)?.[1] ?? 0);
  const [row] = seq === 0 ? [] : events.list(scope, by, seq - 1, 1).rows;
  if (!row || cursorOf(row) !== cursor)
    throw new Gone(`cursor '${cursor}' is not, or no longer, of this log; read from its beginning`);
  return seq;
};

export const wireEvent = (row: EventRow): CanonicalEvent => {
  const { event_id, ...logged } = row.event;
  const cursor = cursorOf(row);
  const scopes = scopesOf(row);
  return {
    event_id,
    scopes,
    cursors_by_scope: scopes.map((scope) => ({ scope, cursor })),
    ...logged,
    schema_version: 1,
  };
};

const scopesOf = ({ event: { thread_id, run_id } }: EventRow): CanonicalEvent['scopes'] => {
  const scopes: CanonicalEvent['scopes'] = [];
  if (thread_id !== undefined) scopes.push({ scope_type: 'thread', thread_id });
  if (run_id !== undefined) scopes.push({ scope_type: 'run', run_id });
  return scopes;
};

/** The first events of some rows as frames of an event stream; `whole`: there are no more rows. */
export type Piece = { text: string; count: number; last: number; whole: boolean };

/** Characters; a piece ends with the frame that reaches it, or with `EVENTS_A_TURN`. */
const PIECE_LENGTH = 1 << 18;

/** Takes one row more than it needs, so that a log of large events is not decoded far ahead of what is written. */
export const pieceOf = (rows: Iterable<EventRow>): Piece => {
  const piece: Piece = { text: '', count: 0, last: 0, whole: true };
  for (const row of rows) {
    if (piece.count >= EVENTS_A_TURN || piece.text.length >= PIECE_LENGTH) return { ...piece, whole: false };
    piece.text += `id: ${cursorOf(row)}\ndata: ${JSON.stringify(wireEvent(row))}\n\n`;
    piece.count += 1;
    piece.last = row.seq;
  }
  return piece;
};

export const errorFrame = (error: unknown): string => {
  // Of a bug strangers learn only that there was one; what it was is in the log.
  const message = error instanceof Outcome ? error.message : 'internal error';
  return `event: error\ndata: ${JSON.stringify({ error: message })}\n\n`;
};
