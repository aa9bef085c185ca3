import { z } from 'zod';

/** The shape of the `stop_conditions` of an agent (agent-loop.md 1.4). Limits are in `plugins/stop/conditions.ts`. */

const count = z.int().nonnegative();

export const StopCondition = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('max_rounds'), rounds: count }),
    z.strictObject({ type: z.literal('timeout'), seconds: count }),
    z.strictObject({ type: z.literal('token_budget'), max_total: count }),
    z.strictObject({ type: z.literal('consecutive_errors'), max: count }),
    z.strictObject({ type: z.literal('stop_on_tool'), tool_name: z.string() }),
    z.strictObject({ type: z.literal('content_match'), pattern: z.string() }),
    z.strictObject({ type: z.literal('loop_detection'), window: count }),
  ])
  .meta({ id: 'StopCondition', description: 'A condition that ends a run.' });
export type StopCondition = z.infer<typeof StopCondition>;
