import type { Batch, Rows } from './batch.ts';
import type { Key } from './keys.ts';
import { countRead, type ReadCounter } from './table.ts';

/**
 * Counts the rows of lists, so that no list has to be scanned. A batch contains differences; the committer turns them
 * into values in the transaction that writes the rows themselves. A counter at zero has no row. A counter is named
 * after the list that it counts, so the lists of different tables must not share a prefix.
 */

export type Counters = {
  get(key: Key): number;
  add(batch: Batch, key: Key, by: number): void;
  /** Returns the new values of all counters that the batches change. */
  settle(batches: Batch[]): [key: Key, count: number][];
  write(key: Key, count: number): void;
};

export const createCounters = (rows: Rows, counter: ReadCounter): Counters => {
  const get = (key: Key): number => {
    countRead(counter);
    const count = rows.get(key);
    return typeof count === 'number' ? count : 0;
  };
  return {
    get,
    add(batch, key, by) {
      batch.counts.push([key, by]);
    },
    settle(batches) {
      const differences = new Map<string, [key: Key, by: number]>();
      for (const { counts } of batches) {
        for (const [key, by] of counts) {
          const name = key.join('\0');
          const sum = (differences.get(name)?.[1] ?? 0) + by;
          differences.set(name, [key, sum]);
        }
      }
      return Array.from(differences.values())
        .filter(([, by]) => by !== 0)
        .map(([key, by]) => [key, get(key) + by]);
    },
    write(key, count) {
      if (count === 0) rows.remove(key);
      else rows.put(key, count);
    },
  };
};
