import { z } from 'zod';
import { JsonObject } from './json.ts';
import { requiredText } from './problems.ts';

/** The record of a built-in tool (config.md 3.7), which exists so that its description can be overridden. */

export const ToolSpec = z
  .strictObject({
    id: requiredText('id'),
    name: z.string(),
    description: z.string(),
    category: z.string().nullish(),
    parameters_schema: JsonObject.nullable()
      .default(null)
      .meta({ description: 'JSON Schema of the arguments; null when the tool has none' }),
  })
  .meta({ id: 'ToolSpec', description: 'A built-in tool.' });
export type ToolSpec = z.infer<typeof ToolSpec>;
