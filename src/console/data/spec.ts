import { isObject, type JsonObject } from './guard.ts';

/** Entries of the configuration, and their comparison. */

/** An entry as it is edited. Fields unknown to this console are kept. */
export type Draft = JsonObject & { id: string };

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
};

/** Compares two values regardless of the order of keys. */
export const same = (a: unknown, b: unknown): boolean =>
  Object.is(a, b) || JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

export const sectionsOf = (spec: JsonObject): JsonObject => (isObject(spec.sections) ? spec.sections : {});

/** One section, or an empty one. */
export const sectionOf = (spec: JsonObject, key: string): JsonObject => {
  const section = sectionsOf(spec)[key];
  return isObject(section) ? section : {};
};

export const withoutUndefined = (object: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
