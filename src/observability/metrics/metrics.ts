import type { Spent } from '../../schema/cut-off.ts';
import type { RunOutcome } from '../../schema/dispatch.ts';
import type { KeyedResult } from '../../schema/idempotency.ts';
import type { Usage } from '../../schema/run-event.ts';
import { inferences, quick, runs } from './bounds.ts';
import { createBudgetMetrics } from './budget-metrics.ts';
import { createClusterMetrics } from './cluster-metrics.ts';
import {
  createCounter,
  createDurations,
  createFamilies,
  createGauge,
  createReading,
  type Families,
} from './families.ts';
import { createFileMetrics } from './file-metrics.ts';
import { createForwardMetrics } from './forward-metrics.ts';
import { createHttpMetrics } from './http-metrics.ts';
import { createIdentityMetrics } from './identity-metrics.ts';
import { createMailboxMetrics } from './mailbox-metrics.ts';
import { createOpenAiMetrics } from './openai-metrics.ts';
import { createOutputMetrics } from './output-metrics.ts';
import { processRegistry } from './process-metrics.ts';
import { createReadings } from './readings.ts';

/**
 * The Prometheus metrics of the service (evals-and-traces.md 11).
 *
 * Relies on its callers for label values: they come from configuration or code, never from a request; models and tools
 * that are not configured are replaced by one common name before. Durations are in seconds.
 * Cost: about 0.3 µs per duration and 0.03 µs per count, so about 3 µs for all observations of a plain run.
 */
type MetricsOptions = { prefix?: string; version?: string };

type InferenceEnded = {
  model: string;
  provider: string;
  seconds: number;
  /** Time to the first output; undefined without any output. */
  firstSeconds?: number | undefined;
  usage?: Usage;
  /** USD. */
  cost?: number | undefined;
} & ({ status: 'ok' } | { status: 'error'; errorClass: string });

type ToolEnded = {
  tool: string;
  seconds: number;
} & ({ status: 'succeeded' | 'suspended' } | { status: 'failed'; errorClass: string });

/** Names of the usage fields in `inference_tokens_total`. */
const tokenTypes = [
  ['prompt_tokens', 'input'],
  ['completion_tokens', 'output'],
  ['total_tokens', 'total'],
  ['thinking_tokens', 'thinking'],
  ['cache_read_tokens', 'cache_read_input'],
  ['cache_creation_tokens', 'cache_creation_input'],
] as const satisfies readonly (readonly [keyof Usage, string])[];

const createRunMetrics = (families: Families) => {
  const active = createGauge(families, { suffix: 'active_runs', help: 'Runs executing now' });
  const ended = createDurations(
    families,
    ['outcome'],
    { suffix: 'run_duration_seconds', help: 'Execution time of a dispatch', bounds: runs },
    { suffix: 'runs_total', help: 'Finished dispatches' },
  );
  const sessions = createDurations(families, [], {
    suffix: 'agent_session_duration_seconds',
    help: 'Time from the start of a run to its end, including waits',
    bounds: runs,
  });
  return {
    executing(delta: 1 | -1) {
      active.inc(delta);
    },
    sessionEnded(seconds: number) {
      sessions.observe(seconds);
    },
    /** Records the end of a dispatch whose run was started. */
    ended(outcome: RunOutcome, seconds: number) {
      ended.observe(seconds, outcome);
    },
    /** Records the end of a dispatch without a start: cancelled or superseded while queued, or dead-lettered. */
    dismissed(outcome: RunOutcome) {
      ended.count(outcome);
    },
  };
};

const createInferenceMetrics = (families: Families) => {
  const requests = createDurations(
    families,
    ['model', 'provider', 'status'],
    { suffix: 'inference_duration_seconds', help: 'Duration of a model call', bounds: inferences },
    { suffix: 'inference_requests_total', help: 'Model calls' },
  );
  const firstTokens = createDurations(families, ['model', 'provider'], {
    suffix: 'inference_time_to_first_token_seconds',
    help: 'Time from a model call to the first chunk of its completion',
    bounds: inferences,
  });
  const tokens = createCounter(families, ['model', 'provider', 'type'], {
    suffix: 'inference_tokens_total',
    help: 'Tokens as reported by the provider',
  });
  const cutOff = createCounter(families, ['model', 'provider', 'type'], {
    suffix: 'inference_cut_off_tokens_total',
    help: 'Estimated input and output tokens of interrupted or truncated completions',
  });
  const spent = createCounter(families, ['model', 'provider'], {
    suffix: 'inference_cost_usd_total',
    help: 'Cost in USD of models with prices, including interrupted or truncated completions',
  });
  const errors = createCounter(families, ['model', 'provider', 'class'], {
    suffix: 'inference_errors_total',
    help: 'Failed model calls',
  });
  return {
    ended(call: InferenceEnded) {
      const { model, provider, status, seconds, firstSeconds, usage } = call;
      requests.observe(seconds, model, provider, status);
      if (firstSeconds !== undefined) firstTokens.observe(firstSeconds, model, provider);
      if (call.status === 'error') errors.add(1, model, provider, call.errorClass);
      spent.add(call.cost ?? 0, model, provider);
      if (!usage) return;
      for (const [key, type] of tokenTypes) {
        const amount = usage[key];
        if (amount !== undefined && amount > 0) tokens.add(amount, model, provider, type);
      }
    },
    cutOff({ model, provider, input, output, usd = 0 }: { model: string; provider: string } & Spent) {
      spent.add(usd, model, provider);
      cutOff.add(input, model, provider, 'input');
      cutOff.add(output, model, provider, 'output');
    },
  };
};

const createToolMetrics = (families: Families) => {
  const calls = createDurations(
    families,
    ['tool', 'status'],
    { suffix: 'tool_duration_seconds', help: 'Duration of a tool call', bounds: quick },
    { suffix: 'tool_calls_total', help: 'Tool calls' },
  );
  const errors = createCounter(families, ['tool', 'class'], {
    suffix: 'tool_errors_total',
    help: 'Failed tool calls',
  });
  return {
    ended(call: ToolEnded) {
      calls.observe(call.seconds, call.tool, call.status);
      if (call.status === 'failed') errors.add(1, call.tool, call.errorClass);
    },
  };
};

const createAgentMetrics = (families: Families) => {
  const suspensions = createCounter(families, ['action', 'resume_mode'], {
    suffix: 'agent_suspensions_total',
    help: 'Suspended calls, and decisions that ended a wait',
  });
  const handoffs = createCounter(families, [], {
    suffix: 'agent_handoffs_total',
    help: 'Handoffs of runs between agents',
  });
  const delegations = createDurations(
    families,
    ['status'],
    { suffix: 'agent_delegation_duration_seconds', help: 'Duration of a delegation', bounds: runs },
    { suffix: 'agent_delegations_total', help: 'Delegations between agents' },
  );
  return {
    suspension(decided: 'resume' | 'cancel' | undefined) {
      suspensions.add(1, decided ? 'resumed' : 'suspended', decided ?? 'none');
    },
    handoff() {
      handoffs.add(1);
    },
    delegation({ status, seconds }: { status: 'ok' | 'error'; seconds: number }) {
      delegations.observe(seconds, status);
    },
  };
};

const createTaskMetrics = (families: Families) => {
  const tasks = createDurations(
    families,
    ['task_type', 'status'],
    { suffix: 'background_task_duration_seconds', help: 'Duration of a background task', bounds: runs },
    { suffix: 'background_tasks_total', help: 'Ended background tasks' },
  );
  const failures = createCounter(families, ['operation'], {
    suffix: 'background_task_state_commit_failures_total',
    help: 'Retried attempts to store events of background tasks',
  });
  return {
    ended(status: 'completed' | 'failed' | 'cancelled', seconds: number) {
      tasks.observe(seconds, 'background', status);
    },
    commitFailed(operation: string) {
      failures.add(1, operation);
    },
  };
};

const createThreadMetrics = (families: Families) => {
  const forks = createCounter(families, [], {
    suffix: 'thread_forks_total',
    help: 'Threads created with the history of another thread',
  });
  return { forked: (): void => forks.add(1) };
};

const createIdempotencyMetrics = (families: Families) => {
  const requests = createCounter(families, ['result'], {
    suffix: 'idempotency_total',
    help: 'Requests with an `Idempotency-Key`; `replayed` and `joined`: repeats, `conflict`: the key of another request',
  });
  return {
    count(result: KeyedResult) {
      requests.add(1, result);
    },
  };
};

const createTraceMetrics = (families: Families) => {
  const dropped = createCounter(families, [], {
    suffix: 'traces_dropped_total',
    help: 'Traces dropped because their runs have more events than the buffer holds',
  });
  return { dropped: (): void => dropped.add(1) };
};

const createAuditMetrics = (families: Families) => {
  const events = createCounter(families, ['action'], {
    suffix: 'audit_events_total',
    help: 'Events written to the audit log',
  });
  const failures = createCounter(families, [], {
    suffix: 'audit_write_failures_total',
    help: 'Audit events that could not be written',
  });
  const pruned = createCounter(families, [], {
    suffix: 'audit_sweep_pruned_total',
    help: 'Expired audit events that were removed',
  });
  return {
    event(action: string) {
      events.add(1, action);
    },
    failed() {
      failures.add(1);
    },
    pruned(count: number) {
      pruned.add(count);
    },
  };
};

const createMcpServerMetrics = (families: Families) => {
  const calls = createDurations(
    families,
    ['server', 'outcome'],
    {
      suffix: 'mcp_call_duration_seconds',
      help: 'Duration of an MCP tool call',
      bounds: inferences,
    },
    { suffix: 'mcp_calls_total', help: 'MCP tool calls' },
  );
  const reconnects = createCounter(families, ['server'], {
    suffix: 'mcp_reconnects_total',
    help: 'Reconnections to MCP servers',
  });
  const authorizations = createCounter(families, ['server', 'result'], {
    suffix: 'mcp_authorizations_total',
    help: 'Tries of users to connect an account to an MCP server, by their end',
  });
  const refreshes = createCounter(families, ['server', 'result'], {
    suffix: 'mcp_token_refreshes_total',
    help: 'Requests for new tokens for MCP servers; `expired`: the user must connect again',
  });
  return {
    authorized(server: string, result: 'connected' | 'declined' | 'failed' | 'expired') {
      authorizations.add(1, server, result);
    },
    called(server: string, outcome: string, seconds: number) {
      calls.observe(seconds, server, outcome);
    },
    reconnected(server: string) {
      reconnects.add(1, server);
    },
    refreshed(server: string, result: 'ok' | 'expired' | 'failed') {
      refreshes.add(1, server, result);
    },
  };
};

export type Metrics = ReturnType<typeof createMetrics>;

export const createMetrics = ({ prefix = 'service_', version = 'unknown' }: MetricsOptions = {}) => {
  const families = createFamilies(prefix);
  const ofProcess = processRegistry();
  createReading(families, ['version'], { suffix: 'build_info', help: '1 for the running version' }, () => [
    [1, version],
  ]);
  const errors = createCounter(families, ['class'], {
    suffix: 'errors_total',
    help: 'Internal failures',
  });
  return {
    http: createHttpMetrics(families),
    identity: createIdentityMetrics(families),
    openAi: createOpenAiMetrics(families),
    runs: createRunMetrics(families),
    inference: createInferenceMetrics(families),
    tools: createToolMetrics(families),
    agents: createAgentMetrics(families),
    outputs: createOutputMetrics(families),
    tasks: createTaskMetrics(families),
    mailbox: createMailboxMetrics(families),
    audit: createAuditMetrics(families),
    budgets: createBudgetMetrics(families),
    cluster: createClusterMetrics(families),
    files: createFileMetrics(families),
    forwarding: createForwardMetrics(families),
    mcpServers: createMcpServerMetrics(families),
    threads: createThreadMetrics(families),
    idempotency: createIdempotencyMetrics(families),
    traces: createTraceMetrics(families),
    /** Counts a failure that was logged but not reported to any client. */
    error(errorClass: string) {
      errors.add(1, errorClass);
    },
    /** Reads values of modules that are created after the metrics, until the returned function is called. */
    read: createReadings(families),
    families: families.all,
    contentType: families.registry.contentType,
    render: async (): Promise<string> =>
      (await Promise.all([families.registry.metrics(), ofProcess.metrics()])).join('\n'),
  };
};
