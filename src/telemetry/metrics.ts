import type { Spent } from '../schema/cut-off.ts';
import type { RunOutcome } from '../schema/dispatch.ts';
import type { Usage } from '../schema/run-event.ts';
import { inferences, quick, runs } from './bounds.ts';
import {
  createCounter,
  createDurations,
  createFamilies,
  createGauge,
  createReading,
  type Families,
} from './families.ts';
import { createMailboxMetrics } from './mailbox-metrics.ts';
import { createOutputMetrics } from './output-metrics.ts';
import { processRegistry } from './process-metrics.ts';
import { createReadings, type Readings } from './readings.ts';

/**
 * What the service counts and times, for Prometheus (evals-and-traces.md 11).
 *
 * Relies on its callers for the values of labels: they come from configuration or code, never from a request; a
 * model or tool that is not configured is folded into one name before it gets here. Durations are seconds.
 * Costs about 0.3 µs a duration and 0.03 µs a count, so about 3 µs for all that a plain run reports.
 */
type MetricsOptions = { prefix?: string; version?: string };

type InferenceEnded = {
  model: string;
  provider: string;
  seconds: number;
  /** Until the first piece of an answer; undefined when none came. */
  firstSeconds?: number | undefined;
  usage?: Usage;
  /** USD */
  cost?: number | undefined;
} & ({ status: 'ok' } | { status: 'error'; errorClass: string });

type ToolEnded = {
  tool: string;
  seconds: number;
} & ({ status: 'succeeded' | 'suspended' } | { status: 'failed'; errorClass: string });

/** What `inference_tokens_total` calls the numbers of a usage. */
const tokenTypes = [
  ['prompt_tokens', 'input'],
  ['completion_tokens', 'output'],
  ['total_tokens', 'total'],
  ['thinking_tokens', 'thinking'],
  ['cache_read_tokens', 'cache_read_input'],
  ['cache_creation_tokens', 'cache_creation_input'],
] as const satisfies readonly (readonly [keyof Usage, string])[];

const createHttpMetrics = (families: Families) => {
  const requests = createDurations(
    families,
    ['method', 'route', 'status'],
    { suffix: 'http_request_duration_seconds', help: 'Time to the head of a response', bounds: quick },
    { suffix: 'http_requests_total', help: 'HTTP requests that have ended' },
  );
  const inFlight = createGauge(families, {
    suffix: 'http_requests_in_flight',
    help: 'HTTP requests being answered',
  });
  const streams = createGauge(families, { suffix: 'sse_connections', help: 'Open event streams' });
  const refused = createCounter(families, ['outcome'], {
    suffix: 'admin_auth_failures_total',
    help: 'Credentials that were refused on admin routes; `limited`: not judged, or too many from one address',
  });
  const received = createGauge(families, {
    suffix: 'http_request_buffer_bytes',
    help: 'Bytes of long request bodies that have not ended yet',
  });
  const unsent = createGauge(families, {
    suffix: 'http_response_buffer_bytes',
    help: 'Bytes of long responses that wait for their readers',
  });
  return {
    /** A request has ended; `route` is its template or `unmatched`, `seconds` the time to its response head. */
    request(method: string, route: string, status: number, seconds: number) {
      requests.observe(seconds, method, route, status);
    },
    inFlight(delta: number) {
      inFlight.inc(delta);
    },
    stream(delta: number) {
      streams.inc(delta);
    },
    adminRefused(outcome: 'refused' | 'limited') {
      refused.add(1, outcome);
    },
    received(bytes: number) {
      received.inc(bytes);
    },
    unsent(bytes: number) {
      unsent.inc(bytes);
    },
  };
};

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
    help: 'From the start of a run to its end, with what it waited for',
    bounds: runs,
  });
  return {
    executing(delta: 1 | -1) {
      active.inc(delta);
    },
    sessionEnded(seconds: number) {
      sessions.observe(seconds);
    },
    /** The dispatch of a started run has finished. */
    ended(outcome: RunOutcome, seconds: number) {
      ended.observe(seconds, outcome);
    },
    /** A dispatch has finished without a start: cancelled or superseded while it was queued, or dead. */
    dismissed(outcome: RunOutcome) {
      ended.count(outcome);
    },
  };
};

const createInferenceMetrics = (families: Families) => {
  const requests = createDurations(
    families,
    ['model', 'provider', 'status'],
    { suffix: 'inference_duration_seconds', help: 'Time of a call of a model', bounds: inferences },
    { suffix: 'inference_requests_total', help: 'Calls of models' },
  );
  const firstTokens = createDurations(families, ['model', 'provider'], {
    suffix: 'inference_time_to_first_token_seconds',
    help: 'From the call of a model to the first piece of its answer',
    bounds: inferences,
  });
  const tokens = createCounter(families, ['model', 'provider', 'type'], {
    suffix: 'inference_tokens_total',
    help: 'Tokens as the provider counts them',
  });
  const cutOff = createCounter(families, ['model', 'provider', 'type'], {
    suffix: 'inference_cut_off_tokens_total',
    help: 'Tokens of answers that broke off or were cut off, estimated: input and output',
  });
  const spent = createCounter(families, ['model', 'provider'], {
    suffix: 'inference_cost_usd_total',
    help: 'Cost in USD of models with prices, with answers that broke off or were cut off',
  });
  const errors = createCounter(families, ['model', 'provider', 'class'], {
    suffix: 'inference_errors_total',
    help: 'Failed calls of models',
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
    { suffix: 'tool_duration_seconds', help: 'Time of a tool call', bounds: quick },
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
    help: 'Calls that began to wait, and decisions that ended a wait',
  });
  const handoffs = createCounter(families, [], {
    suffix: 'agent_handoffs_total',
    help: 'Runs that one agent gave to another',
  });
  const delegations = createDurations(
    families,
    ['status'],
    { suffix: 'agent_delegation_duration_seconds', help: 'Time of a delegation', bounds: runs },
    { suffix: 'agent_delegations_total', help: 'Tasks that one agent gave to another' },
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
    { suffix: 'background_task_duration_seconds', help: 'Time of a background task', bounds: runs },
    { suffix: 'background_tasks_total', help: 'Background tasks that have ended' },
  );
  const failures = createCounter(families, ['operation'], {
    suffix: 'background_task_state_commit_failures_total',
    help: 'Attempts to keep what a background task told that failed and were made again',
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

const createTraceMetrics = (families: Families) => {
  const dropped = createCounter(families, [], {
    suffix: 'traces_dropped_total',
    help: 'Traces of runs with more events than may wait',
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
    help: 'Events of the audit log that were lost',
  });
  const pruned = createCounter(families, [], {
    suffix: 'audit_sweep_pruned_total',
    help: 'Events of the audit log that were removed for their age',
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
      help: 'Time of a call of a tool of an MCP server',
      bounds: inferences,
    },
    { suffix: 'mcp_calls_total', help: 'Calls of tools of MCP servers' },
  );
  const reconnects = createCounter(families, ['server'], {
    suffix: 'mcp_reconnects_total',
    help: 'Connections to MCP servers that were made in place of a lost one',
  });
  return {
    called(server: string, outcome: string, seconds: number) {
      calls.observe(seconds, server, outcome);
    },
    reconnected(server: string) {
      reconnects.add(1, server);
    },
  };
};

export type Metrics = ReturnType<typeof createMetrics>;

export const createMetrics = ({ prefix = 'service_', version = 'unknown' }: MetricsOptions = {}) => {
  const families = createFamilies(prefix);
  const ofProcess = processRegistry();
  createReading(families, ['version'], { suffix: 'build_info', help: '1 for the version that runs' }, () => [
    [1, version],
  ]);
  const errors = createCounter(families, ['class'], {
    suffix: 'errors_total',
    help: 'Failures inside',
  });
  return {
    http: createHttpMetrics(families),
    runs: createRunMetrics(families),
    inference: createInferenceMetrics(families),
    tools: createToolMetrics(families),
    agents: createAgentMetrics(families),
    outputs: createOutputMetrics(families),
    tasks: createTaskMetrics(families),
    mailbox: createMailboxMetrics(families),
    audit: createAuditMetrics(families),
    mcpServers: createMcpServerMetrics(families),
    traces: createTraceMetrics(families),
    /** A failure that no client was told about: it is logged and counted here. */
    error(errorClass: string) {
      errors.add(1, errorClass);
    },
    /** Rooms that exist only after the metrics do are read from then on. */
    read: (readings: Readings): void => createReadings(families, readings),
    families: families.all,
    contentType: families.registry.contentType,
    render: async (): Promise<string> =>
      (await Promise.all([families.registry.metrics(), ofProcess.metrics()])).join('\n'),
  };
};
