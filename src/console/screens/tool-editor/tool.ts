import {
  anyObject,
  type Guarded,
  isObject,
  type JsonObject,
  list,
  object,
  text,
  withDefault,
} from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';
import { pathOf } from '../../data/request.ts';

const Record = object({
  id: text,
  name: withDefault(text, ''),
  description: withDefault(text, ''),
  parameters_schema: withDefault(anyObject, {}),
});
export type ToolRecord = Guarded<typeof Record>;

/** A tool as it is stored: those of servers and plugins are not. */
export const recordOf = (id: string): Resource<ToolRecord> => ({
  path: pathOf`/v1/config/tools/${id}`,
  guard: Record,
});

export const MOST_BYTES = 4096;

/** From so many letters on a description is long. */
export const LONG = 400;

export const bytesOf = (typed: string): number => new TextEncoder().encode(typed).length;

export type Parameter = { name: string; type: string; isRequired: boolean; description: string };

const Named = object({ properties: withDefault(anyObject, {}), required: withDefault(list(text), []) });

const typeOf = (schema: JsonObject): string => {
  const { type, enum: values, anyOf, oneOf, $ref: ref, const: value } = schema;
  if (Array.isArray(values)) return values.map((one) => JSON.stringify(one)).join(' | ');
  if (value !== undefined) return JSON.stringify(value);
  if (typeof ref === 'string') return ref.split('/').at(-1) ?? ref;
  const either = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (either) return [...new Set(either.filter(isObject).map(typeOf))].join(' | ');
  if (type === 'array') return `${isObject(schema.items) ? typeOf(schema.items) : 'any'}[]`;
  if (Array.isArray(type)) return type.join(' | ');
  return typeof type === 'string' ? type : 'any';
};

/** What a tool takes, as far as its schema says it plainly. */
export const parametersOf = (schema: JsonObject): Parameter[] => {
  const { properties, required } = Named(schema, '');
  return Object.entries(properties)
    .filter((entry): entry is [string, JsonObject] => isObject(entry[1]))
    .map(([name, property]) => ({
      name,
      type: typeOf(property),
      isRequired: required.includes(name),
      description: typeof property.description === 'string' ? property.description : '',
    }));
};
