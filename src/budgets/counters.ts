import type { BudgetSubject } from '../schema/budget.ts';
import type { BudgetCounterTable, StoredBudgetCounter } from '../store/index.ts';
import type { Budget } from './budget.ts';
import {
  type Amount,
  type Claim,
  type Counter,
  createCounter,
  fullestUnit,
  limitOf,
  spentOf,
  spentShare,
  UNITS,
} from './counter.ts';
import { type Period, periodAt } from './window.ts';

/**
 * The counters in memory. A counter is read from the store when it is first needed, and dropped when many others are
 * needed and nothing of it is reserved or not stored.
 *
 * Cost: a lookup per budget and inference; at most one read of the store per counter and window.
 */
export type Counters = {
  claim(budget: Budget, subject: BudgetSubject, now: number): Claim;
  all(): Iterable<Counter>;
  /** Returns the current window of a budget. */
  periodOf(budget: Budget, now: number): Period;
};

/** Returns the row of a counter with the amounts that are part of commits. */
export const rowOf = ({ key, stored, runs, to, isOfRun }: Counter, now: number): StoredBudgetCounter => {
  const ended_at = to ?? (isOfRun ? now : undefined);
  return {
    ...key,
    tokens: stored.tokens,
    nano_usd: stored.nano,
    ...(runs > 0 && { runs }),
    ...(ended_at !== undefined && { ended_at }),
  };
};

/** Number of counters in memory from which idle ones are dropped. */
const MOST_KEPT = 10_000;

export const createCounters = (stored: Pick<BudgetCounterTable, 'get'>): Counters => {
  const loaded = new Map<string, Counter>();
  const periods = new WeakMap<Budget, Period>();
  const periodOf = (budget: Budget, now: number): Period => {
    const known = periods.get(budget);
    if (known && now >= known.from && (known.to === undefined || now < known.to)) return known;
    const period = periodAt(budget.spec.window, now);
    periods.set(budget, period);
    return period;
  };
  return {
    claim(budget, subject, now) {
      const combination = budget.combinationOf(subject);
      const place = `${budget.spec.id}\0${budget.identity}\0${combination}`;
      const { from, to } = periodOf(budget, now);
      const known = loaded.get(place);
      if (known && known.key.from === from) return { budget, counter: known };
      const key = { budget: budget.spec.id, identity: budget.identity, combination, from };
      const row = stored.get(key);
      const counter = createCounter(
        key,
        { to, isOfRun: budget.isPerRun },
        { tokens: row?.tokens ?? 0, nano: row?.nano_usd ?? 0, runs: row?.runs ?? 0 },
      );
      const claim = { budget, counter };
      noteReported(claim);
      loaded.set(place, counter);
      if (loaded.size > MOST_KEPT) dropIdle(loaded);
      return claim;
    },
    all: () => loaded.values(),
    periodOf,
  };
};

/** The process that stored a counter has reported the limits that it had reached. */
const noteReported = (claim: Claim): void => {
  const { budget, counter } = claim;
  const share = spentShare(claim, fullestUnit(claim));
  counter.warned = budget.spec.warn_at.filter((part) => part <= share).length;
  for (const unit of UNITS) {
    const limit = limitOf(claim, unit);
    if (limit !== undefined && spentOf(claim, unit) >= limit) counter.exceeded.set(unit, limit);
  }
};

/** Half of the counters may stay, so that this is rare. */
const dropIdle = (loaded: Map<string, Counter>): void => {
  for (const [place, counter] of loaded) {
    if (loaded.size <= MOST_KEPT / 2) return;
    if (isIdle(counter)) loaded.delete(place);
  }
};

const isIdle = ({ holders, waiting, spent, stored }: Counter): boolean =>
  holders === 0 && waiting.size === 0 && isSame(spent, stored);

const isSame = (one: Amount, other: Amount): boolean =>
  one.tokens === other.tokens && one.nano === other.nano;
