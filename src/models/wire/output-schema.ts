import { isObject } from '../../schema/endpoint.ts';
import type { Json, JsonObject } from '../../schema/json.ts';
import { mapSchemas } from '../../schema/json-schema.ts';

/**
 * Schemas of answers as providers accept them. The service checks an answer against the schema that it was given, so
 * what is sent may be wider than that, and is never narrower.
 */

/** A service that is strict refuses keywords that it does not know. */
export const knownSchema = (schema: JsonObject): JsonObject => mapSchemas(schema, (each) => each);

/** Whether each schema within a schema is of a kind. */
const every = (schema: JsonObject, holds: (schema: JsonObject) => boolean): boolean => {
  let all = true;
  mapSchemas(schema, (each) => {
    all &&= holds(each);
    return each;
  });
  return all;
};

const namesOf = ({ properties }: JsonObject): string[] =>
  isObject(properties) ? Object.keys(properties) : [];

const requiredOf = ({ required }: JsonObject): readonly Json[] => (Array.isArray(required) ? required : []);

const hasType = ({ type }: JsonObject, wanted: string): boolean =>
  type === wanted || (Array.isArray(type) && type.includes(wanted));

/** Keywords of schemas that OpenAI guarantees to be kept; a schema with another one is sent as a request only. */
const STRICT: ReadonlySet<string> = new Set([
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
  ...[
    'definitions',
    'title',
    'description',
    'pattern',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
  ],
  ...['multipleOf', 'minItems', 'maxItems', 'format'],
]);
const STRICT_FORMATS: readonly unknown[] = [
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
];

/** OpenAI has a strict form for schemas of objects that are closed and whose properties are all required. */
export const isStrictSchema = (schema: JsonObject): boolean =>
  schema.type === 'object' &&
  schema.anyOf === undefined &&
  every(schema, (each) => {
    const { additionalProperties, format, $ref } = each;
    if (!Object.keys(each).every((name) => STRICT.has(name))) return false;
    if (typeof $ref === 'string' && $ref !== '#' && !$ref.startsWith('#/')) return false;
    if (format !== undefined && !STRICT_FORMATS.includes(format)) return false;
    if (!hasType(each, 'object')) return Object.keys(each).length > 0;
    const required = requiredOf(each);
    return additionalProperties === false && namesOf(each).every((name) => required.includes(name));
  });

/** Above this Anthropic and the services that offer its models run into limits of their grammars. */
const MOST_OPTIONAL = 10;

/** Anthropic closes each object, and has no references that lead back. */
export const isClosedSchema = (schema: JsonObject): boolean => {
  let optional = 0;
  const isClosed = every(schema, (each) => {
    const required = requiredOf(each);
    optional += namesOf(each).filter((name) => !required.includes(name)).length;
    const { additionalProperties: more, patternProperties } = each;
    if (more === true || isObject(more) || patternProperties !== undefined) return false;
    return !hasType(each, 'object') || each.properties !== undefined || more === false;
  });
  return isClosed && optional <= MOST_OPTIONAL && !hasReferences(schema);
};

/** References may double what a grammar holds, or lead back; other modes have no limit for them. */
const hasReferences = (schema: JsonObject): boolean => !every(schema, ({ $ref }) => $ref === undefined);

const KEPT: readonly string[] = [
  ...[
    'title',
    'description',
    'default',
    'const',
    'enum',
    'type',
    'anyOf',
    'allOf',
    'properties',
    'required',
    'items',
  ],
];
const ANTHROPIC_FORMATS: readonly unknown[] = [...STRICT_FORMATS, 'uri'];

/** What Anthropic rejects becomes a part of the description. */
export const anthropicSchema = (schema: JsonObject): JsonObject =>
  mapSchemas(schema, ({ oneOf, format, ...each }) => {
    const kept = Object.fromEntries(Object.entries(each).filter(([name]) => KEPT.includes(name)));
    const rules = Object.entries(each).filter(
      ([name]) => !KEPT.includes(name) && name !== 'additionalProperties',
    );
    const hasFormat = ANTHROPIC_FORMATS.includes(format);
    if (format !== undefined && !hasFormat) rules.push(['format', format]);
    const written = rules.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join('; ');
    const description = [kept.description, written]
      .filter((text) => typeof text === 'string' && text !== '')
      .join('\n');
    return {
      ...kept,
      ...(oneOf !== undefined && kept.anyOf === undefined && { anyOf: oneOf }),
      ...(hasFormat && format !== undefined && { format }),
      ...(description !== '' && { description }),
      ...((hasType(each, 'object') || each.properties !== undefined) && { additionalProperties: false }),
    };
  });
