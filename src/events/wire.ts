import type { CanonicalEvent } from '../schema/canonical-event.ts';
import { Gone, Invalid, Outcome } from '../schema/outcome.ts';
import type { EventScope, Store } from '../store/index.ts';
import type { EventRow } from '../store/tables/events.ts';
import { EVENTS_A_TURN } from './follower.ts';

/**
 * Logged events in their wire format, and cursors (runtime.md 13.1).
 *
 * A cursor contains a sequence number and the end of the id of the event at that position. A cursor of another log, of
 * another scope, or of events that are missing after the restore of a backup is therefore rejected, and not mistaken
 * for the event with the same number. An event has the same cursor in the log of its thread and of its run.
 */

const ID_TAIL = 12;

/** The position before the first event of any log. */
export const START = 'cur_0';

const CURSOR = /^cur_([1-9]\d{0,14})_/;

export const cursorOf = ({ seq, event }: EventRow): string => `cur_${seq}_${event.event_id.slice(-ID_TAIL)}`;

/** Returns the sequence number of a cursor of this log. @throws Invalid (blank), Gone (any other text) */
export const findPosition = (
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
export type EventChunk = { text: string; count: number; last: number; whole: boolean };

/** Maximum length in characters; a chunk ends with the frame that reaches it, or with `EVENTS_A_TURN`. */
const PIECE_LENGTH = 1 << 18;

/** Reads at most one row more than it needs, so that a log of large events is not decoded far ahead of the writes. */
export const readChunk = (rows: Iterable<EventRow>): EventChunk => {
  const chunk: EventChunk = { text: '', count: 0, last: 0, whole: true };
  for (const row of rows) {
    if (chunk.count >= EVENTS_A_TURN || chunk.text.length >= PIECE_LENGTH) return { ...chunk, whole: false };
    chunk.text += `id: ${cursorOf(row)}\ndata: ${JSON.stringify(wireEvent(row))}\n\n`;
    chunk.count += 1;
    chunk.last = row.seq;
  }
  return chunk;
};

export const errorFrame = (error: unknown): string => {
  // Details of a bug are not disclosed to clients; they are in the server log.
  const message = error instanceof Outcome ? error.message : 'internal error';
  return `event: error\ndata: ${JSON.stringify({ error: message })}\n\n`;
};
