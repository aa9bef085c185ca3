import type { z } from 'zod';
import type { Dataset, DatasetSpec } from '../schema/dataset.ts';
import type { EvalFrame, EvalRunAnswer, EvalRunList } from '../schema/eval-answers.ts';
import type { EvalRun, EvalRunRequest, EvalRunSummary } from '../schema/eval-run.ts';
import { type Connection, call, path } from './connection.ts';
import { follow } from './follow.ts';
import { type Paged, paged } from './pages.ts';

/** Datasets and eval runs. Needs the rights of an admin. */

type Options = { signal?: AbortSignal };

export type EvalRunFilter = {
  dataset_id?: string;
  /** Of the start, in seconds since the epoch; the second is exclusive. */
  since_secs?: number;
  until_secs?: number;
  /** Default: those that are done. */
  status?: 'done' | 'running' | 'cancelled' | 'all';
  limit?: number;
  cursor?: string;
};

/** A dataset without its fixtures. */
export type DatasetHead = { id: string; description: string; fixture_count: number; revision: number };

export type Evals = {
  readonly datasets: {
    list(page?: { offset?: number; limit?: number }, options?: Options): Promise<DatasetHead[]>;
    /** @throws NotFound */
    get(id: string, options?: Options): Promise<Dataset>;
    /** @throws Conflict when there is one */
    create(id: string, spec: z.input<typeof DatasetSpec>, options?: Options): Promise<Dataset>;
    /** @throws Conflict when the revision is another one */
    replace(
      id: string,
      spec: z.input<typeof DatasetSpec>,
      expectedRevision?: number,
      options?: Options,
    ): Promise<Dataset>;
    /** @throws Conflict when the revision is another one */
    delete(id: string, expectedRevision?: number, options?: Options): Promise<void>;
  };
  readonly runs: {
    /** Begins one, and does not wait for it. @throws NotFound, InvalidRequest */
    start(request: Omit<z.input<typeof EvalRunRequest>, 'async'>, options?: Options): Promise<EvalRun>;
    /** With `baseline`, `diff` says what is other than there. @throws NotFound; Conflict while it runs */
    get(
      id: string,
      how?: { baseline?: string; aggregate?: 'samples' },
      options?: Options,
    ): Promise<EvalRunAnswer>;
    /** The newest first. */
    list(filter?: EvalRunFilter, options?: Options): Paged<EvalRunList, EvalRunSummary>;
    /** What there is, each item as it is done, and the end. @throws NotFound, ConnectionLost */
    follow(id: string, options?: Options): AsyncIterable<EvalFrame, void>;
    /** Ends it with the items that it has. @throws NotFound */
    cancel(id: string, options?: Options): Promise<EvalRun>;
  };
};

export const evalsOf = (connection: Connection): Evals => ({
  datasets: datasetsOf(connection),
  runs: evalRunsOf(connection),
});

const datasetsOf = (connection: Connection): Evals['datasets'] => ({
  list: async (query = {}, { signal } = {}) =>
    (await call<{ datasets: DatasetHead[] }>(connection, 'GET', DATASETS, { signal, query })).datasets,
  get: (id, options) => call(connection, 'GET', dataset(id), options),
  create: (id, spec, { signal } = {}) => call(connection, 'POST', DATASETS, { signal, body: { id, spec } }),
  replace: (id, spec, expected_revision, { signal } = {}) =>
    call(connection, 'PUT', dataset(id), { signal, body: { spec, expected_revision } }),
  async delete(id, expected_revision, { signal } = {}) {
    await call(connection, 'DELETE', dataset(id), { signal, query: { expected_revision } });
  },
});

const evalRunsOf = (connection: Connection): Evals['runs'] => ({
  start: async (request, { signal } = {}) => {
    const body = { ...request, async: true };
    return (await call<EvalRunAnswer>(connection, 'POST', RUNS, { signal, body })).run;
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
    // The schema of the frames is that of the document.
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
