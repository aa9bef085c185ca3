import { Integrity } from '../schema/outcome.ts';
import { ownerOf } from '../schema/partition.ts';
import type { StoredResponse } from '../schema/stored-response.ts';
import { ownTurn } from '../schema/turns.ts';
import type { Batch } from './engine/batch.ts';
import type { Environment } from './engine/environment.ts';
import type { Key } from './engine/keys.ts';
import type { Table } from './engine/table.ts';
import type { Entry } from './repair/derived.ts';
import type { DispatchRow } from './tables/dispatches.ts';
import { type FileRow, threadFileId } from './tables/files.ts';
import type { StoredMessage } from './tables/messages.ts';
import type { PushConfigTable } from './tables/push-configs.ts';
import type { PushFollowed } from './tables/push-outbox.ts';
import type { ReceivedMessage } from './tables/received-messages.ts';
import type { RunRow } from './tables/runs.ts';
import { eventsIn, packEvents, placesIn, type StoredEvents } from './tables/stored-events.ts';
import type { ThreadRecord } from './tables/threads.ts';
import { createTranscriptTable } from './tables/transcripts.ts';
import type { TransferPlan } from './transfer-plan.ts';
import { createRenaming, type Renaming } from './transferred-names.ts';

/** Moves the rows of threads that derive from no others; see `transfers.ts`. A row that refers to an id gets the new one. */

/** A record before and after, from which other rows are derived. */
export type Moved = {
  table: 'threads' | 'runs' | 'dispatches' | 'files';
  before: Entry;
  after: Entry;
};

export type Movers = {
  /** Moves the rows that are named after a thread. */
  ofThread(batch: Batch, plan: TransferPlan, id: string): Promise<Moved[]>;
  /** Moves the rows that are named after the runs and dispatches of all threads. */
  ofRuns(batch: Batch, plan: TransferPlan): Promise<Moved[]>;
};

export const createMovers = (env: Environment, pushConfigs: PushConfigTable): Movers => {
  const moveOfThread = createThreadMover(env);
  const moveOfRuns = createRunMover(env, pushConfigs);
  return {
    ofThread: (batch, plan, id) => moveOfThread(batch, plan, createRenaming(plan.names), id),
    ofRuns: (batch, plan) => moveOfRuns(batch, plan, createRenaming(plan.names)),
  };
};

const createThreadMover = (env: Environment) => {
  const threads = env.table<ThreadRecord>('threads');
  const messages = env.table<StoredMessage>('messages');
  const events = env.table<StoredEvents>('events');
  const transcripts = createTranscriptTable(env);

  return async (batch: Batch, plan: TransferPlan, renaming: Renaming, id: string): Promise<Moved[]> => {
    const { from, to } = plan;
    const place: ThreadPlace = { from: [from, id], to: [to, renaming.thread(id)] };
    const record = threads.get(place.from);
    if (!record) return [];
    const after = ownedBy(record, plan, renaming, id);
    replace(threads, batch, { key: place.from, value: record }, { key: place.to, value: after });
    for await (const [before, key] of rowsOf(messages, place))
      replace(messages, batch, before, { key, value: renaming.message(before.value) });
    const since = record.thread.metadata.created_at ?? 0;
    for await (const [before, key] of rowsOf(events, place)) {
      if (Number(before.key[3]) < since) continue;
      const places = placesIn(before.value);
      const renamed = eventsIn(before.value).map(renaming.event);
      replace(events, batch, before, { key, value: packEvents(renamed, [...places]) });
    }
    await moveOthers(env, batch, place, renaming);
    await moveResponses(env, batch, place, renaming);
    // The chat belongs to its former owner.
    transcripts.removeAll(batch, from, record.thread);
    return [
      {
        table: 'threads',
        before: { key: place.from, value: record },
        after: { key: place.to, value: after },
      },
      ...moveFiles(env, batch, place),
    ];
  };
};

type ThreadPlace = { from: Key; to: Key };

/** Tables whose rows are named after a thread, and then after numbers, texts or runs. */
const OF_THREADS = [
  'message_by_run',
  'retractions',
  'stopped_answers',
  'past_states',
  'pending',
  'tickets',
] as const;

/** Tables whose keys contain runs; a ticket or a call may have the id of a run. */
const WITH_RUNS: readonly string[] = ['message_by_run', 'stopped_answers'];

const moveOthers = async (
  env: Environment,
  batch: Batch,
  place: ThreadPlace,
  renaming: Renaming,
): Promise<void> => {
  for (const name of OF_THREADS) {
    const table = env.table<object>(name);
    const hasRuns = WITH_RUNS.includes(name);
    for await (const [before, [scope = '', id = '', ...rest]] of rowsOf(table, place)) {
      const key = [scope, id, ...(hasRuns ? rest.map(renaming.runPart) : rest)];
      replace(table, batch, before, { key, value: renaming.row(before.value) });
    }
  }
  const states = env.table<object>('state');
  for await (const [before, key] of rowsOf(states, place))
    replace(states, batch, before, { key, value: renaming.state(before.value) });
};

/** The legs of responses. */
const moveResponses = async (
  env: Environment,
  batch: Batch,
  place: ThreadPlace,
  renaming: Renaming,
): Promise<void> => {
  const responses = env.table<StoredResponse>('responses');
  for await (const [before, [scope = '', id = '', ...rest]] of rowsOf(responses, place)) {
    const key = [scope, id, ...rest.map(renaming.runPart)];
    replace(responses, batch, before, { key, value: renaming.fields(before.value) });
  }
};

/** The files that were sent in the thread. Their ids follow from it. */
const moveFiles = (env: Environment, batch: Batch, place: ThreadPlace): Moved[] => {
  const files = env.table<FileRow>('files');
  const [scope = '', thread_id = ''] = place.to.map(String);
  return Array.from(env.table<true>('thread_files').keys({ prefix: place.from }), ([, , file]) => {
    const key = [String(file)];
    const value = files.get(key);
    if (!value) throw new Integrity(`file '${file}' is listed and has no record`);
    const id = threadFileId({ scope, thread_id, sha256: value.sha256 });
    const before = { key, value };
    const after = { key: [id], value: { ...value, id, scope, thread_id } };
    replace(files, batch, before, after);
    return { table: 'files', before, after };
  });
};

const createRunMover = (env: Environment, pushConfigs: PushConfigTable) => {
  const runs = env.table<RunRow>('runs');
  const dispatches = env.table<DispatchRow>('dispatches');

  const eventsByRun = env.table<object>('event_by_run');

  return async (batch: Batch, plan: TransferPlan, renaming: Renaming): Promise<Moved[]> => {
    const { from, to, names } = plan;
    const owner = ownerOf(to);
    const moved: Moved[] = [];
    for (const [run_id, now] of names.runs) {
      const key = [from, run_id];
      const value = runs.get(key);
      if (!value) continue;
      const before = { key, value };
      const after = { key: [to, now], value: { ...value, run: { ...renaming.run(value.run), owner } } };
      replace(runs, batch, before, after);
      moved.push({ table: 'runs', before, after });
      const place: ThreadPlace = { from: [from, run_id], to: [to, now] };
      for await (const [row, at] of rowsOf(eventsByRun, place))
        replace(eventsByRun, batch, row, { key: at, value: renaming.fields(row.value) });
      moveListed(env, batch, place, renaming);
      await movePush(env, pushConfigs, batch, { from, to, run_id, now });
    }
    for (const [dispatch_id, now] of names.dispatches) {
      const key = [from, dispatch_id];
      const value = dispatches.get(key);
      if (!value) continue;
      const after = { key: [to, now], value: { ...value, dispatch: renaming.fields(value.dispatch) } };
      replace(dispatches, batch, { key, value }, after);
      moved.push({ table: 'dispatches', before: { key, value }, after });
    }
    moveDeadlines(env, batch, plan, renaming);
    forgetReceived(env, batch, plan);
    return moved;
  };
};

/** The lists of runs that the next process has to check. */
const moveListed = (env: Environment, batch: Batch, place: ThreadPlace, renaming: Renaming): void => {
  const [scope = ''] = place.to;
  for (const name of ['awaiting_tasks', 'driven_runs'] as const) {
    const table = env.table<object>(name);
    const value = table.get(place.from);
    if (!value) continue;
    const after = { key: place.to, value: { ...renaming.fields(value), scope } };
    replace(table, batch, { key: place.from, value }, after);
  }
};

type TaskMove = { from: string; to: string; run_id: string; now: string };

/** Secrets are sealed again, because they are bound to their row. Queued events stay as they were queued. */
const movePush = async (
  env: Environment,
  configs: PushConfigTable,
  batch: Batch,
  { from, to, run_id, now }: TaskMove,
): Promise<void> => {
  for (const config of Array.from(configs.list(from, run_id))) {
    configs.remove(batch, config);
    configs.put(batch, { ...config, scope: to, task_id: now });
  }
  const place: ThreadPlace = { from: [from, run_id], to: [to, now] };
  const outbox = env.table<object>('push_outbox');
  for await (const [before, key] of rowsOf(outbox, place))
    replace(outbox, batch, before, { key, value: before.value });
  const followed = env.table<PushFollowed>('push_followed');
  for await (const [before, key] of rowsOf(followed, place)) {
    const { place: of, ...rest } = before.value;
    replace(followed, batch, before, {
      key,
      value: { ...rest, place: { ...of, scope: to, task_id: now } },
    });
  }
};

/** Deadlines are ordered by time. The transfer of a thread is rare, so they are searched for those of its runs. */
const moveDeadlines = (
  env: Environment,
  batch: Batch,
  { from, to, names }: TransferPlan,
  renaming: Renaming,
): void => {
  const table = env.table<object>('deadlines');
  for (const key of Array.from(table.keys({ prefix: [] }))) {
    const [at = 0, scope, run_id] = key;
    const now = scope === from ? names.runs.get(String(run_id)) : undefined;
    const value = now === undefined ? undefined : table.get(key);
    if (now === undefined || !value) continue;
    const after = { key: [at, to, now], value: { ...renaming.fields(value), scope: to } };
    replace(table, batch, { key, value }, after);
  }
};

/** A message that its sender repeats is new: the task that it led to is no longer visible to the sender. */
const forgetReceived = (env: Environment, batch: Batch, { from, names }: TransferPlan): void => {
  const received = env.table<ReceivedMessage>('received_messages');
  for (const { key, value } of Array.from(received.entries({ prefix: [from] }))) {
    if (!names.runs.has(value.task_id)) continue;
    const [scope = '', fingerprint = ''] = key;
    received.remove(batch, key);
    env.table('received_message_times').remove(batch, [value.accepted_at, scope, fingerprint]);
  }
};

type RowOf<V> = { key: Key; value: V };

/** Rows that are moved in one event-loop tick. */
const ROWS_A_TICK = 500;

/** Yields the rows below a place, with their keys at the other one. */
async function* rowsOf<V>(
  table: Table<V>,
  { from, to }: ThreadPlace,
): AsyncIterable<[row: RowOf<V>, key: Key]> {
  let after: { after?: Key } = {};
  for (;;) {
    const rows = Array.from(table.entries({ prefix: from, limit: ROWS_A_TICK, ...after }));
    for (const row of rows) yield [row, [...to, ...row.key.slice(from.length)]];
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_A_TICK) return;
    after = { after: last.key.slice(from.length) };
    await ownTurn();
  }
}

const replace = <V>(table: Table<V>, batch: Batch, before: RowOf<unknown>, after: RowOf<V>): void => {
  table.remove(batch, before.key);
  table.put(batch, after.key, after.value);
};

/** The first of the threads leaves its parent, which stays with its owner. */
const ownedBy = (
  record: ThreadRecord,
  { to, threads, at, lineage }: TransferPlan,
  renaming: Renaming,
  before: string,
): ThreadRecord => {
  const { thread } = record;
  const id = renaming.thread(before);
  const { parent_thread_id, forked_from, ...rest } = renaming.fields(thread);
  const isFirst = threads[0] === before;
  const owner = ownerOf(to);
  return {
    ...record,
    lineage,
    thread: {
      ...rest,
      id,
      uid: id,
      ...(owner !== undefined && { owner }),
      visibility: thread.visibility ?? 'private',
      ...(parent_thread_id !== undefined && !isFirst && { parent_thread_id }),
      ...(forked_from && { forked_from: renaming.fields(forked_from) }),
      metadata: { ...thread.metadata, ...(isFirst && { updated_at: at }) },
    },
  };
};
