import { createHash } from 'node:crypto';
import { isObject } from './endpoint.ts';
import type { JsonObject } from './json.ts';
import { Invalid } from './outcome.ts';
import { type CompileWithin, createExpressions } from './regex.ts';
import { findKeyword, isOfType, knownTypes } from './schema-keywords.ts';
import { schemaAt } from './schema-reference.ts';
import { wellFormed } from './well-formed.ts';

/**
 * Names and schemas of tools in a form that every model provider accepts. A provider rejects a whole request for one
 * invalid tool, so the rules are those that all providers share. Arguments are still validated against the original
 * schema of the tool: the fitted schema may be wider, and is never narrower.
 */

const LEGAL_NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const LONGEST_NAME = 64;
const HASH_LENGTH = 8;
/** An id that ends like a generated name could equal the name of another tool, so it gets a generated name too. */
const MADE_NAME = /__[0-9a-f]{8}$/;

/** Returns the same name for the same id, and different names for different ids. */
export const nameForModel = (id: string): string => {
  if (id.length <= LONGEST_NAME && LEGAL_NAME.test(id) && !MADE_NAME.test(id)) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH);
  const plain = id.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replace(/^(?![A-Za-z_])/, '_');
  return `${plain.slice(0, LONGEST_NAME - HASH_LENGTH - 2)}__${hash}`;
};

/** Maximum schema levels that are sent; deeper ones accept any value. */
const DEEPEST = 12;
/** Maximum number of values in a schema after its references are resolved. */
const MOST_NODES = 5000;

/** Values that one alternative of the top level counts as, because its properties are merged with those of the others. */
const ALTERNATIVE = 8;

/** `size` is the number of values and of steps of patterns, which the time to fit the schema depends on. */
export type FittedSchema = ({ schema: JsonObject } | { problem: string }) & { size: number };

const known = new WeakMap<object, FittedSchema>();

/** Schemas are never mutated, so the fitted form is cached by object. */
export const schemaForModel = (given: JsonObject): FittedSchema => {
  const before = known.get(given);
  if (before) return before;
  const fitted = fit(given);
  known.set(given, fitted);
  return fitted;
};

type Fitting = { readonly root: JsonObject; nodes: number; readonly compile: CompileWithin };

const fit = (root: JsonObject): FittedSchema => {
  const compile = createExpressions();
  const fitting: Fitting = { root, nodes: 0, compile };
  const result = fitWithin(fitting);
  return { ...result, size: fitting.nodes + compile.spent() };
};

const fitWithin = (fitting: Fitting): { schema: JsonObject } | { problem: string } => {
  const resolved = asObjectSchema(fitting, fitting.root, []);
  if (fitting.nodes > MOST_NODES) return TOO_LARGE;
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
  if (fitting.nodes > MOST_NODES) return TOO_LARGE;
  // Built from the values of a JSON schema.
  return { schema: wellFormed(schema as JsonObject) };
};

const TOO_LARGE = { problem: `the schema has more than ${MOST_NODES} values` };

const annotationsOf = ({ title, description }: Members): Members => ({
  ...(typeof title === 'string' && { title }),
  ...(typeof description === 'string' && { description }),
});

type Members = Readonly<Record<string, unknown>>;

/**
 * Converts the top level of a schema, which must be one object for providers: references are resolved, and alternatives
 * become one object with the properties of all of them. Returns an error text if this is impossible.
 */
const asObjectSchema = (fitting: Fitting, schema: Members, open: readonly string[]): Members | string => {
  fitting.nodes += ALTERNATIVE;
  // References to one alternative from several others would multiply without a limit.
  if (fitting.nodes > MOST_NODES) return TOO_LARGE.problem;
  if (typeof schema.$ref === 'string') {
    const target = open.includes(schema.$ref) ? undefined : schemaAt(fitting.root, schema.$ref);
    if (!target) return `the schema refers to '${schema.$ref}', which leads nowhere`;
    const { $ref, ...rest } = schema;
    return asObjectSchema(fitting, { ...target, ...rest }, [...open, $ref as string]);
  }
  const types = knownTypes(schema.type);
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
    // A property that one branch forbids may be required by another.
    ...('additionalProperties' in schema && parts.length > 0 && { additionalProperties: true }),
    properties: unionOf(properties),
    required,
  };
};

/** A property that alternatives define differently accepts each of the definitions. */
const unionOf = (all: readonly Record<string, unknown>[]): Record<string, unknown> => {
  const found = new Map<string, unknown[]>();
  for (const properties of all) {
    for (const [name, schema] of Object.entries(properties)) {
      const schemas = found.get(name);
      if (schemas) schemas.push(schema);
      else found.set(name, [schema]);
    }
  }
  return Object.fromEntries(Array.from(found, ([name, schemas]) => [name, anyOfThem(schemas)]));
};

const anyOfThem = (schemas: readonly unknown[]): unknown => {
  if (schemas.length === 1) return schemas[0];
  const [only, ...others] = new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values();
  return others.length === 0 ? only : { anyOf: [only, ...others] };
};

const membersOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

const textsOf = (value: unknown): string[] => [
  ...new Set(Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []),
];

type Place = { depth: number /** References in progress. */; open: readonly string[] };

const fitted = (fitting: Fitting, schema: unknown, place: Place): unknown => {
  if (!isObject(schema)) return typeof schema === 'boolean' ? schema : {};
  fitting.nodes += 1;
  if (place.depth > DEEPEST || fitting.nodes > MOST_NODES) return {};
  const $ref = schema.$ref ?? schema.$dynamicRef;
  if (typeof $ref === 'string') return fittedReference(fitting, schema, $ref, place);
  const { type, ...rest } = schema;
  const result = fittedKeywords(fitting, withTuple(rest), { ...place, depth: place.depth + 1 });
  const types = knownTypes(type);
  const [only] = types ?? [];
  if (!types || only === undefined) return withProperties(result);
  if (types.length === 1) return withProperties(typed(only, result));
  // Some providers accept a single type only.
  if ('anyOf' in result) return result;
  return {
    ...annotationsOf(result),
    anyOf: types.map((each) => oneOfTypes(each, result)),
  };
};

const fittedKeywords = (fitting: Fitting, schema: Members, deeper: Place): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
      if (!isSent(fitting, name, value)) return [];
      const kind = findKeyword(name)?.kind;
      if (kind === 'map') return [[name, fittedMembers(fitting, value, deeper)]];
      return [[name, kind === 'schema' || kind === 'schemas' ? fittedEach(fitting, value, deeper) : value]];
    }),
  );

/** Whether a keyword is sent. Providers ignore unknown keywords, whatever their values. */
const isSent = ({ compile }: Fitting, name: string, value: unknown): boolean => {
  // Unused definitions: all references are already resolved.
  if (name.startsWith('$') || name === 'definitions' || name === 'dependencies') return false;
  // A keyword of OpenAPI.
  if (name === 'nullable') return typeof value === 'boolean';
  // Some providers reject the same patterns as the engine of the service.
  if (name === 'pattern' && typeof value === 'string' && compile(value) instanceof Invalid) return false;
  return findKeyword(name)?.fits(value) ?? true;
};

/** Drafts before 2020-12 have the list of a tuple under `items`. */
const withTuple = ({ items, additionalItems, ...schema }: Members): Members => {
  if (!Array.isArray(items)) return { ...schema, ...(items !== undefined && { items }) };
  return { ...schema, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) };
};

/** Returns a schema of this type, with only the possible values of this type. */
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

/** Returns one of several types, with its own keywords. Texts and defaults apply to all of them. */
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

/** A circular reference accepts any value. */
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
