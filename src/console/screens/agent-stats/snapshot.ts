import { countedUsd } from '../../data/cost.ts';
import { CutOff } from '../../data/cut-off.ts';
import { type Guarded, list, nullable, number, object, optional, text } from '../../data/guard.ts';
import type { Resource } from '../../data/queries.ts';

/** What is counted of one agent over a time (evals-and-traces.md 10). */

const Bucket = object({ upper_bound_ms: nullable(number), count: number });
export type Bucket = Guarded<typeof Bucket>;

const ToolRow = object({
  tool: text,
  call_count: number,
  failure_count: number,
  total_duration_ms: number,
  avg_duration_ms: number,
  p50_duration_ms: number,
  p95_duration_ms: number,
  p99_duration_ms: number,
  max_duration_ms: number,
});
export type ToolRow = Guarded<typeof ToolRow>;

const Snapshot = object({
  window_seconds: number,
  bucket_window_seconds: number,
  bucket_count: number,
  inference_count: number,
  error_count: number,
  input_tokens: number,
  output_tokens: number,
  cut_off: optional(CutOff),
  cost_usd: countedUsd,
  avg_inference_duration_ms: number,
  min_inference_duration_ms: number,
  max_inference_duration_ms: number,
  p50_inference_duration_ms: number,
  p95_inference_duration_ms: number,
  p99_inference_duration_ms: number,
  inference_duration_histogram: list(Bucket),
  suspensions: number,
  handoffs: number,
  delegations: number,
  tool_calls_by_tool: list(ToolRow),
});
export type Snapshot = Guarded<typeof Snapshot>;

const EVERY_MS = 10_000;

/** @param window as it is typed; empty: all that is kept */
export const snapshotOf = (id: string, window: string): Resource<Snapshot> => ({
  path: `/v1/agents/${encodeURIComponent(id)}/runtime-stats`,
  query: { window: window === '' ? undefined : window },
  guard: Snapshot,
  off: { statuses: [503], setting: 'SERVICE_RUNTIME_STATS_BUCKET_COUNT' },
  every: EVERY_MS,
});

/** `<n>s|m|h|d`, or seconds; more than nothing. */
export const isWindow = (typed: string): boolean => /^0*[1-9]\d*[smhd]?$/.test(typed.trim());

/** By how much the second is more or less than the first, as a share of it; undefined where there is nothing to tell. */
export const shareOfChange = (before: number, now: number): number | undefined =>
  before === 0 ? undefined : (now - before) / before;

export type Bar = {
  /** Milliseconds; null: no end. */
  from: number;
  to: number | null;
  count: number;
  /** Of the tallest, 0 to 1. */
  height: number;
};

/** Buckets get wider and wider: each is drawn as wide as the others, which is a logarithmic scale. */
export const barsOf = (histogram: readonly Bucket[]): Bar[] => {
  const tallest = Math.max(1, ...histogram.map(({ count }) => count));
  return histogram.map(({ upper_bound_ms: to, count }, index) => ({
    from: histogram[index - 1]?.upper_bound_ms ?? 0,
    to,
    count,
    height: count / tallest,
  }));
};

/** Where a duration is among the bars: bars from the left, with a fraction. */
export const placeOf = (bars: readonly Bar[], ms: number): number => {
  const index = bars.findIndex(({ to }) => to === null || ms <= to);
  const bar = bars[index];
  if (!bar) return 0;
  if (bar.to === null) return index + 0.5;
  const within = bar.from === 0 ? ms / bar.to : Math.log(ms / bar.from) / Math.log(bar.to / bar.from);
  return index + Math.min(1, Math.max(0, within));
};
