import type { ResolvedAgent } from '../../loop/agent.ts';
import type { BudgetSubject } from '../../schema/budget.ts';
import { Invalid } from '../../schema/outcome.ts';
import { baseOf } from '../../schema/partition.ts';
import { ADMIN_NAME, ANONYMOUS_NAME, type Credential, nameOf } from '../../schema/principal.ts';
import type { Run } from '../../schema/run.ts';
import type { Payer } from '../../schema/spending.ts';
import type { RuntimeDeps } from '../deps.ts';

/** The user and the key that a run spends for. */

/** `key`: the kind of a credential that is no API key. */
export type Spender = Pick<Payer, 'user' | 'key'>;

export const ANONYMOUS: Spender = { user: ANONYMOUS_NAME, key: 'anonymous' };
export const ADMIN: Spender = { user: ADMIN_NAME, key: 'admin' };

/**
 * Returns the spender of a request, or of the run whose input it gave. Sessions and tickets that were created from a key
 * spend for it. Input without a credential is anonymous.
 */
export const spenderOf = (by: {
  user?: string | undefined;
  credential?: Credential | undefined;
}): Spender => {
  const { kind = ANONYMOUS.key, id, line } = by.credential ?? {};
  return { user: nameOf(by), key: line ?? (kind === 'key' ? id : undefined) ?? kind };
};

/** Runs of sub-agents spend for the root run. The record of a run is large, so it is not copied. */
export const payerOf = (
  scope: string,
  run: Pick<Run, 'run_id' | 'activation' | 'user' | 'credential'>,
): Payer => {
  const { user, key } = spenderOf(run);
  return { scope: baseOf(scope), user, key, run: run.activation?.trace.root_run_id ?? run.run_id };
};

/** Returns the subject of a run; its model is empty if its agent was removed while it was queued. */
export const subjectOfRun = (
  { resolve }: Pick<RuntimeDeps, 'resolve'>,
  scope: string,
  run: Pick<Run, 'run_id' | 'agent_id' | 'resolution_id' | 'activation' | 'user' | 'credential'>,
): BudgetSubject => {
  const { scope: base, user, key, run: root } = payerOf(scope, run);
  const model = modelOf(() => resolve(run.agent_id, run.resolution_id));
  return { scope: base, user, key, run: root, agent: run.agent_id, model };
};

const modelOf = (resolve: () => Pick<ResolvedAgent, 'model'>): string => {
  try {
    return resolve().model.id;
  } catch (error) {
    if (error instanceof Invalid) return '';
    throw error;
  }
};

/** The subject of a run that does not exist yet. */
export const subjectOfNew = (
  scope: string,
  { spec, model }: Pick<ResolvedAgent, 'spec' | 'model'>,
  spender: Spender = ANONYMOUS,
): BudgetSubject => ({ scope: baseOf(scope), ...spender, run: '', agent: spec.id, model: model.id });
