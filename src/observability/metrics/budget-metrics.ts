import { createCounter, type Families } from './families.ts';

/** Counts of exceeded budgets. */
export const createBudgetMetrics = (families: Families) => {
  const exceeded = createCounter(families, ['budget', 'action'], {
    suffix: 'budget_exceeded_total',
    help: 'Limits of budgets that were exceeded, once per counter and window',
  });
  return {
    exceeded(budget: string, action: string) {
      exceeded.add(1, budget, action);
    },
  };
};
