import { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject } from '../../../src/schema/endpoint.ts';

const ajv = new Ajv2020({ strict: false });

/** Why a service that checks schemas of arguments by JSON Schema 2020-12, as OpenAI and Anthropic do, rejects this one. */
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
