import type { LoggedEvent } from '../schema/canonical-event.ts';
import { type AnswerTexts, fillIn, hollowIn } from './answers.ts';
import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { createEventSweep, type EventSweep } from './event-sweep.ts';
import { checkId, isId, type Key } from './keys.ts';
import { eventsIn, holderOf, packEvents, placesIn, type StoredEvents } from './stored-events.ts';

/**
 * The event log of a thread, by sequence number, and the part of it that belongs to a run (runtime.md 13).
 *
 * The events of one append are one row, under the last of their sequence numbers: an append costs a put, not a
 * put an event, and the row that holds a number is the first one at or behind it. A run belongs to one thread
 * and its events keep the sequence numbers of the thread, so a position in the log means the same in both; for
 * the run there is one index row an append.
 *
 * The key of a row ends with the time of its last event, so that pruning finds what is old without reading rows.
 */

export type EventRow = { seq: number; event: LoggedEvent };

export type EventScope = { thread_id: string } | { run_id: string };

export type EventTable = {
  /** Sequence numbers go up by one from `from_seq`. */
  append(batch: Batch, scope: string, thread_id: string, from_seq: number, events: LoggedEvent[]): void;
  /** 0 when there are none. */
  last(scope: string, thread_id: string): number;
  newest(scope: string, by: EventScope): EventRow | undefined;
  list(scope: string, by: EventScope, after: number, limit: number): { rows: EventRow[]; has_more: boolean };
  /** All behind a number, decoded as they are taken; to be taken within one turn. */
  read(scope: string, by: EventScope, after: number): Iterable<EventRow>;
  has(scope: string, by: EventScope, seq: number): boolean;
  prune: EventSweep;
};

/** A page decodes whole rows, so a row must not be long. */
const MOST_IN_A_ROW = 256;

/** Events of one run in one append, and the row that holds them. */
type RunEvents = { thread_id: string; row: number; seqs: number[] };

export const createEventTable = (env: Environment, answers: AnswerTexts): EventTable => {
  const appends = env.table<StoredEvents>('events');
  const byRun = env.table<RunEvents>('event_by_run');

  const filled = (scope: string, stored: StoredEvents): LoggedEvent[] => {
    const events = eventsIn(stored);
    for (const place of placesIn(stored))
      fillIn(events, [place], answers.textOf(scope, holderOf(events, place)));
    return events;
  };

  function* ofThread(scope: string, thread_id: string, after: number): Iterable<EventRow> {
    for (const { key, value } of appends.entries({ prefix: [scope, thread_id], from: [after + 1] })) {
      for (const row of numbered(rowIn(key), filled(scope, value))) if (row.seq > after) yield row;
    }
  }

  function* ofRun(scope: string, run_id: string, after: number): Iterable<EventRow> {
    for (const { thread_id, row, seqs } of byRun.values({ prefix: [scope, run_id], from: [after + 1] })) {
      const held = appends.values({ prefix: [scope, thread_id, row], limit: 1 });
      const events = Array.from(held, (append) => numbered(row, filled(scope, append)));
      for (const event of events.flat()) if (event.seq > after && seqs.includes(event.seq)) yield event;
    }
  }

  const read = (scope: string, by: EventScope, after: number): Iterable<EventRow> => {
    if ('thread_id' in by) return isId(by.thread_id) ? ofThread(scope, by.thread_id, after) : [];
    return isId(by.run_id) ? ofRun(scope, by.run_id, after) : [];
  };

  const first = (rows: Iterable<EventRow>): EventRow | undefined => {
    for (const row of rows) return row;
    return undefined;
  };

  /** The events of a commit are put last, so the batch knows the answers of the runs that it ends. */
  const stored = (batch: Batch, scope: string, events: LoggedEvent[]): StoredEvents => {
    if (batch.answers.texts.size === 0) return packEvents(events, []);
    const hollow = events.map((value) => hollowIn(batch, { scope, run_id: value.run_id, value }));
    return packEvents(
      hollow.map(({ value }) => value),
      hollow.flatMap(({ places }, index) => places.map((path) => [String(index), ...path])),
    );
  };

  const putRow = (
    batch: Batch,
    scope: string,
    thread_id: string,
    from_seq: number,
    events: LoggedEvent[],
  ): void => {
    const row = from_seq + events.length - 1;
    appends.put(batch, [scope, thread_id, row, events.at(-1)?.created_at ?? 0], stored(batch, scope, events));
    for (const [run_id, seqs] of seqsByRun(from_seq, events)) {
      checkId('run id', run_id);
      byRun.put(batch, [scope, run_id, row], { thread_id, row, seqs });
    }
  };

  const last = (scope: string, thread_id: string): number => {
    if (!isId(thread_id)) return 0;
    const newest = appends.firstKey({ prefix: [scope, thread_id], reverse: true });
    return newest ? rowIn(newest) : 0;
  };

  const lastOfRun = (scope: string, run_id: string): number => {
    if (!isId(run_id)) return 0;
    for (const { seqs } of byRun.values({ prefix: [scope, run_id], reverse: true, limit: 1 }))
      return seqs.at(-1) ?? 0;
    return 0;
  };

  return {
    append(batch, scope, thread_id, from_seq, added) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      for (let start = 0; start < added.length; start += MOST_IN_A_ROW) {
        putRow(batch, scope, thread_id, from_seq + start, added.slice(start, start + MOST_IN_A_ROW));
      }
    },
    last,
    newest(scope, by) {
      const seq = 'thread_id' in by ? last(scope, by.thread_id) : lastOfRun(scope, by.run_id);
      return seq === 0 ? undefined : first(read(scope, by, seq - 1));
    },
    list(scope, by, after, limit) {
      const rows: EventRow[] = [];
      for (const row of read(scope, by, after)) {
        if (rows.length === limit) return { rows, has_more: true };
        rows.push(row);
      }
      return { rows, has_more: false };
    },
    read,
    has: (scope, by, seq) => first(read(scope, by, seq - 1))?.seq === seq,
    prune: createEventSweep({ appends, byRun }),
  };
};

const rowIn = (key: Key): number => Number(key[2]);

/** The events of a row with their sequence numbers; the row stands under the last of them. */
const numbered = (row: number, events: LoggedEvent[]): EventRow[] =>
  events.map((event, index) => ({ seq: row - events.length + 1 + index, event }));

const seqsByRun = (from_seq: number, events: readonly LoggedEvent[]): Map<string, number[]> => {
  const runs = new Map<string, number[]>();
  for (const [index, { run_id }] of events.entries()) {
    if (run_id === undefined) continue;
    const seqs = runs.get(run_id);
    if (seqs) seqs.push(from_seq + index);
    else runs.set(run_id, [from_seq + index]);
  }
  return runs;
};
