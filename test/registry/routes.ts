import type { Model } from '../../src/models/model.ts';
import { watchSink } from '../../src/models/opening.ts';
import type { Route, Routes } from '../../src/models/route.ts';

/** One model, however often it is asked for, which is not heard behind its signal. */
const plain = (model: Model): Route => {
  const watched: Model = {
    ...model,
    stream: (request, sink, signal) => model.stream(request, watchSink(sink, signal).sink, signal),
  };
  return () => watched;
};

/** Models as they are: nothing is tried again, and nothing waits. Of a pool the first member answers. */
export const plainRoutes: Routes = {
  model: plain,
  pool: (spec, models) => {
    const [first] = models.values();
    if (!first) throw new Error(`pool ${spec.id} has no member`);
    return plain({ ...first, id: spec.id });
  },
};
