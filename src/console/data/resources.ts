import { countedUsd } from './cost.ts';
import { CutOff } from './cut-off.ts';
import {
  anyObject,
  anything,
  flag,
  type Guarded,
  list,
  nullable,
  number,
  object,
  optional,
  text,
  withDefault,
} from './guard.ts';
import type { Resource } from './queries.ts';

/** Routes that more than one part of the console reads. */

const SystemInfo = object({
  version: text,
  scope_id: text,
  uptime_seconds: number,
  config_store_enabled: flag,
  audit_log_enabled: flag,
  runtime_stats_enabled: flag,
});
export type SystemInfo = Guarded<typeof SystemInfo>;

export const systemInfo: Resource<SystemInfo> = {
  path: '/v1/system/info',
  guard: SystemInfo,
  off: { statuses: [404, 503] },
  every: 60_000,
};

const RunsSummary = object({ running: number, waiting: number, created: number });
export type RunsSummary = Guarded<typeof RunsSummary>;

export const runsSummary: Resource<RunsSummary> = {
  path: '/v1/runs/summary',
  guard: RunsSummary,
  off: { statuses: [404] },
  every: 5000,
};

/** The same for who does not look at it all the time. */
export const runsSummarySlowly: Resource<RunsSummary> = { ...runsSummary, every: 60_000 };

const Bucket = object({ upper_bound_ms: nullable(number), count: number });

const ToolStats = object({
  tool: text,
  call_count: number,
  failure_count: number,
  p95_duration_ms: number,
  total_duration_ms: number,
});
export type ToolStats = Guarded<typeof ToolStats>;

const AgentStats = object({
  agent_id: text,
  window_seconds: number,
  inference_count: number,
  error_count: number,
  input_tokens: number,
  output_tokens: number,
  cut_off: optional(CutOff),
  cost_usd: countedUsd,
  p50_inference_duration_ms: number,
  p95_inference_duration_ms: number,
  inference_duration_histogram: list(Bucket),
  suspensions: number,
  handoffs: number,
  delegations: number,
  tool_calls_by_tool: list(ToolStats),
});
export type AgentStats = Guarded<typeof AgentStats>;

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
});
export type Tool = Guarded<typeof Tool>;

const Backend = object({
  kind: text,
  version: withDefault(number, 1),
  display_name: withDefault(text, ''),
  description: withDefault(text, ''),
  schema: withDefault(anyObject, {}),
  default_config: withDefault(anyObject, {}),
  ui_schema: withDefault(anyObject, {}),
});

const SettingsSchema = object({
  key: text,
  schema: withDefault(anyObject, {}),
  display_name: withDefault(text, ''),
  description: withDefault(text, ''),
  editor: withDefault(text, ''),
  default_value: optional(anyObject),
  ui_schema: withDefault(anyObject, {}),
});

const Plugin = object({
  id: text,
  description: withDefault(text, ''),
  config_schemas: withDefault(list(SettingsSchema), []),
});
export type Plugin = Guarded<typeof Plugin>;

const Capabilities = object({
  agents: withDefault(list(text), []),
  tools: withDefault(list(Tool), []),
  plugins: withDefault(list(Plugin), []),
  skills: withDefault(
    list(object({ id: text, name: withDefault(text, ''), description: withDefault(text, '') })),
    [],
  ),
  models: withDefault(
    list(object({ id: text, provider_id: text, upstream_model: text, known: withDefault(anyObject, {}) })),
    [],
  ),
  providers: withDefault(list(object({ id: text })), []),
  backends: withDefault(list(Backend), []),
  supported_adapters: withDefault(list(text), []),
  adapter_defaults: withDefault(anyObject, {}),
  namespaces: withDefault(list(object({ namespace: text })), []),
  admin_assistant: anything,
});
export type Capabilities = Guarded<typeof Capabilities>;

export const capabilities: Resource<Capabilities> = {
  path: '/v1/capabilities',
  guard: Capabilities,
  off: { statuses: [404], setting: 'SERVICE_EXPOSE_CONFIG_ROUTES' },
};

const Place = object({ namespace: text, id: text });

const Diagnostic = object({
  code: text,
  severity: text,
  resource: Place,
  depends_on: optional(Place),
  message: text,
});
export type Diagnostic = Guarded<typeof Diagnostic>;

export const diagnostics: Resource<{ diagnostics: Diagnostic[] }> = {
  path: '/v1/config/diagnostics',
  guard: object({ diagnostics: list(Diagnostic) }),
  off: { statuses: [404], setting: 'SERVICE_EXPOSE_CONFIG_ROUTES' },
  every: 60_000,
};

const McpStatus = object({
  connected: flag,
  reconnecting: flag,
  permanently_failed: flag,
  consecutive_failures: number,
  last_error: optional(text),
  last_attempt_at: optional(number),
});
export type McpStatus = Guarded<typeof McpStatus>;

export const mcpStatus = (id: string, every: number): Resource<McpStatus> => ({
  path: `/v1/mcp-servers/${encodeURIComponent(id)}/status`,
  guard: McpStatus,
  every,
});
