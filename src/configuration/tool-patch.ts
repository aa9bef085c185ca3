import { isObject, type JsonObject } from '../schema/endpoint.ts';
import { Invalid } from '../schema/outcome.ts';

/** Overrides of built-in tools: only the description for the model can be changed (config.md 5.2). */

const MAX_BYTES = 4096;

/**
 * Returns the overrides to store after a request that changes them.
 *
 * @throws Invalid
 */
export const mergeToolOverrides = (stored: JsonObject, body: unknown): JsonObject => {
  if (!isObject(body)) throw refused('expected an object');
  const unknown = Object.keys(body).find((field) => field !== 'description');
  if (unknown !== undefined) throw refused(`unknown field '${unknown}'`);
  const { description } = body;
  if (description === undefined) return stored;
  if (description === null) return withoutToolOverride(stored, 'description');
  return { ...stored, description: checked(description) };
};

/** @throws Invalid */
export const withoutToolOverride = (stored: JsonObject, field: string): JsonObject => {
  if (field !== 'description') throw new Invalid(`unknown override field: ${field}`);
  const { description: _, ...rest } = stored;
  return rest;
};

/** Applies overrides to a tool. @throws Invalid */
export const applyToolPatch = (base: JsonObject, overrides: JsonObject = {}): JsonObject => ({
  ...base,
  ...mergeToolOverrides({}, overrides),
});

const checked = (description: unknown): string => {
  if (typeof description !== 'string') throw refused("field 'description' must be a string or null");
  if (description === '') throw new Invalid('description must be non-empty');
  if (Buffer.byteLength(description) > MAX_BYTES) {
    throw new Invalid(`description exceeds ${MAX_BYTES}-byte limit`);
  }
  return description;
};

const refused = (problem: string): Invalid => new Invalid(`invalid tool spec patch: ${problem}`);
