import { constrains, type Dataset, type Expectation, type Fixture } from '../schema/dataset.ts';
import { Invalid, NotFound, Unavailable } from '../schema/outcome.ts';
import type { TraceSummary } from '../schema/trace.ts';
import type { Batch, DatasetHead } from '../store/index.ts';
import type { Traces } from '../traces/traces.ts';
import { type Excerpt, fixtureOf, problemOf, type ScriptMode, scriptOf } from './curate.ts';
import { checkRevision, checkScore, type Datasets, taken } from './datasets.ts';
import { type DialogueRequest, type Said, stitch } from './dialogue.ts';
import { readExcerpt, Uncuratable } from './trace-reading.ts';

/**
 * Real runs become test cases: traces and dialogues into datasets (evals-and-traces.md 4.7 to 4.9).
 *
 * Guarantees: a trace that a fixture names stays. From before it is read until its reference is written nobody removes
 * it, and the reference is in the commit of the fixture; where nothing is written, nothing refers to it.
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

export type Curation = {
  /** @throws Unavailable, Invalid, NotFound, Conflict */
  curate(dataset_id: string, request: CurateRequest): Promise<Dataset>;
  /** @throws Unavailable, Invalid, NotFound, Conflict */
  curateDialogue(dataset_id: string, request: CurateDialogueRequest): Promise<Dataset>;
  /** @throws Unavailable, Invalid, NotFound, Conflict */
  importTraces(dataset_id: string, request: ImportRequest): Promise<Imported>;
  /** @throws Unavailable, Invalid, NotFound, Conflict */
  importDialogue(
    dataset_id: string,
    request: CurateDialogueRequest & { expected_revision: number },
  ): Promise<{ fixture_id: string; dataset_revision: number }>;
};

type Source = Pick<Traces, 'page' | 'list' | 'refer' | 'hold'>;

type Deps = {
  datasets: Datasets;
  /** Without it there is nothing to curate. */
  traces: Source | undefined;
  settings: {
    /** Traces that are looked at when nobody says how many. */
    default_import_traces_max: number;
    /** Whether captured arguments and results of tools are all that there was, where they do not say otherwise. */
    hasWholeToolIo: boolean;
  };
};

/** Characters of what one request keeps of traces. */
const MOST_KEPT = 64 * 2 ** 20;

export const createCuration = ({ datasets, traces, settings }: Deps): Curation => {
  const source = (): Source => {
    if (!traces) throw new Unavailable('trace store not configured');
    return traces;
  };

  const read = async (run_id: string): Promise<Excerpt> => {
    const excerpt = await readExcerpt(source(), run_id);
    return settings.hasWholeToolIo ? excerpt : { ...excerpt, tool_results: [] };
  };

  const readAll = async (run_ids: readonly string[]): Promise<Said[]> => {
    const all: Said[] = [];
    const kept = createAllowance();
    for (const run_id of run_ids) {
      const excerpt = await naming(run_id, () => read(run_id));
      kept.take(excerpt);
      all.push({ run_id, excerpt });
    }
    return all;
  };

  const referring = (dataset_id: string, run_ids: readonly string[]) => (batch: Batch) => {
    for (const run_id of run_ids) source().refer(batch, run_id, { kind: 'dataset', id: dataset_id });
  };

  /** Nobody removes these meanwhile. */
  const holding = async <Result>(
    run_ids: readonly string[],
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const releases = run_ids.map((run_id) => source().hold(run_id));
    try {
      return await work();
    } finally {
      for (const release of releases) release();
    }
  };

  const written = (dataset_id: string): Dataset => {
    const dataset = datasets.get(dataset_id);
    if (!dataset) throw new NotFound(`dataset not found: ${dataset_id}`);
    return dataset;
  };

  const checkNew = (dataset_id: string, fixture_id: string): void => {
    if (datasets.hasFixture(dataset_id, fixture_id)) throw taken(dataset_id, fixture_id);
  };

  /** What is no test case is left out or, unless that is asked for, refused. */
  const fixtureFrom = async (run_id: string, request: ImportRequest, kept: Allowance) => {
    try {
      const excerpt = await naming(run_id, () => read(run_id));
      const fixture = importedFrom(run_id, excerpt, request);
      kept.take(excerpt);
      return fixture;
    } catch (error) {
      // Nobody has removed it since it was listed, but somebody may have begun to before.
      if (error instanceof NotFound) return undefined;
      if (error instanceof Uncuratable && request.skip_uncuratable) return undefined;
      throw error;
    }
  };

  const importAll = async (dataset_id: string, candidates: TraceSummary[], request: ImportRequest) => {
    const fixtures: Fixture[] = [];
    const kept = createAllowance();
    for (const { run_id } of candidates) {
      if (datasets.hasFixture(dataset_id, run_id)) continue;
      const fixture = await fixtureFrom(run_id, request, kept);
      if (fixture) fixtures.push(fixture);
    }
    const make = (known: DatasetHead): Fixture[] => {
      checkRevision(known, request.expected_revision);
      return fixtures;
    };
    const run_ids = fixtures.map(({ id }) => id);
    const { meta } = await datasets.extend(dataset_id, make, referring(dataset_id, run_ids));
    return {
      imported_count: fixtures.length,
      skipped_count: candidates.length - fixtures.length,
      dataset_revision: meta.revision,
    };
  };

  return {
    async curate(dataset_id, request) {
      source();
      checkExpected(request.expected);
      const { from_run_id } = request;
      return holding([from_run_id], async () => {
        const excerpt = await read(from_run_id).catch(curating);
        const problem = problemOf(excerpt, request.mode);
        if (problem !== undefined) throw new Invalid(`curating trace: ${problem}`);
        const make = (): Fixture[] => {
          checkNew(dataset_id, request.fixture_id ?? from_run_id);
          return [curatedFrom(excerpt, request)];
        };
        await datasets.extend(dataset_id, make, referring(dataset_id, [from_run_id]));
        return written(dataset_id);
      });
    },
    async curateDialogue(dataset_id, request) {
      source();
      checkDialogue(request);
      const { run_ids } = request;
      return holding(run_ids, async () => {
        const fixture = stitch(await readAll(run_ids), request);
        const make = (): Fixture[] => {
          checkNew(dataset_id, fixture.id);
          return [fixture];
        };
        await datasets.extend(dataset_id, make, referring(dataset_id, run_ids));
        return written(dataset_id);
      });
    },
    async importTraces(dataset_id, request) {
      const listing = source();
      checkExpected(request.expected);
      checkRevision(datasets.head(dataset_id), request.expected_revision);
      const { agent_id, since_secs, max_count: limit = settings.default_import_traces_max } = request;
      const since = since_secs === undefined ? undefined : since_secs * 1000;
      const candidates = limit === 0 ? [] : listing.list({ agent_id, since, limit });
      const run_ids = candidates.map(({ run_id }) => run_id);
      return holding(run_ids, () => importAll(dataset_id, candidates, request));
    },
    async importDialogue(dataset_id, request) {
      source();
      checkDialogue(request);
      const { run_ids, expected_revision } = request;
      checkRevision(datasets.head(dataset_id), expected_revision);
      checkNew(dataset_id, request.fixture_id ?? run_ids[0] ?? '');
      return holding(run_ids, async () => {
        const fixture = stitch(await readAll(run_ids), request);
        const make = (known: DatasetHead): Fixture[] => {
          checkRevision(known, expected_revision);
          checkNew(dataset_id, fixture.id);
          return [fixture];
        };
        const { meta } = await datasets.extend(dataset_id, make, referring(dataset_id, run_ids));
        return { fixture_id: fixture.id, dataset_revision: meta.revision };
      });
    },
  };
};

type Allowance = { take(excerpt: Excerpt): void };

const createAllowance = (): Allowance => {
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

const checkExpected = (expected: Expectation): void => {
  if (!constrains(expected)) throw new Invalid('at least one expectation is required');
  checkScore(expected);
};

const checkDialogue = ({ run_ids, expected }: CurateDialogueRequest): void => {
  if (run_ids.length === 0) throw new Invalid('run_ids must be non-empty');
  checkExpected(expected);
};

const curating = (error: unknown): never => {
  if (error instanceof Uncuratable) throw new Invalid(`curating trace: ${error.message}`);
  throw error;
};

/** Where there are many, the reason names the one. */
const naming = async <Result>(run_id: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Uncuratable) throw new Uncuratable(`curating trace ${run_id}: ${error.message}`);
    throw error;
  }
};

const curatedFrom = (excerpt: Excerpt, request: CurateRequest): Fixture => {
  const { from_run_id, user_input = excerpt.user_input } = request;
  if (user_input === undefined)
    throw new Invalid(`the trace of run ${from_run_id} has captured no input of a user: give \`user_input\``);
  return fixtureOf(
    {
      id: request.fixture_id ?? from_run_id,
      description: request.description ?? `Curated from trace ${from_run_id}`,
      user_input,
      source_run_id: from_run_id,
      expect: request.expected,
      allow_unused_provider_script: request.allow_unused,
    },
    excerpt,
    scriptOf(excerpt, request.mode),
  );
};

/** @throws Uncuratable */
const importedFrom = (run_id: string, excerpt: Excerpt, { expected, mode }: ImportRequest): Fixture => {
  const { user_input } = excerpt;
  const problem = problemOf(excerpt, mode);
  if (problem !== undefined) throw new Uncuratable(`curating trace ${run_id}: ${problem}`);
  if (user_input === undefined)
    throw new Uncuratable(
      `curating trace ${run_id}: there is no input of a user in captured request_messages`,
    );
  const description = `Imported from trace ${run_id}`;
  return fixtureOf(
    { id: run_id, description, user_input, source_run_id: run_id, expect: expected },
    excerpt,
    scriptOf(excerpt, mode),
  );
};
