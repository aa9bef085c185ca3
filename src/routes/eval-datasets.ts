import { z } from 'zod';
import { ScriptMode } from '../evals/curate.ts';
import type { Curation } from '../evals/curation.ts';
import type { Datasets } from '../evals/datasets.ts';
import type { Evals } from '../evals/index.ts';
import { longListReply } from '../http/list-reply.ts';
import { reply, route } from '../http/route.ts';
import { Dataset, DatasetSpec, Expectation, Fixture, MOST } from '../schema/dataset.ts';
import { nullsAbsent } from '../schema/endpoint.ts';
import { ErrorBody } from '../schema/error-body.ts';
import type { Accept } from '../schema/idempotency.ts';
import type { JsonObject } from '../schema/json.ts';
import { Invalid, NotFound } from '../schema/outcome.ts';
import { count } from '../schema/paging.ts';
import { DatasetId } from './parameters.ts';
import type { RouteDeps } from './route-deps.ts';

/** Datasets of evals, and their fixtures from runs (evals-and-traces.md 4). */

const whole = count.transform(Number);

const u64 = z.int().nonnegative();

const DatasetParams = z.object({ id: DatasetId });

const ListQuery = z.strictObject({
  offset: whole.optional().meta({ description: 'datasets to skip' }),
  limit: whole
    .transform((limit) => Math.min(200, Math.max(1, limit)))
    .optional()
    .meta({ description: 'clamped to 1..200; default: all' }),
});

const IdQuery = z.strictObject({
  id: z.string().optional().meta({ description: 'takes precedence over the body' }),
});

const RevisionQuery = z.strictObject({
  expected_revision: whole.optional().meta({ description: '0 for a dataset that does not exist' }),
});

const NewDataset = nullsAbsent(z.strictObject({ id: z.string().optional(), spec: DatasetSpec })).meta({
  id: 'NewDataset',
  description: 'A new dataset.',
});

const ChangedDataset = nullsAbsent(
  z.strictObject({ spec: DatasetSpec, expected_revision: u64.optional() }),
).meta({ id: 'ChangedDataset', description: 'The content of a dataset.' });

const NewFixture = nullsAbsent(z.strictObject({ fixture: Fixture, expected_revision: u64 })).meta({
  id: 'NewFixture',
  description: 'A fixture for a dataset of this revision.',
});

const curated = {
  expected: Expectation.optional().meta({ description: 'at least one expectation' }),
  expect: Expectation.optional().meta({ description: 'alias of `expected`' }),
  provider_script_mode: ScriptMode.default('optional'),
};

type Expected = { expected?: Expectation | undefined; expect?: Expectation | undefined };

const checkExpectedOnce = ({ expected, expect }: Expected, context: z.RefinementCtx): void => {
  if (expected !== undefined && expect !== undefined)
    context.addIssue('`expected` and `expect` are the same field: give one of them');
};

const expectedIn = ({ expected, expect }: Expected): Expectation => expected ?? expect ?? {};

const Dialogue = nullsAbsent(
  z.strictObject({
    run_ids: z.array(z.string()).max(MOST.turns),
    fixture_id: z.string().optional().meta({ description: 'default: the first run' }),
    description: z.string().optional(),
  }),
).meta({ id: 'CuratedDialogue', description: 'Runs of a thread, in order.' });

const NewItem = nullsAbsent(
  z
    .strictObject({
      ...curated,
      from_run_id: z.string().optional(),
      dialogue: Dialogue.optional(),
      user_input: z.string().optional().meta({ description: 'default: that of the trace' }),
      fixture_id: z.string().optional().meta({ description: 'default: the run' }),
      description: z.string().optional(),
      allow_unused_provider_script: z.boolean().default(false),
    })
    .superRefine(checkExpectedOnce)
    .superRefine(({ from_run_id, dialogue, user_input }, context) => {
      if ((from_run_id === undefined) === (dialogue === undefined))
        context.addIssue('give either `from_run_id` or `dialogue`');
      if (dialogue !== undefined && user_input !== undefined)
        context.addIssue('`user_input` goes with `from_run_id` only');
    }),
).meta({
  id: 'NewDatasetItem',
  description: 'Source of a fixture: the trace of a run, or a dialogue.',
});
type NewItem = z.output<typeof NewItem>;

const TraceImport = nullsAbsent(
  z
    .strictObject({
      ...curated,
      expected_revision: u64,
      agent_id: z.string().optional(),
      since_secs: u64.optional().meta({ description: 'inclusive, of the start of the run' }),
      max_count: u64.optional().meta({ description: 'number of traces to read, newest first' }),
      skip_uncuratable: z.boolean().default(false),
    })
    .superRefine(checkExpectedOnce),
).meta({ id: 'TraceImport', description: 'Which traces become fixtures.' });

const DialogueImport = nullsAbsent(
  z
    .strictObject({
      ...curated,
      expected_revision: u64,
      run_ids: z.array(z.string()).max(MOST.turns),
      fixture_id: z.string().optional().meta({ description: 'default: the first run' }),
      description: z.string().optional(),
    })
    .superRefine(checkExpectedOnce),
).meta({ id: 'DialogueImport', description: 'Which runs become the turns of a fixture.' });

const DatasetList = z
  .object({
    datasets: z.array(
      z.object({ id: z.string(), description: z.string(), fixture_count: z.int(), revision: z.int() }),
    ),
  })
  .meta({ id: 'DatasetList', description: 'Datasets without their fixtures.' });

const Imported = z
  .object({ imported_count: z.int(), skipped_count: z.int(), dataset_revision: z.int() })
  .meta({ id: 'ImportedTraces', description: 'Number of created fixtures.' });

const ImportedDialogue = z
  .object({ fixture_id: z.string(), dataset_revision: z.int() })
  .meta({ id: 'ImportedDialogue', description: 'The new fixture.' });

const admin = { tag: 'evals', needs: 'evaluate', bodyLimit: 'evals' } as const;
const refusedWrites = { 404: ErrorBody, 409: ErrorBody };

/** The routes exist only if they are exposed. */
export const evalDatasetRoutes = ({ evals, settings }: Pick<RouteDeps, 'evals' | 'settings'>) =>
  settings.AdminApiConfig.expose_eval_routes
    ? [...collectionRoutes(evals.datasets), ...datasetRoutes(evals.datasets), ...curationRoutes(evals)]
    : [];

const respond = (dataset: Dataset) => reply(201, dataset);

const itself = <Value>(value: Value): Value => value;

/** A dataset that is too long to be stored with the key is returned as it is now. */
const repeatable = (datasets: Datasets) =>
  ({
    idempotent: true,
    again: (_: unknown, { id }: JsonObject) => respond(existing(datasets, String(id))),
  }) as const;

/** @throws NotFound */
const existing = (datasets: Datasets, id: string): Dataset => {
  const dataset = datasets.get(id);
  if (!dataset) throw new NotFound(`dataset not found: ${id}`);
  return dataset;
};

const collectionRoutes = (datasets: Datasets) => [
  route.get('/v1/eval/datasets', {
    ...admin,
    id: 'listDatasets',
    summary: 'Datasets by id, without their fixtures',
    description: 'With the revisions that changes must name.',
    query: ListQuery,
    responses: { 200: DatasetList },
    handle({ query }) {
      const rows = datasets
        .list(query)
        .map(({ id, description, fixture_count, meta: { revision } }) =>
          JSON.stringify({ id, description, fixture_count, revision }),
        );
      return longListReply('datasets', rows);
    },
  }),
  route.post('/v1/eval/datasets', {
    ...admin,
    id: 'createDataset',
    summary: 'Create a dataset',
    description: 'The id is in the query or in the body. 409 when it exists.',
    query: IdQuery,
    body: NewDataset,
    responses: { 201: Dataset, 409: ErrorBody },
    ...repeatable(datasets),
    async handle({ query, body, keyed }) {
      const id = query.id ?? body.id;
      if (id === undefined) throw new Invalid('dataset id is required');
      return respond(
        await datasets.create(
          id,
          body.spec,
          keyed?.answers(respond, () => ({ id })),
        ),
      );
    },
  }),
];

const datasetRoutes = (datasets: Datasets) => [
  route.get('/v1/eval/datasets/:id', {
    ...admin,
    id: 'getDataset',
    summary: 'One dataset',
    description: 'With all of its fixtures and its revision.',
    params: DatasetParams,
    responses: { 200: Dataset, 404: ErrorBody },
    handle: ({ params: { id } }) => existing(datasets, id),
  }),
  route.put('/v1/eval/datasets/:id', {
    ...admin,
    id: 'replaceDataset',
    summary: 'Replace a dataset, or create it with expected revision 0',
    description: '409 when the revision is not `expected_revision`.',
    params: DatasetParams,
    body: ChangedDataset,
    responses: { 200: Dataset, ...refusedWrites },
    handle: ({ params, body }) => datasets.replace(params.id, body.spec, body.expected_revision),
  }),
  route.delete('/v1/eval/datasets/:id', {
    ...admin,
    id: 'deleteDataset',
    summary: 'Delete a dataset; its eval runs are kept',
    description: '409 when the revision is not `expected_revision`.',
    params: DatasetParams,
    query: RevisionQuery,
    responses: { 204: 'removed, or not there', 409: ErrorBody },
    async handle({ params, query }) {
      await datasets.remove(params.id, query.expected_revision);
      return reply(204);
    },
  }),
  route.post('/v1/eval/datasets/:id/fixtures', {
    ...admin,
    id: 'addFixture',
    summary: 'Append a fixture',
    description: '409 when the revision is not `expected_revision`, or when the id exists.',
    params: DatasetParams,
    body: NewFixture,
    responses: { 201: Dataset, ...refusedWrites },
    ...repeatable(datasets),
    async handle({ params: { id }, body, keyed }) {
      const accept = keyed?.answers(respond, () => ({ id }));
      return respond(await datasets.append(id, body.fixture, body.expected_revision, accept));
    },
  }),
];

const curationRoutes = ({ curation, datasets }: Pick<Evals, 'curation' | 'datasets'>) => [
  route.post('/v1/eval/datasets/:id/items', {
    ...admin,
    id: 'curateFixture',
    summary: 'Create a fixture from the trace of a run or the traces of a dialogue',
    description: 'Give either `from_run_id` or `dialogue`.',
    params: DatasetParams,
    body: NewItem,
    responses: { 201: Dataset, ...refusedWrites },
    ...repeatable(datasets),
    handle: async ({ params: { id }, body, keyed }) =>
      respond(
        await curateItem(
          curation,
          id,
          body,
          keyed?.answers(respond, () => ({ id })),
        ),
      ),
  }),
  route.post('/v1/eval/datasets/:id/import-traces', {
    ...admin,
    id: 'importTraces',
    summary: 'Create fixtures from the newest traces',
    description:
      'Each run becomes one fixture; with `skip_uncuratable` unusable runs are counted and skipped.',
    params: DatasetParams,
    body: TraceImport,
    responses: { 200: Imported, ...refusedWrites },
    idempotent: true,
    handle: ({ params, body, keyed }) =>
      curation.importTraces(
        params.id,
        { ...body, expected: expectedIn(body), mode: body.provider_script_mode },
        keyed?.answers(itself),
      ),
  }),
  route.post('/v1/eval/datasets/:id/import-dialogue', {
    ...admin,
    id: 'importDialogue',
    summary: 'Create a fixture from runs of a thread',
    description: 'Each run is a turn, in the order of `run_ids`.',
    params: DatasetParams,
    body: DialogueImport,
    responses: { 200: ImportedDialogue, ...refusedWrites },
    idempotent: true,
    handle: ({ params, body, keyed }) =>
      curation.importDialogue(
        params.id,
        { ...body, expected: expectedIn(body), mode: body.provider_script_mode },
        keyed?.answers(itself),
      ),
  }),
];

const curateItem = (
  curation: Curation,
  dataset_id: string,
  item: NewItem,
  keyed: Accept<Dataset> | undefined,
): Promise<Dataset> => {
  const { from_run_id, dialogue, fixture_id, description, allow_unused_provider_script: allow_unused } = item;
  const of = { expected: expectedIn(item), mode: item.provider_script_mode, allow_unused };
  if (dialogue)
    return curation.curateDialogue(
      dataset_id,
      {
        ...of,
        run_ids: dialogue.run_ids,
        fixture_id: dialogue.fixture_id ?? fixture_id,
        description: dialogue.description ?? description,
      },
      keyed,
    );
  return curation.curate(
    dataset_id,
    {
      ...of,
      // Validation requires one of the two ids.
      from_run_id: from_run_id ?? '',
      user_input: item.user_input,
      fixture_id,
      description,
    },
    keyed,
  );
};
