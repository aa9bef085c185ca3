import { isObject } from './endpoint.ts';
import type { Json, JsonObject } from './json.ts';

/** Replaces lone surrogates, which providers reject. Copies the value only if there are any, which is rare. */
export const wellFormed = (input: JsonObject): JsonObject =>
  JSON.stringify(input).includes('\\ud') ? (repaired(input) as JsonObject) : input;

const repaired = (value: Json): Json => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(repaired);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toWellFormed(), repaired(each)]));
};
