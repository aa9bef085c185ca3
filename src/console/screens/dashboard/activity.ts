import { addUsd } from '../../data/cost.ts';
import type { AgentStats } from '../../data/resources.ts';

/** Numbers of all agents together, as far as they may be added. */

export type Activity = {
  /** Undefined: the agents were counted over different times, so nothing may be added. */
  totals: Totals | undefined;
  /** Seconds, each once. */
  windows: readonly number[];
  topAgents: readonly AgentStats[];
  topTools: readonly { tool: string; calls: number; failures: number }[];
};

export type Totals = {
  inferences: number;
  errorShare: number;
  inputTokens: number;
  outputTokens: number;
  /** Undefined where no price is known. */
  costUsd: number | undefined;
  suspensions: number;
  handoffs: number;
  delegations: number;
  /** Milliseconds: the bound of the bucket that it is in; undefined where that has none. */
  p50: number | undefined;
  p95: number | undefined;
};

const MOST_SHOWN = 5;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Percentiles cannot be added, buckets can. */
const percentile = (agents: readonly AgentStats[], share: number): number | undefined => {
  const buckets = new Map<number, number>();
  for (const { upper_bound_ms, count } of agents.flatMap((agent) => agent.inference_duration_histogram)) {
    const bound = upper_bound_ms ?? Number.POSITIVE_INFINITY;
    buckets.set(bound, (buckets.get(bound) ?? 0) + count);
  }
  let left = share * sum([...buckets.values()]);
  if (left === 0) return undefined;
  for (const [bound, count] of [...buckets].sort(([a], [b]) => a - b)) {
    left -= count;
    if (left <= 0) return Number.isFinite(bound) ? bound : undefined;
  }
  return undefined;
};

const totalsOf = (agents: readonly AgentStats[]): Totals => {
  const inferences = sum(agents.map((agent) => agent.inference_count));
  const errors = sum(agents.map((agent) => agent.error_count));
  return {
    inferences,
    errorShare: inferences === 0 ? 0 : errors / inferences,
    inputTokens: sum(agents.map((agent) => agent.input_tokens)),
    outputTokens: sum(agents.map((agent) => agent.output_tokens)),
    costUsd: agents.map(({ cost_usd }) => cost_usd).reduce(addUsd, undefined),
    suspensions: sum(agents.map((agent) => agent.suspensions)),
    handoffs: sum(agents.map((agent) => agent.handoffs)),
    delegations: sum(agents.map((agent) => agent.delegations)),
    p50: percentile(agents, 0.5),
    p95: percentile(agents, 0.95),
  };
};

export const activityOf = (agents: readonly AgentStats[]): Activity => {
  const windows = [...new Set(agents.map((agent) => agent.window_seconds))];
  const tools = new Map<string, { tool: string; calls: number; failures: number }>();
  for (const { tool, call_count, failure_count } of agents.flatMap((agent) => agent.tool_calls_by_tool)) {
    const known = tools.get(tool) ?? { tool, calls: 0, failures: 0 };
    tools.set(tool, { tool, calls: known.calls + call_count, failures: known.failures + failure_count });
  }
  return {
    totals: windows.length > 1 ? undefined : totalsOf(agents),
    windows,
    topAgents: [...agents].sort((a, b) => b.inference_count - a.inference_count).slice(0, MOST_SHOWN),
    topTools: [...tools.values()].sort((a, b) => b.calls - a.calls).slice(0, MOST_SHOWN),
  };
};
