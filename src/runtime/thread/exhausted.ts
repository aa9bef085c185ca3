import type { ResolvedAgent } from '../../loop/agent.ts';
import { BudgetExhausted } from '../../schema/outcome.ts';
import type { RuntimeDeps } from '../deps.ts';
import { type Spender, subjectOfNew } from '../run/payer.ts';

/** Refuses new work while a budget that stops runs is exhausted. @throws BudgetExhausted */
export function refuseExhausted(
  { meter }: Pick<RuntimeDeps, 'meter'>,
  scope: string,
  agent: Pick<ResolvedAgent, 'spec' | 'model'>,
  spender?: Spender,
): void {
  if (!meter?.isActive()) return;
  const reached = meter.exhausted(subjectOfNew(scope, agent, spender));
  if (reached) throw new BudgetExhausted(reached);
}
