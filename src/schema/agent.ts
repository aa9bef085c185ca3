import { z } from 'zod';
import { ReasoningEffort } from './run.ts';

/** What an agent is (agent-loop.md 1). */

export const AgentSpec = z
  .strictObject({
    id: z.string().min(1),
    description: z.string().optional(),
    model_id: z.string().default(''),
    system_prompt: z.string().default(''),
    max_rounds: z
      .int()
      .nonnegative()
      .default(16)
      .meta({ description: 'inferences a run may make; 0 = unlimited' }),
    max_continuation_retries: z.int().nonnegative().default(2),
    reasoning_effort: ReasoningEffort.optional(),
    allowed_tools: z.array(z.string()).nullable().optional(),
    allowed_tool_patterns: z.array(z.string()).nullable().optional(),
    excluded_tools: z.array(z.string()).optional(),
    excluded_tool_patterns: z.array(z.string()).optional(),
  })
  .meta({ id: 'AgentSpec' });
export type AgentSpec = z.infer<typeof AgentSpec>;

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
