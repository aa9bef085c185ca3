import type { BudgetSpec, BudgetSubject, BudgetUnit } from './budget.ts';
import type { Usage } from './run-event.ts';

/** What an inference asks of the budgets, and what it receives. */

/** The properties of a run for its budgets; the agent and the model differ between its inferences. */
export type Payer = Omit<BudgetSubject, 'agent' | 'model'>;

export type Spending = Pick<BudgetSubject, 'agent' | 'model'> & {
  /** Estimated tokens of the input. */
  input: number;
  /** The most tokens of the output. */
  output: number;
  /** Returns the cost in USD; for a pool, that of its most expensive member. Undefined without prices. */
  priceOf(usage: Usage): number | undefined;
};

/** `usd`: undefined for a model without prices. */
export type Used = { tokens: number; usd: number | undefined };

export type Granted = {
  kind: 'granted';
  /** The tokens of output that were reserved. */
  output: number;
  /** Replaces the reservation; further calls have no effect. */
  settle(used: Used): void;
};

export type Allowance = Granted | { kind: 'exceeded'; budget: string } | { kind: 'unpriced'; budget: string };

/** The account of one run. */
export type Account = {
  /** Undefined if no budget applies. `signal` ends a wait for other inferences. */
  reserve(spending: Spending, signal: AbortSignal): Allowance | undefined | Promise<Allowance>;
};

/** The state of a limit, in tokens or USD. `resets_at`: end of the window in milliseconds; absent without an end. */
export type ReachedLimit = {
  budget: string;
  unit: BudgetUnit;
  spent: number;
  limit: number;
  resets_at?: number;
};

/** An event of a budget. `share`: the reached share of the limit. */
export type BudgetNotice = ReachedLimit & {
  kind: 'BudgetWarning' | 'BudgetExceeded';
  share: number;
  action: BudgetSpec['on_exceeded'];
};
