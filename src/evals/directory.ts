import type { Live } from '../configuration/control-plane/live.ts';
import { DEFAULT_RETRY } from '../models/retry.ts';
import type { Directory } from './checks.ts';
import type { Datasets } from './datasets.ts';
import { comparedRun } from './diff.ts';
import type { EvalRuns } from './runs.ts';

/** The current entries that plans are validated against. */
export const createDirectory = ({
  live,
  datasets,
  runs,
}: {
  live: Pick<Live, 'spec' | 'models'>;
  datasets: Pick<Datasets, 'get'>;
  runs: Pick<EvalRuns, 'finished'>;
}): Directory => ({
  dataset: (id) => datasets.get(id),
  baseline(id) {
    const run = runs.finished(id);
    return run && comparedRun(run);
  },
  agent: (id) => live.spec(id),
  model: (id) => live.models().models.find((model) => model.id === id),
  hasProvider: (id) => live.models().providers.some((provider) => provider.id === id),
  connect: (id) => live.models().target(id).route(DEFAULT_RETRY),
});
