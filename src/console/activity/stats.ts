import { list, number, object } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import {
  AgentStats,
  Course,
  type Figures,
  type ModelStats,
  runtimeStats,
  type ToolStats,
} from '../data/resources.ts';
import { type Range, statsQuery } from './range.ts';

/** Statistics of all agents, or of one of them, over a range. */
export type Stats = { agents: readonly AgentStats[]; course: Course; kept_seconds?: number };

const All = object({ agents: list(AgentStats), kept_seconds: number, course: Course });

const { path, off } = runtimeStats;

export const statsIn = (range: Range): Resource<ReturnType<typeof All>> => ({
  path,
  query: statsQuery(range),
  guard: All,
  off,
  every: 30_000,
  keeps: true,
});

export const statsOfAgent = (id: string, range: Range): Resource<Stats> => ({
  path: `/v1/agents/${encodeURIComponent(id)}/runtime-stats`,
  query: statsQuery(range),
  guard(value, at) {
    const agent = AgentStats(value, at);
    return { agents: [agent], course: Course(agent.course, `${at}.course`) };
  },
  off: { ...off, statuses: [503] },
  every: 10_000,
  keeps: true,
});

export const RUN_ENDS = ['completed', 'stopped', 'blocked', 'failed', 'cancelled'] as const;
export type RunEnd = (typeof RUN_ENDS)[number];

export const runsIn = (figures: Pick<Figures, `${RunEnd}_runs`>): number =>
  RUN_ENDS.reduce((sum, end) => sum + figures[`${end}_runs`], 0);

export const tokensIn = ({
  input_tokens,
  output_tokens,
}: Pick<Figures, 'input_tokens' | 'output_tokens'>): number => input_tokens + output_tokens;

export const shareOf = (part: number, all: number): number => (all === 0 ? 0 : part / all);

/** Adds up rows of several agents by a key, in the order of their first occurrence. */
const summed = <Row>(
  rows: readonly Row[],
  key: (row: Row) => string,
  add: (sum: Row, row: Row) => Row,
): Row[] => {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const sum = sums.get(key(row));
    sums.set(key(row), sum ? add(sum, row) : row);
  }
  return [...sums.values()];
};

/** Percentiles cannot be added up: of several agents, those of the slowest one are shown. */
export const toolsIn = ({ agents }: Stats): ToolStats[] =>
  summed(
    agents.flatMap(({ tool_calls_by_tool }) => tool_calls_by_tool),
    ({ tool }) => tool,
    (a, b) => {
      const call_count = a.call_count + b.call_count;
      const total_duration_ms = a.total_duration_ms + b.total_duration_ms;
      return {
        tool: a.tool,
        call_count,
        failure_count: a.failure_count + b.failure_count,
        total_duration_ms,
        avg_duration_ms: total_duration_ms / call_count,
        p50_duration_ms: Math.max(a.p50_duration_ms, b.p50_duration_ms),
        p95_duration_ms: Math.max(a.p95_duration_ms, b.p95_duration_ms),
        p99_duration_ms: Math.max(a.p99_duration_ms, b.p99_duration_ms),
        max_duration_ms: Math.max(a.max_duration_ms, b.max_duration_ms),
      };
    },
  );

const newest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

export const modelsIn = (agents: readonly AgentStats[]): ModelStats[] =>
  summed(
    agents.flatMap(({ inferences_by_model }) => inferences_by_model),
    ({ provider_id, model }) => `${provider_id}\n${model}`,
    (a, b) => ({
      ...a,
      inference_count: a.inference_count + b.inference_count,
      error_count: a.error_count + b.error_count,
      input_tokens: a.input_tokens + b.input_tokens,
      output_tokens: a.output_tokens + b.output_tokens,
      cost_usd:
        a.cost_usd === undefined && b.cost_usd === undefined
          ? undefined
          : (a.cost_usd ?? 0) + (b.cost_usd ?? 0),
      last_success_at: newest(a.last_success_at, b.last_success_at),
      last_error: (b.last_error?.at ?? 0) > (a.last_error?.at ?? 0) ? b.last_error : a.last_error,
    }),
  );

/** Models with completions whose cost is unknown. */
export const unpriced = (models: readonly ModelStats[]): ModelStats[] =>
  models.filter(
    ({ cost_usd, inference_count, error_count }) => cost_usd === undefined && inference_count > error_count,
  );

/** The failure that the newest inference with this model had; undefined if a later one succeeded. */
export const currentError = ({ last_error: error, last_success_at: success = 0 }: ModelStats) =>
  error && error.at > success ? error : undefined;
