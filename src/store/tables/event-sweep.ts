import type { Batch } from '../engine/batch.ts';
import type { Key } from '../engine/keys.ts';
import type { Table } from '../engine/table.ts';
import { eventsIn, type StoredEvents } from './stored-events.ts';

/**
 * Removes old events from the logs of all threads, a chunk per call, so that a timer can repeat it.
 *
 * Guarantees: a log loses events only at its beginning and never its newest row, so the rest has no gap and no sequence
 * number is assigned twice, however long a thread was inactive; the rows of the runs are removed in the same commit.
 * Commits in progress do not interfere: a row that is not visible yet is newer than every visible one of its log, and
 * removing a row twice has no effect.
 * Cost: one key for a log that has nothing to remove, and one read per removed row.
 */
export type EventSweep = (
  batch: Batch,
  /** Milliseconds; a row is removed when its last event is older. */
  before: number,
  /** Maximum number of keys to check, and therefore of rows to remove. */
  budget: number,
  /** The `next` of the previous call; without it the sweep starts from the beginning. */
  from?: Key,
) => {
  removed: number;
  /** The position to continue from; undefined when the sweep is complete. */
  next?: Key;
};

type Tables = { appends: Table<StoredEvents>; byRun: Table<unknown> };

export const createEventSweep = ({ appends, byRun }: Tables): EventSweep => {
  const remove = (batch: Batch, key: Key): void => {
    const [scope = '', , row = 0] = key;
    const runs = new Set(eventsIn(appends.get(key) ?? []).map((event) => event.run_id));
    for (const run_id of runs) if (run_id !== undefined) byRun.remove(batch, [scope, run_id, row]);
    appends.remove(batch, key);
  };

  return (batch, before, budget, from = []) => {
    let removed = 0;
    let checked = 0;
    /** An old row; removed when another row of the same log follows. */
    let old: Key | undefined;
    for (const key of oldestKeys(appends, before, from)) {
      if (old && isSameLog(old, key)) {
        remove(batch, old);
        removed += 1;
      }
      if (checked >= budget) return { removed, next: key };
      checked += 1;
      old = isOld(key, before) ? key : undefined;
    }
    return { removed };
  };
};

/** Yields the old keys of each log and the first key after them. */
function* oldestKeys(appends: Tables['appends'], before: number, from: Key): Iterable<Key> {
  let start: Key | undefined = from;
  while (start) {
    const keys = appends.keys({ prefix: [], from: start });
    start = undefined;
    for (const key of keys) {
      yield key;
      if (isOld(key, before)) continue;
      start = behindLog(key);
      break;
    }
  }
}

/** Keys are scope, thread, sequence number, time. */
const isSameLog = (a: Key, b: Key): boolean => a[0] === b[0] && a[1] === b[1];

const isOld = (key: Key, before: number): boolean => Number(key[3]) < before;

const behindLog = ([scope = '', thread_id = '']: Key): Key => [scope, thread_id, Number.MAX_SAFE_INTEGER];
