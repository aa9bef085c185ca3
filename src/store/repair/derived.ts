import type { AccessEvent } from '../../schema/access-event.ts';
import type { AuditEvent } from '../../schema/audit-event.ts';
import type { DatasetMeta } from '../../schema/dataset.ts';
import type { Dispatch } from '../../schema/dispatch.ts';
import type { IdempotencyRow } from '../../schema/idempotency.ts';
import type { StoredResponse } from '../../schema/stored-response.ts';
import { type Batch, collectCallbacks, createBatch, type Rows, runCallbacks } from '../engine/batch.ts';
import { type Codec, createCodec } from '../engine/codec.ts';
import type { Counters } from '../engine/counters.ts';
import type { Environment } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import { createMediaTexts } from '../engine/media-texts.ts';
import { NO_CIPHER } from '../engine/secrets-cipher.ts';
import { createTable } from '../engine/table.ts';
import { createAccessEventTable } from '../tables/access-events.ts';
import { createAuditTable } from '../tables/audit.ts';
import { createCredentialTable } from '../tables/credentials.ts';
import { createDatasetTable } from '../tables/datasets.ts';
import { createDispatchTable } from '../tables/dispatches.ts';
import { createEndedWork } from '../tables/ended-work.ts';
import { createEvalRunTable, type EvalRunHead } from '../tables/eval-runs.ts';
import { createEventTable } from '../tables/events.ts';
import { createFileTable, type FileRow } from '../tables/files.ts';
import { createIdempotencyTable } from '../tables/idempotency.ts';
import { createKeyTable, type KeyRow } from '../tables/keys.ts';
import { createMessageTable, type MessageRow } from '../tables/messages.ts';
import { createOpenWork } from '../tables/open-work.ts';
import { createReceivedTable, type ReceivedMessage } from '../tables/received-messages.ts';
import { createResponseTable } from '../tables/responses.ts';
import { changedAt, createRunTable, type RunRow } from '../tables/runs.ts';
import { createSessionTable, type SessionRow } from '../tables/sessions.ts';
import { eventsIn, type StoredEvents } from '../tables/stored-events.ts';
import { createTaskIndex } from '../tables/tasks.ts';
import { createThreadExpiryTable } from '../tables/thread-expiries.ts';
import { createThreadTable, type ThreadRecord } from '../tables/threads.ts';
import { createTraceTable, type TraceHead } from '../tables/traces.ts';
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

/** Tables that contain only derived rows, and which a load derives although `troupe doctor` does not compare them. */
export const LISTS = [
  'trace_index',
  'eval_run_index',
  'dataset_fixture_ids',
  'audit_index',
  'access_index',
  'received_message_times',
  'idempotency_times',
] as const;

export type DerivedName = (typeof DERIVED)[number] | (typeof LISTS)[number];

const NAMES: readonly string[] = [...DERIVED, ...LISTS];

const isDerived = (name: string): name is DerivedName => NAMES.includes(name);

/** In the order in which rows are derived: runs precede what refers to them. */
const RECORDS = [
  'threads',
  'runs',
  'dispatches',
  'messages',
  'events',
  'users',
  'keys',
  'sessions',
  'files',
] as const;

/** The records of `LISTS`. */
const LISTED = [
  'traces',
  'eval_runs',
  'dataset_fixtures',
  'audit',
  'access_events',
  'responses',
  'received_messages',
  'idempotency',
] as const;

export type RecordName = (typeof RECORDS)[number] | (typeof LISTED)[number];

export const ALL_RECORDS: readonly RecordName[] = [...RECORDS, ...LISTED];

export type Records = Record<(typeof RECORDS)[number], Iterable<Entry>>;
export type Entry = { key: Key; value: unknown };

const EMPTY = { get: () => undefined, getRange: () => [], getKeys: () => [] };

const NOTHING = Buffer.alloc(0);

const emptyEnvironment = (codecOf: (table: string) => Codec) => {
  const derived = new Map<Rows, { name: DerivedName; codec: Codec }>();
  const env: Pick<Environment, 'table'> = {
    table<V>(name: string) {
      const codec = isDerived(name) ? codecOf(name) : createCodec(name, undefined);
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
  const derivation = createDerivation(sink);
  for (const name of RECORDS) for (const entry of records[name]) derivation.add(name, entry);
  derivation.end();
};

/** `add` receives the records of one table after another, in key order; `end` passes the counters on. */
export type Derivation = { add(name: RecordName, entry: Entry): void; end(): void };

/** @param codecOf returns the codec with which rows of a derived table are encoded */
export const createDerivation = (
  sink: Sink,
  codecOf: (table: string) => Codec = (table) => createCodec(table, undefined),
): Derivation => {
  const { env, derived } = emptyEnvironment(codecOf);
  const counts = new Map<string, { key: Key; value: number }>();
  const counters: Counters = {
    get: () => 0,
    add: (batch, key, by) => batch.counts.push([key, by]),
    settle: () => [],
    write() {},
  };

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

  const puts: Record<RecordName, Put> = {
    ...createWorkPuts(env, counters),
    ...createIdentityPuts(env),
    ...createListPuts(env),
  };
  return {
    add(name, { key, value }) {
      collect((batch) => puts[name](batch, key, value));
    },
    end() {
      for (const { key, value } of counts.values()) if (value !== 0) sink.counter(key, value);
    },
  };
};

/** Puts a record; these tables have written the rows, and rows that do not decode are left out. */
type Put = (batch: Batch, key: Key, value: unknown) => void;

type WorkName = 'threads' | 'runs' | 'dispatches' | 'messages' | 'events' | 'files';

const createWorkPuts = (env: Environment, counters: Counters): Record<WorkName, Put> => {
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
  const counted = createThreadNotes();
  return {
    threads: (batch, [scope], value) => threads.put(batch, String(scope), value as ThreadRecord, undefined),
    runs(batch, [scope], value) {
      const row = value as RunRow;
      at = row.order;
      runs.put(batch, String(scope), row.run, undefined, changedAt(row), row.shared);
    },
    dispatches(batch, [scope], value) {
      const row = value as { dispatch: Dispatch; order: number };
      at = row.order;
      dispatches.put(batch, String(scope), row.dispatch, undefined);
    },
    messages(batch, key, value) {
      counted.enter(key);
      messages.append(batch, String(key[0]), String(key[1]), [value as MessageRow]);
      counted.keep(batch);
    },
    events(batch, key, value) {
      const list = eventsIn(value as StoredEvents);
      const from = Number(key[2]) - list.length + 1;
      events.append(batch, String(key[0]), String(key[1]), from, list);
    },
    files: (batch, _key, value) => files.put(batch, value as FileRow),
  };
};

const createIdentityPuts = (env: Environment): Record<'users' | 'keys' | 'sessions', Put> => {
  const users = createUserTable(env);
  const keys = createKeyTable(env);
  const sessions = createSessionTable(env);
  const credentials = createCredentialTable(env);
  return {
    users: (batch, _key, value) => users.put(batch, value as UserRow, undefined),
    keys(batch, _key, value) {
      const row = value as KeyRow;
      keys.put(batch, row);
      credentials.put(batch, row.digest, { kind: 'key', id: row.id });
    },
    sessions(batch, _key, value) {
      const row = value as SessionRow;
      sessions.put(batch, row);
      credentials.put(batch, row.digest, { kind: 'session', id: row.id });
    },
  };
};

const NO_META: DatasetMeta = {
  source: { kind: 'user' },
  hidden: false,
  created_at: 0,
  updated_at: 0,
  revision: 0,
};

const createListPuts = (env: Environment): Record<(typeof LISTED)[number], Put> => {
  const traces = createTraceTable(env);
  const evalRuns = createEvalRunTable(env);
  const datasets = createDatasetTable(env);
  const audit = createAuditTable(env, NO_CIPHER).table;
  const accessEvents = createAccessEventTable(env);
  const responses = createResponseTable(env, { isMarked: () => false });
  const received = createReceivedTable(env);
  const idempotency = createIdempotencyTable(env);
  return {
    traces: (batch, _key, value) => traces.write(batch, value as TraceHead, []),
    eval_runs: (batch, _key, value) => evalRuns.put(batch, value as EvalRunHead, undefined),
    dataset_fixtures(batch, [id, place], value) {
      const head = { id: String(id), description: '', fixture_count: Number(place), meta: NO_META };
      datasets.append(batch, head, NO_META, [JSON.parse(String(value))]);
    },
    // The lists contain fields of the head only.
    audit: (batch, _key, value) => audit.put(batch, (value as { head: AuditEvent }).head),
    access_events: (batch, _key, value) => accessEvents.put(batch, value as AccessEvent),
    responses: (batch, [scope], value) => responses.add(batch, String(scope), value as StoredResponse),
    received_messages: (batch, [scope, fingerprint], value) =>
      received.put(batch, String(scope), String(fingerprint), value as ReceivedMessage),
    idempotency: (batch, _key, value) =>
      idempotency.put(batch, { row: value as IdempotencyRow, visible() {} }),
  };
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
