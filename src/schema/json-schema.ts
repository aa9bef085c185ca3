import { isObject } from './endpoint.ts';
import type { JsonObject } from './json.ts';
import { Invalid } from './outcome.ts';
import { compileExpression } from './regex.ts';

/**
 * JSON Schema 2020-12 as other programs write it: which keywords exist, and where a schema contains schemas.
 *
 * Guarantees: nothing is loaded from elsewhere, patterns are compiled by the engine without backtracking, and a schema
 * without a problem can be compiled and applied: its references lead to schemas, and none leads back to itself at the
 * same place of a value.
 * Relies on a bound of the nesting, since schemas are walked by recursion.
 */

type Kind = 'schema' | 'schemas' | 'map' | 'value';

type Keyword = { kind: Kind /** What a value must be. */; must: string; fits(value: unknown): boolean };

const isList = (value: unknown): value is unknown[] => Array.isArray(value);
const isTexts = (value: unknown): boolean => isList(value) && value.every((each) => typeof each === 'string');
const isSchema = (value: unknown): boolean => isObject(value) || typeof value === 'boolean';

const TYPES: readonly unknown[] = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

const SCHEMA: Keyword = { kind: 'schema', must: 'a schema', fits: isSchema };
const SCHEMAS: Keyword = {
  kind: 'schemas',
  must: 'a list of schemas that is not empty',
  fits: (value) => isList(value) && value.length > 0 && value.every(isSchema),
};
const MAP: Keyword = {
  kind: 'map',
  must: 'an object of schemas',
  fits: (value) => isObject(value) && Object.values(value).every(isSchema),
};
const holding = (must: string, fits: Keyword['fits']): Keyword => ({ kind: 'value', must, fits });
const NUMBER = holding('a number', (value) => typeof value === 'number');
const COUNT = holding(
  'an integer that is not negative',
  (value) => Number.isInteger(value) && Number(value) >= 0,
);
const TEXT = holding('a string', (value) => typeof value === 'string');
const ANY = holding('a value', () => true);

/** Keywords that are applied, and annotations that a model reads. Others are ignored. */
const KEYWORDS: Readonly<Record<string, Keyword>> = {
  type: holding(`one of ${TYPES.join(', ')}, or a list of them`, (value) =>
    isList(value) ? value.length > 0 && value.every((each) => TYPES.includes(each)) : TYPES.includes(value),
  ),
  properties: MAP,
  patternProperties: MAP,
  additionalProperties: SCHEMA,
  propertyNames: SCHEMA,
  dependentSchemas: MAP,
  unevaluatedProperties: SCHEMA,
  items: SCHEMA,
  prefixItems: SCHEMAS,
  contains: SCHEMA,
  unevaluatedItems: SCHEMA,
  allOf: SCHEMAS,
  anyOf: SCHEMAS,
  oneOf: SCHEMAS,
  not: SCHEMA,
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema, and nothing awaits this table.
  then: SCHEMA,
  if: SCHEMA,
  else: SCHEMA,
  $defs: MAP,
  definitions: MAP,
  $ref: TEXT,
  $anchor: TEXT,
  $comment: TEXT,
  enum: holding('a list', isList),
  const: ANY,
  default: ANY,
  examples: holding('a list', isList),
  title: TEXT,
  description: TEXT,
  format: TEXT,
  deprecated: ANY,
  readOnly: ANY,
  writeOnly: ANY,
  required: holding('a list of strings', isTexts),
  dependentRequired: holding(
    'an object of lists of strings',
    (value) => isObject(value) && Object.values(value).every(isTexts),
  ),
  minProperties: COUNT,
  maxProperties: COUNT,
  minItems: COUNT,
  maxItems: COUNT,
  minContains: COUNT,
  maxContains: COUNT,
  uniqueItems: holding('true or false', (value) => typeof value === 'boolean'),
  minLength: COUNT,
  maxLength: COUNT,
  pattern: TEXT,
  minimum: NUMBER,
  maximum: NUMBER,
  exclusiveMinimum: NUMBER,
  exclusiveMaximum: NUMBER,
  multipleOf: holding('a number greater than 0', (value) => typeof value === 'number' && value > 0),
};

const UNSUPPORTED = ['$dynamicRef', '$recursiveRef', '$async'];

/** Schemas that apply to the same value as the schema that contains them. */
const IN_PLACE: readonly string[] = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
];

/** Compiling a schema takes time for each of them. */
export const MOST_SUBSCHEMAS = 2000;

const keywordOf = (name: string): Keyword | undefined =>
  Object.hasOwn(KEYWORDS, name) ? KEYWORDS[name] : undefined;

/** A schema in place of each that a schema contains, from the innermost on. Keywords that are unknown are left out. */
export function mapSchemas(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const within = (value: JsonObject[string]): JsonObject[string] =>
    isJsonObject(value) ? mapSchemas(value, change) : value;
  const members = Object.entries(schema).flatMap(([name, value]): [string, JsonObject[string]][] => {
    switch (keywordOf(name)?.kind) {
      case 'schema':
        return [[name, within(value)]];
      case 'schemas':
        return [[name, Array.isArray(value) ? value.map(within) : value]];
      case 'map':
        return [[name, isJsonObject(value) ? mapped(value, within) : value]];
      case 'value':
        return [[name, value]];
      default:
        return [];
    }
  });
  return change(Object.fromEntries(members));
}

const isJsonObject = (value: JsonObject[string]): value is JsonObject => isObject(value);

const mapped = (map: JsonObject, change: (value: JsonObject[string]) => JsonObject[string]): JsonObject =>
  Object.fromEntries(Object.entries(map).map(([name, each]) => [name, change(each)]));

/** Why a schema cannot be used, if it cannot: `/properties/a/type: must be …`. */
export function schemaProblem(root: JsonObject): string | undefined {
  const found = new Map<string, JsonObject | boolean>();
  const problem = walk(root, '', found);
  if (problem !== undefined) return problem;
  if (found.size > MOST_SUBSCHEMAS) return `has more than ${MOST_SUBSCHEMAS} schemas within it`;
  const anchors = new Map<string, string>();
  for (const [place, schema] of found) {
    if (isObject(schema) && typeof schema.$anchor === 'string') anchors.set(`#${schema.$anchor}`, place);
  }
  const targets = new Map<string, string>();
  for (const [place, schema] of found) {
    if (!isObject(schema) || typeof schema.$ref !== 'string') continue;
    const target = anchors.get(schema.$ref) ?? pointerOf(schema.$ref);
    if (target === undefined) return at(place, `remote $ref '${shortened(schema.$ref)}' is not supported`);
    if (!found.has(target)) return at(place, `$ref '${shortened(schema.$ref)}' leads to no schema`);
    targets.set(place, target);
  }
  return circleIn(found, targets);
}

const at = (place: string, what: string): string => (place === '' ? what : `${place}: ${what}`);

const shortened = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

const walk = (
  schema: JsonObject | boolean,
  place: string,
  found: Map<string, JsonObject | boolean>,
): string | undefined => {
  found.set(place, schema);
  if (typeof schema === 'boolean' || found.size > MOST_SUBSCHEMAS) return undefined;
  for (const [name, value] of Object.entries(schema)) {
    if (UNSUPPORTED.includes(name)) return at(place, `${name} is not supported`);
    if (name === '$id' && place !== '') return at(place, '$id within a schema is not supported');
    const keyword = keywordOf(name);
    if (keyword === undefined) continue;
    const here = `${place}/${escaped(name)}`;
    if (!keyword.fits(value)) return `${here}: must be ${keyword.must}`;
    const problem = patternProblem(name, value, here) ?? walkWithin(keyword, value, here, found);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const walkWithin = (
  { kind }: Keyword,
  value: unknown,
  here: string,
  found: Map<string, JsonObject | boolean>,
): string | undefined => {
  if (kind === 'value') return undefined;
  const members: [string, unknown][] =
    kind === 'schema'
      ? [['', value]]
      : Object.entries(value as object).map(([name, each]) => [`/${escaped(name)}`, each]);
  for (const [suffix, each] of members) {
    // The keyword has been checked to hold schemas.
    const problem = walk(each as JsonObject | boolean, here + suffix, found);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const patternProblem = (name: string, value: unknown, here: string): string | undefined => {
  const patterns =
    name === 'pattern'
      ? [String(value)]
      : name === 'patternProperties' && isObject(value)
        ? Object.keys(value)
        : [];
  for (const pattern of patterns) {
    const compiled = compileExpression(pattern);
    if (compiled instanceof Invalid)
      return `${here}: the pattern '${shortened(pattern)}' cannot be used: ${compiled.message}`;
  }
  return undefined;
};

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The place within the schema that a reference names; undefined for one that leads elsewhere. */
const pointerOf = ($ref: string): string | undefined => {
  if (!$ref.startsWith('#')) return undefined;
  try {
    return decodeURIComponent($ref.slice(1));
  } catch {
    return $ref.slice(1);
  }
};

/** Applied to a value, such a schema would never come to an end. */
const circleIn = (
  found: ReadonlyMap<string, JsonObject | boolean>,
  targets: ReadonlyMap<string, string>,
): string | undefined => {
  const done = new Set<string>();
  const open = new Set<string>();
  const visit = (place: string): string | undefined => {
    if (done.has(place)) return undefined;
    if (open.has(place)) return at(place, '$ref leads back here without a property or an item in between');
    open.add(place);
    for (const next of inPlace(place, found, targets)) {
      const problem = visit(next);
      if (problem !== undefined) return problem;
    }
    open.delete(place);
    done.add(place);
    return undefined;
  };
  for (const place of targets.keys()) {
    const problem = visit(place);
    if (problem !== undefined) return problem;
  }
  return undefined;
};

const inPlace = (
  place: string,
  found: ReadonlyMap<string, JsonObject | boolean>,
  targets: ReadonlyMap<string, string>,
): string[] => {
  const schema = found.get(place);
  if (!isObject(schema)) return [];
  const target = targets.get(place);
  const within = IN_PLACE.filter((name) => name in schema).flatMap((name): string[] => {
    const value = schema[name];
    const here = `${place}/${name}`;
    if (KEYWORDS[name]?.kind === 'schema') return [here];
    return Object.keys(value as object).map((key) => `${here}/${escaped(key)}`);
  });
  return target === undefined ? within : [target, ...within];
};
