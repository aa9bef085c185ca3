import type { Model } from '../../src/models/model.ts';
import { watchSink } from '../../src/models/opening.ts';
import type { Route, Routes } from '../../src/models/route.ts';

/** A single model without retries, which ignores output after its signal was aborted. */
const plain = (model: Model): Route => {
  const watched: Model = {
    ...model,
    stream: (request, sink, signal) => model.stream(request, watchSink(sink, signal).sink, signal),
  };
  return () => watched;
};

/** Models without retries and delays. The first member of a pool serves all requests. */
export const plainRoutes: Routes = {
  model: plain,
  pool: (spec, models) => {
    const [first] = models.values();
    if (!first) throw new Error(`pool ${spec.id} has no member`);
    return plain({ ...first, id: spec.id });
  },
};
