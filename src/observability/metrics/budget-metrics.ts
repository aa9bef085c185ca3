import { createCounter, type Families } from './families.ts';

/** Counts of exceeded budgets. */
export const createBudgetMetrics = (families: Families) => {
  const exceeded = createCounter(families, ['budget', 'action'], {
    suffix: 'budget_exceeded_total',
    help: 'Limits of budgets that were exceeded, once per counter and window',
  });
  const limited = createCounter(families, ['budget', 'limit'], {
    suffix: 'limited_total',
    help: 'Requests, event streams and runs that a budget has refused with 429',
  });
  return {
    limited(budget: string, limit: string) {
      limited.add(1, budget, limit);
    },
    exceeded(budget: string, action: string) {
      exceeded.add(1, budget, action);
    },
  };
};
