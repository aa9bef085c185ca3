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
  wait(rate: Rate, place: string, now: number): number | undefined;
  take(rate: Rate, place: string, now: number): void;
};

/** A limit of a budget with a window. */
export type Rate = { readonly budget: Budget; readonly limit: number };

/** For a bucket: the time at which it is full again. Otherwise the number in the window that begins at `from`. */
type Level = { fullAt: number } | { from: number; count: number };

/** By place. */
type Levels = Map<string, Level>;

/** Number of levels of a budget from which those without an effect are dropped. */
const MOST_KEPT = 50_000;

export const createRates = ({ periodOf }: Pick<Counters, 'periodOf'>): Rates => {
  const tables = new Map<string, Levels>();
  const known = new WeakMap<Budget, Levels>();

  /** Versions of an entry that divide alike share their levels. */
  const levelsOf = (budget: Budget): Levels => {
    const found = known.get(budget);
    if (found) return found;
    const name = `${budget.spec.id}\0${budget.identity}`;
    const levels: Levels = tables.get(name) ?? new Map();
    tables.set(name, levels);
    known.set(budget, levels);
    return levels;
  };

  const countIn = (level: Level | undefined, from: number): number =>
    level && 'count' in level && level.from === from ? level.count : 0;

  const dropOld = (levels: Levels, now: number): void => {
    for (const [name, level] of levels) if ('fullAt' in level && level.fullAt <= now) levels.delete(name);
    // The oldest ones give way: those of the rest were taken from later.
    for (const name of levels.keys()) {
      if (levels.size <= MOST_KEPT / 2) return;
      levels.delete(name);
    }
  };

  return {
    wait({ budget, limit }, place, now) {
      const level = levelsOf(budget).get(place);
      const length = bucketLength(budget);
      if (length === undefined) {
        const { from, to } = periodOf(budget, now);
        if (countIn(level, from) < limit) return 0;
        return to === undefined ? undefined : to - now;
      }
      const fullAt = level && 'fullAt' in level ? level.fullAt : now;
      return Math.max(0, fullAt - now - length + length / limit);
    },
    take({ budget, limit }, place, now) {
      const levels = levelsOf(budget);
      const level = levels.get(place);
      const length = bucketLength(budget);
      if (length === undefined) {
        const { from } = periodOf(budget, now);
        levels.set(place, { from, count: countIn(level, from) + 1 });
      } else if (level && 'fullAt' in level) {
        level.fullAt = Math.max(now, level.fullAt) + length / limit;
      } else levels.set(place, { fullAt: now + length / limit });
      if (levels.size > MOST_KEPT) dropOld(levels, now);
    },
  };
};

const LENGTHS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000 };

/** Returns the time in which an empty bucket fills; undefined for other windows. */
const bucketLength = ({ spec: { window } }: Budget): number | undefined => window && LENGTHS[window.every];

/** Whether the runs of a budget are a bucket, and not a counter that is stored. */
export const isBucket = (budget: Budget): boolean => bucketLength(budget) !== undefined;
