import { BUDGET_UNITS, type BudgetSubject } from '../schema/budget.ts';
import type { BudgetCounter, BudgetCounterTable, StoredBudgetCounter } from '../store/index.ts';
import type { Budget } from './budget.ts';
import {
  type Amount,
  type Claim,
  type Counter,
  createCounter,
  fullestUnit,
  limitOf,
  type StoredAmounts,
  spentOf,
  spentShare,
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
export const rowOf = (
  { key, stored, storedAdded, runs, to, isOfRun }: Counter,
  now: number,
): StoredBudgetCounter => {
  const ended_at = to ?? (isOfRun ? now : undefined);
  const { all, ofRuns } = storedAdded;
  return {
    ...key,
    tokens: stored.tokens,
    nano_usd: stored.nano,
    ...(runs > 0 && { runs }),
    ...((all.tokens > 0 || all.nano > 0) && { extra: { tokens: all.tokens, nano_usd: all.nano } }),
    ...(ofRuns.size > 0 && {
      of_runs: Array.from(ofRuns, ([run, { tokens, nano }]) => ({ run, tokens, nano_usd: nano })),
    }),
    ...(ended_at !== undefined && { ended_at }),
  };
};

/** Returns the amounts in a row. */
export const amountsIn = (row: BudgetCounter | undefined): StoredAmounts => {
  const { tokens = 0, nano_usd: nano = 0, runs = 0, extra, of_runs: ofRuns } = row ?? {};
  return {
    tokens,
    nano,
    runs,
    ...(extra && { extra: { tokens: extra.tokens, nano: extra.nano_usd } }),
    ...(ofRuns && { ofRuns: ofRuns.map(({ nano_usd, ...each }) => ({ ...each, nano: nano_usd })) }),
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
      const { run } = subject;
      if (known && known.key.from === from) return { budget, counter: known, run };
      const key = { budget: budget.spec.id, identity: budget.identity, combination, from };
      const counter = createCounter(key, { to, isOfRun: budget.isPerRun }, amountsIn(stored.get(key)));
      const claim = { budget, counter, run };
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
  for (const unit of BUDGET_UNITS) {
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
