import { isObject } from './endpoint.ts';

/**
 * The keywords of JSON Schema 2020-12: their allowed values, and where a schema contains schemas.
 *
 * Schemas of structured results must follow it (`json-schema.ts`). Schemas of tools come from external sources, often
 * use an older draft, and are fitted to it (`model-tool.ts`), since a provider rejects a whole request for one keyword
 * with another value.
 */

/** The type of the value: a schema, a list of schemas, an object with a schema in each member, or none of these. */
type Kind = 'schema' | 'schemas' | 'map' | 'value';

/** `fits` does not check the schemas within the value. */
export type Keyword = {
  kind: Kind /** `must`: the allowed values, for error messages. */;
  must: string;
  fits(value: unknown): boolean;
};

const TYPES: readonly unknown[] = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isText = (value: unknown): boolean => typeof value === 'string';
const areNames = (value: unknown): boolean =>
  isList(value) && value.every(isText) && new Set(value).size === value.length;
export const isSchema = (value: unknown): boolean => isObject(value) || typeof value === 'boolean';

const keyword = (kind: Kind, must: string, fits: Keyword['fits']): Keyword => ({ kind, must, fits });

const SCHEMA = keyword('schema', 'a schema', isSchema);
const SCHEMAS = keyword(
  'schemas',
  'a list of schemas that is not empty',
  (value) => isList(value) && value.length > 0,
);
const MAP = keyword('map', 'an object of schemas', isObject);
const ANY = keyword('value', 'a value', () => true);
const TEXT = keyword('value', 'a string', isText);
const ANCHOR = keyword(
  'value',
  'a name of letters, digits, -, _ and ., which begins with a letter or _',
  (value) => typeof value === 'string' && /^[A-Za-z_][\w.-]*$/.test(value),
);
const FLAG = keyword('value', 'true or false', (value) => typeof value === 'boolean');
const NUMBER = keyword('value', 'a number', isNumber);
const FACTOR = keyword('value', 'a number greater than 0', (value) => isNumber(value) && Number(value) > 0);
const COUNT = keyword(
  'value',
  'an integer that is not negative',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
const LIST = keyword('value', 'a list', isList);
const CHOICES = keyword('value', 'a list that is not empty', (value) => isList(value) && value.length > 0);
const NAMES = keyword('value', 'a list of strings, each once', areNames);
const NAMES_BY_NAME = keyword(
  'value',
  'an object of lists of strings, each once',
  (value) => isObject(value) && Object.values(value).every(areNames),
);
const TYPE = keyword('value', `one of ${TYPES.join(', ')}, or a list of them`, (value) =>
  isList(value) ? value.length > 0 && value.every((each) => TYPES.includes(each)) : TYPES.includes(value),
);

const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  (
    [
      [TYPE, ['type']],
      [SCHEMA, ['items', 'contains', 'unevaluatedItems']],
      [SCHEMA, ['additionalProperties', 'propertyNames', 'unevaluatedProperties']],
      [SCHEMA, ['not', 'if', 'then', 'else', 'contentSchema']],
      [SCHEMAS, ['allOf', 'anyOf', 'oneOf', 'prefixItems']],
      [MAP, ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']],
      [TEXT, ['$ref', '$comment']],
      [ANCHOR, ['$anchor']],
      [TEXT, ['title', 'description', 'format', 'pattern', 'contentMediaType', 'contentEncoding']],
      [FLAG, ['uniqueItems', 'deprecated', 'readOnly', 'writeOnly']],
      [NUMBER, ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
      [FACTOR, ['multipleOf']],
      [COUNT, ['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains']],
      [COUNT, ['minProperties', 'maxProperties']],
      [CHOICES, ['enum']],
      [LIST, ['examples']],
      [NAMES, ['required']],
      [NAMES_BY_NAME, ['dependentRequired']],
      [ANY, ['const', 'default']],
    ] satisfies [Keyword, string[]][]
  ).flatMap(([rule, names]) => names.map((name): [string, Keyword] => [name, rule])),
);

/** Undefined for an unknown or unsupported keyword. */
export const findKeyword = (name: string): Keyword | undefined => KEYWORDS.get(name);

/** Returns the valid types that a schema names; undefined if there are none. */
export function knownTypes(type: unknown): readonly string[] | undefined {
  const given: readonly unknown[] = isList(type) ? type : [type];
  const types = given.flatMap((each) => (typeof each === 'string' ? each.toLowerCase() : []));
  const known = [...new Set(types)].filter((each) => TYPES.includes(each));
  return known.length > 0 ? known : undefined;
}

/** Whether a JSON value is of this type. */
export function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return isList(value);
  if (type === 'object') return isObject(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
