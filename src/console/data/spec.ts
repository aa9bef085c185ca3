import { isObject, type JsonObject } from './guard.ts';

/** Entries of the configuration as they are compared. */

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
};

/** The order of keys does not count. */
export const same = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) || JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

export const sectionsOf = (spec: JsonObject): JsonObject => (isObject(spec.sections) ? spec.sections : {});
