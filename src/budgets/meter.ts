import type { BudgetSpec, BudgetSubject, BudgetUsage } from '../schema/budget.ts';
import type { Clock } from '../schema/clock.ts';
import type { ReachedLimit } from '../schema/spending.ts';
import { type AccountDeps, type AccountOptions, openAccount, type RunAccount } from './account.ts';
import { type Admission, type AdmissionDeps, createAdmission } from './admission.ts';
import { type Budget, compileBudget } from './budget.ts';
import { type Claim, type Counter, fullestUnit, reachedOf, spentShare } from './counter.ts';
import { createCounters } from './counters.ts';
import { exhaustedUnit } from './notices.ts';
import { retryWaiting } from './reservations.ts';
import { usageOf } from './usage.ts';

/**
 * The budgets of the service.
 *
 * Guarantees: a changed entry applies from the next inference on, and to inferences that wait.
 * Cost: without a matching budget, a pass over the patterns of the entries; no counter and no store operation.
 */
export type Meter = Omit<Admission, 'apply'> & {
  /** False while no budget limits what inferences spend. */
  isActive(): boolean;
  /** Replaces the entries; must not throw. */
  apply(specs: readonly BudgetSpec[]): void;
  open(options: AccountOptions): RunAccount;
  /** Returns the exhausted limit because of which no new run of this subject may start. */
  exhausted(subject: BudgetSubject): ReachedLimit | undefined;
  /** Returns the counters of a budget, the fullest first; undefined if there is no such budget. */
  usage(id: string, limit: number): BudgetUsage | undefined;
  /** Returns the largest share of each budget that one of its counters in memory has spent. */
  spentShares(): Iterable<readonly [share: number, budget: string]>;
};

export type MeterDeps = Omit<AccountDeps, 'claimsOf'> & { clock: Clock } & Pick<AdmissionDeps, 'limited'>;

export const createMeter = (deps: MeterDeps): Meter => {
  const counters = createCounters(deps.store.budgetCounters);
  const { apply: limit, ...admission } = createAdmission({
    counters,
    stored: deps.store.budgetCounters,
    now: () => deps.clock.now(),
    limited: deps.limited,
  });
  let budgets: readonly Budget[] = [];
  let spending: readonly Budget[] = [];
  const claimsOf = (subject: BudgetSubject): Claim[] => {
    const now = deps.clock.now();
    const claims: Claim[] = [];
    for (const budget of spending)
      if (budget.matches(subject)) claims.push(counters.claim(budget, subject, now));
    return claims;
  };
  const accounts = { ...deps, claimsOf };
  return {
    ...admission,
    isActive: () => spending.length > 0,
    apply(specs) {
      budgets = specs.map(compileBudget);
      spending = budgets.filter(({ tokens, nano }) => tokens !== undefined || nano !== undefined);
      limit(budgets);
      for (const counter of counters.all()) retryWaiting(counter);
    },
    open: (options) => openAccount(accounts, options),
    exhausted(subject) {
      for (const claim of claimsOf(subject)) {
        const unit = exhaustedUnit(claim);
        if (unit) return reachedOf(claim, unit);
      }
      return undefined;
    },
    usage(id, limit) {
      const budget = budgets.find(({ spec }) => spec.id === id);
      const { clock, store } = deps;
      return budget && usageOf(budget, counters, store.budgetCounters, { now: clock.now(), limit });
    },
    spentShares: () =>
      spending.map((budget) => [worstShare(budget, counters.all()), budget.spec.id] as const),
  };
};

const worstShare = (budget: Budget, counters: Iterable<Counter>): number => {
  let worst = 0;
  for (const counter of counters) {
    if (counter.key.budget !== budget.spec.id || counter.key.identity !== budget.identity) continue;
    const claim = { budget, counter };
    worst = Math.max(worst, spentShare(claim, fullestUnit(claim)));
  }
  return worst;
};
