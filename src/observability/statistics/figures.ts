import { cutOffOf, NO_CUT_OFF } from '../../schema/cut-off.ts';
import { outcomeOf } from '../../schema/run-query.ts';
import type { AgentStats, Figures, LastRun } from '../../schema/runtime-stats.ts';
import { addUsd } from '../../schema/usd.ts';
import { type Bucket, COUNTERS, noCounts } from './buckets.ts';
import { addDuration, createTally, summarize } from './duration-tally.ts';
import { addCutOffToModel, addToModel, sumOfModels } from './model-tally.ts';
import type { CutOffRecord, EndedRun, InferenceRecord, ToolRecord } from './records.ts';

/** Adds records to a bucket, and adds up the figures of several buckets. */

const MOST_TOOLS = 1000;
const OTHER_TOOLS = 'unknown';

export const addInference = (bucket: Bucket, inference: InferenceRecord, at: number): void => {
  const { durationMs, error, inputTokens = 0, outputTokens = 0, usd } = inference;
  const { counters, inferences, models } = bucket;
  addDuration(inferences, durationMs);
  if (error !== undefined) counters.error_count += 1;
  counters.input_tokens += Math.max(0, inputTokens);
  counters.output_tokens += Math.max(0, outputTokens);
  bucket.usd = addUsd(bucket.usd, usd);
  addToModel(models, { ...inference, at });
};

export const addCutOff = (bucket: Bucket, cut: CutOffRecord): void => {
  bucket.counters.cut_off_input_tokens += cut.input;
  bucket.counters.cut_off_output_tokens += cut.output;
  bucket.usd = addUsd(bucket.usd, cut.usd);
  addCutOffToModel(bucket.models, cut);
};

export const addRun = (bucket: Bucket, { run_id, termination }: EndedRun, at: number): void => {
  const outcome = outcomeOf({ status: 'done', termination_reason: { type: termination } });
  if (!outcome) return;
  bucket.counters[`${outcome}_runs`] += 1;
  bucket.lastRun = { run_id, ended_at: at, termination };
};

export const addToolCall = ({ tools }: Bucket, { tool, durationMs, failed }: ToolRecord): void => {
  const name = tools.size < MOST_TOOLS || tools.has(tool) ? tool : OTHER_TOOLS;
  const tally = tools.get(name) ?? { durations: createTally(), failures: 0 };
  tools.set(name, tally);
  addDuration(tally.durations, durationMs);
  if (failed) tally.failures += 1;
};

const totalsOf = (buckets: readonly Bucket[]) => {
  const counters = noCounts();
  for (const bucket of buckets) for (const name of COUNTERS) counters[name] += bucket.counters[name];
  const usd = buckets.map((bucket) => bucket.usd).reduce(addUsd, undefined);
  return { counters, usd, inferences: summarize(buckets.map((bucket) => bucket.inferences)) };
};

/** The fields of a snapshot that its buckets determine. */
export const figuresOf = (buckets: readonly Bucket[]) => {
  const { counters, usd, inferences } = totalsOf(buckets);
  const { cut_off_input_tokens, cut_off_output_tokens, ...figures } = counters;
  const lastRun = buckets
    .flatMap((bucket) => bucket.lastRun ?? [])
    .reduce<LastRun | undefined>(
      (last, one) => (last && last.ended_at > one.ended_at ? last : one),
      undefined,
    );
  return {
    ...figures,
    ...(usd !== undefined && { cost_usd: usd }),
    cut_off: cutOffOf({ input: cut_off_input_tokens, output: cut_off_output_tokens }) ?? NO_CUT_OFF,
    inference_count: inferences.count,
    avg_inference_duration_ms: inferences.avg,
    min_inference_duration_ms: inferences.min,
    max_inference_duration_ms: inferences.max,
    p50_inference_duration_ms: inferences.p50,
    p95_inference_duration_ms: inferences.p95,
    p99_inference_duration_ms: inferences.p99,
    inference_duration_histogram: inferences.histogram,
    tool_calls_by_tool: toolsOf(buckets),
    ...(lastRun && { last_run: lastRun }),
    inferences_by_model: sumOfModels(buckets),
  };
};

/** The figures of a point of the course, or of all its points. */
export const pointOf = (buckets: readonly Bucket[]): Figures => {
  const { counters, usd, inferences } = totalsOf(buckets);
  const { error_count, input_tokens, output_tokens } = counters;
  const { completed_runs, stopped_runs, blocked_runs, failed_runs, cancelled_runs } = counters;
  return {
    completed_runs,
    stopped_runs,
    blocked_runs,
    failed_runs,
    cancelled_runs,
    inference_count: inferences.count,
    error_count,
    input_tokens,
    output_tokens,
    ...(usd !== undefined && { cost_usd: usd }),
    p50_inference_duration_ms: inferences.p50,
    p95_inference_duration_ms: inferences.p95,
  };
};

const toolsOf = (buckets: readonly Bucket[]): AgentStats['tool_calls_by_tool'] => {
  const names = new Set(buckets.flatMap(({ tools }) => [...tools.keys()]));
  return [...names].sort().map((tool) => {
    const tallies = buckets.flatMap(({ tools }) => tools.get(tool) ?? []);
    const calls = summarize(tallies.map(({ durations }) => durations));
    return {
      tool,
      call_count: calls.count,
      failure_count: tallies.reduce((all, { failures }) => all + failures, 0),
      total_duration_ms: calls.total,
      avg_duration_ms: calls.avg,
      min_duration_ms: calls.min,
      max_duration_ms: calls.max,
      p50_duration_ms: calls.p50,
      p95_duration_ms: calls.p95,
      p99_duration_ms: calls.p99,
      duration_histogram: calls.histogram,
    };
  });
};
