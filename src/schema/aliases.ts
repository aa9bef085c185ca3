import { z } from 'zod';

type AliasesOf<Shape> = { readonly [Name in keyof Shape]?: string };

/** The parsed fields under their first names. */
type Folded<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>;

/**
 * An object schema in which some fields have a second name: clients use one of the two, and the output has only the
 * first. A field that is missing under both names is reported even if other fields are invalid.
 *
 * @example withAliases({ agentId: 'agent_id' }, { agentId: z.string(), title: z.string().nullish() })
 */
export const withAliases = <Shape extends z.ZodRawShape>(aliases: AliasesOf<Shape>, shape: Shape) => {
  const fields = fieldsOf(aliases, shape);
  return z
    .object({ ...shape, ...bothNames(fields) })
    .meta({ override: ({ jsonSchema }) => requireFirst(fields, jsonSchema) })
    .superRefine(
      (given, context) => {
        if (typeof given !== 'object' || given === null) return;
        for (const field of fields) checkNames(field, given, context);
      },
      { when: () => true },
    )
    .transform((given) => foldNames(fields, given) as Folded<Shape>);
};

type Field = { name: string; alias: string; schema: z.ZodType; required: boolean };

const fieldsOf = (aliases: Readonly<Record<string, string | undefined>>, shape: z.ZodRawShape): Field[] =>
  Object.entries(aliases).flatMap(([name, alias]) => {
    const schema = shape[name];
    if (!(schema instanceof z.ZodType) || alias === undefined) throw new Error(`no field '${name}' to alias`);
    return [{ name, alias, schema, required: !schema.safeParse(undefined).success }];
  });

const bothNames = (fields: readonly Field[]): Record<string, z.ZodType> =>
  Object.fromEntries(
    fields.flatMap(({ name, alias, schema }) => [
      [name, schema.optional().meta(factsOf(schema))],
      [
        alias,
        schema.optional().meta({ ...SECOND, description: `alias of \`${name}\`: use only one of them` }),
      ],
    ]),
  );

/** Marks a field or a parameter as deprecated in generated documents. */
const SECOND = { deprecated: true, param: { deprecated: true } } as const;

/** Returns the metadata of a field without its `id`, which belongs to the original schema. */
const factsOf = (schema: z.ZodType): z.GlobalMeta => {
  const { id: _, ...facts } = schema.meta() ?? {};
  return facts;
};

/** Generated documents list a required field under its first name. */
const requireFirst = (fields: readonly Field[], jsonSchema: { required?: string[] }): void => {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  if (required.length > 0) jsonSchema.required = [...(jsonSchema.required ?? []), ...required];
};

const checkNames = (
  { name, alias, required }: Field,
  given: Readonly<Record<string, unknown>>,
  context: z.RefinementCtx,
): void => {
  if (given[name] !== undefined && given[alias] !== undefined) {
    context.addIssue({
      code: 'custom',
      path: [alias],
      message: `duplicate of '${name}': give one of the two`,
    });
  } else if (required && given[name] === undefined && given[alias] === undefined) {
    context.addIssue({ code: 'custom', path: [name], input: undefined });
  }
};

const foldNames = (
  fields: readonly Field[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  const folded = { ...given };
  for (const { name, alias } of fields) {
    const value = given[name] === undefined ? given[alias] : given[name];
    if (value !== undefined) folded[name] = value;
  }
  return folded;
};
