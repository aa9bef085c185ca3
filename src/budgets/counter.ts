import type { BudgetUnit } from '../schema/budget.ts';
import type { Budget } from './budget.ts';
import { usdOf } from './money.ts';

/** One counter of a budget: what one combination of its properties has spent and reserved in one window. */

export type Amount = { tokens: number; nano: number };

export type Counter = {
  readonly key: CounterKey;
  /** End of the window in milliseconds. */
  readonly to: number | undefined;
  readonly spent: Amount;
  /** The part of `spent` that commits contain. */
  readonly stored: Amount;
  readonly reserved: Amount;
  /** Number of reservations. */
  holders: number;
  /** Requests that wait for a reservation to be settled, in their order. A call returns whether one has left. */
  readonly waiting: Set<() => boolean>;
  /** Number of shares of `warn_at` that were reported. */
  warned: number;
  /** Units whose exhaustion was reported in this window. */
  readonly exceeded: Set<BudgetUnit>;
};

export type CounterKey = {
  budget: string;
  identity: string;
  combination: string;
  /** Start of the window in milliseconds. */
  from: number;
};

export const createCounter = (key: CounterKey, to: number | undefined, stored: Amount): Counter => ({
  key,
  to,
  spent: { ...stored },
  stored: { ...stored },
  reserved: { tokens: 0, nano: 0 },
  holders: 0,
  waiting: new Set(),
  warned: 0,
  exceeded: new Set(),
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

/** The state of a limit, in tokens or USD. */
export type Reached = { budget: string; unit: BudgetUnit; spent: number; limit: number; resets_at?: number };

export const reachedOf = ({ budget, counter }: Claim, unit: BudgetUnit): Reached => ({
  budget: budget.spec.id,
  unit,
  spent: unit === 'tokens' ? counter.spent.tokens : usdOf(counter.spent.nano),
  limit: (unit === 'tokens' ? budget.tokens : budget.spec.limits.usd) ?? 0,
  ...(counter.to !== undefined && { resets_at: counter.to }),
});

/** Returns the largest share of a limit that is spent. */
export const spentShare = ({ budget, counter: { spent } }: Claim): number =>
  Math.max(
    budget.tokens === undefined ? 0 : spent.tokens / budget.tokens,
    budget.nano === undefined ? 0 : spent.nano / budget.nano,
  );
