import { createHash } from 'node:crypto';
import { isObject } from './endpoint.ts';
import type { JsonObject } from './json.ts';
import { isLegal, isOfType, typesOf } from './schema-keywords.ts';
import { schemaAt } from './schema-reference.ts';
import { wellFormed } from './well-formed.ts';

/**
 * Names and schemas of tools as every provider of models takes them. A provider refuses a whole request for one tool
 * that it does not take, so the rules are the ones that all of them share. Arguments are still checked against the
 * schema that the tool came with: what is fitted here may be wider than that, and is never narrower.
 */

const LEGAL_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const LONGEST_NAME = 64;
const HASH_LENGTH = 8;
/** An id that ends like a name that was made could be the name of another tool, so its name is made too. */
const MADE_NAME = /__[0-9a-f]{8}$/;

/** The same name for the same id, and different names for different ids. */
export const nameForModel = (id: string): string => {
  if (id.length <= LONGEST_NAME && LEGAL_NAME.test(id) && !MADE_NAME.test(id)) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH);
  const plain = id.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replace(/^(?![A-Za-z_])/, '_');
  return `${plain.slice(0, LONGEST_NAME - HASH_LENGTH - 2)}__${hash}`;
};

/** Levels of a schema that are sent; deeper ones accept any value. */
const DEEPEST = 12;
/** Values of a schema after its references are resolved. */
const MOST_NODES = 5000;

export type FittedSchema = { schema: JsonObject } | { problem: string };

const known = new WeakMap<object, FittedSchema>();

/** A schema is not changed in place, so its fitted form is kept with it. */
export const schemaForModel = (given: JsonObject): FittedSchema => {
  const before = known.get(given);
  if (before) return before;
  const fitted = fit(given);
  known.set(given, fitted);
  return fitted;
};

type Fitting = { readonly root: JsonObject; nodes: number };

const fit = (root: JsonObject): FittedSchema => {
  const fitting: Fitting = { root, nodes: 0 };
  const resolved = asObjectSchema(fitting, root, []);
  if (typeof resolved === 'string') return { problem: resolved };
  const { properties = {}, required, ...rest } = resolved;
  const schema = {
    ...annotationsOf(rest),
    type: 'object',
    properties: fittedMembers(fitting, properties, { depth: 1, open: [] }),
    ...(Array.isArray(required) && required.length > 0 && { required: textsOf(required) }),
    ...('additionalProperties' in rest && {
      additionalProperties: fitted(fitting, rest.additionalProperties, { depth: 1, open: [] }),
    }),
  };
  if (fitting.nodes > MOST_NODES) return { problem: `the schema has more than ${MOST_NODES} values` };
  // Made of values of a schema that is JSON.
  return { schema: wellFormed(schema as JsonObject) };
};

const annotationsOf = ({ title, description }: Members): Members => ({
  ...(typeof title === 'string' && { title }),
  ...(typeof description === 'string' && { description }),
});

type Members = Readonly<Record<string, unknown>>;

/**
 * The top of a schema, which must be one object for providers: references are resolved, and alternatives become one
 * object with the properties of all of them. A text says why there is none.
 */
const asObjectSchema = (fitting: Fitting, schema: Members, open: readonly string[]): Members | string => {
  if (typeof schema.$ref === 'string') {
    const target = open.includes(schema.$ref) ? undefined : schemaAt(fitting.root, schema.$ref);
    if (!target) return `the schema refers to '${schema.$ref}', which leads nowhere`;
    const { $ref, ...rest } = schema;
    return asObjectSchema(fitting, { ...target, ...rest }, [...open, $ref as string]);
  }
  const types = typesOf(schema.type);
  if (types && !types.includes('object'))
    return `the schema is of type ${types.join(', ')} and not of type object`;
  const { anyOf, oneOf, allOf, ...rest } = schema;
  let merged: Members = rest;
  for (const [branches, all] of [
    [anyOf, false],
    [oneOf, false],
    [allOf, true],
  ] as const) {
    if (!Array.isArray(branches)) continue;
    const parts = branches
      .filter(isObject)
      .map((branch) => asObjectSchema(fitting, branch, open))
      .filter((part) => typeof part !== 'string');
    if (parts.length === 0 && branches.length > 0) return 'no alternative of the schema is of type object';
    merged = mergedWith(merged, parts, all);
  }
  return merged;
};

const mergedWith = (schema: Members, parts: readonly Members[], all: boolean): Members => {
  const properties: Record<string, unknown>[] = [schema, ...parts].map((part) => membersOf(part.properties));
  const lists = parts.map(({ required }) => textsOf(required));
  const needed = all
    ? lists.flat()
    : (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));
  const required = [...new Set([...textsOf(schema.required), ...needed])];
  return {
    ...schema,
    // What one branch closes, another may need.
    ...('additionalProperties' in schema && parts.length > 0 && { additionalProperties: true }),
    properties: unionOf(properties),
    required,
  };
};

/** A property that alternatives define differently may be either. */
const unionOf = (all: readonly Record<string, unknown>[]): Record<string, unknown> => {
  const found = new Map<string, unknown[]>();
  for (const properties of all) {
    for (const [name, schema] of Object.entries(properties)) {
      const texts = found.get(name) ?? [];
      if (!texts.some((text) => JSON.stringify(text) === JSON.stringify(schema))) texts.push(schema);
      found.set(name, texts);
    }
  }
  return Object.fromEntries(
    Array.from(found, ([name, schemas]) => [name, schemas.length === 1 ? schemas[0] : { anyOf: schemas }]),
  );
};

const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

const textsOf = (value: unknown): string[] => [
  ...new Set(Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []),
];

type Place = { depth: number /** References that are being resolved. */; open: readonly string[] };

/** Keywords whose value is one schema. */
const SCHEMAS = new Set([
  'items',
  'additionalProperties',
  'contains',
  'not',
  'propertyNames',
  'if',
  'then',
  'else',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contentSchema',
]);
/** Keywords whose value is a list of schemas. */
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
/** Keywords whose value has a schema in each member. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas']);
const fitted = (fitting: Fitting, schema: unknown, place: Place): unknown => {
  if (!isObject(schema)) return typeof schema === 'boolean' ? schema : {};
  fitting.nodes += 1;
  if (place.depth > DEEPEST || fitting.nodes > MOST_NODES) return {};
  const $ref = schema.$ref ?? schema.$dynamicRef;
  if (typeof $ref === 'string') return fittedReference(fitting, schema, $ref, place);
  const { type, ...rest } = schema;
  const result = fittedKeywords(fitting, withTuple(rest), { ...place, depth: place.depth + 1 });
  const types = typesOf(type);
  const [only] = types ?? [];
  if (!types || only === undefined) return withProperties(result);
  if (types.length === 1) return withProperties(typed(only, result));
  // Some providers take one type only.
  if ('anyOf' in result) return result;
  return {
    ...annotationsOf(result),
    anyOf: types.map((each) => oneOfTypes(each, result)),
  };
};

const fittedKeywords = (fitting: Fitting, schema: Members, deeper: Place): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
      if (!isLegal(name, value)) return [];
      if (MAPS.has(name)) return [[name, fittedMembers(fitting, value, deeper)]];
      return [[name, SCHEMAS.has(name) || LISTS.has(name) ? fittedEach(fitting, value, deeper) : value]];
    }),
  );

/** Drafts before 2020-12 have the list of a tuple under `items`. */
const withTuple = ({ items, additionalItems, ...schema }: Members): Members => {
  if (!Array.isArray(items)) return { ...schema, ...(items !== undefined && { items }) };
  return { ...schema, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) };
};

/** A schema of this type, with the values that it can have. */
const typed = (type: string, schema: Record<string, unknown>): Record<string, unknown> => {
  const { enum: values, const: value, ...rest } = schema;
  const possible = Array.isArray(values) ? values.filter((each) => isOfType(each, type)) : [];
  return {
    type,
    ...rest,
    ...(possible.length > 0 && { enum: possible }),
    ...(value !== undefined && isOfType(value, type) && { const: value }),
  };
};

/** One of several types, with its own keywords. Texts and defaults hold for all of them. */
const oneOfTypes = (type: string, schema: Record<string, unknown>): Record<string, unknown> => {
  if (type === 'null') return { type };
  const { title: _, description: _description, default: _default, ...rest } = schema;
  const own = Object.entries(rest).filter(([name]) => (KEYWORDS[name] ?? type) === type);
  return withProperties(typed(type, Object.fromEntries(own)));
};

const KEYWORDS: Readonly<Record<string, string>> = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  items: 'array',
  minItems: 'array',
  maxItems: 'array',
  pattern: 'string',
  format: 'string',
  minLength: 'string',
  maxLength: 'string',
};

const withProperties = (schema: Record<string, unknown>): Record<string, unknown> => {
  if (schema.type === 'object' && !isObject(schema.properties)) return { ...schema, properties: {} };
  if (schema.type === 'array' && schema.items === undefined) return { ...schema, items: {} };
  return schema;
};

/** A reference that leads back to where it stands accepts any value. */
const fittedReference = (
  fitting: Fitting,
  schema: Members,
  $ref: string,
  { depth, open }: Place,
): unknown => {
  const { $ref: _, $dynamicRef: _dynamic, ...rest } = schema;
  const target = open.includes($ref) ? undefined : schemaAt(fitting.root, $ref);
  if (!target) return annotationsOf(rest);
  return fitted(fitting, { ...target, ...rest }, { depth, open: [...open, $ref] });
};

const fittedEach = (fitting: Fitting, value: unknown, place: Place): unknown =>
  Array.isArray(value) ? value.map((each) => fitted(fitting, each, place)) : fitted(fitting, value, place);

const fittedMembers = (fitting: Fitting, value: unknown, place: Place): Members =>
  Object.fromEntries(
    Object.entries(membersOf(value)).map(([name, each]) => [name, fitted(fitting, each, place)]),
  );
