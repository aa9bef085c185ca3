import { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject } from '../../../src/schema/endpoint.ts';

const ajv = new Ajv2020({ strict: false });

/**
 * The reasons for which a service that checks argument schemas by JSON Schema 2020-12, such as OpenAI and Anthropic,
 * rejects one.
 */
export const problemsOfSchema = (schema: unknown): string[] => {
  if (!isObject(schema) || schema.type !== 'object') return ['schema must be of type object'];
  const problems: string[] = [];
  for (const keyword of ['anyOf', 'oneOf', 'allOf', 'enum', 'not'])
    if (keyword in schema) problems.push(`schema must not have '${keyword}' at the top level`);
  if (ajv.validateSchema(schema) !== true) problems.push(`JSON schema is invalid: ${ajv.errorsText()}`);
  return [...problems, ...schemasIn(schema).flatMap(problemsOfOne)];
};

const problemsOfOne = (schema: Record<string, unknown>): string[] => [
  ...(schema.type === 'array' && !('items' in schema) ? ['array schema missing items'] : []),
  ...Object.keys(schema)
    .filter((keyword) => keyword.startsWith('$'))
    .map((keyword) => `schema has '${keyword}'`),
];

/** Keywords of the subset that OpenAI documents for `strict`. */
const STRICT_KEYWORDS = new Set([
  ...[
    'type',
    'properties',
    'required',
    'additionalProperties',
    'items',
    'anyOf',
    'enum',
    'const',
    '$ref',
    '$defs',
  ],
  ...['definitions', 'title', 'description', 'pattern', 'format', 'multipleOf', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems'],
]);

/**
 * The reasons for which a service rejects the schema of a completion with its name, in OpenAI's form: `strict` requires
 * closed objects whose properties are all required, and supports a subset of the keywords.
 */
export const problemsOfOutput = (output: unknown): string[] => {
  if (!isObject(output)) return ["Missing required parameter: 'json_schema'"];
  const { type, name, schema, strict, ...rest } = output;
  const problems = Object.keys(rest).map((field) => `Unknown parameter: '${field}'`);
  if (type !== undefined && type !== 'json_schema') problems.push(`Invalid value: '${type}'`);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) problems.push(`Invalid 'name': '${name}'`);
  if (!isObject(schema)) return [...problems, "Missing required parameter: 'schema'"];
  if (ajv.validateSchema(schema) !== true) problems.push(`JSON schema is invalid: ${ajv.errorsText()}`);
  if (strict !== true) return problems;
  if (schema.type !== 'object' || 'anyOf' in schema)
    problems.push('the root of a strict schema is not an object');
  return [...problems, ...schemasIn(schema).flatMap(problemsOfStrict)];
};

const problemsOfStrict = (schema: Record<string, unknown>): string[] => {
  const { type, properties = {}, required = [], additionalProperties } = schema;
  const problems = Object.keys(schema)
    .filter((keyword) => !STRICT_KEYWORDS.has(keyword))
    .map((keyword) => `In strict mode '${keyword}' is not permitted`);
  if (![type].flat().includes('object')) return problems;
  if (additionalProperties !== false) problems.push("'additionalProperties' is required to be false");
  for (const name of Object.keys(properties as object))
    if (!(required as unknown[]).includes(name)) problems.push(`'required' is missing '${name}'`);
  return problems;
};

/** Keywords that Anthropic documents as unsupported in the schema of a completion. */
const NOT_CLOSED = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['maxItems', 'uniqueItems', 'oneOf', 'not', 'if', 'patternProperties', 'minProperties', 'maxProperties'],
];
const CLOSED_FORMATS: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
];

/** The reasons for which Anthropic rejects the schema of a completion. */
export const problemsOfClosed = (schema: unknown): string[] => {
  if (!isObject(schema)) return ['Field required'];
  const problems = ajv.validateSchema(schema) === true ? [] : [`JSON schema is invalid: ${ajv.errorsText()}`];
  for (const each of schemasIn(schema)) {
    for (const keyword of NOT_CLOSED) if (keyword in each) problems.push(`'${keyword}' is not supported`);
    if (each.format !== undefined && !CLOSED_FORMATS.includes(each.format))
      problems.push(`format '${each.format}' is not supported`);
    if (each.minItems !== undefined && Number(each.minItems) > 1) problems.push("'minItems' is 0 or 1");
    if ([each.type].flat().includes('object') && each.additionalProperties !== false)
      problems.push("'additionalProperties' must be explicitly set to false");
  }
  return problems;
};

const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];
const SCHEMAS = [
  ...['items', 'additionalProperties', 'unevaluatedItems', 'unevaluatedProperties', 'contains', 'not'],
  ...['propertyNames', 'if', 'then', 'else', 'contentSchema', 'anyOf', 'oneOf', 'allOf', 'prefixItems'],
];

const schemasIn = (value: unknown): Record<string, unknown>[] => {
  if (Array.isArray(value)) return value.flatMap(schemasIn);
  if (!isObject(value)) return [];
  const inner = Object.entries(value).flatMap(([keyword, each]) => {
    if (SCHEMAS.includes(keyword)) return schemasIn(each);
    return MAPS.includes(keyword) && isObject(each) ? Object.values(each).flatMap(schemasIn) : [];
  });
  return [value, ...inner];
};
