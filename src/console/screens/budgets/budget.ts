import { type Guarded, list, object, optional, text, withDefault } from '../../data/guard.ts';
import { recordsOf } from '../../data/records.ts';
import { Amounts } from './amounts.ts';

const Budget = object({
  id: text,
  per: withDefault(list(text), []),
  window: optional(object({ every: text, zone: optional(text) })),
  limits: Amounts,
  on_exceeded: text,
});
export type Budget = Guarded<typeof Budget>;

export const BUDGETS = recordsOf('budgets', Budget);
