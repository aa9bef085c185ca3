import { Gauge, Registry } from 'prom-client';
import type { Usage } from '../schema/run-event.ts';
import { createCounter, createDurations } from './families.ts';

/**
 * What the service counts and times, for Prometheus (evals-and-traces.md 11).
 *
 * Relies on its callers for the values of labels: they come from configuration or code, never from a request; a
 * model or tool that is not configured is folded into one name before it gets here. Durations are seconds.
 * Costs about 0.3 µs a duration and 0.03 µs a count, so about 3 µs for all that a plain run reports.
 */
type MetricsOptions = { prefix?: string };

type RunOutcome =
  | 'completed'
  | 'transient_error'
  | 'permanent_error'
  | 'cancelled'
  | 'superseded'
  | 'dead_letter';

type InferenceEnded = {
  model: string;
  provider: string;
  seconds: number;
  usage?: Usage;
} & ({ status: 'ok' } | { status: 'error'; errorClass: string });

type ToolEnded = {
  tool: string;
  seconds: number;
} & ({ status: 'succeeded' | 'suspended' } | { status: 'failed'; errorClass: string });

type MailboxResult = 'ok' | 'error' | 'empty' | 'lost' | 'dropped' | 'detected';

/** What the groups of metrics are made with: the registry, and the prefix before every name. */
type Group = { registry: Registry; name(suffix: string): string };

const quick = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const inferences = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
const runs = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];

/** What `inference_tokens_total` calls the numbers of a usage. */
const tokenTypes = [
  ['prompt_tokens', 'input'],
  ['completion_tokens', 'output'],
  ['total_tokens', 'total'],
  ['thinking_tokens', 'thinking'],
  ['cache_read_tokens', 'cache_read_input'],
  ['cache_creation_tokens', 'cache_creation_input'],
] as const satisfies readonly (readonly [keyof Usage, string])[];

const createGauge = ({ registry, name }: Group, suffix: string, help: string) =>
  new Gauge({ name: name(suffix), help, registers: [registry] });

const createHttpMetrics = (group: Group) => {
  const { registry, name } = group;
  const requests = createDurations(
    registry,
    ['method', 'route', 'status'],
    { name: name('http_request_duration_seconds'), help: 'Time to the head of a response', bounds: quick },
    { name: name('http_requests_total'), help: 'HTTP requests that have ended' },
  );
  const inFlight = createGauge(group, 'http_requests_in_flight', 'HTTP requests being answered');
  const streams = createGauge(group, 'sse_connections', 'Open event streams');
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
  };
};

const createRunMetrics = (group: Group) => {
  const { registry, name } = group;
  const active = createGauge(group, 'active_runs', 'Runs executing now');
  const ended = createDurations(
    registry,
    ['outcome'],
    { name: name('run_duration_seconds'), help: 'Execution time of a dispatch', bounds: runs },
    { name: name('runs_total'), help: 'Finished dispatches' },
  );
  return {
    started() {
      active.inc();
    },
    /** The dispatch of a started run has finished. */
    ended(outcome: RunOutcome, seconds: number) {
      active.dec();
      ended.observe(seconds, outcome);
    },
    /** A dispatch has finished without a start: cancelled or superseded while it was queued, or dead. */
    dismissed(outcome: RunOutcome) {
      ended.count(outcome);
    },
  };
};

const createInferenceMetrics = ({ registry, name }: Group) => {
  const requests = createDurations(
    registry,
    ['model', 'provider', 'status'],
    { name: name('inference_duration_seconds'), help: 'Time of a call of a model', bounds: inferences },
    { name: name('inference_requests_total'), help: 'Calls of models' },
  );
  const tokens = createCounter(registry, ['model', 'provider', 'type'], {
    name: name('inference_tokens_total'),
    help: 'Tokens as the provider counts them',
  });
  const errors = createCounter(registry, ['model', 'provider', 'class'], {
    name: name('inference_errors_total'),
    help: 'Failed calls of models',
  });
  return {
    ended(call: InferenceEnded) {
      const { model, provider, status, seconds, usage } = call;
      requests.observe(seconds, model, provider, status);
      if (call.status === 'error') errors.add(1, model, provider, call.errorClass);
      if (!usage) return;
      for (const [key, type] of tokenTypes) {
        const amount = usage[key];
        if (amount !== undefined && amount > 0) tokens.add(amount, model, provider, type);
      }
    },
  };
};

const createToolMetrics = ({ registry, name }: Group) => {
  const calls = createDurations(
    registry,
    ['tool', 'status'],
    { name: name('tool_duration_seconds'), help: 'Time of a tool call', bounds: quick },
    { name: name('tool_calls_total'), help: 'Tool calls' },
  );
  const errors = createCounter(registry, ['tool', 'class'], {
    name: name('tool_errors_total'),
    help: 'Failed tool calls',
  });
  return {
    ended(call: ToolEnded) {
      calls.observe(call.seconds, call.tool, call.status);
      if (call.status === 'failed') errors.add(1, call.tool, call.errorClass);
    },
  };
};

const createMailboxMetrics = (group: Group) => {
  const { registry, name } = group;
  const depth = createGauge(group, 'mailbox_queue_depth', 'Queued dispatches');
  const operations = createCounter(registry, ['operation', 'result'], {
    name: name('mailbox_operations_total'),
    help: 'Operations on dispatches',
  });
  const dispatchTime = <const N extends readonly [] | readonly [string]>(
    part: string,
    labels: N,
    help: string,
  ) =>
    createDurations(registry, labels, { name: name(`mailbox_dispatch_${part}_seconds`), help, bounds: runs });
  const enqueueToStart = dispatchTime('enqueue_to_start', [], 'Accepted until started');
  const claimToStart = dispatchTime('claim_to_start', [], 'Claimed until started');
  const enqueueToComplete = dispatchTime('enqueue_to_complete', ['outcome'], 'Accepted until finished');
  const runtime = dispatchTime('runtime', ['outcome'], 'Started until finished');
  return {
    queued(delta: number) {
      depth.inc(delta);
    },
    operation(operation: string, result: MailboxResult, times = 1) {
      operations.add(times, operation, result);
    },
    started(seconds: { enqueueToStart: number; claimToStart: number }) {
      enqueueToStart.observe(seconds.enqueueToStart);
      claimToStart.observe(seconds.claimToStart);
    },
    completed(outcome: RunOutcome, seconds: { enqueueToComplete: number; runtime: number }) {
      enqueueToComplete.observe(seconds.enqueueToComplete, outcome);
      runtime.observe(seconds.runtime, outcome);
    },
  };
};

const createAuditMetrics = ({ registry, name }: Group) => {
  const events = createCounter(registry, ['action'], {
    name: name('audit_events_total'),
    help: 'Events written to the audit log',
  });
  const failures = createCounter(registry, [], {
    name: name('audit_write_failures_total'),
    help: 'Events of the audit log that were lost',
  });
  const pruned = createCounter(registry, [], {
    name: name('audit_sweep_pruned_total'),
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

export type Metrics = ReturnType<typeof createMetrics>;

export const createMetrics = ({ prefix = 'service_' }: MetricsOptions = {}) => {
  const registry = new Registry();
  const group: Group = { registry, name: (suffix) => `${prefix}${suffix}` };
  const errors = createCounter(registry, ['class'], {
    name: group.name('errors_total'),
    help: 'Failures inside',
  });
  return {
    http: createHttpMetrics(group),
    runs: createRunMetrics(group),
    inference: createInferenceMetrics(group),
    tools: createToolMetrics(group),
    mailbox: createMailboxMetrics(group),
    audit: createAuditMetrics(group),
    /** A failure that no client was told about: it is logged and counted here. */
    error(errorClass: string) {
      errors.add(1, errorClass);
    },
    contentType: registry.contentType,
    render: (): Promise<string> => registry.metrics(),
  };
};
