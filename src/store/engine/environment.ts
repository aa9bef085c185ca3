import { getSystemErrorMap } from 'node:util';
import * as lmdb from 'lmdb';
import {
  asBinary,
  open,
  type RootDatabase,
  type RootDatabaseOptions,
  type RootDatabaseOptionsWithPath,
} from 'lmdb';
import { findInheritable } from '../../processes/descriptors.ts';
import { Unavailable } from '../../schema/outcome.ts';
import { addressSpaceProblem, isAddressSpaceLimited } from './address-space.ts';
import type { Rows } from './batch.ts';
import { type Codec, createCodec } from './codec.ts';
import { PRIVATE } from './private-files.ts';
import { createTable, type ReadCounter, type Ship, type Table } from './table.ts';

/**
 * The LMDB environment of a folder: opens it, provides its tables, and writes one transaction at a time.
 *
 * Guarantees: a transaction is written whole or not at all, and an interruption at any moment leaves the last whole
 * state (overlapping sync keeps the last flushed transaction until the next one is flushed; only copies of a database,
 * which are never opened again, use `noSync`).
 * Relies on the folder being opened by this process only, see `owner.ts`.
 */

export type Environment = {
  readonly root: RootDatabase;
  readonly codecs: Codec[];
  readonly counter: ReadCounter;
  readonly structures: Rows;
  /** All opened tables, by name. */
  readonly tables: ReadonlyMap<string, Rows>;
  /** Opens a table once: two codecs would assign the same numbers to different field names. */
  table<V>(name: string): Table<V>;
  /** Opens a table of text and numbers, which need no structures. */
  rows(name: string): Rows;
  transaction(apply: () => void): Transaction;
};

export type Transaction = {
  /** Readers see it; it survives the end of the process. When this rejects, nothing was written. */
  visible: Promise<void>;
  /** It is on the disk and survives a power loss. May reject although `visible` resolves. */
  flushed: Promise<void>;
};

/** Address space, not memory or disk. The map grows automatically when the data outgrows it. */
const MAP_SIZE = 4 * 1024 ** 3;

/** @throws Unavailable when the process may not map this much */
export const openRoot = (
  dir: string,
  mapSize: number = MAP_SIZE,
  { isCopy = false }: { isCopy?: boolean } = {},
): RootDatabase => {
  const problem = addressSpaceProblem(mapSize);
  if (problem !== undefined) throw new Unavailable(`data directory '${dir}' cannot be opened: ${problem}`);
  return openPrivate({
    path: dir,
    // Otherwise a folder with a dot in its name is mistaken for a file.
    noSubdir: false,
    maxDbs: 128,
    mapSize,
    overlappingSync: !isCopy,
    noSync: isCopy,
    // The committer groups the commits of a tick itself, and submits one explicit batch.
    eventTurnBatching: false,
  });
};

/**
 * lmdb supports the mode of the files that it creates, but its types do not. It opens data files without close-on-exec,
 * so that child processes would inherit them.
 */
export const openPrivate = (options: RootDatabaseOptionsWithPath): RootDatabase => {
  const all: RootDatabaseOptionsWithPath & { permissionsMode: number } = {
    ...options,
    permissionsMode: PRIVATE,
  };
  const root = open(all);
  findInheritable();
  return root;
};

/**
 * lmdb keeps a list of all tables that were ever opened, with their decoders, which its types do not declare. Without
 * this, the tables of a closed folder would stay in memory for the life of the process.
 */
export const closePrivate = async (root: RootDatabase): Promise<void> => {
  await root.close();
  const env = handleOf(root);
  const all: unknown = 'allDbs' in lmdb ? lmdb.allDbs : undefined;
  if (!(all instanceof Map)) return;
  for (const [name, table] of all) if (handleOf(table) === env) all.delete(name);
};

/** @param shipOf returns how a table is shipped, in a store with a sink */
export const createEnvironment = (
  root: RootDatabase,
  shipOf: (table: string) => Ship | undefined = () => undefined,
): Environment => {
  const counter: ReadCounter = { reads: 0, closed: false };
  const codecs: Codec[] = [];
  const tables = new Map<string, Rows>();
  const coded = new Map<string, Table<unknown>>();
  const opened = (name: string, options: RootDatabaseOptions): Rows => {
    const rows: Rows = tables.get(name) ?? root.openDB(name, options);
    tables.set(name, rows);
    return rows;
  };
  const structures = opened('structures', { encoding: 'json' });
  const nextWriting = watchWriter(root);
  return {
    root,
    codecs,
    counter,
    structures,
    tables,
    rows: (name) => opened(name, {}),
    table<V>(name: string) {
      const known = coded.get(name);
      // All users of a table agree on the type of its rows.
      if (known) return known as Table<V>;
      // Only codecs write here, and they write lists of field names.
      const codec = createCodec(name, structures.get([name]) as string[][] | undefined);
      codecs.push(codec);
      // lmdb's type names `encoder` for the root only; a table accepts it as well.
      const table = createTable<V>(opened(name, { encoder: codec.packr }), codec, counter, shipOf(name));
      coded.set(name, table);
      return table;
    },
    transaction(apply) {
      const tooLarge = growthProblem(root);
      if (tooLarge) return refused(tooLarge);
      const before = lastTransaction(root);
      const { seen, failed } = nextWriting();
      const done = root.batch(apply).then(
        () => undefined,
        (error: unknown) => (failed && isOfCommit(error) ? failed : reasonOf(error)),
      );
      const committed = failed ? Promise.race([done, failed]) : done;
      // `root.flushed` may stay open for long after a failed transaction; `committed` reports the failure.
      const flushed = Promise.all([committed, root.flushed.then(() => undefined)]).then(() => undefined);
      // A failed flush rejects the whole call of lmdb, although the transaction was written. No other transaction can
      // have been written since: the next one is submitted when this one is visible.
      const there = committed.catch((error: unknown) => {
        if (before === undefined || lastTransaction(root) === before) throw error;
      });
      const visible = Promise.race([...(seen ? [seen] : []), there]).then(() => root.resetReadTxn());
      return { visible, flushed };
    },
  };
};

const CLEAR_READERS_MS = 60_000;

/**
 * Releases the slots of readers whose process was killed, such as a backup: LMDB reuses no page that was freed after
 * the snapshot of a slot, and checks for dead processes only when an environment is opened. The returned function stops
 * the checks.
 */
export const clearReaders = (root: RootDatabase, everyMs: number = CLEAR_READERS_MS): (() => void) => {
  const timer = setInterval(() => root.readerCheck(), everyMs).unref();
  return () => clearInterval(timer);
};

export const encoded = (bytes: Buffer): unknown => asBinary(bytes);

/** lmdb rejects with an error whose text refers to a promise of the reason. */
const isOfCommit = (error: unknown): boolean => {
  if (!(error instanceof Error && 'commitError' in error)) return false;
  Promise.resolve(error.commitError).catch(() => {});
  return true;
};

const reasonOf = async (error: unknown): Promise<never> => {
  if (error instanceof Error && 'commitError' in error) await error.commitError;
  throw error;
};

/** Reports of the writer thread about one transaction. */
type Writing = {
  seen?: Promise<void>;
  /** Never resolves. */
  failed?: Promise<never>;
};

/**
 * lmdb's own promise resolves only after the flush, although the transaction is visible, and its lock free, after a
 * fraction of that time. The writer thread reports that moment to the callback of `startWriting` (status 1), which is
 * intercepted here. Failures (a status above 2, or a negative one) are intercepted too: while an earlier transaction is
 * still being flushed, lmdb delays the report, and then never reports the reason. After a failure it leaves the promise
 * of the flush open, and waits for it when it is closed; status 0 settles it. If that internal function is missing,
 * lmdb's promise is used alone, which is later but never wrong.
 */
const watchWriter = (root: RootDatabase): (() => Writing) => {
  const writer = writerOf(root);
  if (!writer) return () => ({});
  let next = { see: (): void => {}, fail: (_: Error): void => {} };
  const startWriting = writer.startWriting.bind(writer);
  const value: Writer['startWriting'] = (address, callback) => {
    const { see, fail } = next;
    return startWriting(address, (status) => {
      const result = callback(status);
      if (status === VISIBLE) see();
      if (!KNOWN.includes(status)) {
        fail(errorOf(status));
        callback(DONE);
      }
      return result;
    });
  };
  Object.defineProperty(writer, 'startWriting', { value });
  return () => {
    const seen = new Promise<void>((see) => {
      next = { ...next, see };
    });
    const failed = new Promise<never>((_, fail) => {
      next = { ...next, fail };
    });
    failed.catch(() => {});
    return { seen, failed };
  };
};

/** Error codes of LMDB itself; those of the operating system are positive. */
const LMDB_ERRORS: Readonly<Record<number, string>> = {
  [-30792]: 'the address space of the store is used up',
  [-30795]: 'an earlier error left the store unusable; restart the service',
};

const errorOf = (status: number): Error => {
  const [, text] = getSystemErrorMap().get(-status) ?? [];
  return new Error(LMDB_ERRORS[status] ?? text ?? `LMDB error ${status}`);
};

const DONE = 0;
const VISIBLE = 1;
const CALLS_BACK = 2;
const KNOWN = [DONE, VISIBLE, CALLS_BACK];

type Writer = {
  startWriting(address: number, callback: (status: number) => unknown): unknown;
};

/** lmdb stores its handle on the environment in a field that its types do not declare. */
const handleOf = (root: object): object | undefined => {
  const env = 'env' in root ? root.env : undefined;
  return typeof env === 'object' && env !== null ? env : undefined;
};

const writerOf = (root: object): Writer | undefined => {
  const env = handleOf(root);
  if (!env || !('startWriting' in env)) return undefined;
  // Its shape is that of lmdb 3.5; only its presence is checked here.
  return typeof env.startWriting === 'function' ? (env as Writer) : undefined;
};

const refused = (error: Error): Transaction => {
  const never = Promise.reject(error);
  return { visible: never, flushed: never };
};

/** The map is extended before it is full, and the extended map exists together with the old one for a moment. */
const GROWTH_MARGIN = 64 * 1024 ** 2;

/** Returns why the map could not be extended, if the next transaction may need that. */
const growthProblem = (root: object): Error | undefined => {
  if (!isAddressSpaceLimited()) return undefined;
  const env = handleOf(root);
  if (!env || !('info' in env) || typeof env.info !== 'function') return undefined;
  const { mapSize, lastPageNumber } = env.info();
  if (typeof mapSize !== 'number' || typeof lastPageNumber !== 'number') return undefined;
  if (lastPageNumber * PAGE_SIZE + GROWTH_MARGIN < mapSize) return undefined;
  const problem = addressSpaceProblem(2 * mapSize);
  return problem === undefined ? undefined : new Error(problem);
};

const PAGE_SIZE = 4096;

/** Returns the number of the last transaction that readers see. */
const lastTransaction = (root: object): number | undefined => {
  const env = handleOf(root);
  if (!env || !('info' in env) || typeof env.info !== 'function') return undefined;
  const { lastTxnId } = env.info();
  return typeof lastTxnId === 'number' ? lastTxnId : undefined;
};
