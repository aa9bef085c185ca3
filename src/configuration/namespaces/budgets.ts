import { BudgetSpec } from '../../schema/budget.ts';
import { parseWorded } from '../../schema/problems.ts';
import { entrySchema } from './json-schema.ts';
import { type Namespace, PLAIN, withoutOverrides } from './namespace.ts';

/** Entries are stored and returned as submitted. */
export const budgetsNamespace: Namespace = {
  ...PLAIN,
  name: 'budgets',
  schema: entrySchema('Budget', BudgetSpec),
  check: (spec) => {
    parseWorded('budget spec', BudgetSpec, spec);
    return spec;
  },
  effective: withoutOverrides('budgets'),
};
