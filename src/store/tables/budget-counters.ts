import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { indexed, type Key } from '../engine/keys.ts';

/** What the counters of budgets have spent (identity.md 10.1), by budget, version of its division, and window. */

export type BudgetCounterKey = {
  budget: string;
  /** Identifies the properties by which the budget selects and divides. */
  identity: string;
  combination: string;
  /** Start of the window in milliseconds. */
  from: number;
};

export type BudgetCounter = { tokens: number; nano_usd: number };

export type StoredBudgetCounter = BudgetCounterKey & BudgetCounter;

export type BudgetCounterTable = {
  get(key: BudgetCounterKey): BudgetCounter | undefined;
  put(batch: Batch, counter: StoredBudgetCounter): void;
  /** Returns all counters of a budget. */
  of(budget: string): Iterable<StoredBudgetCounter>;
};

export const createBudgetCounterTable = (env: Environment): BudgetCounterTable => {
  const rows = env.table<StoredBudgetCounter>('counters_spent');
  const keyOf = ({ budget, identity, combination, from }: BudgetCounterKey): Key => [
    indexed(budget),
    identity,
    from,
    indexed(combination),
  ];
  return {
    get: (key) => rows.get(keyOf(key)),
    put: (batch, counter) => rows.put(batch, keyOf(counter), counter),
    of: (budget) => rows.values({ prefix: [indexed(budget)] }),
  };
};
