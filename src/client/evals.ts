import type { z } from 'zod';
import type { Dataset, DatasetSpec } from '../schema/dataset.ts';
import type { EvalFrame, EvalRunAnswer, EvalRunList } from '../schema/eval-answers.ts';
import type { EvalRun, EvalRunRequest, EvalRunSummary } from '../schema/eval-run.ts';
import { type Connection, call, path } from './connection.ts';
import { follow } from './follow.ts';
import type { KeyedOptions } from './keyed.ts';
import { type Paged, paged } from './pages.ts';

type Options = { signal?: AbortSignal };

/**
 * The eval runs to list, and the size and start of the page.
 *
 * @example
 * ```ts
 * const filter: EvalRunFilter = { dataset_id: 'greetings', status: 'all' };
 * for await (const { id, passed_count, item_count } of client.evals.runs.list(filter))
 *   console.log(id, `${passed_count} of ${item_count}`);
 * ```
 */
export type EvalRunFilter = {
  dataset_id?: string;
  /** Range of the start time in seconds since the epoch; the end is exclusive. */
  since_secs?: number;
  until_secs?: number;
  /** Default: `done`. */
  status?: 'done' | 'running' | 'cancelled' | 'all';
  limit?: number;
  cursor?: string;
};

/**
 * A dataset without its fixtures.
 *
 * @example
 * ```ts
 * const heads: DatasetHead[] = await client.evals.datasets.list();
 * for (const { id, fixture_count } of heads) console.log(id, fixture_count);
 * ```
 */
export type DatasetHead = { id: string; description: string; fixture_count: number; revision: number };

/**
 * Datasets and eval runs (evals-and-traces.md 3 to 8): `client.evals`. Requires admin rights.
 *
 * @example
 * ```ts
 * await client.evals.datasets.create('greetings', {
 *   fixtures: [{ id: 'hello', user_input: 'Hello', expect: { final_answer_contains: ['Hello'] } }],
 * });
 * const { id } = await client.evals.runs.start({ dataset_id: 'greetings', models: ['default'] });
 * for await (const frame of client.evals.runs.follow(id)) console.log(frame.progress);
 * ```
 */
export type Evals = {
  readonly datasets: {
    /** Lists datasets by id, all of them unless a page is requested. */
    list(page?: { offset?: number; limit?: number }, options?: Options): Promise<DatasetHead[]>;
    /** Returns a dataset with its fixtures. @throws NotFound */
    get(id: string, options?: Options): Promise<Dataset>;
    /** Stores a new dataset. @throws Conflict if the dataset exists; InvalidRequest */
    create(id: string, spec: z.input<typeof DatasetSpec>, options?: KeyedOptions): Promise<Dataset>;
    /** Replaces the content of a dataset. @throws NotFound; Conflict if the revision differs; InvalidRequest */
    replace(
      id: string,
      spec: z.input<typeof DatasetSpec>,
      expectedRevision?: number,
      options?: Options,
    ): Promise<Dataset>;
    /** Deletes a dataset, if it exists; its eval runs are kept. @throws Conflict if the revision differs */
    delete(id: string, expectedRevision?: number, options?: Options): Promise<void>;
  };
  readonly runs: {
    /** Starts a run without waiting for it. @throws NotFound, InvalidRequest */
    start(request: Omit<z.input<typeof EvalRunRequest>, 'async'>, options?: KeyedOptions): Promise<EvalRun>;
    /** Returns a run with its items. With `baseline`, the response contains a `diff`. @throws NotFound; Conflict while it runs */
    get(
      id: string,
      how?: { baseline?: string; aggregate?: 'samples' },
      options?: Options,
    ): Promise<EvalRunAnswer>;
    /** Lists runs, newest first. */
    list(filter?: EvalRunFilter, options?: Options): Paged<EvalRunList, EvalRunSummary>;
    /** Yields the current state, each completed item, and the end. @throws NotFound, ConnectionLost */
    follow(id: string, options?: Options): AsyncIterable<EvalFrame, void>;
    /** Ends the run with its current items. @throws NotFound */
    cancel(id: string, options?: Options): Promise<EvalRun>;
  };
};

export const createEvals = (connection: Connection): Evals => ({
  datasets: datasetsOf(connection),
  runs: evalRunsOf(connection),
});

const datasetsOf = (connection: Connection): Evals['datasets'] => ({
  list: async (query = {}, { signal } = {}) =>
    (await call<{ datasets: DatasetHead[] }>(connection, 'GET', DATASETS, { signal, query })).datasets,
  get: (id, options) => call(connection, 'GET', dataset(id), options),
  create: (id, spec, options) => call(connection, 'POST', DATASETS, { ...options, body: { id, spec } }),
  replace: (id, spec, expected_revision, { signal } = {}) =>
    call(connection, 'PUT', dataset(id), { signal, body: { spec, expected_revision } }),
  async delete(id, expected_revision, { signal } = {}) {
    await call(connection, 'DELETE', dataset(id), { signal, query: { expected_revision } });
  },
});

const evalRunsOf = (connection: Connection): Evals['runs'] => ({
  start: async (request, options) => {
    const body = { ...request, async: true };
    return (await call<EvalRunAnswer>(connection, 'POST', RUNS, { ...options, body })).run;
  },
  get: (id, query = {}, { signal } = {}) => call(connection, 'GET', evalRun(id), { signal, query }),
  list: ({ cursor, ...query } = {}, { signal } = {}) =>
    paged(
      (from) => call<EvalRunList>(connection, 'GET', RUNS, { signal, query: { ...query, cursor: from } }),
      ({ runs }) => runs,
      cursor,
    ),
  async *follow(id, { signal } = {}) {
    const frames = follow(connection, { target: `${evalRun(id)}/stream`, signal }, () => ({}));
    // The frames have the documented schema.
    for await (const frame of frames as AsyncGenerator<EvalFrame, void>) {
      yield frame;
      if ('status' in frame) return;
    }
  },
  cancel: async (id, options) =>
    (await call<EvalRunAnswer>(connection, 'POST', `${evalRun(id)}/cancel`, options)).run,
});

const DATASETS = '/v1/eval/datasets';
const RUNS = '/v1/eval/runs';

const dataset = (id: string): string => path`/v1/eval/datasets/${id}`;
const evalRun = (id: string): string => path`/v1/eval/runs/${id}`;
