import type { Dataset, Expectation, Fixture } from '../schema/dataset.ts';
import type { Accept } from '../schema/idempotency.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import type { DatasetHead } from '../store/index.ts';
import { createFixture, createScript, type Excerpt, findProblem, type ScriptMode } from './curate.ts';
import {
  type CurationDeps,
  checkExpected,
  holding,
  readAll,
  readRun,
  referring,
  requireTraces,
} from './curation-source.ts';
import { acceptWhole, checkRevision, type Datasets, type Extended, taken } from './datasets.ts';
import { type DialogueRequest, stitch } from './dialogue.ts';
import { type Imported, type ImportRequest, importTraces } from './import-traces.ts';
import { Uncuratable } from './trace-reading.ts';

/**
 * Converts traces and dialogues of real runs to test cases in datasets (evals-and-traces.md 4.7 to 4.9).
 *
 * Guarantees: a trace that a fixture refers to is kept. It is protected from before it is read until its reference is
 * written, and the reference is committed together with the fixture; if nothing is written, no reference exists.
 */

export type CurateRequest = {
  from_run_id: string;
  expected: Expectation;
  user_input?: string | undefined;
  fixture_id?: string | undefined;
  description?: string | undefined;
  allow_unused?: boolean | undefined;
  mode: ScriptMode;
};

export type CurateDialogueRequest = DialogueRequest & { run_ids: readonly string[] };

export type ImportDialogueRequest = CurateDialogueRequest & { expected_revision: number };

export type ImportedDialogue = { fixture_id: string; dataset_revision: number };

/** All methods throw Unavailable, Invalid, NotFound and Conflict. */
export type Curation = {
  curate(dataset_id: string, request: CurateRequest, keyed?: Accept<Dataset>): Promise<Dataset>;
  curateDialogue(
    dataset_id: string,
    request: CurateDialogueRequest,
    keyed?: Accept<Dataset>,
  ): Promise<Dataset>;
  importTraces(dataset_id: string, request: ImportRequest, keyed?: Accept<Imported>): Promise<Imported>;
  importDialogue(
    dataset_id: string,
    request: ImportDialogueRequest,
    keyed?: Accept<ImportedDialogue>,
  ): Promise<ImportedDialogue>;
};

export const createCuration = (deps: CurationDeps): Curation => ({
  curate: (dataset_id, request, keyed) => curate(deps, dataset_id, request, keyed),
  curateDialogue: (dataset_id, request, keyed) => curateDialogue(deps, dataset_id, request, keyed),
  importTraces: (dataset_id, request, keyed) => importTraces(deps, dataset_id, request, keyed),
  importDialogue: (dataset_id, request, keyed) => importDialogue(deps, dataset_id, request, keyed),
});

const curate = async (
  deps: CurationDeps,
  dataset_id: string,
  request: CurateRequest,
  keyed: Accept<Dataset> | undefined,
): Promise<Dataset> => {
  const source = requireTraces(deps);
  const { datasets } = deps;
  const { from_run_id, fixture_id = from_run_id, mode } = request;
  checkExpected(request.expected);
  return holding(source, [from_run_id], async () => {
    const excerpt = await readRun(deps, from_run_id).catch(curating);
    const problem = findProblem(excerpt, mode);
    if (problem !== undefined) throw new Invalid(`curating trace: ${problem}`);
    const make = (): Fixture[] => {
      checkNew(datasets, dataset_id, fixture_id);
      return [curatedFrom(excerpt, request)];
    };
    const along = referring(source, dataset_id, [from_run_id]);
    await datasets.extend(dataset_id, make, along, acceptWhole(keyed));
    return written(datasets, dataset_id);
  });
};

const curateDialogue = async (
  deps: CurationDeps,
  dataset_id: string,
  request: CurateDialogueRequest,
  keyed: Accept<Dataset> | undefined,
): Promise<Dataset> => {
  requireTraces(deps);
  checkDialogue(request);
  await addDialogue(deps, dataset_id, request, { check() {}, keyed: acceptWhole(keyed) });
  return written(deps.datasets, dataset_id);
};

const importDialogue = async (
  deps: CurationDeps,
  dataset_id: string,
  request: ImportDialogueRequest,
  keyed: Accept<ImportedDialogue> | undefined,
): Promise<ImportedDialogue> => {
  requireTraces(deps);
  const { datasets } = deps;
  const { run_ids, expected_revision, fixture_id = run_ids[0] ?? '' } = request;
  checkDialogue(request);
  checkRevision(datasets.head(dataset_id), expected_revision);
  checkNew(datasets, dataset_id, fixture_id);
  const check = (known: DatasetHead): void => checkRevision(known, expected_revision);
  const imported = ({ meta }: DatasetHead): ImportedDialogue => ({
    fixture_id,
    dataset_revision: meta.revision,
  });
  const accept = keyed && (({ head }: Extended) => keyed(imported(head)));
  return imported(await addDialogue(deps, dataset_id, request, { check, keyed: accept }));
};

const addDialogue = (
  deps: CurationDeps,
  dataset_id: string,
  request: CurateDialogueRequest,
  { check, keyed }: { check(known: DatasetHead): void; keyed: Accept<Extended> | undefined },
): Promise<DatasetHead> => {
  const source = requireTraces(deps);
  const { datasets } = deps;
  const { run_ids } = request;
  return holding(source, run_ids, async () => {
    const fixture = stitch(await readAll(deps, run_ids), request);
    const make = (known: DatasetHead): Fixture[] => {
      check(known);
      checkNew(datasets, dataset_id, fixture.id);
      return [fixture];
    };
    return datasets.extend(dataset_id, make, referring(source, dataset_id, run_ids), keyed);
  });
};

/** Read in the event-loop tick in which the write became visible, so no other write can have happened since. */
const written = (datasets: Datasets, dataset_id: string): Dataset => {
  const dataset = datasets.get(dataset_id);
  if (!dataset) throw new NotFound(`dataset not found: ${dataset_id}`);
  return dataset;
};

const checkNew = (datasets: Datasets, dataset_id: string, fixture_id: string): void => {
  if (datasets.hasFixture(dataset_id, fixture_id)) throw taken(dataset_id, fixture_id);
};

const checkDialogue = ({ run_ids, expected }: CurateDialogueRequest): void => {
  if (run_ids.length === 0) throw new Invalid('run_ids must be non-empty');
  checkExpected(expected);
};

const curating = (error: unknown): never => {
  if (error instanceof Uncuratable) throw new Invalid(`curating trace: ${error.message}`);
  throw error;
};

const curatedFrom = (excerpt: Excerpt, request: CurateRequest): Fixture => {
  const { from_run_id, user_input = excerpt.user_input } = request;
  if (user_input === undefined)
    throw new Invalid(`the trace of run ${from_run_id} has captured no input of a user: give \`user_input\``);
  return createFixture(
    {
      id: request.fixture_id ?? from_run_id,
      description: request.description ?? `Curated from trace ${from_run_id}`,
      user_input,
      source_run_id: from_run_id,
      expect: request.expected,
      allow_unused_provider_script: request.allow_unused,
    },
    excerpt,
    createScript(excerpt, request.mode),
  );
};
