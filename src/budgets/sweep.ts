import { setImmediate } from 'node:timers/promises';
import type { BudgetCounterTable, Store } from '../store/index.ts';
import { dayOf } from './usage-book.ts';

/** Rows read per event-loop tick. */
const SLICE = 500;

type Row = ReturnType<BudgetCounterTable['all']>[number];

/** Removes counters of windows and runs that ended before `until`. Resolves to their number. */
export const sweepCounters = async (
  { budgetCounters, batch, commit }: Pick<Store, 'budgetCounters' | 'batch' | 'commit'>,
  until: number,
): Promise<number> => {
  let removed = 0;
  let after: Row | undefined;
  for (;;) {
    const rows = budgetCounters.all(after, SLICE);
    const expired = rows.filter(({ ended_at }) => ended_at !== undefined && ended_at < until);
    if (expired.length > 0) {
      const write = batch('commons');
      for (const row of expired) budgetCounters.remove(write, row);
      await commit(write);
      removed += expired.length;
    }
    after = rows.at(-1);
    if (rows.length < SLICE) return removed;
    await setImmediate();
  }
};

/** Removes usage of the days before the day of `until`. Resolves to the number of rows. */
export const sweepUsage = async (
  { usage, batch, commit }: Pick<Store, 'usage' | 'batch' | 'commit'>,
  until: number,
): Promise<number> => {
  const day = dayOf(until);
  for (let removed = 0; ; ) {
    const keys = usage.before(day, SLICE);
    if (keys.length === 0) return removed;
    const write = batch('commons');
    for (const key of keys) usage.remove(write, key);
    await commit(write);
    removed += keys.length;
    await setImmediate();
  }
};
