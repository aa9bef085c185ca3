import type { Traces } from '../observability/traces/traces.ts';
import { constrains, type Expectation } from '../schema/dataset.ts';
import { Invalid, Unavailable } from '../schema/outcome.ts';
import type { Batch } from '../store/index.ts';
import { checkScore } from './checks.ts';
import type { Excerpt } from './curate.ts';
import type { Datasets } from './datasets.ts';
import type { DialogueRun } from './dialogue.ts';
import { readExcerpt, Uncuratable } from './trace-reading.ts';

/** Reads traces for curation, protects them from removal, and refers to them. */

export type Source = Pick<Traces, 'page' | 'list' | 'refer' | 'hold'>;

export type CurationDeps = {
  datasets: Datasets;
  /** Undefined if there is no trace store; nothing can be curated then. */
  traces: Source | undefined;
  settings: {
    /** Number of traces to examine if a request does not set one. */
    default_import_traces_max: number;
    /** True if captured arguments and results of tools are complete unless marked otherwise. */
    hasWholeToolIo: boolean;
  };
};

/** @throws Unavailable */
export const requireTraces = ({ traces }: CurationDeps): Source => {
  if (!traces) throw new Unavailable('trace store not configured');
  return traces;
};

/** @throws Invalid, NotFound, Uncuratable */
export const readRun = async (deps: CurationDeps, run_id: string): Promise<Excerpt> => {
  const excerpt = await readExcerpt(requireTraces(deps), run_id);
  return deps.settings.hasWholeToolIo ? excerpt : { ...excerpt, tool_results: [] };
};

/** Adds the run id to the reason, for requests with several runs. */
export const readNamedRun = async (deps: CurationDeps, run_id: string): Promise<Excerpt> => {
  try {
    return await readRun(deps, run_id);
  } catch (error) {
    if (error instanceof Uncuratable) throw new Uncuratable(`curating trace ${run_id}: ${error.message}`);
    throw error;
  }
};

export const readAll = async (deps: CurationDeps, run_ids: readonly string[]): Promise<DialogueRun[]> => {
  const all: DialogueRun[] = [];
  const kept = createAllowance();
  for (const run_id of run_ids) {
    const excerpt = await readNamedRun(deps, run_id);
    kept.take(excerpt);
    all.push({ run_id, excerpt });
  }
  return all;
};

/** Protects the traces from removal while `work` runs. */
export const holding = async <Result>(
  source: Source,
  run_ids: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> => {
  const releases = run_ids.map((run_id) => source.hold(run_id));
  try {
    return await work();
  } finally {
    for (const release of releases) release();
  }
};

export const referring =
  (source: Source, dataset_id: string, run_ids: readonly string[]) =>
  (batch: Batch): void => {
    for (const run_id of run_ids) source.refer(batch, run_id, { kind: 'dataset', id: dataset_id });
  };

export const checkExpected = (expected: Expectation): void => {
  if (!constrains(expected)) throw new Invalid('at least one expectation is required');
  checkScore(expected);
};

/** Maximum number of characters that one request keeps of traces. */
const MOST_KEPT = 64 * 2 ** 20;

export type Allowance = { take(excerpt: Excerpt): void };

export const createAllowance = (): Allowance => {
  let kept = 0;
  return {
    take({ size }) {
      kept += size;
      if (kept > MOST_KEPT)
        throw new Invalid(
          `the traces make fixtures of more than ${MOST_KEPT} characters, the most at once: ask for fewer`,
        );
    },
  };
};
