import type { Dispatch } from '../schema/dispatch.ts';
import type { Run } from '../schema/run.ts';
import { type Batch, createBatch, postNotes, type Rows, takeNotesDown } from './batch.ts';
import { type Codec, createCodec } from './codec.ts';
import type { Counters } from './counters.ts';
import { createDispatchTable } from './dispatches.ts';
import { createEndedWork } from './ended-work.ts';
import type { Environment } from './environment.ts';
import { createEventTable } from './events.ts';
import type { Key } from './keys.ts';
import { createMessageTable, type MessageRow } from './messages.ts';
import { createOpenWork } from './open-work.ts';
import { createRunTable } from './runs.ts';
import { eventsIn, type StoredEvents } from './stored-events.ts';
import { createTable } from './table.ts';
import { createTaskIndex } from './tasks.ts';
import { createThreadTable, type ThreadRecord } from './threads.ts';

/**
 * The rows that follow from others: indexes, lists of work and counters.
 *
 * They are made by the code that writes records in a store, over a store that is empty and forgets, so that what
 * should be there is defined in one place.
 */

/** Tables that hold nothing of their own. */
export const DERIVED = [
  'thread_index',
  'run_index',
  'task_index',
  'dispatch_index',
  'open_work',
  'ended_work',
  'message_by_run',
  'event_by_run',
  'counters',
] as const;

export type DerivedName = (typeof DERIVED)[number];

const isDerived = (name: string): name is DerivedName => (DERIVED as readonly string[]).includes(name);

export type Records = Record<'threads' | 'runs' | 'dispatches' | 'messages' | 'events', Iterable<Entry>>;
export type Entry = { key: Key; value: unknown };

const EMPTY = { get: () => undefined, getRange: () => [], getKeys: () => [] };

const NOTHING = Buffer.alloc(0);

const emptyEnvironment = () => {
  const derived = new Map<Rows, { name: DerivedName; codec: Codec }>();
  const env: Pick<Environment, 'table'> = {
    table<V>(name: string) {
      const codec = createCodec(name, undefined);
      // Only what `createTable` reads with; there is nothing to read.
      const rows = { ...EMPTY } as unknown as Rows;
      if (isDerived(name)) derived.set(rows, { name, codec });
      // Records can be large, and their encoded rows are discarded: encoding them would double the garbage.
      else codec.encode = () => NOTHING;
      return createTable<V>(rows, codec, { reads: 0, closed: false });
    },
  };
  return { env: env as Environment, derived };
};

/** Where derived rows go. */
type Sink = {
  row(table: DerivedName, row: { key: Key; value: Buffer; codec: Codec }): void;
  counter(key: Key, count: number): void;
};

/** Holds one record in memory, the counters, and a count for each run of one thread. */
export const deriveInto = (records: Records, sink: Sink): void => {
  const { env, derived } = emptyEnvironment();
  const counts = new Map<string, { key: Key; value: number }>();
  const counters: Counters = {
    get: () => 0,
    add: (batch, key, by) => batch.counts.push([key, by]),
    settle: () => [],
    write() {},
  };
  let at = 0;
  const order = { next: () => at };
  const threads = createThreadTable(env, counters);
  const runs = createRunTable(env, { counters, order, tasks: createTaskIndex(env, counters) });
  const work = { answers: runs, order, openWork: createOpenWork(env), endedWork: createEndedWork(env) };
  const dispatches = createDispatchTable(env, work);
  const messages = createMessageTable(env, runs, { isMarked: () => false });
  const events = createEventTable(env, runs);

  /** Writes of a batch into derived tables; the others are records. */
  const collect = (fill: (batch: Batch) => void): void => {
    const batch = createBatch();
    fill(batch);
    for (const write of batch.writes) {
      const table = derived.get(write.rows);
      if (!table || !('value' in write)) continue;
      sink.row(table.name, { key: write.key, value: write.value, codec: table.codec });
    }
    for (const [key, by] of batch.counts) {
      const name = JSON.stringify(key);
      counts.set(name, { key, value: (counts.get(name)?.value ?? 0) + by });
    }
  };

  // Rows are what these tables wrote; those that do not decode are not among them.
  for (const { key, value } of records.threads)
    collect((batch) => threads.put(batch, String(key[0]), value as ThreadRecord, undefined));
  for (const { key, value } of records.runs) {
    const row = value as { run: Run; order: number; changed_at?: number };
    at = row.order;
    collect((batch) => runs.put(batch, String(key[0]), row.run, undefined, row.changed_at));
  }
  for (const { key, value } of records.dispatches) {
    const row = value as { dispatch: Dispatch; order: number };
    at = row.order;
    collect((batch) => dispatches.put(batch, String(key[0]), row.dispatch, undefined));
  }
  const counted = createThreadNotes();
  for (const { key, value } of records.messages)
    collect((batch) => {
      counted.enter(key);
      messages.append(batch, String(key[0]), String(key[1]), [value as MessageRow]);
      counted.keep(batch);
    });
  for (const { key, value } of records.events) {
    const list = eventsIn(value as StoredEvents);
    const from = Number(key[2]) - list.length + 1;
    collect((batch) => events.append(batch, String(key[0]), String(key[1]), from, list));
  }
  for (const { key, value } of counts.values()) if (value !== 0) sink.counter(key, value);
};

/** The count of a run's messages continues from message to message, within one thread. */
const createThreadNotes = () => {
  let thread: Key = [];
  let notes = new Map<string, Batch['notes'][number]>();
  return {
    enter([scope = '', thread_id = '']: Key): void {
      if (thread[0] === scope && thread[1] === thread_id) return;
      takeNotesDown({ notes: [...notes.values()] });
      thread = [scope, thread_id];
      notes = new Map();
    },
    keep(batch: Batch): void {
      postNotes(batch);
      for (const note of batch.notes) notes.set(note.key, note);
    },
  };
};
