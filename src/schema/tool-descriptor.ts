import { z } from 'zod';
import { JsonObject } from './json.ts';

/** A tool as described to models and in the catalog (agent-loop.md 6.1). */
export const ToolDescriptor = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    parameters: JsonObject.meta({ description: 'JSON Schema of the arguments object' }),
    category: z.string().nullable(),
    metadata: JsonObject.optional(),
  })
  .meta({ id: 'ToolDescriptor', description: 'A tool as offered to models.' });
export type ToolDescriptor = z.infer<typeof ToolDescriptor>;
