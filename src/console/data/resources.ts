import { CutOff } from './cut-off.ts';
import { RequestError } from './error.ts';
import {
  anyObject,
  anything,
  fields,
  flag,
  list,
  nullable,
  number,
  object,
  optional,
  text,
  withDefault,
} from './guard.ts';
import type { Resource } from './queries.ts';
import { sendRaw } from './request.ts';

/** Resources that several parts of the console read. */

const SystemInfo = object({
  version: text,
  scope_id: text,
  uptime_seconds: number,
  ...fields(flag, 'config_store_enabled', 'audit_log_enabled', 'runtime_stats_enabled'),
  open_to_all: withDefault(flag, false),
  member: withDefault<{ name: string } | null>(nullable(object({ name: text })), null),
});
export type SystemInfo = ReturnType<typeof SystemInfo>;

export const systemInfo: Resource<SystemInfo> = {
  path: '/v1/system/info',
  guard: SystemInfo,
  off: { statuses: [404, 503] },
  every: 60_000,
};

const Health = object({
  components: object({
    store: text,
    runtime: text,
    database: withDefault(text, 'none'),
    member: withDefault(text, 'none'),
  }),
});

/** A service that is not ready responds with an error status and a readable body. */
export const health: Resource<ReturnType<typeof Health>> = {
  path: '/health',
  guard: Health,
  every: 10_000,
  async read(signal) {
    try {
      const response = await sendRaw({ path: '/health', signal, quiet: true });
      return await response.json();
    } catch (error) {
      if (error instanceof RequestError && error.failure.kind === 'http') return error.failure.body;
      throw error;
    }
  },
};

const RunsSummary = object({ running: number, waiting: number, created: number });
type RunsSummary = ReturnType<typeof RunsSummary>;

export const runsSummary: Resource<RunsSummary> = {
  path: '/v1/runs/summary',
  guard: RunsSummary,
  off: { statuses: [404] },
  every: 5000,
};

const ToolStats = object({
  tool: text,
  ...fields(number, 'call_count', 'failure_count', 'total_duration_ms', 'avg_duration_ms'),
  ...fields(number, 'p50_duration_ms', 'p95_duration_ms', 'p99_duration_ms', 'max_duration_ms'),
});
export type ToolStats = ReturnType<typeof ToolStats>;

const ModelStats = object({
  provider_id: text,
  model: text,
  ...fields(number, 'inference_count', 'error_count', 'input_tokens', 'output_tokens'),
  cost_usd: optional(number),
  last_success_at: optional(number),
  last_error: optional(object({ class: text, at: number })),
});
export type ModelStats = ReturnType<typeof ModelStats>;

/** Figures of a window, or of a part of it. */
const figures = {
  ...fields(number, 'completed_runs', 'stopped_runs', 'blocked_runs', 'failed_runs', 'cancelled_runs'),
  ...fields(number, 'inference_count', 'error_count', 'input_tokens', 'output_tokens'),
  cost_usd: optional(number),
  ...fields(number, 'p50_inference_duration_ms', 'p95_inference_duration_ms'),
};
const Figures = object(figures);
export type Figures = ReturnType<typeof Figures>;

const Point = object({ from: number, ...figures });
export type Point = ReturnType<typeof Point>;

export const Course = object({ point_seconds: number, total: Figures, points: list(Point) });
export type Course = ReturnType<typeof Course>;

export const AgentStats = object({
  agent_id: text,
  ...fields(number, 'window_seconds', 'bucket_window_seconds', 'bucket_count'),
  ...figures,
  cut_off: optional(CutOff),
  ...fields(number, 'avg_inference_duration_ms', 'min_inference_duration_ms'),
  ...fields(number, 'max_inference_duration_ms', 'p99_inference_duration_ms', 'suspensions'),
  inference_duration_histogram: list(object({ upper_bound_ms: nullable(number), count: number })),
  ...fields(number, 'handoffs', 'delegations'),
  tool_calls_by_tool: list(ToolStats),
  last_run: optional(object({ run_id: text, ended_at: number, termination: text })),
  inferences_by_model: list(ModelStats),
  course: optional(Course),
});
export type AgentStats = ReturnType<typeof AgentStats>;

export const runtimeStats: Resource<{ agents: AgentStats[] }> = {
  path: '/v1/agents/runtime-stats',
  guard: object({ agents: list(AgentStats) }),
  off: { statuses: [404, 503], setting: 'SERVICE_RUNTIME_STATS_BUCKET_COUNT' },
  every: 30_000,
};

const ToolSource = object({ kind: text, id: optional(text) });

const Tool = object({
  id: text,
  name: text,
  description: withDefault(text, ''),
  source: withDefault(ToolSource, { kind: 'builtin', id: undefined }),
  request_bytes: optional(number),
});
export type Tool = ReturnType<typeof Tool>;

const Backend = object({
  kind: text,
  version: withDefault(number, 1),
  display_name: withDefault(text, ''),
  description: withDefault(text, ''),
  ...fields(withDefault(anyObject, {}), 'schema', 'default_config', 'ui_schema'),
});

const SettingsSchema = object({
  key: text,
  schema: withDefault(anyObject, {}),
  ...fields(withDefault(text, ''), 'display_name', 'description', 'editor'),
  default_value: optional(anyObject),
  ui_schema: withDefault(anyObject, {}),
});

const Plugin = object({
  id: text,
  description: withDefault(text, ''),
  config_schemas: withDefault(list(SettingsSchema), []),
});
export type Plugin = ReturnType<typeof Plugin>;

/** Limits, capabilities and prices of a model. Its entry may set them; otherwise the built-in values apply. */
export const modelFigures = {
  ...fields(optional(number), 'context_window', 'max_output_tokens'),
  modalities: optional(object({ input: optional(list(text)), output: optional(list(text)) })),
  knowledge_cutoff: optional(text),
  input_token_price_per_million_usd: optional(number),
  output_token_price_per_million_usd: optional(number),
  cached_input_token_price_per_million_usd: optional(number),
  cache_write_5m_token_price_per_million_usd: optional(number),
  cache_write_1h_token_price_per_million_usd: optional(number),
  reasoning_token_price_per_million_usd: optional(number),
};
export const ModelFigures = object(modelFigures);
export type ModelFigures = ReturnType<typeof ModelFigures>;
export const NOTHING_KNOWN = ModelFigures({}, '');

const Capabilities = object({
  agents: withDefault(list(text), []),
  tools: withDefault(list(Tool), []),
  plugins: withDefault(list(Plugin), []),
  skills: withDefault(
    list(object({ id: text, name: withDefault(text, ''), description: withDefault(text, '') })),
    [],
  ),
  models: withDefault(
    list(
      object({
        ...fields(text, 'id', 'provider_id', 'upstream_model'),
        known: withDefault(ModelFigures, NOTHING_KNOWN),
      }),
    ),
    [],
  ),
  providers: withDefault(list(object({ id: text })), []),
  backends: withDefault(list(Backend), []),
  supported_adapters: withDefault(list(text), []),
  adapter_defaults: withDefault(anyObject, {}),
  namespaces: withDefault(list(object({ namespace: text, schema: withDefault(anyObject, {}) })), []),
  admin_assistant: anything,
});
export type Capabilities = ReturnType<typeof Capabilities>;

export const capabilities: Resource<Capabilities> = {
  path: '/v1/capabilities',
  guard: Capabilities,
  off: { statuses: [404], setting: 'SERVICE_EXPOSE_CONFIG_ROUTES' },
};

const Place = object({ namespace: text, id: text });

const Diagnostic = object({
  ...fields(text, 'code', 'severity', 'message'),
  resource: Place,
  depends_on: optional(Place),
});
export type Diagnostic = ReturnType<typeof Diagnostic>;

export const diagnostics: Resource<{ diagnostics: Diagnostic[] }> = {
  path: '/v1/config/diagnostics',
  guard: object({ diagnostics: list(Diagnostic) }),
  off: { statuses: [404], setting: 'SERVICE_EXPOSE_CONFIG_ROUTES' },
  every: 60_000,
};

const McpStatus = object({
  ...fields(flag, 'connected', 'reconnecting', 'permanently_failed'),
  consecutive_failures: number,
  last_error: optional(text),
  last_attempt_at: optional(number),
});
export type McpStatus = ReturnType<typeof McpStatus>;

export const mcpStatus = (id: string, every: number): Resource<McpStatus> => ({
  path: `/v1/mcp-servers/${encodeURIComponent(id)}/status`,
  guard: McpStatus,
  every,
});
