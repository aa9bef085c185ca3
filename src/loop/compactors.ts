import { type Compactor, createCompactor } from '../plugins/context/compactor.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { ResolvedAgent } from './agent.ts';
import { modelHistory } from './history.ts';

/**
 * The compactor of a thread, created for the first agent that needs one. It outlives the run that started a compaction,
 * so that the next run can use the summary.
 */
export const createCompactors = (deps: { clock: Clock; ids: Ids }) => {
  let current: { agent: string; compactor: Compactor } | undefined;
  return ({ spec, compaction }: ResolvedAgent): Compactor | undefined => {
    if (!compaction) return undefined;
    if (current?.agent !== spec.id) {
      current?.compactor.cancel();
      const compactor = createCompactor({ ...compaction, ...deps, view: modelHistory });
      current = { agent: spec.id, compactor };
    }
    return current.compactor;
  };
};

export type Compactors = ReturnType<typeof createCompactors>;
