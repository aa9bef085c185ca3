import type { Dataset, DatasetMeta, DatasetSpec, Fixture } from '../../schema/dataset.ts';
import { Integrity } from '../../schema/outcome.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, indexed, isId, type Key } from '../engine/keys.ts';

/**
 * Datasets in the byte order of their ids (evals-and-traces.md 3.1).
 *
 * The list entry of a dataset is a separate row, and so is each fixture, under its position: a list reads no fixtures,
 * and a fixture is added without rewriting the existing ones. Fixtures are stored as JSON text because they contain
 * objects of arbitrary shape.
 * Relies on one writer at a time: a dataset is read and put under the lock of the datasets.
 */

/** The properties of a dataset that can be read without its fixtures. */
export type DatasetHead = { id: string; description: string; fixture_count: number; meta: DatasetMeta };

export type DatasetTable = {
  head(id: string): DatasetHead | undefined;
  /** @throws Integrity when a row cannot be read */
  get(id: string): Dataset | undefined;
  hasFixture(id: string, fixture_id: string): boolean;
  /** By id, ascending in byte order. Rows before `offset` are not read. */
  list(page?: { offset?: number; limit?: number | undefined }): DatasetHead[];
  /** Replaces the existing dataset. */
  put(batch: Batch, id: string, dataset: Dataset): void;
  /** Adds fixtures after those that `head` counts; their ids must be new. */
  append(batch: Batch, head: DatasetHead, meta: DatasetMeta, fixtures: readonly Fixture[]): void;
  remove(batch: Batch, id: string): void;
};

export const createDatasetTable = (env: Environment): DatasetTable => {
  const heads = env.table<Omit<DatasetHead, 'id'>>('datasets');
  const fixtures = env.table<string>('dataset_fixtures');
  const names = env.table<true>('dataset_fixture_ids');

  const head = (id: string): DatasetHead | undefined => {
    const row = isId(id) ? heads.get([id]) : undefined;
    return row && { id, ...row };
  };

  const putFixtures = (batch: Batch, id: string, from: number, added: readonly Fixture[]): void => {
    for (const [index, fixture] of added.entries()) {
      fixtures.put(batch, [id, from + index], JSON.stringify(fixture));
      names.put(batch, [id, indexed(fixture.id)], true);
    }
  };

  const clearFixtures = (batch: Batch, id: string): void => {
    fixtures.clear(batch, [id]);
    names.clear(batch, [id]);
  };

  return {
    head,
    get(id) {
      const known = head(id);
      if (!known) return undefined;
      const all = Array.from(fixtures.entries({ prefix: [id] }), ({ key, value }) => fixtureIn(key, value));
      return { spec: specOf(known, all), meta: known.meta };
    },
    hasFixture: (id, fixture_id) => isId(id) && names.has([id, indexed(fixture_id)]),
    list: ({ offset = 0, limit } = {}) =>
      Array.from(
        heads.entries({ prefix: [], offset, ...(limit !== undefined && { limit }) }),
        ({ key, value }) => ({ id: idOf(key), ...value }),
      ),
    put(batch, id, { spec, meta }) {
      checkId('dataset id', id);
      const { description = '', fixtures: all = [] } = spec;
      clearFixtures(batch, id);
      putFixtures(batch, id, 0, all);
      heads.put(batch, [id], { description, fixture_count: all.length, meta });
    },
    append(batch, { id, description, fixture_count }, meta, added) {
      putFixtures(batch, id, fixture_count, added);
      heads.put(batch, [id], { description, fixture_count: fixture_count + added.length, meta });
    },
    remove(batch, id) {
      if (!isId(id)) return;
      clearFixtures(batch, id);
      heads.remove(batch, [id]);
    },
  };
};

const specOf = ({ description }: DatasetHead, fixtures: Fixture[]): DatasetSpec => ({
  ...(description !== '' && { description }),
  ...(fixtures.length > 0 && { fixtures }),
});

const fixtureIn = (key: Key, text: string): Fixture => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Integrity(`fixture ${key[1]} of dataset '${key[0]}' cannot be read`, { cause });
  }
};

const idOf = (key: Key): string => String(key[0]);
