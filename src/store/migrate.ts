import type { RootDatabase, RootDatabaseOptions } from 'lmdb';
import type { Rows } from './batch.ts';
import { type Codec, createCodec } from './codec.ts';
import { deriveInto, type Entry } from './derived.ts';
import { encoded } from './environment.ts';
import type { Key } from './keys.ts';

/** Steps from one version of what is in a folder to the next; each runs inside of one transaction. */

type Opened = { rows: Rows; codec: Codec };

const openWith = (root: RootDatabase, name: string, stored: string[][] | undefined): Opened => {
  const codec = createCodec(name, stored);
  // lmdb's type names `encoder` for the root only; a table takes it as well.
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
 * The lists of version 1 had a row for each of their filters; those of version 2 share rows, and open dispatches have
 * one list instead of two. From version 3 on tasks stand in the order in which they are listed. Everything follows
 * from threads, runs and dispatches, which are read once.
 */
export const listsAnew = (root: RootDatabase): void => {
  const structures = root.openDB<string[][], string[]>('structures', { encoding: 'json' });
  const opened = new Map<string, Opened>(LISTS.map((name) => [name, openWith(root, name, undefined)]));
  const counters = root.openDB<number, Key>('counters', {});
  for (const { rows } of opened.values()) rows.clearSync();
  counters.clearSync();
  const read = (name: string) => entriesOf(openWith(root, name, structures.get([name])));
  const records = {
    threads: read('threads'),
    runs: read('runs'),
    dispatches: read('dispatches'),
    messages: [],
    events: [],
  };
  deriveInto(records, {
    row: (table, { key, value }) => opened.get(table)?.rows.putSync(key, encoded(value)),
    counter: (key, count) => counters.putSync(key, count),
  });
  // No row of a list needs names of fields.
  for (const name of LISTS) structures.removeSync([name]);
};
