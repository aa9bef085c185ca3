import { z } from 'zod';
import { CutOff } from './cut-off.ts';

/** What an agent did in a window of time (evals-and-traces.md 10.3). Durations are milliseconds. */

const DurationBucket = z.object({
  upper_bound_ms: z.int().nullable().meta({ description: 'inclusive; null: everything above the others' }),
  count: z.int().meta({ description: 'not cumulative' }),
});
export type DurationBucket = z.infer<typeof DurationBucket>;

const ToolStats = z.object({
  tool: z.string(),
  call_count: z.int(),
  failure_count: z.int(),
  total_duration_ms: z.int(),
  avg_duration_ms: z.number(),
  min_duration_ms: z.int(),
  max_duration_ms: z.int(),
  p50_duration_ms: z.int(),
  p95_duration_ms: z.int(),
  p99_duration_ms: z.int(),
  duration_histogram: z.array(DurationBucket),
});

export const AgentStats = z
  .object({
    agent_id: z.string(),
    window_seconds: z.int(),
    bucket_window_seconds: z.int(),
    bucket_count: z.int(),
    inference_count: z.int(),
    error_count: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cut_off: CutOff,
    cost_usd: z.number().meta({ description: 'of inferences whose models have prices' }),
    avg_inference_duration_ms: z.number(),
    min_inference_duration_ms: z.int(),
    max_inference_duration_ms: z.int(),
    p50_inference_duration_ms: z.int(),
    p95_inference_duration_ms: z.int(),
    p99_inference_duration_ms: z.int(),
    inference_duration_histogram: z.array(DurationBucket).meta({ description: 'empty without samples' }),
    suspensions: z.int(),
    handoffs: z.int(),
    delegations: z.int(),
    tool_calls_by_tool: z.array(ToolStats).meta({ description: 'sorted by tool' }),
  })
  .meta({ id: 'AgentStats', description: 'What an agent did in a window of time.' });
export type AgentStats = z.infer<typeof AgentStats>;
