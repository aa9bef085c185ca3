import { z } from 'zod';
import { route } from '../http/route.ts';
import { BudgetUsage } from '../schema/budget.ts';
import { ErrorBody } from '../schema/error-body.ts';
import { NotFound } from '../schema/outcome.ts';
import { EntryParams } from './managed.ts';
import type { RouteDeps } from './route-deps.ts';

/** Counters of budgets. */
export const budgetRoutes = ({ budgetUsage }: Pick<RouteDeps, 'budgetUsage'>) => [
  route.get('/v1/budgets/:id/usage', {
    id: 'getBudgetUsage',
    summary: 'The counters of a budget',
    description:
      'The counters of the current window, the fullest first. What running inferences have reserved is not part of `spent`.',
    tag: 'config',
    needs: 'observe',
    params: EntryParams,
    query: z.object({
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(1000)
        .default(100)
        .meta({ description: 'number of counters' }),
    }),
    responses: { 200: BudgetUsage, 404: ErrorBody },
    handle({ params: { id }, query: { limit } }) {
      const usage = budgetUsage(id, limit);
      if (!usage) throw new NotFound(`not found: budgets/${id}`);
      return usage;
    },
  }),
];
