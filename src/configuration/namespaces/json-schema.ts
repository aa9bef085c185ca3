import { z } from 'zod';
import type { JsonObject } from '../../schema/endpoint.ts';

/**
 * Generates the JSON Schema of an entry in its written form for `$schema` (config.md 2.6): an object at the top, with a
 * title. Generated on first use.
 */
export const entrySchema = (title: string, schema: z.ZodType): (() => JsonObject) => {
  let made: JsonObject | undefined;
  return () => {
    made ??= writtenSchema(title, schema);
    return made;
  };
};

const writtenSchema = (title: string, schema: z.ZodType): JsonObject => {
  // The metadata of a custom type contains its schema.
  const { $schema, $ref, $defs, ...own } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const name = $ref?.replace('#/$defs/', '');
  const { [name ?? '']: root, ...others } = $defs ?? {};
  // A JSON Schema is JSON.
  return {
    $schema,
    title,
    ...(root ?? own),
    ...(Object.keys(others).length > 0 && { $defs: others }),
  } as JsonObject;
};
