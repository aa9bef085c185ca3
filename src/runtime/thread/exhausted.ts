import type { ResolvedAgent } from '../../loop/agent.ts';
import { BudgetExhausted } from '../../schema/outcome.ts';
import type { Run } from '../../schema/run.ts';
import type { Batch } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { payerOf, type Spender, subjectOfNew } from '../run/payer.ts';

/** Refuses a run of a sub-agent, or another new run, beyond the number that a budget allows. @throws RateLimited */
export function refuseExcessRuns(
  { meter }: Pick<RuntimeDeps, 'meter'>,
  scope: string,
  agent: Pick<ResolvedAgent, 'spec' | 'model'>,
  { spender, root }: { spender?: Spender | undefined; root?: string | undefined },
): void {
  if (!meter) return;
  const subject = subjectOfNew(scope, agent, spender);
  meter.checkRun(root === undefined ? subject : { ...subject, run: root });
}

/** Counts a new run, in the commit that creates it. */
export function countRun(
  { meter }: Pick<RuntimeDeps, 'meter'>,
  batch: Batch,
  { scope, run, agent }: { scope: string; run: Run; agent: Pick<ResolvedAgent, 'spec' | 'model'> },
): void {
  meter?.addRun(batch, { ...payerOf(scope, run), agent: agent.spec.id, model: agent.model.id });
}

/** Refuses new work while a budget is exhausted that would end its run. @throws BudgetExhausted */
export function refuseExhausted(
  { meter }: Pick<RuntimeDeps, 'meter'>,
  scope: string,
  agent: Pick<ResolvedAgent, 'spec' | 'model'>,
  { spender, canWait }: { spender: Spender | undefined; canWait: boolean },
): void {
  if (!meter?.isActive()) return;
  const reached = meter.exhausted(subjectOfNew(scope, agent, spender), canWait);
  if (reached) throw new BudgetExhausted(reached);
}
