import { z } from 'zod';

/** A tool as the model and the catalogue see it (agent-loop.md 6.1). */
export const ToolDescriptor = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    parameters: z.record(z.string(), z.json()).meta({ description: 'JSON Schema of the arguments object' }),
    category: z.string().nullable(),
    metadata: z.record(z.string(), z.json()).optional(),
  })
  .meta({ id: 'ToolDescriptor' });
export type ToolDescriptor = z.infer<typeof ToolDescriptor>;
