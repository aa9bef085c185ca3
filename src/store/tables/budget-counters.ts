import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { indexed, type Key } from '../engine/keys.ts';
import type { Columns } from '../engine/sink.ts';

/** Counters of budgets, by budget, version of its division, and window. */

/** Identifies the counters of one budget in one window. */
export type BudgetWindowKey = {
  budget: string;
  /** Identifies the properties by which the budget selects and divides. */
  identity: string;
  /** Start of the window in milliseconds. */
  from: number;
};

export type BudgetCounterKey = BudgetWindowKey & { combination: string };

type StoredAmount = { tokens: number; nano_usd: number };

export type BudgetCounter = {
  tokens: number;
  nano_usd: number;
  /** Number of runs; absent where runs are not limited. */
  runs?: number;
  /** Amounts that decisions have added to the limits; absent if nothing was added. */
  extra?: StoredAmount;
  /** Amounts that decisions have added for root runs, without the part that these have spent. */
  of_runs?: (StoredAmount & { run: string })[];
  /** When it no longer counts: the end of its window or, for the counter of a run, its last change. */
  ended_at?: number;
};

export type StoredBudgetCounter = BudgetCounterKey & BudgetCounter;

export type BudgetCounterTable = {
  get(key: BudgetCounterKey): BudgetCounter | undefined;
  put(batch: Batch, counter: StoredBudgetCounter): void;
  remove(batch: Batch, key: BudgetCounterKey): void;
  /** Returns the counters of a window, in no particular order. */
  inWindow(window: BudgetWindowKey, limit: number): Iterable<StoredBudgetCounter>;
  /** Returns up to `limit` counters of all budgets that follow `after`. */
  all(after: BudgetCounterKey | undefined, limit: number): StoredBudgetCounter[];
};

/** The columns of a shipped row. */
export const budgetCounterColumns = ({ budget, ended_at }: StoredBudgetCounter): Columns => ({
  a: budget,
  at: ended_at ?? null,
});

export const createBudgetCounterTable = (env: Environment): BudgetCounterTable => {
  const rows = env.table<StoredBudgetCounter>('counters_spent');
  const windowOf = ({ budget, identity, from }: BudgetWindowKey): Key => [indexed(budget), identity, from];
  const keyOf = (key: BudgetCounterKey): Key => [...windowOf(key), indexed(key.combination)];
  return {
    get: (key) => rows.get(keyOf(key)),
    put: (batch, counter) => rows.put(batch, keyOf(counter), counter),
    remove: (batch, key) => rows.remove(batch, keyOf(key)),
    inWindow: (window, limit) => rows.values({ prefix: windowOf(window), limit }),
    all: (after, limit) =>
      Array.from(rows.values({ prefix: [], limit, ...(after && { after: keyOf(after) }) })),
  };
};
