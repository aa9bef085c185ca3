import { setImmediate } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { Outcome, Unavailable } from '../schema/outcome.ts';
import { type CopyOf, createShipping, findLineage } from './copy-of.ts';
import { copyTo, refuseBackup } from './engine/backup.ts';
import { type Batch, type BatchPlace, createBatch, type Rows } from './engine/batch.ts';
import { blobsIn } from './engine/blob-folder.ts';
import { type CommitKind, type Committer, createCommitter } from './engine/committer.ts';
import { refuseCopy } from './engine/copy-folder.ts';
import { createCounters } from './engine/counters.ts';
import { checkDataFile } from './engine/data-file.ts';
import {
  clearReaders,
  closePrivate,
  createEnvironment,
  type Environment,
  openRoot,
} from './engine/environment.ts';
import { prepareFolder, reasonOf } from './engine/folder.ts';
import type { Key } from './engine/keys.ts';
import { createMediaTexts } from './engine/media-texts.ts';
import { createOrder } from './engine/order.ts';
import { type Ownership, takeOwnership } from './engine/owner.ts';
import { createPendingBlobs } from './engine/pending-blobs.ts';
import { makeFolderPrivate } from './engine/private-files.ts';
import { createRemovals, type Removals } from './engine/removals.ts';
import type { Shipping } from './engine/shipping.ts';
import { readStats, type StoreStats } from './engine/stats.ts';
import { createUpgrade, FORMAT, type Format } from './repair/format.ts';
import { createTables, type Tables } from './store-tables.ts';
import { type BlobParts, createBlobParts } from './tables/blob-parts.ts';
import { type ControlPlane, createControlPlane } from './tables/control-plane.ts';
import { takeLinkKey } from './tables/files.ts';
import { createProbe } from './tables/probes.ts';
import { createStoreKeys, type StoreKeys } from './tables/store-keys.ts';
import { createTransfers, type Transfers } from './transfers.ts';

export type StoreOptions = {
  dir: string;
  /** Durability of commits of kind `input`: they survive the end of the process, or a power loss too. */
  durability: 'process' | 'power';
  /** Initial address space in bytes; it grows with the data. */
  mapSize?: number;
  /** Encrypts the secrets of the configuration; defaults to a generated key. See `secrets-key.ts`. */
  secretsKey?: string;
  /** The most bytes of a file that stay in the row of its message; without it, all do. */
  inlineMaxBytes?: number | undefined;
  /** `false` for a folder of traces only: it gets no key. */
  holdsSecrets?: boolean;
  /** Receives problems that an operator should fix although the store opens, and the progress of a long upgrade. */
  warn?: (problem: string) => void;
};

/** The contents of files: the folder that readers use, and the rows of a database. */
export type StoredBlobs = BlobParts & { readonly folder: string };

type Operations = {
  /** @param place the owner of its rows; embedded stores ignore it */
  batch(place: BatchPlace): Batch;
  /**
   * Applies the batch whole or not at all. `progress` resolves when readers see it; `input` also waits for the flush
   * when durability is `power`.
   *
   * @throws Unavailable when the folder cannot be written; reads continue to work
   */
  commit(batch: Batch, kind?: CommitKind): Promise<void>;
  readonly removals: Removals;
  readonly blobs: StoredBlobs;
  readonly storeKeys: StoreKeys;
  readonly transfers: Transfers;
  /** Whether the last commit succeeded. After a failure the store retries at intervals of up to 2 seconds. */
  readonly writable: boolean;
  /**
   * Calls the listener each time that a commit succeeds after failures; the listener must not throw. The returned
   * function removes it. After a commit that the disk did not confirm, it is not called until a restart.
   */
  onRecovered(listener: () => void): () => void;
  /**
   * Resolves when the store can be read and written: a commit succeeded within the last second, or a small one succeeds
   * now.
   *
   * @throws Unavailable
   */
  check(): Promise<void>;
  /**
   * Rejects every commit from now on with this reason; reads continue to work. Those in the transaction or the group in
   * progress keep their outcome.
   */
  refuse(reason: Outcome): void;
  stats(): StoreStats;
  /**
   * Copies the current store into an empty folder, while work continues. A copy is opened like any store.
   *
   * @throws Invalid when the store is a copy of a database
   */
  backup(dir: string): Promise<void>;
  /** Waits for the commits in progress and their flush. */
  close(): Promise<void>;
  /** Rows read since the start. */
  readonly reads: number;
};

export type Store = ControlPlane & Tables & Operations;

/**
 * @throws Unavailable when the folder cannot be used, is in use, or was written by a newer program, and when its
 * secrets are encrypted with another key
 */
export const openStore = (options: StoreOptions): Promise<Store> => openStoreOfFormat(options, FORMAT);

export const openStoreOfFormat = async (
  options: StoreOptions,
  format: Format,
  copyOf?: CopyOf,
): Promise<Store> => {
  const dir = prepareFolder(options.dir);
  if (!copyOf) refuseCopy(dir);
  for (const problem of makeFolderPrivate(dir)) options.warn?.(problem);
  const ownership = await takeOwnership(dir);
  let root: RootDatabase | undefined;
  try {
    root = openEnvironment(dir, options.mapSize, copyOf !== undefined);
    const opened = root;
    const upgrade = createUpgrade(opened, dir, format);
    // One transaction, because each created table would otherwise be a separate commit.
    const proceed = () =>
      opened.transactionSync(
        () => upgrade.proceed() ?? assemble(opened, ownership, { ...options, dir, copyOf }),
      );
    let reached = proceed();
    for (let slices = 1; !('store' in reached); slices += 1) {
      if (slices % SLICES_PER_NOTICE === 0) options.warn?.(upgradeNotice(dir, format, reached.after));
      // The notice is written, and signals are handled, before the next slice.
      await setImmediate();
      reached = proceed();
    }
    await reached.sealAll();
    return reached.store;
  } catch (error) {
    if (root) await closePrivate(root);
    await ownership.release();
    throw isOfSystem(error) ? cannotOpen(dir, error) : error;
  }
};

/** These slices take a few seconds. */
const SLICES_PER_NOTICE = 50;

const upgradeNotice = (dir: string, { version }: Format, after: Key): string =>
  `data directory '${dir}' is being upgraded to format ${version}, up to row ${JSON.stringify(after)}: the service starts when the upgrade is complete`;

/** Errors of LMDB and of the operating system have a code; bugs have none. */
const isOfSystem = (error: unknown): boolean =>
  error instanceof Error && !(error instanceof Outcome) && 'code' in error;

const cannotOpen = (dir: string, cause: unknown): Unavailable =>
  new Unavailable(
    `data directory '${dir}' cannot be opened (${reasonOf(cause)}): restore a backup, or choose another directory`,
    { cause },
  );

const openEnvironment = (dir: string, mapSize: number | undefined, isCopy: boolean): RootDatabase => {
  checkDataFile(dir);
  return openRoot(dir, mapSize, { isCopy });
};

const assemble = (
  root: RootDatabase,
  ownership: Ownership,
  {
    dir,
    durability,
    secretsKey,
    inlineMaxBytes,
    holdsSecrets = true,
    warn = () => {},
    copyOf,
  }: StoreOptions & { copyOf: CopyOf | undefined },
): { store: Store; sealAll(): Promise<void> } => {
  const env = createEnvironment(root, (table) => copyOf?.kinds.get(table)?.ship);
  const shipping = copyOf && createShipping(env, copyOf, (batch) => findLineage(tables, batch));
  const meta = env.rows('meta');
  const counters = createCounters(env.rows('counters'), env.counter);
  const pendingBlobs = createPendingBlobs();
  const committer = createCommitter(env, counters, {
    dir,
    durability,
    probe: createProbe(env, shipping !== undefined),
    pendingBlobs,
    shipping,
  });
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

  const tables = createTables(env, {
    counters,
    removals,
    order: createOrder(meta),
    linkKey: takeLinkKey(meta),
    pendingBlobs,
    media: createMediaTexts(blobsIn(dir), inlineMaxBytes),
  });
  const { pushConfigs } = controlPlane.tables;
  const blobs = createStoredBlobs(env, { dir, shipping, committer });
  const store: Store = {
    batch: createBatch,
    commit: commitWith(committer, blobs),
    removals,
    blobs,
    storeKeys: createStoreKeys(env, meta),
    transfers: createTransfers(env, { ...tables, pushConfigs, removals, counters }),
    ...tables,
    ...controlPlane.tables,
    get writable() {
      return committer.writable;
    },
    onRecovered: committer.onRecovered,
    refuse: committer.refuse,
    check: () => check({ dir, meta, committer, isClosed: closing !== undefined }),
    stats: () => readStats(env, dir),
    backup: async (target) => (copyOf ? refuseBackup() : copyTo({ root, dir }, target)),
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

type Checked = { dir: string; meta: Rows; committer: Committer; isClosed: boolean };

const check = async ({ dir, meta, committer, isClosed }: Checked): Promise<void> => {
  if (isClosed) throw new Unavailable(`the store in '${dir}' is closed`);
  if (meta.get(['format']) === undefined) throw new Unavailable(`the store in '${dir}' does not answer`);
  await committer.check();
};

type Shipped = { dir: string; shipping: Shipping | undefined; committer: Committer };

const createStoredBlobs = (env: Environment, { dir, shipping, committer }: Shipped): StoredBlobs => {
  const folder = blobsIn(dir);
  const parts = createBlobParts(env, {
    blobs: folder,
    isShipped: shipping !== undefined,
    commit: (batch) => committer.commit(batch, 'input'),
  });
  return { folder, ...parts };
};

/** The contents of a batch are shipped with its rows. */
const commitWith =
  (committer: Committer, blobs: BlobParts): Store['commit'] =>
  (batch, kind = 'progress') => {
    for (const [sha256, bytes] of batch.blobs) blobs.put(batch, sha256, bytes);
    return committer.commit(batch, kind);
  };
