import type { Dispatch } from '../../schema/dispatch.ts';
import { type Batch, collectCallbacks, createBatch, type Rows, runCallbacks } from '../engine/batch.ts';
import { type Codec, createCodec } from '../engine/codec.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import { createMediaTexts } from '../engine/media-texts.ts';
import { createTable } from '../engine/table.ts';
import { createCredentialTable } from '../tables/credentials.ts';
import { createDispatchTable } from '../tables/dispatches.ts';
import { createEndedWork } from '../tables/ended-work.ts';
import { createEventTable } from '../tables/events.ts';
import { createFileTable, type FileRow } from '../tables/files.ts';
import { createKeyTable, type KeyRow } from '../tables/keys.ts';
import { createMessageTable, type MessageRow } from '../tables/messages.ts';
import { createOpenWork } from '../tables/open-work.ts';
import { changedAt, createRunTable, type RunRow } from '../tables/runs.ts';
import { createSessionTable, type SessionRow } from '../tables/sessions.ts';
import { eventsIn, type StoredEvents } from '../tables/stored-events.ts';
import { createTaskIndex } from '../tables/tasks.ts';
import { createThreadExpiryTable } from '../tables/thread-expiries.ts';
import { createThreadTable, type ThreadRecord } from '../tables/threads.ts';
import { createUserTable, type UserRow } from '../tables/users.ts';

/**
 * Derives the rows that follow from others: indexes, work lists and counters.
 *
 * The code that writes records in a store derives them, on top of a store that is empty and discards all writes, so
 * that the expected rows are defined in one place.
 */

/** Tables that contain only derived rows. */
export const DERIVED = [
  'thread_index',
  'thread_expiries',
  'run_index',
  'task_index',
  'dispatch_index',
  'open_work',
  'ended_work',
  'message_by_run',
  'event_by_run',
  'user_folds',
  'user_identities',
  'scope_keys',
  'user_keys',
  'key_ends',
  'user_sessions',
  'session_ends',
  'credentials',
  'file_index',
  'file_ends',
  'thread_files',
  'blobs',
  'counters',
] as const;

export type DerivedName = (typeof DERIVED)[number];

const isDerived = (name: string): name is DerivedName => (DERIVED as readonly string[]).includes(name);

export type Records = Record<
  'threads' | 'runs' | 'dispatches' | 'messages' | 'events' | 'users' | 'keys' | 'sessions' | 'files',
  Iterable<Entry>
>;
export type Entry = { key: Key; value: unknown };

const EMPTY = { get: () => undefined, getRange: () => [], getKeys: () => [] };

const NOTHING = Buffer.alloc(0);

const emptyEnvironment = () => {
  const derived = new Map<Rows, { name: DerivedName; codec: Codec }>();
  const env: Pick<Environment, 'table'> = {
    table<V>(name: string) {
      const codec = createCodec(name, undefined);
      // Implements only the read methods of `createTable`; all of them return nothing.
      const rows = { ...EMPTY } as unknown as Rows;
      if (isDerived(name)) derived.set(rows, { name, codec });
      // Records can be large, and their encoded rows are discarded: encoding them would double the garbage.
      else codec.encode = () => NOTHING;
      return createTable<V>(rows, codec, { reads: 0, closed: false });
    },
  };
  return { env: env as Environment, derived };
};

/** Receives the derived rows. */
type Sink = {
  row(table: DerivedName, row: { key: Key; value: Buffer; codec: Codec }): void;
  counter(key: Key, count: number): void;
};

/** Memory: one record, the counters, and a count for each run of one thread. */
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
  const threads = createThreadTable(env, counters, createThreadExpiryTable(env));
  const runs = createRunTable(env, { counters, order, tasks: createTaskIndex(env, counters) });
  const work = { answers: runs, order, openWork: createOpenWork(env), endedWork: createEndedWork(env) };
  const dispatches = createDispatchTable(env, work);
  const files = createFileTable(env, counters, { linkKey: NOTHING, pendingBlobs: { has: () => false } });
  const media = createMediaTexts('', undefined);
  const messages = createMessageTable(env, {
    answers: runs,
    removals: { isMarked: () => false },
    media,
    files,
  });
  const events = createEventTable(env, runs, media);

  /** Passes the writes of a batch into derived tables on; the other writes are records. */
  const collect = (fill: (batch: Batch) => void): void => {
    const batch = createBatch('commons');
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

  // These tables have written the rows; rows that do not decode are left out.
  for (const { key, value } of records.threads)
    collect((batch) => threads.put(batch, String(key[0]), value as ThreadRecord, undefined));
  for (const { key, value } of records.runs) {
    const row = value as RunRow;
    at = row.order;
    collect((batch) => runs.put(batch, String(key[0]), row.run, undefined, changedAt(row), row.shared));
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
  deriveIdentity(env, records, collect);
  for (const { value } of records.files) collect((batch) => files.put(batch, value as FileRow));
  for (const { key, value } of counts.values()) if (value !== 0) sink.counter(key, value);
};

const deriveIdentity = (
  env: Environment,
  records: Records,
  collect: (fill: (batch: Batch) => void) => void,
): void => {
  const users = createUserTable(env);
  const keys = createKeyTable(env);
  const sessions = createSessionTable(env);
  const credentials = createCredentialTable(env);
  for (const { value } of records.users) collect((batch) => users.put(batch, value as UserRow, undefined));
  for (const { value } of records.keys)
    collect((batch) => {
      const row = value as KeyRow;
      keys.put(batch, row);
      credentials.put(batch, row.digest, { kind: 'key', id: row.id });
    });
  for (const { value } of records.sessions)
    collect((batch) => {
      const row = value as SessionRow;
      sessions.put(batch, row);
      credentials.put(batch, row.digest, { kind: 'session', id: row.id });
    });
};

/** The count of a run's messages continues from message to message, within one thread. */
const createThreadNotes = () => {
  let thread: Key = [];
  let notes = new Map<string, Batch['notes'][number]>();
  return {
    enter([scope = '', thread_id = '']: Key): void {
      if (thread[0] === scope && thread[1] === thread_id) return;
      collectCallbacks({ notes: [...notes.values()] });
      thread = [scope, thread_id];
      notes = new Map();
    },
    keep(batch: Batch): void {
      runCallbacks(batch);
      for (const note of batch.notes) notes.set(note.key, note);
    },
  };
};
