import type { RootDatabase } from 'lmdb';
import { pack } from 'msgpackr';
import { Outcome, Unavailable } from '../schema/outcome.ts';
import { copyTo } from './backup.ts';
import { type Batch, createBatch, type Rows, type Write } from './batch.ts';
import { type CommitKind, createCommitter } from './committer.ts';
import { type ControlPlane, createControlPlane } from './control-plane.ts';
import { createCounters } from './counters.ts';
import { checkDataFile } from './data-file.ts';
import { createDatasetTable, type DatasetTable } from './datasets.ts';
import { createDeadlineTable, type DeadlineTable } from './deadlines.ts';
import { createDispatchTable, type DispatchTable } from './dispatches.ts';
import { createEndedWork } from './ended-work.ts';
import { clearReaders, closePrivate, createEnvironment, openRoot } from './environment.ts';
import { createEvalRunTable, type EvalRunTable } from './eval-runs.ts';
import { createEventTable, type EventTable } from './events.ts';
import { prepareFolder, reasonOf } from './folder.ts';
import { bringUpToDate, FORMAT, type Format } from './format.ts';
import { createListedRuns, type ListedRuns } from './listed-runs.ts';
import { createMessageTable, type MessageTable } from './messages.ts';
import { createOpenWork } from './open-work.ts';
import { createOrder } from './order.ts';
import { type Ownership, takeOwnership } from './owner.ts';
import { createPendingTable, type PendingTable } from './pending.ts';
import { makeFolderPrivate } from './private-files.ts';
import { createPushOutbox, type PushOutbox } from './push-outbox.ts';
import { createReceivedTable, type ReceivedTable } from './received-messages.ts';
import { createRemovals, type Removals } from './removals.ts';
import { createRetractionTable, type RetractionTable } from './retractions.ts';
import { createRunTable, type RunTable } from './runs.ts';
import { createRuntimeStatsTable, type RuntimeStatsTable } from './runtime-stats.ts';
import { createStateTable, type StateTable } from './state.ts';
import { type StoreStats, statsOf } from './stats.ts';
import { createStoppedTable, type StoppedTable } from './stopped-answers.ts';
import { createTaskIndex, type TaskTable } from './tasks.ts';
import { createThreadTable, type ThreadTable } from './threads.ts';
import { createTicketTable, type TicketTable } from './tickets.ts';
import { createTraceTable, type TraceTable } from './traces.ts';

export type StoreOptions = {
  dir: string;
  /** What a commit of kind `input` survives: the end of the process, or also the loss of power. */
  durability: 'process' | 'power';
  /** Address space to begin with, in bytes; it grows with the data. */
  mapSize?: number;
  /** Encrypts the secrets of the configuration; without it a generated key does. See `secrets-key.ts`. */
  secretsKey?: string;
  /** `false` for a folder of traces only: it gets no key. */
  holdsSecrets?: boolean;
  /** Told what an operator should mend although the store opens. */
  warn?: (problem: string) => void;
};

export type Store = ControlPlane & {
  batch(): Batch;
  /**
   * Applies the batch whole or not at all. `progress` resolves when readers see it; `input` also waits for the
   * flush when durability is `power`.
   * @throws Unavailable when the folder cannot be written; reads go on
   */
  commit(batch: Batch, kind?: CommitKind): Promise<void>;
  readonly threads: ThreadTable;
  readonly messages: MessageTable;
  readonly pending: PendingTable;
  readonly removals: Removals;
  readonly retractions: RetractionTable;
  readonly stopped: StoppedTable;
  readonly received: ReceivedTable;
  /** Every ticket that a thread has ever had. */
  readonly tickets: TicketTable;
  readonly runs: RunTable;
  readonly tasks: TaskTable;
  readonly dispatches: DispatchTable;
  readonly deadlines: DeadlineTable;
  /** Runs that wait for background tasks. */
  readonly awaiting: ListedRuns;
  /** Runs of sub-agents that are not done, or of whose end their parents do not know. */
  readonly driven: ListedRuns;
  readonly events: EventTable;
  readonly state: StateTable;
  readonly pushOutbox: PushOutbox;
  readonly traces: TraceTable;
  readonly datasets: DatasetTable;
  readonly evalRuns: EvalRunTable;
  readonly runtimeStats: RuntimeStatsTable;
  /** Whether the last commit succeeded. While they fail, the store itself tries again every other second. */
  readonly writable: boolean;
  /**
   * Calls once each time that a commit succeeds after others failed; must not throw. Returns what ends that.
   * Never calls for a store whose disk did not confirm a commit: that ends with a new start.
   */
  onRecovered(listener: () => void): () => void;
  /**
   * Resolves when the store can be read and written: a commit succeeded a moment ago, or a small one does now.
   * @throws Unavailable
   */
  check(): Promise<void>;
  stats(): StoreStats;
  /** Copies the store as it is now into an empty folder, while work goes on. A copy is opened like any store. */
  backup(dir: string): Promise<void>;
  /** Waits for the commits under way and their flush. */
  close(): Promise<void>;
  /** Rows read since the start. */
  readonly reads: number;
};

/**
 * @throws Unavailable when the folder cannot be used, is in use, or was written by a newer program, and when its
 * secrets are encrypted with another key
 */
export const openStore = (options: StoreOptions): Promise<Store> => openStoreOfFormat(options, FORMAT);

export const openStoreOfFormat = async (options: StoreOptions, format: Format): Promise<Store> => {
  const dir = prepareFolder(options.dir);
  for (const problem of makeFolderPrivate(dir)) options.warn?.(problem);
  const ownership = await takeOwnership(dir);
  let root: RootDatabase | undefined;
  try {
    root = openEnvironment(dir, options.mapSize);
    const opened = root;
    // In one transaction: each table that is made would be a commit of its own.
    const { store, sealAll } = opened.transactionSync(() => {
      bringUpToDate(opened, opened.openDB('meta', {}), dir, format);
      return assemble(opened, ownership, { ...options, dir });
    });
    await sealAll();
    return store;
  } catch (error) {
    if (root) await closePrivate(root);
    await ownership.release();
    throw isOfSystem(error) ? cannotOpen(dir, error) : error;
  }
};

/** LMDB and the operating system give their errors a code; a bug has none. */
const isOfSystem = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof Outcome) && 'code' in error;

const cannotOpen = (dir: string, cause: unknown): Unavailable =>
  new Unavailable(
    `storage folder '${dir}' cannot be opened (${reasonOf(cause)}): restore a backup, or choose another folder`,
    { cause },
  );

const openEnvironment = (dir: string, mapSize: number | undefined): RootDatabase => {
  checkDataFile(dir);
  return openRoot(dir, mapSize);
};

const assemble = (
  root: RootDatabase,
  ownership: Ownership,
  { dir, durability, secretsKey, holdsSecrets = true, warn = () => {} }: StoreOptions,
): { store: Store; sealAll(): Promise<void> } => {
  const env = createEnvironment(root);
  const meta = env.rows('meta');
  const counters = createCounters(env.rows('counters'), env.counter);
  const openWork = createOpenWork(env);
  const endedWork = createEndedWork(env);
  const order = createOrder(meta);
  const tasks = createTaskIndex(env, counters);
  const runs = createRunTable(env, { counters, order, tasks });
  const committer = createCommitter(env, counters, { dir, durability, probe: probeOf(meta) });
  const removals = createRemovals(env, (batch) => committer.commit(batch, 'progress'));
  const controlPlane = createControlPlane(env, meta, {
    dir,
    secretsKey,
    holdsSecrets,
    warn,
    commit: (batch) => committer.commit(batch, 'progress'),
  });
  let closing: Promise<void> | undefined;

  const stopClearing = clearReaders(root);

  const shutDown = async (): Promise<void> => {
    stopClearing();
    await committer.close();
    env.counter.closed = true;
    await closePrivate(root);
    await ownership.release();
  };

  const store: Store = {
    batch: createBatch,
    commit: (batch, kind = 'progress') => committer.commit(batch, kind),
    threads: createThreadTable(env, counters),
    messages: createMessageTable(env, runs, removals),
    pending: createPendingTable(env),
    removals,
    retractions: createRetractionTable(env, removals),
    stopped: createStoppedTable(env, removals),
    received: createReceivedTable(env),
    tickets: createTicketTable(env),
    runs,
    tasks,
    dispatches: createDispatchTable(env, { answers: runs, order, openWork, endedWork }),
    deadlines: createDeadlineTable(env),
    awaiting: createListedRuns(env, 'awaiting_tasks'),
    driven: createListedRuns(env, 'driven_runs'),
    events: createEventTable(env, runs),
    state: createStateTable(env),
    pushOutbox: createPushOutbox(env, { order }),
    traces: createTraceTable(env),
    datasets: createDatasetTable(env),
    evalRuns: createEvalRunTable(env),
    runtimeStats: createRuntimeStatsTable(env),
    ...controlPlane.tables,
    get writable() {
      return committer.writable;
    },
    onRecovered: committer.onRecovered,
    async check() {
      if (closing) throw new Unavailable(`the store in '${dir}' is closed`);
      if (meta.get(['format']) === undefined) throw new Unavailable(`the store in '${dir}' does not answer`);
      await committer.check();
    },
    stats: () => statsOf(env, dir),
    backup: (target) => copyTo(root, target),
    close() {
      closing ??= shutDown();
      return closing;
    },
    get reads() {
      return env.counter.reads;
    },
  };
  return { store, sealAll: controlPlane.sealAll };
};

/** A row that means nothing, to see whether there is room for one. */
const probeOf =
  (meta: Rows) =>
  (bytes: number): Write => ({ kind: 'put', rows: meta, key: ['probe'], value: pack('x'.repeat(bytes)) });
