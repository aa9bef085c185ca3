import type { LoggedEvent } from '../../schema/canonical-event.ts';
import type { ContentBlock } from '../../schema/message.ts';
import { type AnswerTexts, fillIn, hollowIn } from '../engine/answers.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId, type Key } from '../engine/keys.ts';
import type { MediaTexts } from '../engine/media-texts.ts';
import type { Columns } from '../engine/sink.ts';
import type { Table } from '../engine/table.ts';
import { createEventSweep, type EventSweep } from './event-sweep.ts';
import { eventsIn, holderOf, packEvents, placesIn, type StoredEvents } from './stored-events.ts';

/**
 * The event log of a thread, by sequence number, and the part of it that belongs to a run (runtime.md 13).
 *
 * The events of one append are one row, under the last of their sequence numbers: an append costs one put, not one per
 * event, and a number is found in the first row at or after it. A run belongs to one thread and its events keep the
 * sequence numbers of the thread, so a position in the log is valid for both; for the run there is one index row per
 * append.
 *
 * The key of a row ends with the time of its last event, so that pruning finds old rows without reading them.
 */

export type EventRow = { seq: number; event: LoggedEvent };

export type EventScope = { thread_id: string } | { run_id: string };

export type EventTable = {
  /** Sequence numbers increase by one from `from_seq`. */
  append(batch: Batch, scope: string, thread_id: string, from_seq: number, events: LoggedEvent[]): void;
  /** 0 for an empty log. */
  last(scope: string, thread_id: string): number;
  newest(scope: string, by: EventScope): EventRow | undefined;
  list(scope: string, by: EventScope, after: number, limit: number): { rows: EventRow[]; has_more: boolean };
  /** Returns all events after a number, decoded lazily; must be consumed within one event-loop tick. */
  read(scope: string, by: EventScope, after: number): Iterable<EventRow>;
  has(scope: string, by: EventScope, seq: number): boolean;
  /** Removes the log of a thread with these runs. */
  removeAll(batch: Batch, scope: string, thread_id: string, run_ids: readonly string[]): void;
  prune: EventSweep;
};

/** A page decodes whole rows, so rows must be short. */
const MOST_IN_A_ROW = 256;

/** The events of one run in one append, and the row that contains them. */
type RunEvents = { thread_id: string; row: number; seqs: number[] };

export const createEventTable = (env: Environment, answers: AnswerTexts, media: MediaTexts): EventTable => {
  const appends = env.table<StoredEvents>('events');
  const byRun = env.table<RunEvents>('event_by_run');

  const log: EventLog = { appends, byRun, answers, media };
  return {
    append(batch, scope, thread_id, from_seq, added) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      for (let start = 0; start < added.length; start += MOST_IN_A_ROW) {
        const events = added.slice(start, start + MOST_IN_A_ROW);
        const row = from_seq + start + events.length - 1;
        const time = events.at(-1)?.created_at ?? 0;
        appends.put(
          batch,
          [scope, thread_id, row, time],
          packed(
            batch,
            scope,
            events.map((event) => withContent(event, (content) => media.hollow(batch, content))),
          ),
        );
        for (const [run_id, seqs] of seqsByRun(from_seq + start, events)) {
          checkId('run id', run_id);
          byRun.put(batch, [scope, run_id, row], { thread_id, row, seqs });
        }
      }
    },
    last: (scope, thread_id) => lastOfThread(log, scope, thread_id),
    newest(scope, by) {
      const seq =
        'thread_id' in by ? lastOfThread(log, scope, by.thread_id) : lastOfRun(log, scope, by.run_id);
      return seq === 0 ? undefined : firstAfter(log, scope, by, seq - 1);
    },
    list(scope, by, after, limit) {
      const rows: EventRow[] = [];
      for (const row of eventsAfter(log, scope, by, after)) {
        if (rows.length === limit) return { rows, has_more: true };
        rows.push(row);
      }
      return { rows, has_more: false };
    },
    read: (scope, by, after) => eventsAfter(log, scope, by, after),
    has: (scope, by, seq) => firstAfter(log, scope, by, seq - 1)?.seq === seq,
    removeAll(batch, scope, thread_id, run_ids) {
      appends.clear(batch, [scope, thread_id]);
      for (const run_id of run_ids) byRun.clear(batch, [scope, run_id]);
    },
    prune: createEventSweep({ appends, byRun }),
  };
};

/** The columns of a shipped row: the time of its last event. */
export const eventColumns = (_row: StoredEvents, [scope, , , time]: Key): Columns => ({
  scope: String(scope),
  at: Number(time),
});

type EventLog = {
  appends: Table<StoredEvents>;
  byRun: Table<RunEvents>;
  answers: AnswerTexts;
  media: MediaTexts;
};

const eventsAfter = (log: EventLog, scope: string, by: EventScope, after: number): Iterable<EventRow> => {
  if ('thread_id' in by) return isId(by.thread_id) ? ofThread(log, scope, by.thread_id, after) : [];
  return isId(by.run_id) ? ofRun(log, scope, by.run_id, after) : [];
};

function* ofThread(log: EventLog, scope: string, thread_id: string, after: number): Iterable<EventRow> {
  for (const { key, value } of log.appends.entries({ prefix: [scope, thread_id], from: [after + 1] })) {
    for (const row of numbered(rowIn(key), filled(log, scope, value))) if (row.seq > after) yield row;
  }
}

function* ofRun(log: EventLog, scope: string, run_id: string, after: number): Iterable<EventRow> {
  for (const { thread_id, row, seqs } of log.byRun.values({ prefix: [scope, run_id], from: [after + 1] })) {
    const held = log.appends.values({ prefix: [scope, thread_id, row], limit: 1 });
    const events = Array.from(held, (append) => numbered(row, filled(log, scope, append)));
    for (const event of events.flat()) if (event.seq > after && seqs.includes(event.seq)) yield event;
  }
}

const firstAfter = (log: EventLog, scope: string, by: EventScope, after: number): EventRow | undefined => {
  for (const row of eventsAfter(log, scope, by, after)) return row;
  return undefined;
};

const filled = ({ answers, media }: EventLog, scope: string, stored: StoredEvents): LoggedEvent[] => {
  const events = eventsIn(stored);
  for (const place of placesIn(stored))
    fillIn(events, [place], answers.textOf(scope, holderOf(events, place)));
  return events.map((event) => withContent(event, media.fill));
};

/** Changes the content of a committed message. */
const withContent = (
  event: LoggedEvent,
  change: (content: ContentBlock[]) => ContentBlock[],
): LoggedEvent => {
  const { content_blocks } = event.payload;
  if (event.event_kind !== 'MessageCommitted' || !Array.isArray(content_blocks)) return event;
  // The ledger writes the content of messages there.
  const content = content_blocks as ContentBlock[];
  return content.some((block) => 'source' in block)
    ? { ...event, payload: { ...event.payload, content_blocks: change(content) } }
    : event;
};

const lastOfThread = ({ appends }: EventLog, scope: string, thread_id: string): number => {
  if (!isId(thread_id)) return 0;
  const newest = appends.firstKey({ prefix: [scope, thread_id], reverse: true });
  return newest ? rowIn(newest) : 0;
};

const lastOfRun = ({ byRun }: EventLog, scope: string, run_id: string): number => {
  if (!isId(run_id)) return 0;
  for (const { seqs } of byRun.values({ prefix: [scope, run_id], reverse: true, limit: 1 }))
    return seqs.at(-1) ?? 0;
  return 0;
};

/** The events of a commit are put last, so the batch already contains the answers of the runs that it ends. */
const packed = (batch: Batch, scope: string, events: LoggedEvent[]): StoredEvents => {
  if (batch.answers.texts.size === 0) return packEvents(events, []);
  const hollow = events.map((value) => hollowIn(batch, { scope, run_id: value.run_id, value }));
  return packEvents(
    hollow.map(({ value }) => value),
    hollow.flatMap(({ places }, index) => places.map((path) => [String(index), ...path])),
  );
};

const rowIn = (key: Key): number => Number(key[2]);

/** Assigns sequence numbers to the events of a row, whose key has the last of them. */
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
