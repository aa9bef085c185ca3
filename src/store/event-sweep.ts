import type { Batch } from './batch.ts';
import type { Key } from './keys.ts';
import { eventsIn, type StoredEvents } from './stored-events.ts';
import type { Table } from './table.ts';

/**
 * Removes old events from the logs of all threads, a piece a call, so that a timer can go round again and again.
 *
 * Guarantees: a log loses events at its beginning only and never its newest row, so what is left has no hole and
 * no sequence number is given twice, however long a thread was silent; the rows of the runs go in the same
 * commit. Relies on nothing that is under way: a row that is not visible yet is newer than every visible one of
 * its log, and a row that is removed twice is gone. Costs one key a log that has nothing to lose, and one read a
 * row that goes.
 */
export type EventSweep = (
  batch: Batch,
  /** milliseconds; a row goes when the last of its events is older */
  before: number,
  /** keys to look at, and so the most rows that go */
  budget: number,
  /** where the call before ended; without it the sweep begins */
  from?: Key,
) => {
  removed: number;
  /** where to go on; without it the sweep has seen everything */
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
    let looked = 0;
    /** It goes when the log has a row behind it. */
    let old: Key | undefined;
    let start: Key | undefined = from;
    while (start) {
      const keys = appends.keys({ prefix: [], from: start });
      start = undefined;
      for (const key of keys) {
        if (old && isSameLog(old, key)) {
          remove(batch, old);
          removed += 1;
        }
        if (looked >= budget) return { removed, next: key };
        looked += 1;
        old = timeIn(key) < before ? key : undefined;
        if (old) continue;
        start = behindLog(key);
        break;
      }
    }
    return { removed };
  };
};

/** Keys are scope, thread, sequence number, time. */
const isSameLog = (a: Key, b: Key): boolean => a[0] === b[0] && a[1] === b[1];

const timeIn = (key: Key): number => Number(key[3]);

const behindLog = ([scope = '', thread_id = '']: Key): Key => [scope, thread_id, Number.MAX_SAFE_INTEGER];
