import type { Budget } from './budget.ts';
import type { Counters } from './counters.ts';

/**
 * Rates of requests and runs. Per minute or hour they are token buckets: a bucket holds the limit, and refills evenly,
 * so that there is no burst at the edge of a window. Other windows are counted by the calendar.
 *
 * Guarantees: what is not taken changes nothing.
 * Cost: a lookup and an assignment per counter, no promise and no access of the store. A process that starts begins with
 * full buckets.
 */
export type Rates = {
  /** Returns the milliseconds until another one fits, 0 if it fits now; undefined if none will fit in this window. */
  wait(rate: Rate, combination: string, now: number): number | undefined;
  take(rate: Rate, combination: string, now: number): void;
};

/** A limit of a budget with a window. */
export type Rate = { readonly budget: Budget; readonly limit: number };

/** For a bucket: the time at which it is full again. Otherwise the number in the window that begins at `from`. */
type Level = { fullAt: number } | { from: number; count: number };

/** Number of levels from which those without an effect are dropped. */
const MOST_KEPT = 50_000;

export const createRates = ({ periodOf }: Pick<Counters, 'periodOf'>): Rates => {
  const levels = new Map<string, Level>();

  const countIn = (level: Level | undefined, from: number): number =>
    level && 'count' in level && level.from === from ? level.count : 0;

  const dropOld = (now: number): void => {
    for (const [name, level] of levels) if ('fullAt' in level && level.fullAt <= now) levels.delete(name);
    // The oldest ones give way: those of the rest were taken from later.
    for (const name of levels.keys()) {
      if (levels.size <= MOST_KEPT / 2) return;
      levels.delete(name);
    }
  };

  return {
    wait({ budget, limit }, combination, now) {
      const level = levels.get(nameOf(budget, combination));
      const length = bucketLength(budget);
      if (length === undefined) {
        const { from, to } = periodOf(budget, now);
        if (countIn(level, from) < limit) return 0;
        return to === undefined ? undefined : to - now;
      }
      const fullAt = level && 'fullAt' in level ? level.fullAt : now;
      return Math.max(0, fullAt - now - length + length / limit);
    },
    take({ budget, limit }, combination, now) {
      const name = nameOf(budget, combination);
      const level = levels.get(name);
      const length = bucketLength(budget);
      if (length === undefined) {
        const { from } = periodOf(budget, now);
        levels.set(name, { from, count: countIn(level, from) + 1 });
      } else if (level && 'fullAt' in level) {
        level.fullAt = Math.max(now, level.fullAt) + length / limit;
      } else levels.set(name, { fullAt: now + length / limit });
      if (levels.size > MOST_KEPT) dropOld(now);
    },
  };
};

const nameOf = ({ spec, identity }: Budget, combination: string): string =>
  `${spec.id}\0${identity}\0${combination}`;

const LENGTHS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000 };

/** Returns the time in which an empty bucket fills; undefined for other windows. */
const bucketLength = ({ spec: { window } }: Budget): number | undefined => window && LENGTHS[window.every];

/** Whether the runs of a budget are a bucket, and not a counter that is stored. */
export const isBucket = (budget: Budget): boolean => bucketLength(budget) !== undefined;
