import { MAX_ID_BYTES } from '../schema/id.ts';
import { Integrity } from '../schema/outcome.ts';
import { ownerOf } from '../schema/partition.ts';
import type { Place } from '../schema/place.ts';
import { isMadeHere, longUidOf, otherUidOf } from '../schema/thread-uid.ts';
import { ownTurn } from '../schema/turns.ts';
import type { Batch } from './engine/batch.ts';
import type { Counters } from './engine/counters.ts';
import type { Environment } from './engine/environment.ts';
import { isId } from './engine/keys.ts';
import type { Removals } from './engine/removals.ts';
import { deriveInto, type Entry, type Records } from './repair/derived.ts';
import type { DispatchRow } from './tables/dispatches.ts';
import type { PushConfigTable } from './tables/push-configs.ts';
import type { RunTable } from './tables/runs.ts';
import type { ThreadTable } from './tables/threads.ts';
import type { Transfer, TransferNames, TransferPlan } from './transfer-plan.ts';
import { createMovers, type Moved } from './transferred-rows.ts';

/**
 * Moves threads with all their rows to the partition of another owner (identity.md 1.3).
 *
 * Guarantees: all writes are in one batch, so the threads belong wholly to one of the two owners at every moment. Rows
 * keep their sequence numbers, times and positions. The lists of threads, runs and dispatches are those that `troupe
 * doctor` expects: the code that writes records derives them. Only records that are as old as their thread move: those
 * of a deleted thread with the same id stay with its owner.
 * Relies on the caller: no commit of these threads is in progress, and none starts before this batch is committed.
 * Cost: reads and writes every row of the threads, in slices that yield to other requests; the commit is one
 * transaction. Nothing else in the store is slower because of it.
 */
export type Transfers = {
  /** Chooses the ids of the threads and of their runs and dispatches in the other partition. */
  plan(transfer: Transfer): TransferPlan;
  /** Adds the writes to the batch. */
  add(batch: Batch, plan: TransferPlan): Promise<void>;
};

type Tables = {
  threads: Pick<ThreadTable, 'get' | 'lineageOf'>;
  runs: Pick<RunTable, 'get' | 'ofThread'>;
  pushConfigs: PushConfigTable;
  removals: Pick<Removals, 'isMarked'>;
  counters: Counters;
};

export const createTransfers = (env: Environment, tables: Tables): Transfers => {
  const movers = createMovers(env, tables.pushConfigs);
  return {
    plan(transfer) {
      const [first = ''] = transfer.threads;
      const lineage = String(tables.threads.lineageOf(transfer.from, first));
      return { ...transfer, names: chooseNames(env, tables, transfer), lineage };
    },
    async add(batch, plan) {
      const removed: Record<keyof Records, Entry[]> = noRecords();
      const added: Record<keyof Records, Entry[]> = noRecords();
      const keep = (moved: readonly Moved[]): void => {
        for (const { table, before, after } of moved) {
          removed[table].push(before);
          added[table].push(after);
        }
      };
      for (const id of plan.threads) {
        await ownTurn();
        keep(await movers.ofThread(batch, plan, id));
      }
      await ownTurn();
      keep(await movers.ofRuns(batch, plan));
      // A derived row may have the same key before and after.
      derive(env, tables.counters, batch, removed, 'remove');
      await ownTurn();
      derive(env, tables.counters, batch, added, 'put');
    },
  };
};

const noRecords = (): Record<keyof Records, Entry[]> => ({
  threads: [],
  runs: [],
  dispatches: [],
  messages: [],
  events: [],
  users: [],
  keys: [],
  sessions: [],
  files: [],
});

const derive = (
  env: Environment,
  counters: Counters,
  batch: Batch,
  records: Records,
  kind: 'put' | 'remove',
): void =>
  deriveInto(records, {
    row(name, { key, value, codec }) {
      const table = env.table<unknown>(name);
      if (kind === 'remove') table.remove(batch, key);
      else table.put(batch, key, codec.packr.unpack(value));
    },
    counter: (key, count) => counters.add(batch, key, kind === 'put' ? count : -count),
  });

/**
 * The uid of a thread becomes its id, which is free unless the new owner has chosen the same id. Runs and dispatches keep
 * the ids that the service made.
 */
const chooseNames = (env: Environment, tables: Tables, transfer: Transfer): TransferNames => {
  const { from, to, threads, at } = transfer;
  const names = {
    threads: new Map<string, string>(),
    runs: new Map<string, string>(),
    dispatches: new Map<string, string>(),
  };
  const free = (id: string, wanted: string, isTaken: (id: string) => boolean): string => {
    let chosen = wanted;
    for (let tried = 1; chosen.length > MAX_ID_BYTES || !isId(chosen) || isTaken(chosen); tried += 1)
      chosen = otherUidOf(id, `${from}\0${id}\0${at}\0${tried}`);
    return chosen;
  };
  const dispatches = env.table<unknown>('dispatches');
  for (const id of threads) {
    const record = tables.threads.get(from, id);
    if (!record) throw new Integrity(`thread '${id}' has no record`);
    const isTaken = (chosen: string) => isThreadTaken(env, tables, { scope: to, id: chosen });
    names.threads.set(id, free(id, record.thread.uid ?? id, isTaken));
    for (const run_id of runsOf(tables, { scope: from, id }))
      names.runs.set(
        run_id,
        free(run_id, uidIn(from, run_id), (chosen) => tables.runs.get(to, chosen) !== undefined),
      );
    for (const dispatch_id of dispatchesOf(env, tables, { scope: from, id })) {
      // The dispatch of a task has the id of its run.
      const ofRun = names.runs.get(dispatch_id);
      names.dispatches.set(
        dispatch_id,
        ofRun ?? free(dispatch_id, uidIn(from, dispatch_id), (chosen) => dispatches.has([to, chosen])),
      );
    }
  }
  return names;
};

const uidIn = (partition: string, id: string): string => {
  const owner = ownerOf(partition);
  return owner === undefined || isMadeHere(id) ? id : longUidOf(owner, id);
};

/** A new thread must not inherit the log or the runs of a deleted one. */
const isThreadTaken = (
  env: Environment,
  { threads, removals, runs }: Tables,
  { scope, id }: Place,
): boolean =>
  threads.get(scope, id) !== undefined ||
  removals.isMarked(scope, id) ||
  runs.ofThread(scope, id).length > 0 ||
  env.table('events').firstKey({ prefix: [scope, id] }) !== undefined;

/** Milliseconds. */
const creationOf = ({ threads }: Pick<Tables, 'threads'>, { scope, id }: Place): number =>
  threads.get(scope, id)?.thread.metadata.created_at ?? 0;

/** Returns the runs of the thread, without those of a deleted one with its id. */
const runsOf = (tables: Pick<Tables, 'threads' | 'runs'>, place: Place): string[] => {
  const since = Math.floor(creationOf(tables, place) / 1000);
  const found = tables.runs.ofThread(place.scope, place.id);
  return found.filter(({ created_at }) => created_at >= since).map(({ run_id }) => run_id);
};

/** Like `runsOf`. */
const dispatchesOf = (env: Environment, tables: Pick<Tables, 'threads'>, place: Place): string[] => {
  const { scope, id } = place;
  const since = creationOf(tables, place);
  const listed = Array.from(env.table<string>('dispatch_index').values({ prefix: [scope, 'thread', id] }));
  const rows = env.table<DispatchRow>('dispatches');
  return listed.filter((each) => (rows.get([scope, each])?.dispatch.created_at ?? 0) >= since);
};
