import { z } from 'zod';

/**
 * JSON from `JSON.parse`, YAML or the store: such values are JSON already and are not validated again. The schemas have
 * names, so that documents and typed clients share one type.
 */

/**
 * Any JSON value.
 *
 * @example
 * ```ts
 * const payload: Json = { approved: true, note: null, amounts: [5, 10] };
 * ```
 */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const Json = z
  .custom<Json>()
  .check(({ value, issues }) => {
    if (value === undefined) issues.push({ code: 'invalid_type', expected: 'any', input: value });
  })
  .meta({ id: 'Json', description: 'any JSON value' });

export const JsonObject = z
  .custom<JsonObject>()
  .check(({ value, issues }) => {
    if (!isObject(value)) issues.push({ code: 'invalid_type', expected: 'object', input: value });
  })
  .meta({ id: 'JsonObject', type: 'object', additionalProperties: true, description: 'any JSON object' });

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
