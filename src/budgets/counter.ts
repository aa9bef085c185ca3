import type { BudgetUnit } from '../schema/budget.ts';
import type { ReachedLimit } from '../schema/spending.ts';
import type { Budget } from './budget.ts';
import { usdOf } from './money.ts';

/** One counter of a budget: what one combination of its properties has spent and reserved in one window. */

export type Amount = { tokens: number; nano: number };

export type Counter = {
  readonly key: CounterKey;
  /** End of the window in milliseconds. */
  readonly to: number | undefined;
  /** Whether it counts one run, and not a window. */
  readonly isOfRun: boolean;
  readonly spent: Amount;
  /** The part of `spent` that commits contain. */
  readonly stored: Amount;
  readonly reserved: Amount;
  /** Number of runs that were added; a commit in progress or an earlier one contains it. */
  runs: number;
  /** Number of reservations. */
  holders: number;
  /** Requests that wait for a reservation to be settled, in their order. A call returns whether one has left. */
  readonly waiting: Set<() => boolean>;
  /** Number of shares of `warn_at` that were reported. */
  warned: number;
  /** The limits that were reported as exceeded in this window. */
  readonly exceeded: Map<BudgetUnit, number>;
  /** The limits that leave no room for an inference without input. */
  readonly full: Map<BudgetUnit, number>;
};

export type CounterKey = {
  budget: string;
  identity: string;
  combination: string;
  /** Start of the window in milliseconds. */
  from: number;
};

export const createCounter = (
  key: CounterKey,
  { to, isOfRun }: Pick<Counter, 'to' | 'isOfRun'>,
  { runs = 0, ...stored }: Amount & { runs?: number },
): Counter => ({
  key,
  to,
  isOfRun,
  spent: { ...stored },
  stored: { ...stored },
  reserved: { tokens: 0, nano: 0 },
  runs,
  holders: 0,
  waiting: new Set(),
  warned: 0,
  exceeded: new Map(),
  full: new Map(),
});

/** A counter with the current version of its entry. */
export type Claim = { readonly budget: Budget; readonly counter: Counter };

/** Whether the budget stops runs; otherwise it only reports. */
export const isBlocking = ({ budget }: Claim): boolean => budget.spec.on_exceeded === 'stop';

/** Returns the unit whose limit the amount would exceed, in addition to everything spent and reserved. */
export const excessOf = ({ budget, counter }: Claim, { tokens, nano }: Amount): BudgetUnit | undefined => {
  const { spent, reserved } = counter;
  if (budget.tokens !== undefined && spent.tokens + reserved.tokens + tokens > budget.tokens) return 'tokens';
  if (budget.nano !== undefined && spent.nano + reserved.nano + nano > budget.nano) return 'usd';
  return undefined;
};

export const hold = ({ reserved }: Counter, { tokens, nano }: Amount, sign: 1 | -1): void => {
  reserved.tokens += sign * tokens;
  reserved.nano += sign * nano;
};

/** Returns the limit in tokens or nano-USD. */
export const limitOf = ({ budget }: Claim, unit: BudgetUnit): number | undefined =>
  unit === 'tokens' ? budget.tokens : budget.nano;

export const spentOf = ({ counter: { spent } }: Claim, unit: BudgetUnit): number =>
  unit === 'tokens' ? spent.tokens : spent.nano;

export const reachedOf = ({ budget, counter }: Claim, unit: BudgetUnit): ReachedLimit => ({
  budget: budget.spec.id,
  unit,
  spent: unit === 'tokens' ? counter.spent.tokens : usdOf(counter.spent.nano),
  limit: (unit === 'tokens' ? budget.tokens : budget.spec.limits.usd) ?? 0,
  ...(counter.to !== undefined && { resets_at: counter.to }),
});

export const UNITS = ['tokens', 'usd'] as const satisfies readonly BudgetUnit[];

/** Returns the share of a limit that is spent; 0 without the limit. */
export const spentShare = (claim: Claim, unit: BudgetUnit): number => {
  const limit = limitOf(claim, unit);
  return limit === undefined ? 0 : spentOf(claim, unit) / limit;
};

/** Returns the unit of which the largest share is spent. */
export const fullestUnit = (claim: Claim): BudgetUnit =>
  spentShare(claim, 'tokens') >= spentShare(claim, 'usd') ? 'tokens' : 'usd';
