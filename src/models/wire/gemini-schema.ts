import { isObject } from '../../schema/endpoint.ts';
import type { Json, JsonObject } from '../../schema/json.ts';

/**
 * Converts a fitted schema of arguments (`schemaForModel`) to this protocol's `Schema`, a subset of OpenAPI 3.0.
 *
 * Guarantees: each value that the given schema allows is allowed; keywords that the protocol lacks, or accepts only in
 * some positions, are omitted, because it would reject the whole request.
 */

/** Undefined for a tool without arguments. */
export const toParameters = (schema: JsonObject): JsonObject | undefined =>
  isObject(schema.properties) && Object.keys(schema.properties).length === 0 && !schema.additionalProperties
    ? undefined
    : schemaOf(schema);

const ANY: readonly JsonObject[] = [
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'object' },
  { type: 'array', items: { type: 'string' } },
];

const schemaOf = (given: unknown): JsonObject => {
  if (!isObject(given)) return { anyOf: [...ANY] };
  // Values of a fitted schema are JSON.
  const schema = withoutAllOf(given as JsonObject);
  const annotations = {
    ...(typeof schema.description === 'string' &&
      schema.description !== '' && {
        description: schema.description,
      }),
    ...(schema.nullable === true && { nullable: true }),
  };
  const type = typeOf(schema);
  const alternatives = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  // No other keyword is accepted next to alternatives; the properties of an object are more precise.
  if (Array.isArray(alternatives) && alternatives.length > 0 && !isObject(schema.properties))
    return alternativesOf(alternatives, annotations);
  const values = valuesOf(schema);
  if (values) return { ...annotations, ...values };
  if (type === undefined) return { ...annotations, anyOf: [...ANY] };
  return { ...annotations, ...ofType(type, schema) };
};

const ofType = (type: string, schema: JsonObject): JsonObject => {
  const { format, minLength, items } = schema;
  if (type === 'object') return { type, ...propertiesOf(schema) };
  if (type === 'array') return { type, items: schemaOf(Array.isArray(items) ? undefined : items) };
  return {
    type,
    ...(typeof format === 'string' && FORMATS[type]?.includes(format) && { format }),
    ...(type === 'string' && typeof minLength === 'number' && { minLength }),
  };
};

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
};

const propertiesOf = ({ properties, required }: JsonObject): JsonObject => {
  // An object with arbitrary properties has no list of them, because the service rejects an empty list.
  if (!isObject(properties) || Object.keys(properties).length === 0) return {};
  const names = (Array.isArray(required) ? required : []).filter(
    (name) => typeof name === 'string' && Object.hasOwn(properties, name),
  );
  return {
    properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, schemaOf(each)])),
    ...(names.length > 0 && { required: names }),
  };
};

const typeOf = ({ type, properties, items }: JsonObject): string | undefined => {
  if (typeof type === 'string') return type;
  if (isObject(properties)) return 'object';
  return items === undefined ? undefined : 'array';
};

/** Replaces `allOf`, which the protocol lacks, with one object that has the properties of all. */
const withoutAllOf = (schema: JsonObject): JsonObject => {
  const { allOf, ...own } = schema;
  if (!Array.isArray(allOf)) return schema;
  const parts = [own, ...allOf.filter(isObject).map((part) => withoutAllOf(part as JsonObject))];
  const properties = Object.assign({}, ...parts.map((part) => part.properties).reverse());
  const required = parts.flatMap((part) => (Array.isArray(part.required) ? part.required : []));
  return {
    ...Object.assign({}, ...parts.toReversed()),
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
};

const isNull = (schema: Json): boolean => isObject(schema) && schema.type === 'null';

const alternativesOf = (alternatives: readonly Json[], annotations: JsonObject): JsonObject => {
  const rest = alternatives.filter((each) => !isNull(each));
  const nullable = { ...(rest.length < alternatives.length && { nullable: true }) };
  if (rest.length === 0) return { ...annotations, type: 'null' };
  if (rest.length === 1) return { ...annotations, ...nullable, ...schemaOf(rest[0]) };
  return { ...annotations, ...nullable, anyOf: rest.map(schemaOf) };
};

/**
 * The protocol accepts only strings as enum values, regardless of their type. For values of mixed types, and for the
 * empty string, only the type is kept.
 */
const valuesOf = ({ enum: list, const: only, type }: JsonObject): JsonObject | undefined => {
  const given = Array.isArray(list) ? list : only === undefined ? undefined : [only];
  if (!given || given.length === 0) return undefined;
  const nullable = given.includes(null) && (type === undefined || type === 'null');
  const values = given.filter((value) => value !== null);
  if (values.length === 0) return { type: 'null' };
  const kind = kindOf(values, type);
  if (kind === undefined || values.includes('')) return undefined;
  return {
    type: kind,
    ...(kind !== 'string' && { format: 'enum' }),
    enum: values.map(String),
    ...(nullable && { nullable: true }),
  };
};

const kindOf = (values: readonly Json[], type: Json | undefined): string | undefined => {
  const kinds = new Set(values.map((value) => typeof value));
  const [kind] = kinds;
  if (kinds.size !== 1 || (kind !== 'string' && kind !== 'number' && kind !== 'boolean')) return undefined;
  if (type === undefined || type === kind) return kind;
  return kind === 'number' && type === 'integer' && values.every(Number.isInteger) ? 'integer' : undefined;
};
