import type { BudgetSpec, BudgetSubject, ReachedLimit } from './budget.ts';
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

/** `pause`: the limit that the run may wait for; absent if the run ends. */
export type Exceeded = { kind: 'exceeded'; budget: string; pause?: ReachedLimit };

export type Allowance = Granted | Exceeded | { kind: 'unpriced'; budget: string };

/** The account of one run. */
export type Account = {
  /** Undefined if no budget applies. `signal` ends a wait for other inferences. */
  reserve(spending: Spending, signal: AbortSignal): Allowance | undefined | Promise<Allowance>;
};

/** An event of a budget. `share`: the reached share of the limit. */
export type BudgetNotice = ReachedLimit & {
  kind: 'BudgetWarning' | 'BudgetExceeded';
  share: number;
  action: BudgetSpec['on_exceeded'];
};
