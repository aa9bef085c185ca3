import { type Outcome, Unavailable } from '../../schema/outcome.ts';
import { type Batch, collectCallbacks, createBatch, runCallbacks } from './batch.ts';
import { blobsIn, writeBlobs } from './blob-folder.ts';
import type { Counters } from './counters.ts';
import { diskReason } from './disk-reason.ts';
import { type Environment, encoded, type Transaction } from './environment.ts';
import { reasonOf } from './folder.ts';
import { type NetWrite, netWrites } from './net-writes.ts';
import type { PendingBlobs } from './pending-blobs.ts';
import {
  copyBroken,
  countGroup,
  isLost,
  isOfBatch,
  refusalOf,
  type Shipping,
  shippedBatches,
} from './shipping.ts';
import type { SinkOutcome } from './sink.ts';
import { createWritability, type Writability } from './writability.ts';

/**
 * Group commit. All commits of one event-loop tick, and all commits that arrived while the last transaction was being
 * written, are part of the next transaction, in the order of the calls.
 *
 * Guarantees: a batch is applied whole or not at all; a batch never becomes visible before one that was committed
 * earlier. One transaction is written at a time, so differences of counters apply to the committed value. When a
 * transaction fails, all pending batches are rejected with it, since they were built on rows that do not exist. When a
 * transaction is written but its flush fails, nothing is written after it, see `writability.ts`. The blobs of a batch
 * are on the disk before its transaction begins.
 * With a sink, a group is shipped first, and what the database refuses is not written. A refused batch takes with it all
 * later batches of its lineage, since they were built on it; those of other lineages are accepted.
 * Cost: one write per changed row, and one per changed counter, regardless of the number of batches that changed it.
 * The flush of a transaction overlaps the writing of the next one.
 */

export type CommitKind = 'progress' | 'input';

export type Committer = Pick<Writability, 'writable' | 'onRecovered' | 'check'> & {
  commit(batch: Batch, kind: CommitKind): Promise<void>;
  /** Rejects all commits from now on. Those of the group in progress keep their outcome. */
  refuse(reason: Outcome): void;
  /** Rejects new commits; resolves when the ones in progress are flushed or have failed. */
  close(): Promise<void>;
};

type Commit = { batch: Batch; waitsForFlush: boolean; resolve(): void; reject(error: unknown): void };

type CommitterOptions = {
  dir: string;
  pendingBlobs: PendingBlobs;
  durability: 'process' | 'power';
  /** Adds a row of this size, which tests whether the folder, or the database, has space. */
  probe: (batch: Batch, bytes: number) => void;
  shipping?: Shipping | undefined;
};

type CommitterEnvironment = Pick<Environment, 'codecs' | 'structures' | 'transaction'>;

type Queue = {
  readonly env: CommitterEnvironment;
  readonly counters: Counters;
  readonly dir: string;
  readonly durability: CommitterOptions['durability'];
  readonly writability: Writability;
  pending: Commit[];
  /** Whether the next transaction starts at the end of this event-loop tick. */
  isScheduled: boolean;
  isWriting: boolean;
  isClosed: boolean;
  /** Rejects commits until the callers of a failed transaction have received its error. */
  refusal: Outcome | undefined;
  readonly unflushed: Set<Promise<unknown>>;
  readonly pendingBlobs: PendingBlobs;
  readonly shipping: Shipping | undefined;
  /** Resolves when the outcome of the shipped group is certain. */
  shipped: Promise<void> | undefined;
  /** Lineages with a refused batch whose callers have not received the error yet. */
  readonly refusals: Map<bigint | null | undefined, Outcome>;
};

export const createCommitter = (
  env: CommitterEnvironment,
  counters: Counters,
  { dir, durability, probe, pendingBlobs, shipping }: CommitterOptions,
): Committer => {
  const writability = createWritability((bytes) => {
    const batch = createBatch('commons');
    probe(batch, bytes);
    return commit(queue, batch, 'input');
  });
  const queue: Queue = {
    env,
    counters,
    dir,
    durability,
    writability,
    pending: [],
    isScheduled: false,
    isWriting: false,
    isClosed: false,
    refusal: undefined,
    unflushed: new Set(),
    pendingBlobs,
    shipping,
    shipped: undefined,
    refusals: new Map(),
  };
  return {
    commit: (batch, kind) => commit(queue, batch, kind),
    get writable() {
      return writability.writable;
    },
    onRecovered: writability.onRecovered,
    check: writability.check,
    refuse: (reason) => refuseAll(queue, reason),
    close: () => close(queue),
  };
};

const commit = (queue: Queue, batch: Batch, kind: CommitKind): Promise<void> => {
  if (queue.isClosed) return Promise.reject(new Unavailable(`the store in '${queue.dir}' is closed`));
  const refusal = queue.writability.unconfirmed ?? queue.refusal ?? refusalOfLineage(queue, batch);
  if (!refusal && batch.writes.length === 0) {
    for (const act of batch.afterwards) act();
    return Promise.resolve();
  }
  runCallbacks(batch);
  if (refusal) {
    setImmediate(collectCallbacks, batch);
    return Promise.reject(refusal);
  }
  return new Promise((resolve, reject) => {
    // The durability of a copy is that of the database.
    const waitsForFlush = kind === 'input' && queue.durability === 'power' && !queue.shipping;
    queue.pendingBlobs.add(batch);
    queue.pending.push({ batch, waitsForFlush, resolve, reject });
    if (kind === 'input' && !queue.isWriting && !queue.isScheduled) writeGroup(queue);
    else schedule(queue);
  });
};

const refusalOfLineage = ({ refusals, shipping }: Queue, batch: Batch): Outcome | undefined =>
  shipping && refusals.size > 0 ? refusals.get(shipping.lineageOf(batch)) : undefined;

const schedule = (queue: Queue): void => {
  if (queue.isScheduled || queue.isWriting || queue.pending.length === 0) return;
  queue.isScheduled = true;
  setImmediate(writeGroup, queue);
};

const writeGroup = (queue: Queue): void => {
  queue.isScheduled = false;
  // All were refused since.
  if (queue.pending.length === 0) return;
  queue.isWriting = true;
  const group = takeGroup(queue);
  const write = queue.shipping ? ship : writeRows;
  const contents = group.flatMap(({ batch }) => [...batch.blobs]);
  if (contents.length === 0) write(queue, group);
  else
    writeBlobs(blobsIn(queue.dir), contents).then(
      () => write(queue, group),
      (error: unknown) => rejectAll(queue, group, error),
    );
};

const takeGroup = (queue: Queue): Commit[] => {
  const { pending, shipping } = queue;
  const count = shipping ? countGroup(pending.map(({ batch }) => batch)) : pending.length;
  queue.pending = pending.slice(count);
  return count === pending.length ? pending : pending.slice(0, count);
};

const ship = (queue: Queue, group: Commit[]): void => {
  queue.shipped = shipGroup(queue, group).catch((error: unknown) => rejectAll(queue, group, error));
};

const shipGroup = async (queue: Queue, group: Commit[]): Promise<void> => {
  const { shipping } = queue;
  if (!shipping) return;
  const outcomes = await shipping.sink.ship(
    shippedBatches(
      shipping,
      group.map(({ batch }) => batch),
    ),
  );
  const accepted = group.filter((_, index) => outcomes[index]?.result === 'applied');
  if (accepted.length === group.length) writeRows(queue, accepted);
  else refuse(queue, { group, outcomes, accepted });
};

type Shipped = { group: Commit[]; outcomes: readonly SinkOutcome[]; accepted: Commit[] };

/** Rejects the refused batches, and those in the queue that were built on them. */
const refuse = (queue: Queue, shipped: Shipped): void => {
  const { accepted } = shipped;
  const refused = [...rejectRefused(queue, shipped), ...rejectBehind(queue)];
  const isUnwritable = queue.refusal !== undefined;
  for (const { batch } of refused) queue.pendingBlobs.remove(batch);
  const release = (): void => {
    for (const { batch } of refused) collectCallbacks(batch);
    queue.refusal = undefined;
    queue.refusals.clear();
  };
  if (accepted.length === 0) {
    if (isUnwritable) queue.writability.failed(bytesOf(refused));
    setImmediate(() => {
      release();
      queue.isWriting = false;
      schedule(queue);
    });
    return;
  }
  writeRows(queue, accepted, () => {
    release();
    if (isUnwritable) queue.writability.failed(bytesOf(refused));
  });
};

/** Rejects the batches without success, and notes what else their refusal concerns. */
const rejectRefused = (queue: Queue, { group, outcomes }: Shipped): Commit[] =>
  group.filter((commit, index) => {
    const outcome = outcomes[index] ?? NO_OUTCOME;
    if (outcome.result === 'applied') return false;
    const reason = refusalOf(outcome);
    if (isOfBatch(outcome)) queue.refusals.set(lineageIn(queue, commit), reason);
    else if (isLost(outcome)) queue.writability.notConfirmed(reason);
    else queue.refusal ??= reason;
    commit.reject(reason);
    return true;
  });

const NO_OUTCOME: SinkOutcome = {
  result: 'refused',
  why: 'unwritable',
  error: new Error('the outcome of a change is missing'),
};

const rejectBehind = (queue: Queue): Commit[] => {
  const waiting = queue.pending;
  queue.pending = [];
  return waiting.filter((commit) => {
    const reason = queue.writability.unconfirmed ?? queue.refusal ?? refusalOfLineage(queue, commit.batch);
    if (reason) commit.reject(reason);
    else queue.pending.push(commit);
    return reason !== undefined;
  });
};

const refuseAll = (queue: Queue, reason: Outcome): void => {
  queue.writability.notConfirmed(reason);
  const refused = rejectBehind(queue);
  for (const { batch } of refused) queue.pendingBlobs.remove(batch);
  setImmediate(() => {
    for (const { batch } of refused) collectCallbacks(batch);
  });
};

const lineageIn = ({ shipping }: Queue, { batch }: Commit): bigint | null | undefined =>
  shipping?.lineageOf(batch);

/** @param released called in a tick after the transaction is visible or has failed */
const writeRows = (queue: Queue, group: Commit[], released?: () => void): void => {
  const refusal = queue.shipping ? undefined : queue.writability.unconfirmed;
  const transaction = refusal ? refusedWith(refusal) : startTransaction(queue, group);
  const flushed = transaction.flushed.catch((error: unknown) =>
    reportFlushFailure(queue, transaction, error),
  );
  queue.unflushed.add(flushed);
  flushed.then(() => queue.unflushed.delete(flushed));
  transaction.visible.then(
    () => complete(queue, group, transaction),
    (error: unknown) => rejectAll(queue, group, lostBehind(queue, error)),
  );
  if (released) transaction.visible.catch(() => {}).finally(() => setImmediate(released));
};

/** A transaction of a copy comes after the commit of the database, so nothing can be written after its failure. */
const lostBehind = ({ shipping, writability, dir }: Queue, cause: unknown): unknown => {
  if (!shipping) return cause;
  const error = copyBroken(dir, cause);
  writability.notConfirmed(error);
  shipping.copyBroken(error);
  return error;
};

const startTransaction = ({ env, counters }: Queue, group: Commit[]): Transaction => {
  try {
    const batches = group.map((commit) => commit.batch);
    const tables = netWrites(batches);
    const counts = counters.settle(batches);
    return env.transaction(() => {
      writeStructures(env);
      for (const writes of tables) for (const write of writes) apply(write);
      for (const [key, count] of counts) counters.write(key, count);
    });
  } catch (error) {
    return refusedWith(error);
  }
};

/** Does nothing when the transaction failed as a whole. */
const reportFlushFailure = (
  { dir, writability }: Queue,
  transaction: Transaction,
  error: unknown,
): Promise<void> =>
  transaction.visible.then(
    () => writability.notConfirmed(unconfirmed(dir, error)),
    () => {},
  );

const complete = (queue: Queue, group: Commit[], transaction: Transaction): void => {
  queue.writability.succeeded();
  for (const { batch } of group) collectCallbacks(batch);
  for (const { batch } of group) queue.pendingBlobs.remove(batch);
  for (const { batch } of group) for (const act of batch.afterwards) act();
  for (const commit of group) if (!commit.waitsForFlush) commit.resolve();
  const rest = group.filter((commit) => commit.waitsForFlush);
  if (rest.length > 0) {
    transaction.flushed.then(
      () => {
        for (const commit of rest) commit.resolve();
      },
      (error: unknown) => {
        for (const commit of rest) commit.reject(unconfirmed(queue.dir, error));
      },
    );
  }
  queue.isWriting = false;
  schedule(queue);
};

const rejectAll = (queue: Queue, group: Commit[], error: unknown): void => {
  const { env, dir, writability } = queue;
  const rejected = [...group, ...queue.pending];
  queue.pending = [];
  for (const codec of env.codecs) codec.restoreChanged();
  // Waiting callers receive the error within this tick. Until then no batch may build on the rejected ones: batches
  // of callers that have not received the error yet are rejected too, and may still see the rows that they were built
  // on.
  const reason = writability.unconfirmed ?? unwritable(dir, diskReason(dir, error));
  writability.failed(bytesOf(rejected));
  queue.refusal = reason;
  for (const commit of rejected) commit.reject(reason);
  for (const { batch } of rejected) queue.pendingBlobs.remove(batch);
  setImmediate(() => {
    for (const { batch } of rejected) collectCallbacks(batch);
    queue.refusal = undefined;
    queue.isWriting = false;
    schedule(queue);
  });
};

const close = async (queue: Queue): Promise<void> => {
  queue.isClosed = true;
  queue.writability.close();
  while (queue.isWriting || queue.isScheduled || queue.unflushed.size > 0) {
    // However long the outcome of a shipped group takes: its callers receive it.
    if (queue.shipped) await queue.shipped;
    if (queue.unflushed.size > 0) await Promise.all(queue.unflushed);
    await new Promise(setImmediate);
  }
};

const refusedWith = (error: unknown): Transaction => {
  const refused = Promise.reject(error);
  return { visible: refused, flushed: refused };
};

const unwritable = (dir: string, cause: unknown): Unavailable =>
  new Unavailable(
    `data directory '${dir}' cannot be written (${reasonOf(cause)}): free space on its disk, or raise the limit that it ran into, then try again`,
    { cause },
  );

const unconfirmed = (dir: string, cause: unknown): Unavailable =>
  new Unavailable(
    `the disk of data directory '${dir}' did not confirm a write (${reasonOf(cause)}): the data is readable but may not survive a power loss, so verify it before retrying; writes are suspended until the disk is checked and the service is restarted`,
    { cause },
  );

const bytesOf = (commits: readonly Commit[]): number =>
  commits
    .flatMap(({ batch }) => batch.writes)
    .reduce((sum, write) => sum + ('value' in write ? write.value.length : 0), 0);

/** Structures are written before the rows that use them. */
export const writeStructures = (env: Pick<Environment, 'codecs' | 'structures'>): void => {
  for (const codec of env.codecs) {
    const structures = codec.takeChanged();
    if (structures) env.structures.put(codec.key, encoded(structures));
  }
};

const apply = ({ rows, key, value }: NetWrite): void => {
  if (value) rows.put(key, encoded(value));
  else rows.remove(key);
};
