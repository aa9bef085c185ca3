import type { BudgetUsage } from '../schema/budget.ts';
import type { BudgetCounterTable } from '../store/index.ts';
import type { Budget } from './budget.ts';
import { type Amount, type Claim, createCounter, fullestUnit, spentShare } from './counter.ts';
import { amountsIn, type Counters } from './counters.ts';
import { usdOf } from './money.ts';

/** The counters of a budget in its current window, the fullest first. */

/** Counters that are read to find the fullest ones. */
const MOST_READ = 10_000;

export const usageOf = (
  budget: Budget,
  counters: Counters,
  stored: Pick<BudgetCounterTable, 'inWindow'>,
  { now, limit }: { now: number; limit: number },
): BudgetUsage => {
  const { from, to } = counters.periodOf(budget, now);
  const window = { budget: budget.spec.id, identity: budget.identity, from };
  const claims = new Map<string, Claim>();
  for (const row of stored.inWindow(window, MOST_READ)) {
    const key = { ...window, combination: row.combination };
    const counter = createCounter(key, { to, isOfRun: budget.isPerRun }, amountsIn(row));
    claims.set(row.combination, { budget, counter });
  }
  // Counters in memory also contain reservations, and amounts that are not stored yet.
  for (const counter of counters.all()) {
    const { budget: id, identity, from: since, combination } = counter.key;
    if (id === window.budget && identity === window.identity && since === from)
      claims.set(combination, { budget, counter });
  }
  return {
    items: [...claims.values()]
      .sort((one, other) => shareOf(other) - shareOf(one))
      .slice(0, limit)
      .map(shown),
  };
};

const shareOf = (claim: Claim): number => spentShare(claim, fullestUnit(claim));

const shown = ({
  budget,
  counter: { key, spent, reserved, added, runs, to },
}: Claim): BudgetUsage['items'][number] => ({
  key: budget.valuesIn(key.combination),
  spent: { ...amountOf(spent), ...(budget.spec.limits.runs !== undefined && { runs }) },
  reserved: amountOf(reserved),
  limit: budget.spec.limits,
  extra: amountOf(added.all),
  ...(to !== undefined && { resets_at: to }),
});

const amountOf = ({ tokens, nano }: Amount) => ({ tokens, usd: usdOf(nano) });
