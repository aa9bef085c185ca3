import { isObject } from '../schema/endpoint.ts';
import type { Json, JsonObject } from '../schema/json.ts';
import { mapSchemas } from '../schema/json-schema.ts';

/**
 * Converts the schemas of completions to forms that providers accept. The service validates a completion against the
 * original schema, so the sent schema may be wider, but is never narrower.
 */

/** Keeps only known keywords, because a strict service rejects others. */
export const knownSchema = (schema: JsonObject): JsonObject => mapSchemas(schema, (each) => each);

/** Whether the predicate holds for the schema and all nested schemas. */
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

/** Keywords that OpenAI guarantees to enforce; a schema with any other keyword is sent without strict mode. */
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

/** OpenAI's strict mode requires that every object is closed and that all its properties are required. */
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

/**
 * With more optional properties, Anthropic and the services that offer its models exceed the limits of their grammars.
 */
const MOST_OPTIONAL = 10;

/** Anthropic closes every object and supports no recursive references. */
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

/** References may double the size of a grammar or be recursive; other modes do not limit them. */
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

/** Moves the keywords that Anthropic rejects to the description. */
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
