import { type Compactor, createCompactor } from '../plugins/context/compactor.ts';
import type { Clock, Ids } from '../schema/clock.ts';
import type { ResolvedAgent } from './agent.ts';
import { modelHistory } from './history.ts';

/**
 * The compactor of a thread, made when the first agent asks for one. It outlives the run that it was begun in: what
 * one short run begins, the next one takes over.
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
