import { z } from 'zod';
import { isObject } from './endpoint.ts';
import type { Json, JsonObject } from './json.ts';
import { mapSchemas, schemaProblem } from './json-schema.ts';
import { nestsDeeperThan } from './nesting.ts';
import { Invalid } from './outcome.ts';

/** Structured results of runs (structured-results.md): their schema, their modes, and their form as an object. */

export const MOST_SCHEMA_BYTES = 64 * 1024;
export const DEEPEST_SCHEMA = 64;

/** Maximum size of a result as JSON. */
export const MOST_OUTPUT_BYTES = 2 ** 20;

/** Returns why a value cannot be the schema of a result, if so. */
export function outputSchemaProblem(given: unknown): string | undefined {
  if (!isObject(given)) return 'must be a JSON Schema, which is an object';
  if (nestsDeeperThan(given, DEEPEST_SCHEMA)) return `nests deeper than ${DEEPEST_SCHEMA} levels`;
  const bytes = new TextEncoder().encode(JSON.stringify(given)).length;
  if (bytes > MOST_SCHEMA_BYTES) return `has ${bytes} bytes, more than ${MOST_SCHEMA_BYTES}`;
  // Callers pass values that were parsed from JSON.
  return schemaProblem(given as JsonObject);
}

/** @throws Invalid `output_schema: …` */
export const checkedOutputSchema = (given: Json | undefined): JsonObject | null | undefined => {
  if (given === undefined || given === null) return given;
  const problem = outputSchemaProblem(given);
  if (problem !== undefined) throw new Invalid(`output_schema: ${problem}`);
  // Only objects have no problem.
  return given as JsonObject;
};

/** The schema of an agent. */
export const OutputSchema = z
  .custom<JsonObject>()
  .check(({ value, issues }) => {
    const problem = outputSchemaProblem(value);
    if (problem !== undefined)
      issues.push({ code: 'custom', input: value, message: `output_schema: ${problem}` });
  })
  .meta({
    id: 'OutputSchema',
    type: 'object',
    additionalProperties: true,
    description:
      'JSON Schema 2020-12 of the structured result that a run must end with: up to 64 KiB and 64 levels, without remote `$ref`',
  });

/**
 * The schema in a request that starts a run. It is validated where it is used, since an invalid one results in status
 * 400.
 */
export const RequestedOutput = z
  .custom<Json | undefined>()
  .optional()
  .meta({
    type: ['object', 'null'],
    additionalProperties: true,
    description:
      'JSON Schema of the structured result, in place of that of the agent; `null`: no structured result',
  });

const OutputMode = z.enum(['auto', 'native', 'tool', 'prompt']);

export const OutputOptions = z
  .strictObject({
    mode: OutputMode.default('auto').meta({
      description:
        'how the result is requested: `native` in the field of the provider, `tool` as a call, `prompt` in a system text',
    }),
    repairs: z
      .int()
      .min(0)
      .max(5)
      .default(2)
      .meta({ description: 'maximum repeated requests after an invalid result' }),
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
      .default('answer')
      .meta({ description: 'name of the schema, where a provider requires one' }),
  })
  .meta({ id: 'OutputOptions', description: 'How a structured result is requested.' });
export type OutputOptions = z.output<typeof OutputOptions>;

/** The mode in which a result is requested from a model. */
export type RequestedMode = Exclude<OutputOptions['mode'], 'auto'>;

export const DEFAULT_OUTPUT: OutputOptions = OutputOptions.parse({});

/** Whether every value that fits the schema is an object. */
export const isObjectRoot = ({ type }: JsonObject): boolean => type === 'object';

/** The property that wraps a result which is not an object. */
const RESULT = 'result';

/** Wraps the schema in an object schema if necessary, for protocols that require one. References keep their targets. */
export function asObjectSchema(schema: JsonObject): JsonObject {
  if (isObjectRoot(schema)) return schema;
  const moved = mapSchemas(schema, (each) =>
    typeof each.$ref === 'string' && (each.$ref === '#' || each.$ref.startsWith('#/'))
      ? { ...each, $ref: `#/properties/${RESULT}${each.$ref.slice(1)}` }
      : each,
  );
  return { type: 'object', properties: { [RESULT]: moved }, required: [RESULT], additionalProperties: false };
}

export const asObject = (schema: JsonObject, value: Json): JsonObject =>
  // A value that fits an object schema is an object.
  isObjectRoot(schema) ? (value as JsonObject) : { [RESULT]: value };

/** Returns the result from an object for `asObjectSchema`; undefined if the object contains none. */
export const fromObject = (schema: JsonObject, given: Json): Json | undefined => {
  if (isObjectRoot(schema)) return given;
  // JSON by its type.
  return isObject(given) ? (given[RESULT] as Json | undefined) : undefined;
};
