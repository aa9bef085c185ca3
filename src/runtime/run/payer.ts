import type { ResolvedAgent } from '../../loop/agent.ts';
import type { BudgetSubject } from '../../schema/budget.ts';
import type { Run } from '../../schema/run.ts';
import type { Payer } from '../../schema/spending.ts';

/** The user and the key that a run spends for. */

/** `key`: the kind of a credential that is no API key. */
export type Spender = Pick<Payer, 'user' | 'key'>;

export const ANONYMOUS: Spender = { user: '~anonymous', key: 'anonymous' };
export const ADMIN: Spender = { user: '~admin', key: 'admin' };

/** Runs of sub-agents spend for the root run. */
export const payerOf = (
  scope: string,
  { run_id, activation }: Pick<Run, 'run_id' | 'activation'>,
): Payer => ({ scope, ...ANONYMOUS, run: activation?.trace.root_run_id ?? run_id });

/** The subject of a run that does not exist yet. */
export const subjectOfNew = (
  scope: string,
  { spec, model }: Pick<ResolvedAgent, 'spec' | 'model'>,
  spender: Spender = ANONYMOUS,
): BudgetSubject => ({ scope, ...spender, run: '', agent: spec.id, model: model.id });
