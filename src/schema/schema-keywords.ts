import { isObject } from './endpoint.ts';
import { Invalid } from './outcome.ts';
import { compileExpression } from './regex.ts';

/**
 * The keywords of JSON Schema 2020-12 with the values that they may have. Schemas of tools come from elsewhere, are often
 * of an older draft, and a provider rejects a whole request for one keyword with another value.
 */

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);

/** The types that a schema names; undefined where it names none that exists. */
export function typesOf(type: unknown): readonly string[] | undefined {
  const given: readonly unknown[] = Array.isArray(type) ? type : [type];
  const types = given.flatMap((each) => (typeof each === 'string' ? each.toLowerCase() : []));
  const known = [...new Set(types)].filter((each) => TYPES.has(each));
  return known.length > 0 ? known : undefined;
}

/** Whether a value of JSON is of this type. */
export function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

/** Whether the keyword has a value that it may have. Unknown keywords are ignored by providers, whatever they hold. */
export function isLegal(keyword: string, value: unknown): boolean {
  // These are resolved before, or refer to what is not sent.
  if (keyword.startsWith('$') || keyword === 'dependencies') return false;
  return LEGAL.get(keyword)?.(value) ?? true;
}

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isNumber: Check = (value) => typeof value === 'number';
const isFlag: Check = (value) => typeof value === 'boolean';
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isList: Check = (value) => Array.isArray(value) && value.length > 0;
const areNames: Check = (value) =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;
const isSchema: Check = (value) => isObject(value) || typeof value === 'boolean';

/** Providers compile patterns; one that the engine of the service refuses is refused by some of them too. */
const isPattern: Check = (value) =>
  typeof value === 'string' && !(compileExpression(value) instanceof Invalid);

const LEGAL: ReadonlyMap<string, Check> = new Map(
  (
    [
      [isText, ['title', 'description', 'format', 'contentMediaType', 'contentEncoding']],
      [isPattern, ['pattern']],
      [isNumber, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
      [(value: unknown) => isNumber(value) && Number(value) > 0, ['multipleOf']],
      [isCount, ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties']],
      [isCount, ['minContains', 'maxContains']],
      [isFlag, ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly', 'nullable']],
      [isList, ['enum', 'anyOf', 'oneOf', 'allOf', 'prefixItems']],
      [Array.isArray, ['examples']],
      [areNames, ['required']],
      [isObject, ['properties', 'patternProperties', 'dependentSchemas']],
      [(value: unknown) => isObject(value) && Object.values(value).every(areNames), ['dependentRequired']],
      [isSchema, ['items', 'additionalProperties', 'contains', 'not', 'propertyNames', 'if', 'then', 'else']],
      [isSchema, ['unevaluatedItems', 'unevaluatedProperties', 'contentSchema']],
    ] satisfies [Check, string[]][]
  ).flatMap(([check, keywords]) => keywords.map((keyword): [string, Check] => [keyword, check])),
);
