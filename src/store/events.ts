import type { LoggedEvent } from '../schema/canonical-event.ts';
import type { Batch } from './batch.ts';
import type { Environment } from './environment.ts';
import { checkId, isId, type Key } from './keys.ts';

/**
 * The event log of a thread, by sequence number, and the part of it that belongs to a run (runtime.md 13).
 *
 * A run belongs to one thread and its events keep the sequence numbers of the thread, so a position in the log
 * means the same in both. For the run there is one index row an append, under the first sequence number, with
 * the numbers that follow; it costs a put a commit, not a put an event.
 */

export type EventRow = { seq: number; event: LoggedEvent };

export type EventScope = { thread_id: string } | { run_id: string };

export type EventTable = {
  /** Sequence numbers go up by one from `from_seq`. */
  append(batch: Batch, scope: string, thread_id: string, from_seq: number, events: LoggedEvent[]): void;
  /** 0 when there are none. */
  last(scope: string, thread_id: string): number;
  list(scope: string, by: EventScope, after: number, limit: number): { rows: EventRow[]; has_more: boolean };
  has(scope: string, by: EventScope, seq: number): boolean;
};

/** Events of one run in one append. */
type RunEvents = { thread_id: string; seqs: number[] };

export const createEventTable = (env: Environment): EventTable => {
  const events = env.table<LoggedEvent>('events');
  const byRun = env.table<RunEvents>('event_by_run');

  const ofThread = (scope: string, thread_id: string, after: number, limit: number): EventRow[] =>
    Array.from(events.entries({ prefix: [scope, thread_id], after: [after], limit }), ({ key, value }) => ({
      seq: Number(key.at(-1)),
      event: value,
    }));

  /** The append that holds `seq`, or the last one before it. */
  const appendAt = (prefix: Key, seq: number): Key | undefined =>
    byRun.firstKey({ prefix, to: [seq], reverse: true })?.slice(prefix.length);

  function* ofRun(scope: string, run_id: string, after: number): Iterable<EventRow> {
    const prefix = [scope, run_id];
    const from = appendAt(prefix, after);
    for (const { thread_id, seqs } of byRun.values({ prefix, ...(from && { from }) })) {
      for (const seq of seqs) {
        const event = seq > after ? events.get([scope, thread_id, seq]) : undefined;
        if (event) yield { seq, event };
      }
    }
  }

  return {
    append(batch, scope, thread_id, from_seq, added) {
      checkId('scope', scope);
      checkId('thread id', thread_id);
      const runs = new Map<string, number[]>();
      for (const [index, event] of added.entries()) {
        const seq = from_seq + index;
        events.put(batch, [scope, thread_id, seq], event);
        if (event.run_id === undefined) continue;
        const seqs = runs.get(event.run_id);
        if (seqs) seqs.push(seq);
        else runs.set(event.run_id, [seq]);
      }
      for (const [run_id, seqs] of runs) {
        checkId('run id', run_id);
        byRun.put(batch, [scope, run_id, seqs[0] ?? from_seq], { thread_id, seqs });
      }
    },
    last(scope, thread_id) {
      if (!isId(thread_id)) return 0;
      return Number(events.firstKey({ prefix: [scope, thread_id], reverse: true })?.at(-1) ?? 0);
    },
    list(scope, by, after, limit) {
      const rows: EventRow[] = [];
      if ('thread_id' in by) {
        if (isId(by.thread_id)) rows.push(...ofThread(scope, by.thread_id, after, limit + 1));
      } else if (isId(by.run_id)) {
        for (const row of ofRun(scope, by.run_id, after)) {
          rows.push(row);
          if (rows.length > limit) break;
        }
      }
      return { rows: rows.slice(0, limit), has_more: rows.length > limit };
    },
    has(scope, by, seq) {
      if ('thread_id' in by) return isId(by.thread_id) && events.has([scope, by.thread_id, seq]);
      if (!isId(by.run_id)) return false;
      const prefix = [scope, by.run_id];
      for (const { seqs } of byRun.values({ prefix, to: [seq], reverse: true, limit: 1 }))
        return seqs.includes(seq);
      return false;
    },
  };
};
