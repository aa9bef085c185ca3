import type { Routes } from '../../src/models/route.ts';

/** Models as they are: nothing is tried again, and nothing waits. Of a pool the first member answers. */
export const plainRoutes: Routes = {
  model: (model) => () => model,
  pool: (spec, models) => () => {
    const [first] = models.values();
    if (!first) throw new Error(`pool ${spec.id} has no member`);
    return { ...first, id: spec.id };
  },
};
