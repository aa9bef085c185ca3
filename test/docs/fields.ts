import { z } from 'zod';

/** The fields of zod schemas, as tables of the manual show them. */

type Schema = z.core.JSONSchema.JSONSchema;

export type Field = {
  /** A path such as `rules[].tool`. */
  name: string;
  type: string;
  isRequired: boolean;
  default: unknown;
  description: string | undefined;
};

/** The fields of an object as the input of a request, nested ones after the field that contains them. */
export const inputFields = (schema: z.ZodType): Field[] =>
  nested(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '').flatMap((each) =>
    fieldsIn(each, ''),
  );

/** The keys of an object as part of a response, without those of nested objects. */
export function outputFields(schema: z.ZodType): Omit<Field, 'default' | 'description'>[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' });
  return Object.entries(properties).map(([name, value]) => ({
    name,
    type: shapeOf(asSchema(value)) ?? typeOf(asSchema(value)),
    isRequired: required.includes(name),
  }));
}

/** The keys of an object, as `{a, b?}`. */
function shapeOf({ properties, required = [] }: Schema): string | undefined {
  if (!properties) return undefined;
  const keys = Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
  return `\`{${keys.join(', ')}}\``;
}

function fieldsIn({ properties = {}, required = [] }: Schema, prefix: string): Field[] {
  return Object.entries(properties).flatMap(([key, value]) => {
    const schema = asSchema(value);
    const name = `${prefix}${key}`;
    return [
      {
        name,
        type: typeOf(schema),
        isRequired: required.includes(key),
        default: schema.default,
        description: schema.description,
      },
      ...nested(schema, name).flatMap((inner) => fieldsIn(inner, `${pathOf(schema, name)}.`)),
    ];
  });
}

const pathOf = ({ type }: Schema, name: string): string => (type === 'array' ? `${name}[]` : name);

/** The objects with fields that a schema contains. */
function nested(schema: Schema, name: string): Schema[] {
  if (schema.properties) return [schema];
  const inner = [...(schema.anyOf ?? []), ...(schema.type === 'array' ? [itemsOf(schema)] : [])];
  return inner.flatMap((each) => nested(each, name));
}

/** A schema that allows every value is `true`. */
const asSchema = (schema: Schema | boolean | undefined): Schema => (typeof schema === 'object' ? schema : {});

const itemsOf = ({ items }: Schema): Schema => asSchema([items].flat()[0]);

function typeOf(schema: Schema): string {
  const { $ref, anyOf, oneOf } = schema;
  if ($ref !== undefined) return `\`${$ref.slice($ref.lastIndexOf('/') + 1)}\``;
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(itemsOf(schema))}`;
  const { type = 'any JSON', minLength = 0 } = schema;
  return `${minLength > 0 ? 'non-empty ' : ''}${[type].flat().join(' or ')}${limitsOf(schema)}`;
}

/** The limits of an integer that JavaScript cannot exceed are not limits of the service. */
function limitsOf({ minimum, maximum, exclusiveMinimum, properties, additionalProperties }: Schema): string {
  if (!properties && typeof additionalProperties === 'object') return ` of ${typeOf(additionalProperties)}`;
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const least = minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  if (typeof exclusiveMinimum === 'number')
    return ` > ${exclusiveMinimum}${most === undefined ? '' : ` and ≤ ${most}`}`;
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}`;
  if (least !== undefined) return ` ≥ ${least}`;
  return most === undefined ? '' : ` ≤ ${most}`;
}

/** The keys of a record, which must have no others. */
export const keysOf = <Key extends string>(record: Readonly<Record<Key, unknown>>): Key[] =>
  Object.keys(record) as Key[];

/** A text as code of Markdown. */
export const code = (text: string | number): string => `\`${text}\``;

export const tableOf = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cellOf).join(' | ')} |`).join('\n');

/** An asterisk in code is not markup. */
const cellOf = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
    .replaceAll(/`[^`]*`|\*/g, (found) => (found === '*' ? '\\*' : found));

/** The entry of a record for a code of the service. @throws Error if the manual does not describe the code */
export function rowOf<Row>(rows: Readonly<Record<string, Row>>, code: string | number): Row {
  const row = rows[code];
  if (row === undefined) throw new Error(`no row describes '${code}'`);
  return row;
}
