import { isObject, type JsonObject } from '../data/guard.ts';

/** Interprets a JSON Schema for a form. Values of unsupported schemas are edited as JSON. */

export type Schema = JsonObject;

export type View =
  | { kind: 'object'; properties: readonly Property[]; rest: Schema | undefined }
  | { kind: 'list'; items: Schema }
  | { kind: 'enum'; options: readonly Scalar[] }
  | { kind: 'choice'; variants: readonly Schema[] }
  | { kind: 'const'; value: unknown }
  | { kind: 'number'; isInteger: boolean }
  | { kind: 'text' | 'flag' | 'json' };

export type Property = { name: string; schema: Schema; isRequired: boolean };

export type Scalar = string | number | boolean;

export type Seen = {
  /** The schema with its references resolved. */
  schema: Schema;
  view: View;
  isNullable: boolean;
};

const MOST_REFERENCES = 16;

const ANY: Schema = {};

const schemaOf = (value: unknown): Schema => (isObject(value) ? value : ANY);

export const schemasOf = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Resolves a pointer such as `#/$defs/rule` within the root schema. */
const pointedAt = (root: Schema, pointer: string): unknown => {
  if (!pointer.startsWith('#')) return undefined;
  let found: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isObject(found) ? found[name] : undefined;
  }
  return found;
};

/** Merges references and `allOf` into one schema. */
export const resolved = (schema: Schema, root: Schema, depth = 0): Schema => {
  const { $ref, allOf, ...own } = schema;
  if (depth > MOST_REFERENCES) return own;
  if (typeof $ref === 'string') {
    const target = pointedAt(root, $ref);
    return isObject(target) ? { ...resolved(target, root, depth + 1), ...own } : own;
  }
  let whole: Schema = own;
  for (const part of schemasOf(allOf)) whole = both(whole, resolved(part, root, depth + 1));
  return whole;
};

const both = (one: Schema, other: Schema): Schema => {
  const required = [...namesOf(one.required), ...namesOf(other.required)];
  const properties = { ...schemaOf(other.properties), ...schemaOf(one.properties) };
  return {
    ...other,
    ...one,
    ...(required.length > 0 && { required }),
    ...(Object.keys(properties).length > 0 && { properties }),
  };
};

const namesOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

const isNull = (schema: Schema): boolean => schema.type === 'null' || schema.const === null;

const objectView = (schema: Schema): View => {
  const required = new Set(namesOf(schema.required));
  const properties = Object.entries(schemaOf(schema.properties)).map(([name, property]) => ({
    name,
    schema: schemaOf(property),
    isRequired: required.has(name),
  }));
  const { additionalProperties: rest } = schema;
  if (properties.length === 0 && !isObject(rest)) return { kind: 'json' };
  return { kind: 'object', properties, rest: isObject(rest) ? rest : undefined };
};

const TYPED: Readonly<Record<string, (schema: Schema) => View>> = {
  object: objectView,
  array: ({ items }) => (isObject(items) ? { kind: 'list', items } : { kind: 'json' }),
  string: () => ({ kind: 'text' }),
  number: () => ({ kind: 'number', isInteger: false }),
  integer: () => ({ kind: 'number', isInteger: true }),
  boolean: () => ({ kind: 'flag' }),
};

const viewOfType = (schema: Schema): View => {
  const { type } = schema;
  const known = typeof type === 'string' ? TYPED[type] : undefined;
  if (known) return known(schema);
  return type === undefined && isObject(schema.properties) ? objectView(schema) : { kind: 'json' };
};

/** The constants of the variants; undefined unless all of them are scalar constants. */
const constantsOf = (variants: readonly Schema[]): Scalar[] | undefined => {
  const values = variants.map((variant) => variant.const);
  return values.every(isScalar) ? values : undefined;
};

const choiceView = (variants: readonly Schema[]): View => {
  const options = constantsOf(variants);
  return options ? { kind: 'enum', options } : { kind: 'choice', variants };
};

const withoutNull = (schema: Schema, root: Schema): Seen => {
  const { type, anyOf, oneOf, ...base } = schema;
  const variants = schemasOf(anyOf ?? oneOf).map((variant) => resolved(variant, root));
  if (variants.length > 0) {
    const some = variants.filter((variant) => !isNull(variant));
    const isNullable = some.length < variants.length;
    const [only] = some;
    // Keywords of the outer schema, such as its title, apply to the only remaining variant.
    if (some.length === 1 && only) {
      const inner = seen({ ...only, ...base }, root);
      return { ...inner, isNullable: isNullable || inner.isNullable };
    }
    return { schema, view: choiceView(some), isNullable };
  }
  if (!Array.isArray(type)) return { schema, view: viewOfType(schema), isNullable: type === 'null' };
  const types = type.filter((one) => one !== 'null');
  const isNullable = types.length < type.length;
  const [only] = types;
  if (types.length === 1) {
    const single = { ...schema, type: only };
    return { schema: single, view: viewOfType(single), isNullable };
  }
  return {
    schema,
    view: { kind: 'choice', variants: types.map((one) => ({ ...base, title: undefined, type: one })) },
    isNullable,
  };
};

export const seen = (raw: Schema, root: Schema): Seen => {
  const schema = resolved(raw, root);
  if (Array.isArray(schema.enum)) {
    const options = schema.enum.filter(isScalar);
    const isNullable = schema.enum.includes(null);
    if (options.length + (isNullable ? 1 : 0) !== schema.enum.length)
      return { schema, view: { kind: 'json' }, isNullable };
    return { schema, view: { kind: 'enum', options }, isNullable };
  }
  if ('const' in schema) return { schema, view: { kind: 'const', value: schema.const }, isNullable: false };
  return withoutNull(schema, root);
};

/** The title of the schema, or the key as words: `default_mode` becomes "Default mode". */
export const nameOf = (schema: Schema, key: string): string => {
  if (typeof schema.title === 'string' && schema.title !== '') return schema.title;
  const words = key.replace(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** Appends a name to a path: `rules` and `0` become `rules.0`. */
export const placeOf = (path: string, name: string | number): string =>
  path === '' ? String(name) : `${path}.${name}`;
