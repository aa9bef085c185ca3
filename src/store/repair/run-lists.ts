import type { RootDatabase } from 'lmdb';
import type { Rows } from '../engine/batch.ts';
import { encoded } from '../engine/environment.ts';
import type { Key } from '../engine/keys.ts';
import { createDerivation, type DerivedName } from './derived.ts';
import { openWith, type SlicedMigration } from './migrate.ts';
import { readDecodable } from './old-run-states.ts';

/**
 * Rebuilds the lists of runs and of tasks. Up to format 6, lists of tasks contained running runs, and lists of threads and
 * of running runs had counters.
 *
 * Guarantees: the counters of other lists stay as they are. Rows of runs that do not decode are in no list.
 * Cost: one pass over the counters, one over the runs, and memory for one slice.
 */

const MOST_ROWS = 1000;

/** The rows of these tables have no field names. */
const LISTS = ['run_index', 'task_index'] as const;

/** Tables that differ from those of this version until the migration is complete. */
export const REBUILT: readonly DerivedName[] = [...LISTS, 'counters'];

/** Positions among the counters begin with a number, and those among the runs with a scope. */
const COUNTERS = 0;
const RUNS: Key = [1];

export const rebuildRunLists: SlicedMigration = {
  open(root) {
    const counters = root.openDB<number, Key>('counters', {});
    const move = createSlices(root, counters);
    return (after) => {
      if (after !== undefined && after[0] !== COUNTERS) return move(after[0] === RUNS[0] ? undefined : after);
      const last = dropCounters(counters, after?.slice(1));
      if (last) return [COUNTERS, ...last];
      for (const name of LISTS) openWith(root, name, undefined).rows.clearSync();
      return RUNS;
    };
  },
};

/** The kinds of lists of runs, of this version and of earlier ones. */
const KINDS: readonly unknown[] = ['runs', 'thread', 'tasks', 'agent', 'below'];

/** Names of lists of runs have a scope, a kind, and at least one more part. */
const isOfRuns = (key: Key): boolean => key.length > 2 && KINDS.includes(key[1]);

type Counts = {
  /** A key of one part is read as that part. */
  getKeys(range: object): Iterable<Key | Key[0]>;
  get(key: Key): number | undefined;
  putSync(key: Key, count: number): unknown;
  removeSync(key: Key): unknown;
};

/** Removes counters of a slice. @returns its last key, or undefined after the last slice */
const dropCounters = (counters: Counts, after: Key | undefined): Key | undefined => {
  const found = counters.getKeys({ ...startBehind(after), limit: MOST_ROWS });
  const keys = Array.from(found, (key): Key => (Array.isArray(key) ? key : [key]));
  for (const key of keys) if (isOfRuns(key)) counters.removeSync(key);
  return keys.at(-1);
};

const startBehind = (after: Key | undefined): object =>
  after === undefined ? {} : { start: after, exclusiveStart: true };

/** Returns a function that lists the runs of a slice. */
const createSlices = (
  root: RootDatabase,
  counters: Counts,
): ((after: Key | undefined) => Key | undefined) => {
  const structures: Rows = root.openDB('structures', { encoding: 'json' });
  // Only codecs write here, and they write lists of field names.
  const { rows: runs } = openWith(root, 'runs', structures.get(['runs']) as string[][] | undefined);
  const lists = new Map<string, Rows>(LISTS.map((name) => [name, openWith(root, name, undefined).rows]));
  return (after) => {
    const derivation = createDerivation({
      row: (table, { key, value }) => lists.get(table)?.putSync(key, encoded(value)),
      counter: (key, count) => counters.putSync(key, (counters.get(key) ?? 0) + count),
    });
    // Keys of this table are a scope and an id.
    const keys = Array.from(runs.getKeys({ ...startBehind(after), limit: MOST_ROWS })) as Key[];
    for (const key of keys) {
      const value = readDecodable(runs, key);
      if (value !== undefined) derivation.add('runs', { key, value });
    }
    derivation.end();
    return keys.at(-1);
  };
};
