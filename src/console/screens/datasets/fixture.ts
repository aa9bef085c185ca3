import { isObject, type JsonObject } from '../../data/guard.ts';
import { same } from '../../data/spec.ts';

/** Test cases as they are written. */

export const present = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));

/**
 * Applies the changes between `before` and `after` to the current test case, so that concurrent changes of other fields
 * and criteria are kept.
 */
export const changedIn = (now: JsonObject, before: JsonObject, after: JsonObject): JsonObject => {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !same(before[field], after[field]),
  );
  const changes = fields.map((field): [string, unknown] => {
    const [other, was, own] = [now[field], before[field], after[field]];
    return [field, isObject(other) && isObject(was) && isObject(own) ? changedIn(other, was, own) : own];
  });
  return present({ ...now, ...Object.fromEntries(changes) });
};

/** Replaces the test case in place, or appends it if it is new or was deleted in the meantime. */
export const withFixture = (
  fixtures: readonly JsonObject[],
  id: string | undefined,
  fixture: JsonObject,
  before: JsonObject = {},
): JsonObject[] =>
  fixtures.some((other) => other.id === id)
    ? fixtures.map((other) => (other.id === id ? changedIn(other, before, fixture) : other))
    : [...fixtures, fixture];

/** Reads the test cases of a file: a dataset, its spec, or a list of fixtures. @throws Error */
export const fixturesIn = (text: string): JsonObject[] => {
  const value: unknown = JSON.parse(text);
  const spec = isObject(value) && isObject(value.spec) ? value.spec : value;
  const list = isObject(spec) ? spec.fixtures : spec;
  if (!Array.isArray(list)) throw new Error('fixtures');
  return list.filter(isObject);
};
