import type { Expectation, Fixture } from '../schema/dataset.ts';
import type { Accept } from '../schema/idempotency.ts';
import { NotFound } from '../schema/outcome.ts';
import type { DatasetHead } from '../store/index.ts';
import { createFixture, createScript, type Excerpt, findProblem, type ScriptMode } from './curate.ts';
import {
  type Allowance,
  type CurationDeps,
  checkExpected,
  createAllowance,
  holding,
  readNamedRun,
  referring,
  requireTraces,
} from './curation-source.ts';
import { checkRevision, type Extended } from './datasets.ts';
import { Uncuratable } from './trace-reading.ts';

/** Imports the latest traces as fixtures, all or none (evals-and-traces.md 4.8). */

export type ImportRequest = {
  expected_revision: number;
  expected: Expectation;
  agent_id?: string | undefined;
  since_secs?: number | undefined;
  max_count?: number | undefined;
  skip_uncuratable: boolean;
  mode: ScriptMode;
};

export type Imported = { imported_count: number; skipped_count: number; dataset_revision: number };

export const importTraces = async (
  deps: CurationDeps,
  dataset_id: string,
  request: ImportRequest,
  keyed: Accept<Imported> | undefined,
): Promise<Imported> => {
  const source = requireTraces(deps);
  const { datasets, settings } = deps;
  checkExpected(request.expected);
  checkRevision(datasets.head(dataset_id), request.expected_revision);
  const { agent_id, since_secs, max_count: limit = settings.default_import_traces_max } = request;
  const since = since_secs === undefined ? undefined : since_secs * 1000;
  const candidates = limit === 0 ? [] : source.list({ agent_id, since, limit });
  const run_ids = candidates.map(({ run_id }) => run_id);
  return holding(source, run_ids, async () => {
    const fixtures = await fixturesFrom(deps, dataset_id, run_ids, request);
    const make = (known: DatasetHead): Fixture[] => {
      checkRevision(known, request.expected_revision);
      return fixtures;
    };
    const imported = fixtures.map(({ id }) => id);
    const result = ({ meta }: DatasetHead): Imported => ({
      imported_count: imported.length,
      skipped_count: run_ids.length - imported.length,
      dataset_revision: meta.revision,
    });
    const along = referring(source, dataset_id, imported);
    const accept = keyed && (({ head }: Extended) => keyed(result(head)));
    return result(await datasets.extend(dataset_id, make, along, accept));
  });
};

/** Skips fixtures that already exist. */
const fixturesFrom = async (
  deps: CurationDeps,
  dataset_id: string,
  run_ids: readonly string[],
  request: ImportRequest,
): Promise<Fixture[]> => {
  const fixtures: Fixture[] = [];
  const kept = createAllowance();
  for (const run_id of run_ids) {
    if (deps.datasets.hasFixture(dataset_id, run_id)) continue;
    const fixture = await fixtureFrom(deps, run_id, request, kept);
    if (fixture) fixtures.push(fixture);
  }
  return fixtures;
};

/** Uncuratable traces are skipped on request, and otherwise rejected. */
const fixtureFrom = async (
  deps: CurationDeps,
  run_id: string,
  request: ImportRequest,
  kept: Allowance,
): Promise<Fixture | undefined> => {
  try {
    const excerpt = await readNamedRun(deps, run_id);
    const fixture = importedFrom(run_id, excerpt, request);
    kept.take(excerpt);
    return fixture;
  } catch (error) {
    // A removal of the trace may have started before it was protected.
    if (error instanceof NotFound) return undefined;
    if (error instanceof Uncuratable && request.skip_uncuratable) return undefined;
    throw error;
  }
};

/** @throws Uncuratable */
const importedFrom = (run_id: string, excerpt: Excerpt, { expected, mode }: ImportRequest): Fixture => {
  const { user_input } = excerpt;
  const problem = findProblem(excerpt, mode);
  if (problem !== undefined) throw new Uncuratable(`curating trace ${run_id}: ${problem}`);
  if (user_input === undefined)
    throw new Uncuratable(
      `curating trace ${run_id}: there is no input of a user in captured request_messages`,
    );
  const description = `Imported from trace ${run_id}`;
  return createFixture(
    { id: run_id, description, user_input, source_run_id: run_id, expect: expected },
    excerpt,
    createScript(excerpt, mode),
  );
};
