import { Invalid } from '../../schema/outcome.ts';
import type { Run } from '../../schema/run.ts';
import type { Batch } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { payerOf } from './payer.ts';

/** Counts a run as used, in the commit with which it starts. */
export const countStart = (deps: CountDeps, batch: Batch, scope: string, run: Run): void =>
  deps.usage?.add(batch, payerOf(scope, run), {
    agent: run.agent_id,
    model: modelOf(deps, run),
    runs: 1,
  });

type CountDeps = Pick<RuntimeDeps, 'usage' | 'resolve'>;

/** Empty for a run whose agent was removed while the run was queued. */
const modelOf = ({ resolve }: CountDeps, { agent_id, resolution_id }: Run): string => {
  try {
    return resolve(agent_id, resolution_id).model.id;
  } catch (error) {
    if (error instanceof Invalid) return '';
    throw error;
  }
};
