import type { Live } from '../configuration/control-plane/live.ts';
import type { Traces } from '../observability/traces/traces.ts';
import { createUlids } from '../schema/ulid.ts';
import type { Directory, EvalLimits } from './checks.ts';
import { type Curation, createCuration } from './curation.ts';
import { createDatasets, type Datasets } from './datasets.ts';
import { createDirectory } from './directory.ts';
import { createEvalRuns, type EvalRuns, type EvalRunsDeps } from './runs.ts';
import { createSlots } from './slots.ts';

/**
 * Evaluations: datasets, curation of real runs into datasets, and the runs that execute them (evals-and-traces.md 3 to
 * 8).
 */

export type Evals = {
  datasets: Datasets;
  curation: Curation;
  runs: EvalRuns;
  directory: Directory;
  limits: EvalLimits;
};

type Deps = Omit<EvalRunsDeps, 'newId' | 'slots' | 'live' | 'traces'> & {
  live: Live;
  traces: Traces | undefined;
  settings: {
    limits: EvalLimits & { default_import_traces_max: number };
    /** True if captured arguments and results of tools are complete unless marked otherwise. */
    hasWholeToolIo: boolean;
  };
};

/** Minimum of concurrent cells of all runs; the limit of a single run is never reduced by it. */
const FEWEST_SLOTS = 32;

export const createEvals = (deps: Deps): Evals => {
  const { store, clock, live, traces, settings } = deps;
  const { limits, hasWholeToolIo } = settings;
  const { default_import_traces_max } = limits;
  const most = Math.max(FEWEST_SLOTS, limits.max_concurrent_matrix_cells, limits.max_concurrent_online_cells);
  const newUlid = createUlids();
  const datasets = createDatasets({ store, clock });
  const runs = createEvalRuns({ ...deps, newId: () => newUlid(clock.now()), slots: createSlots(most) });
  return {
    datasets,
    curation: createCuration({ datasets, traces, settings: { default_import_traces_max, hasWholeToolIo } }),
    runs,
    directory: createDirectory({ live, datasets, runs }),
    limits,
  };
};
