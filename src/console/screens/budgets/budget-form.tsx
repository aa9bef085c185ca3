import type { EntryDescriptor } from '../../entry/EntryFields.tsx';
import texts from './texts.json' with { type: 'json' };

export const BUDGET: EntryDescriptor = {
  namespace: 'budgets',
  entity: 'entity.budget',
  texts,
  start: { id: '', window: { every: 'month' }, limits: {}, on_exceeded: 'pause' },
  fields: () => ['id', 'limits', 'window', 'per', 'match', 'on_exceeded', 'warn_at', 'unpriced'],
};
