import type { BudgetSpec } from '../schema/budget.ts';
import { compileGlob } from '../schema/glob.ts';
import type { ModelGap } from './models.ts';
import type { Records } from './records.ts';

/** Reports budgets that refuse models without prices, and budgets that apply to nothing. */

export type BudgetWarning = {
  code: 'budget_unpriced_model' | 'budget_matches_nothing';
  severity: 'warning';
  resource: { namespace: 'budgets'; id: string };
  depends_on?: { namespace: 'models'; id: string };
  message: string;
};

type Known = Pick<Records, 'agents' | 'models' | 'model_pools'>;

export const budgetWarnings = (
  budgets: readonly BudgetSpec[],
  known: Known,
  gaps: readonly ModelGap[],
): BudgetWarning[] => {
  const unpriced = gaps.filter(({ lacksPrices }) => lacksPrices).map(({ id }) => id);
  return budgets.flatMap((budget) => [...ofUnpriced(budget, known, unpriced), ...ofNothing(budget, known)]);
};

const ofUnpriced = (
  { id, match, limits, unpriced: how }: BudgetSpec,
  { model_pools }: Known,
  unpriced: readonly string[],
): BudgetWarning[] => {
  if (limits.usd === undefined || how === 'ignore') return [];
  const matches = compileGlob(match.model ?? '*');
  const isMatched = (model: string): boolean =>
    matches(model) ||
    model_pools.some((pool) => matches(pool.id) && pool.members.some(({ model_id }) => model_id === model));
  return unpriced.filter(isMatched).map((model) => ({
    code: 'budget_unpriced_model',
    severity: 'warning',
    resource: { namespace: 'budgets', id },
    depends_on: { namespace: 'models', id: model },
    message: `budget '${id}' refuses model '${model}', which has no price: set its prices, or 'unpriced' to 'ignore'`,
  }));
};

const ofNothing = ({ id, match }: BudgetSpec, { agents, models, model_pools }: Known): BudgetWarning[] => {
  const kinds = [
    { field: 'agent', pattern: match.agent, ids: agents },
    { field: 'model', pattern: match.model, ids: [...models, ...model_pools] },
  ];
  return kinds.flatMap(({ field, pattern, ids }) =>
    pattern === undefined || ids.some((entry) => compileGlob(pattern)(entry.id))
      ? []
      : {
          code: 'budget_matches_nothing',
          severity: 'warning',
          resource: { namespace: 'budgets', id },
          message: `budget '${id}' applies to nothing: no ${field} matches '${pattern}'`,
        },
  );
};
