import { z } from 'zod';
import { JsonObject } from './json.ts';

/** A tool as the model and the catalogue see it (agent-loop.md 6.1). */
export const ToolDescriptor = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    parameters: JsonObject.meta({ description: 'JSON Schema of the arguments object' }),
    category: z.string().nullable(),
    metadata: JsonObject.optional(),
  })
  .meta({ id: 'ToolDescriptor', description: 'A tool as models see it.' });
export type ToolDescriptor = z.infer<typeof ToolDescriptor>;
