import type { Clock } from '../schema/clock.ts';
import { AD_HOC, type Dataset, type DatasetMeta, type DatasetSpec, type Fixture } from '../schema/dataset.ts';
import { checkNewId } from '../schema/id.ts';
import type { Accept } from '../schema/idempotency.ts';
import { Conflict, Invalid, NotFound } from '../schema/outcome.ts';
import type { Batch, DatasetHead, Store } from '../store/index.ts';
import { checkScore, checkSpec } from './checks.ts';

/**
 * Datasets and the rules for writing them (evals-and-traces.md 3.1, 4).
 *
 * Guarantees: writes of one dataset run one at a time, each with its own checks and commit, so of two writes with the
 * same revision one fails with a conflict. A rejected write stores nothing.
 */

export type Datasets = {
  list(page: { offset?: number | undefined; limit?: number | undefined }): DatasetHead[];
  /** @throws Integrity */
  get(id: string): Dataset | undefined;
  /** @throws NotFound */
  head(id: string): DatasetHead;
  hasFixture(id: string, fixture_id: string): boolean;
  /** @throws Invalid, Conflict */
  create(id: string, spec: DatasetSpec, keyed?: Accept<Dataset>): Promise<Dataset>;
  /** @throws Invalid, NotFound, Conflict */
  replace(id: string, spec: DatasetSpec, expected_revision?: number): Promise<Dataset>;
  /** @throws Invalid, NotFound, Conflict */
  append(id: string, fixture: Fixture, expected_revision: number, keyed?: Accept<Dataset>): Promise<Dataset>;
  /** @throws Conflict */
  remove(id: string, expected_revision?: number): Promise<void>;
  /**
   * Adds the fixtures that `make` returns for the current dataset, all of which must be new; writes nothing if there
   * are none. `along` adds records to the same commit.
   *
   * @throws NotFound, and errors of `make`
   */
  extend(
    id: string,
    make: (head: DatasetHead) => readonly Fixture[],
    along: (batch: Batch) => void,
    keyed?: Accept<Extended>,
  ): Promise<DatasetHead>;
};

/** A dataset with its new fixtures; the whole is read only if it is needed. */
export type Extended = { head: DatasetHead; whole(): Dataset };

/** Stores the whole dataset as the response to a request with a key. */
export const acceptWhole = (keyed: Accept<Dataset> | undefined): Accept<Extended> | undefined =>
  keyed && (({ whole }) => keyed(whole()));

type Deps = {
  store: Pick<Store, 'datasets' | 'idempotency' | 'batch' | 'commit'>;
  clock: Pick<Clock, 'now'>;
};

export const createDatasets = (deps: Deps): Datasets => {
  const { datasets: table } = deps.store;
  const inTurn = createTurns();
  return {
    list: ({ offset = 0, limit }) => table.list({ offset, limit }),
    get: (id) => table.get(id),
    head: (id) => headIn(deps, id),
    hasFixture: (id, fixture_id) => table.hasFixture(id, fixture_id),
    async create(id, spec, keyed) {
      checkDatasetId(id);
      checkSpec(spec);
      return inTurn(id, async () => {
        if (table.head(id)) throw new Conflict(`conflict: eval_datasets/${id} already exists`);
        return put(deps, id, { spec, meta: firstMeta(deps, 0) }, keyed);
      });
    },
    async replace(id, spec, expected_revision) {
      checkSpec(spec);
      return inTurn(id, async () => {
        const known = table.head(id);
        if (known) {
          checkRevision(known, expected_revision);
          return put(deps, id, { spec, meta: nextMeta(deps, known.meta) });
        }
        if (expected_revision !== 0) throw missing(id);
        checkDatasetId(id);
        return put(deps, id, { spec, meta: firstMeta(deps, 1) });
      });
    },
    async append(id, fixture, expected_revision, keyed) {
      checkScore(fixture.expect);
      return inTurn(id, async () => {
        const make = (known: DatasetHead): Fixture[] => {
          checkRevision(known, expected_revision);
          if (table.hasFixture(id, fixture.id)) throw taken(id, fixture.id);
          return [fixture];
        };
        await extend(deps, id, { make, along: () => {}, keyed: acceptWhole(keyed) });
        return written(deps, id);
      });
    },
    remove: (id, expected_revision) =>
      inTurn(id, async () => {
        const known = table.head(id);
        checkRevision(known, expected_revision);
        if (known) await commit(deps, (batch) => table.remove(batch, id));
      }),
    extend: (id, make, along, keyed) => inTurn(id, () => extend(deps, id, { make, along, keyed })),
  };
};

const headIn = ({ store }: Deps, id: string): DatasetHead => {
  const known = store.datasets.head(id);
  if (!known) throw missing(id);
  return known;
};

const written = ({ store }: Deps, id: string): Dataset => {
  const dataset = store.datasets.get(id);
  if (!dataset) throw missing(id);
  return dataset;
};

const commit = async ({ store }: Deps, put: (batch: Batch) => void): Promise<void> => {
  const batch = store.batch('commons');
  put(batch);
  await store.commit(batch, 'input');
};

const put = async (deps: Deps, id: string, dataset: Dataset, keyed?: Accept<Dataset>): Promise<Dataset> => {
  await commit(deps, (batch) => {
    deps.store.datasets.put(batch, id, dataset);
    if (keyed) deps.store.idempotency.put(batch, keyed(dataset));
  });
  return dataset;
};

const extend = async (
  deps: Deps,
  id: string,
  {
    make,
    along,
    keyed,
  }: {
    make: (head: DatasetHead) => readonly Fixture[];
    along: (batch: Batch) => void;
    keyed: Accept<Extended> | undefined;
  },
): Promise<DatasetHead> => {
  const known = headIn(deps, id);
  const fixtures = make(known);
  if (fixtures.length === 0) return known;
  const meta = nextMeta(deps, known.meta);
  const head = { ...known, fixture_count: known.fixture_count + fixtures.length, meta };
  const whole = (): Dataset => {
    const { spec } = written(deps, id);
    return { spec: { ...spec, fixtures: [...(spec.fixtures ?? []), ...fixtures] }, meta };
  };
  await commit(deps, (batch) => {
    deps.store.datasets.append(batch, known, meta, fixtures);
    along(batch);
    if (keyed) deps.store.idempotency.put(batch, keyed({ head, whole }));
  });
  return head;
};

const firstMeta = ({ clock }: Deps, revision: number): DatasetMeta => {
  const now = clock.now();
  return { source: { kind: 'user' }, hidden: false, created_at: now, updated_at: now, revision };
};

const nextMeta = ({ clock }: Deps, meta: DatasetMeta): DatasetMeta => ({
  ...meta,
  updated_at: clock.now(),
  revision: meta.revision + 1,
});

/** Runs one task per dataset at a time, in the order of the calls; datasets without tasks take no memory. */
const createTurns = () => {
  const last = new Map<string, Promise<unknown>>();
  return <Result>(id: string, work: () => Promise<Result>): Promise<Result> => {
    const next = (last.get(id) ?? Promise.resolve()).then(work);
    const settled = next
      .catch(() => {})
      .then(() => {
        if (last.get(id) === settled) last.delete(id);
      });
    last.set(id, settled);
    return next;
  };
};

const missing = (id: string): NotFound => new NotFound(`dataset not found: ${id}`);

export const taken = (id: string, fixture_id: string): Conflict =>
  new Conflict(`dataset '${id}' already has fixture '${fixture_id}'`);

/** A missing dataset has revision 0. */
export const checkRevision = (known: DatasetHead | undefined, expected: number | undefined): void => {
  const actual = known?.meta.revision ?? 0;
  if (expected === undefined || expected === actual) return;
  throw new Conflict(`revision conflict: expected ${expected}, actual ${actual}`);
};

const checkDatasetId = (id: string): void => {
  checkNewId('dataset', 'dataset id', id);
  if (id === AD_HOC) throw new Invalid(`dataset id '${AD_HOC}' is reserved for online evals`);
};
