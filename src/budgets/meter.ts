import type { BudgetRaise, BudgetSpec, BudgetSubject, BudgetUsage, ReachedLimit } from '../schema/budget.ts';
import type { Clock } from '../schema/clock.ts';
import type { Batch } from '../store/index.ts';
import { type AccountDeps, type AccountOptions, openAccount, type RunAccount } from './account.ts';
import { type Admission, type AdmissionDeps, createAdmission } from './admission.ts';
import { type Budget, compileBudget } from './budget.ts';
import { type Claim, type Counter, fullestUnit, isOver, raise, reachedOf, spentShare } from './counter.ts';
import { createCounters, rowOf } from './counters.ts';
import { nanoOf } from './money.ts';
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
  /** Returns the exhausted limit because of which no new run of this subject may start. `canWait`: the run is stored. */
  exhausted(subject: BudgetSubject, canWait: boolean): ReachedLimit | undefined;
  /** Whether a run that waits for a limit may continue. */
  isOver(wait: ReachedLimit, subject: BudgetSubject): boolean;
  /**
   * Adds an amount to a limit, in the commit of the decision. It has no effect when another counter applies than the
   * one that the run waits for.
   */
  raise(batch: Batch, raised: Raised): void;
  /** Calls the listener when runs that wait may continue; it must not throw. */
  onLoosened(listener: () => void): void;
  /** Returns the counters of a budget, the fullest first; undefined if there is no such budget. */
  usage(id: string, limit: number): BudgetUsage | undefined;
  /** Returns the largest share of each budget that one of its counters in memory has spent. */
  spentShares(): Iterable<readonly [share: number, budget: string]>;
};

export type Raised = { wait: ReachedLimit; subject: BudgetSubject; by: BudgetRaise };

export type MeterDeps = Omit<AccountDeps, 'claimsOf'> & {
  clock: Clock;
  /** Called for each amount that was added to a limit. */
  raised(budget: string, by: BudgetRaise): void;
} & Pick<AdmissionDeps, 'limited'>;

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
  let listeners: (() => void)[] = [];
  const notifyLoosened = (): void => {
    for (const listener of listeners) listener();
  };
  const claimOf = ({ budget: id }: ReachedLimit, subject: BudgetSubject): Claim | undefined =>
    claimsOf(subject).find(({ budget }) => budget.spec.id === id);
  return {
    ...admission,
    isActive: () => spending.length > 0,
    apply(specs) {
      const isChanged = JSON.stringify(budgets.map(({ spec }) => spec)) !== JSON.stringify(specs);
      budgets = specs.map(compileBudget);
      spending = budgets
        .filter(({ tokens, nano }) => tokens !== undefined || nano !== undefined)
        .sort(stopsFirst);
      limit(budgets);
      for (const counter of counters.all()) retryWaiting(counter);
      if (isChanged) notifyLoosened();
    },
    open: (options) => openAccount(accounts, options),
    exhausted(subject, canWait) {
      for (const claim of claimsOf(subject)) {
        const unit = refusesNew(claim, canWait) ? exhaustedUnit(claim) : undefined;
        if (unit) return reachedOf(claim, unit);
      }
      return undefined;
    },
    isOver(wait, subject) {
      const claim = claimOf(wait, subject);
      return !claim || isOver(claim, wait);
    },
    raise(batch, { wait, subject, by }) {
      const counter = claimOf(wait, subject)?.counter;
      if (!counter || counter.to !== wait.resets_at) return;
      const { extra, run_only } = by;
      const amount = { tokens: extra.tokens ?? 0, nano: nanoOf(extra.usd ?? 0) };
      raise(counter, amount, run_only ? subject.run : undefined);
      deps.store.budgetCounters.put(batch, rowOf(counter, deps.clock.now()));
      deps.raised(wait.budget, by);
      retryWaiting(counter);
      if (!run_only) notifyLoosened();
    },
    onLoosened(listener) {
      listeners = [...listeners, listener];
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

/** If several budgets are exceeded, those that end the run apply before those that it could wait for. */
const stopsFirst = (one: Budget, other: Budget): number =>
  Number(other.spec.on_exceeded === 'stop') - Number(one.spec.on_exceeded === 'stop');

const refusesNew = ({ budget: { spec } }: Claim, canWait: boolean): boolean =>
  spec.on_exceeded === 'stop' || (spec.on_exceeded === 'pause' && !canWait);

const worstShare = (budget: Budget, counters: Iterable<Counter>): number => {
  let worst = 0;
  for (const counter of counters) {
    if (counter.key.budget !== budget.spec.id || counter.key.identity !== budget.identity) continue;
    const claim = { budget, counter };
    worst = Math.max(worst, spentShare(claim, fullestUnit(claim)));
  }
  return worst;
};
