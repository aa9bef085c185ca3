import { type Budget, compileBudget } from '../../src/budgets/budget.ts';
import { BudgetSpec, type BudgetSubject } from '../../src/schema/budget.ts';

/** Budgets and subjects for tests. */

export const createBudget = (spec: object): Budget =>
  compileBudget(BudgetSpec.parse({ id: 'b', window: { every: 'total' }, on_exceeded: 'stop', ...spec }));

export const SUBJECT: BudgetSubject = {
  scope: 'acme',
  user: 'alice',
  key: 'session',
  agent: 'support',
  model: 'fast',
  run: 'run-1',
};
