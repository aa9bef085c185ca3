import type { JsonObject } from '../../data/guard.ts';
import { freeId } from '../../entry/entry.ts';
import { withFixture } from './fixture.ts';
import type { Change } from './write.ts';

/** Changes of the test cases of a dataset. */

export const fixtureRemoved =
  (id: string): Change =>
  (spec) => ({ ...spec, fixtures: spec.fixtures.filter((fixture) => fixture.id !== id) });

export const fixtureMoved =
  (id: string, by: 1 | -1): Change =>
  (spec) => {
    const next = [...spec.fixtures];
    const at = next.findIndex((fixture) => fixture.id === id);
    const [moved] = next.splice(at, 1);
    if (moved) next.splice(Math.max(0, at + by), 0, moved);
    return { ...spec, fixtures: next };
  };

export const fixtureDuplicated =
  (id: string): Change =>
  (spec) => {
    const found = spec.fixtures.find((fixture) => fixture.id === id);
    const ids = new Set(spec.fixtures.map((fixture) => fixture.id));
    return found ? { ...spec, fixtures: [...spec.fixtures, { ...found, id: freeId(id, ids) }] } : spec;
  };

/**
 * @param id the test case that was opened; undefined for a new one
 * @param before the test case as it was when it was opened
 */
export const fixtureStored =
  (id: string | undefined, fixture: JsonObject, before: JsonObject | undefined): Change =>
  (spec) => ({ ...spec, fixtures: withFixture(spec.fixtures, id, fixture, before) });

/** Test cases with the same id are replaced. */
export const fixturesImported =
  (fixtures: readonly JsonObject[]): Change =>
  (spec) => ({
    ...spec,
    fixtures: [
      ...spec.fixtures.filter((old) => fixtures.every((fixture) => fixture.id !== old.id)),
      ...fixtures,
    ],
  });
