import { z } from 'zod';
import { CutOff } from './cut-off.ts';
import { Termination } from './run.ts';

/** The activity of an agent in a window of time (evals-and-traces.md 10.3). Durations are in milliseconds. */

const DurationBucket = z.object({
  upper_bound_ms: z.int().nullable().meta({ description: 'inclusive; null: all larger values' }),
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

const cost_usd = z
  .number()
  .optional()
  .meta({ description: 'cost of inferences with prices; omitted if no model has a price' });

/** Counts of ended runs by the kind of their termination. */
const runs = {
  completed_runs: z.int(),
  stopped_runs: z.int().meta({ description: 'ended by a limit' }),
  blocked_runs: z.int().meta({ description: 'ended by a plugin' }),
  failed_runs: z.int(),
  cancelled_runs: z.int(),
};

const milliseconds = z.int().meta({ description: 'milliseconds since the epoch' });

const ModelStats = z.object({
  provider_id: z.string(),
  model: z.string().meta({ description: 'the name at the provider' }),
  inference_count: z.int(),
  error_count: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd,
  last_success_at: milliseconds.optional(),
  last_error: z
    .object({ class: z.string(), at: milliseconds })
    .optional()
    .meta({ description: 'of the newest failed inference' }),
});

const LastRun = z.object({
  run_id: z.string(),
  ended_at: milliseconds,
  termination: z.enum(Termination.options.map(({ shape }) => shape.type.value)),
});
export type LastRun = z.infer<typeof LastRun>;

const Figures = z.object({
  ...runs,
  inference_count: z.int(),
  error_count: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd,
  p50_inference_duration_ms: z.int(),
  p95_inference_duration_ms: z.int(),
});
export type Figures = z.infer<typeof Figures>;

const Point = Figures.extend({ from: z.int().meta({ description: 'start in seconds since the epoch' }) });

export const Course = z
  .object({
    point_seconds: z.int().meta({ description: 'length of a point' }),
    total: Figures.meta({ description: 'of the whole window' }),
    points: z.array(Point).meta({ description: 'oldest first, without gaps' }),
  })
  .meta({ id: 'StatsCourse', description: 'The course of the statistics over the window.' });
export type Course = z.infer<typeof Course>;

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
    cost_usd,
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
    ...runs,
    last_run: LastRun.optional().meta({ description: 'the run that ended last in the window' }),
    inferences_by_model: z.array(ModelStats).meta({ description: 'sorted by provider and model' }),
    course: Course.optional().meta({ description: 'only with the query parameter `points`' }),
  })
  .meta({ id: 'AgentStats', description: 'Statistics of an agent in a time window.' });
/**
 * Statistics of the inferences and tool calls of an agent in a time window (evals-and-traces.md 10.3). Durations
 * whose names end with `_ms` are in milliseconds.
 *
 * @example
 * ```ts
 * const stats: AgentStats = await client.system.agent('default', '15m');
 * console.log(`${stats.inference_count} inferences, p95 ${stats.p95_inference_duration_ms} ms`);
 * ```
 */
export type AgentStats = z.infer<typeof AgentStats>;
