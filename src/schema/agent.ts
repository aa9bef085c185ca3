import { z } from 'zod';
import { ReasoningEffort } from './run.ts';

/** What an agent is (agent-loop.md 1). */

export const StopCondition = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('max_rounds'), rounds: z.int().nonnegative() }),
  z.strictObject({ type: z.literal('timeout'), seconds: z.int().nonnegative().max(86_400) }),
  z.strictObject({ type: z.literal('token_budget'), max_total: z.int().nonnegative().max(100_000_000) }),
  z.strictObject({ type: z.literal('consecutive_errors'), max: z.int().nonnegative() }),
  z.strictObject({ type: z.literal('stop_on_tool'), tool_name: z.string() }),
  z.strictObject({ type: z.literal('content_match'), pattern: z.string().max(1024) }),
  z.strictObject({ type: z.literal('loop_detection'), window: z.int().nonnegative().max(64) }),
]);
export type StopCondition = z.infer<typeof StopCondition>;

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
    stop_conditions: z.array(StopCondition).optional(),
    reasoning_effort: ReasoningEffort.optional(),
    plugin_ids: z.array(z.string()).default([]),
    allowed_tools: z.array(z.string()).nullable().optional(),
    allowed_tool_patterns: z.array(z.string()).nullable().optional(),
    excluded_tools: z.array(z.string()).optional(),
    excluded_tool_patterns: z.array(z.string()).optional(),
    delegates: z.array(z.string()).optional(),
    sections: z.record(z.string(), z.json()).optional(),
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
