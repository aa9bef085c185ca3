import type { RootDatabase, RootDatabaseOptions } from 'lmdb';
import type { Rows } from '../engine/batch.ts';
import { type Codec, createCodec } from '../engine/codec.ts';
import { encoded } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import { deriveInto, type Entry } from './derived.ts';
import { withOldStates } from './old-run-states.ts';

/** Migrations of the folder from one format version to the next. */

export type Migration = WholeMigration | SlicedMigration;

/** Runs inside one transaction. */
type WholeMigration = (root: RootDatabase) => unknown;

/** Migrates a table of any size within bounded memory. */
export type SlicedMigration = {
  /**
   * Returns a function that migrates the rows after a key, inside a transaction, and returns the last key that it has
   * migrated; undefined when no rows are left.
   */
  open(root: RootDatabase): (after: Key | undefined) => Key | undefined;
};

export type Opened = { rows: Rows; codec: Codec };

export const openWith = (root: RootDatabase, name: string, stored: string[][] | undefined): Opened => {
  const codec = createCodec(name, stored);
  // lmdb's type names `encoder` for the root only; a table accepts it as well.
  const options: RootDatabaseOptions = { encoder: codec.packr };
  return { rows: root.openDB(name, options), codec };
};

function* entriesOf({ rows }: Opened): Iterable<Entry> {
  // Keys of these tables have several parts of text and numbers.
  for (const { key, value } of rows.getRange()) yield { key: key as Key, value };
}

const LISTS = [
  'thread_index',
  'run_index',
  'task_index',
  'dispatch_index',
  'open_work',
  'ended_work',
] as const;

/**
 * Rebuilds all lists. The lists of version 1 had a row for each of their filters; those of version 2 share rows, and
 * open dispatches have one list instead of two. From version 3 on tasks are stored in list order. All lists are derived
 * from threads, runs and dispatches, which are read once.
 */
export const rebuildIndexes = (root: RootDatabase): void => {
  const structures = root.openDB<string[][], string[]>('structures', { encoding: 'json' });
  const opened = new Map<string, Opened>(LISTS.map((name) => [name, openWith(root, name, undefined)]));
  const counters = root.openDB<number, Key>('counters', {});
  for (const { rows } of opened.values()) rows.clearSync();
  counters.clearSync();
  const read = (name: string) => entriesOf(openWith(root, name, structures.get([name])));
  const records = {
    threads: read('threads'),
    runs: withOldStates(read('runs')),
    dispatches: read('dispatches'),
    messages: [],
    events: [],
    users: [],
    keys: [],
    sessions: [],
    files: [],
  };
  deriveInto(records, {
    row: (table, { key, value }) => opened.get(table)?.rows.putSync(key, encoded(value)),
    counter: (key, count) => counters.putSync(key, count),
  });
  // Rows of lists have no field names.
  for (const name of LISTS) structures.removeSync([name]);
};
