import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  createTraceState as traceStateOf,
  trace as tracing,
} from '@opentelemetry/api';
import type { ResolvedAgent } from '../../loop/agent.ts';
import type { SpanPlace, TraceFact } from '../../loop/trace-fact.ts';
import type { Clock } from '../../schema/clock.ts';
import { maskCredentials, maskCredentialsIn } from '../../schema/redaction/credentials.ts';
import type { Run } from '../../schema/run.ts';
import type { EvaluationResult, TraceEvent } from '../../schema/trace.ts';
import { formatTraceparent, parseTraceparent, type TraceContext } from '../../schema/trace-context.ts';
import { type CapturePolicy, composeEvents, type TraceContext as RunContext } from '../traces/compose.ts';
import { createTraceContext } from '../traces/traces.ts';
import {
  attributesOf,
  commonAttributes,
  evaluationAttributes,
  findError,
  rootAttributes,
} from './attributes.ts';
import { anyIdOf, inferenceIdOf, rootIdOf, taskIdOf, toolIdOf, traceIdOf } from './span-ids.ts';

/**
 * The spans of one run, while this process executes it (evals-and-traces.md 12).
 *
 * Guarantees: a call gets the span that its outgoing requests have named; the root ends once, in the process in which
 * the run ends, and starts when the run started. Spans are created from the same events as traces, so redaction and
 * capture settings apply to both.
 * Cost: one event and one span per fact; for a run that is not sampled, only its root.
 */

export type SpanDeps = {
  tracer: Tracer;
  /** Ids of the next span, and of a trace that begins with it. */
  ids: { traceId: string; spanId: string };
  clock: Clock;
  capture: CapturePolicy;
  release_tag: string | undefined;
  /** Prefix of attributes outside the conventions, including its dot. */
  prefix: string;
  /** Marks every span as part of an evaluation. */
  isReplay?: boolean;
  observes(agent: ResolvedAgent): boolean;
};

export type RunSpans = {
  readonly deps: SpanDeps;
  readonly run: Run;
  readonly root: Span;
  readonly context: RunContext;
  /** Milliseconds. */
  readonly beganAt: number;
  /** Number of failed inferences, by step. */
  attempts: Map<number, number>;
  /** Span id of the last inference. */
  current: string | undefined;
  counts: { inferences: number; tools: number; toolFailures: number };
  last: TraceEvent | undefined;
  /** Span of the last inference, open until its evaluation may no longer arrive; `to` is the actual end time. */
  held: { span: Span; to: number } | undefined;
};

export const openSpans = (deps: SpanDeps, run: Run): RunSpans => {
  const beganAt = beginningOf(run, deps.clock.now());
  return {
    deps,
    run,
    root: beginRoot(deps, run, beganAt),
    context: createTraceContext(run, deps),
    beganAt,
    attempts: new Map(),
    current: undefined,
    counts: { inferences: 0, tools: 0, toolFailures: 0 },
    last: undefined,
    held: undefined,
  };
};

const beginRoot = (deps: SpanDeps, run: Run, startTime: number): Span => {
  const { agent_id, run_id } = run;
  const given = run.activation?.trace.context;
  const parent = given && parseTraceparent(given.traceparent);
  const context = parent
    ? tracing.setSpanContext(ROOT_CONTEXT, {
        traceId: parent.traceId,
        spanId: parent.spanId,
        traceFlags: parent.flags,
        isRemote: true,
        ...(given.tracestate !== undefined && { traceState: traceStateOf(given.tracestate) }),
      })
    : ROOT_CONTEXT;
  deps.ids.traceId = traceIdOf(run_id);
  deps.ids.spanId = rootIdOf(run_id);
  return deps.tracer.startSpan(
    agent_id === '' ? 'invoke_agent' : `invoke_agent ${agent_id}`,
    { kind: SpanKind.INTERNAL, startTime },
    context,
  );
};

/** Records have a resolution of one second: a run that started within the last second starts now. */
const beginningOf = ({ started_at }: Run, now: number): number => {
  const at = started_at === undefined ? now : started_at * 1000;
  return Math.abs(now - at) < 1000 ? now : at;
};

const isSampled = (root: Span): boolean => (root.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;

export const contextAt = (spans: RunSpans, place: SpanPlace): TraceContext => {
  const { traceId, traceFlags, traceState } = spans.root.spanContext();
  const spanId = idAt(spans, place);
  const tracestate = traceState?.serialize();
  return {
    traceparent: formatTraceparent({ traceId, spanId, flags: traceFlags }),
    ...(tracestate && { tracestate }),
  };
};

const idAt = ({ run, attempts }: RunSpans, place: SpanPlace): string =>
  'tool' in place
    ? toolIdOf(run.run_id, place)
    : inferenceIdOf(run.run_id, place.inference, attempts.get(place.inference) ?? 0);

export const noteFact = (spans: RunSpans, agent: ResolvedAgent, fact: TraceFact): void => {
  const { deps, context } = spans;
  if (!isSampled(spans.root) || !deps.observes(agent)) return;
  const now = deps.clock.now();
  for (const event of composeEvents(fact, { agent, context, capture: deps.capture, now })) {
    const made = placed(spans, event, now);
    if (made) putSpan(spans, event, isPutOff(fact) ? { ...made, id: anyIdOf(made.id, made.to) } : made);
  }
};

/** The call will be executed again: that execution gets the announced span id. */
const isPutOff = (fact: TraceFact): boolean => fact.type === 'tool' && fact.result?.status === 'pending';

type Placed = { id: string; parent: string; name: string; kind: SpanKind; from: number; to: number };

const number = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Undefined for an event without a span. */
const placed = (spans: RunSpans, event: TraceEvent, now: number): Placed | undefined => {
  const { run, deps } = spans;
  const at = number(event.timestamp_ms, now);
  const under = spans.current ?? rootIdOf(run.run_id);
  const own = (what: string): Placed => ({
    id: anyIdOf(run.run_id, what, text(event.tool_call_id), at, text(event.action)),
    parent: under,
    name: `${deps.prefix}${what}`,
    kind: SpanKind.INTERNAL,
    from: at - number(event.duration_ms, 0),
    to: at,
  });
  switch (event.type) {
    case 'inference':
      return inferencePlace(spans, event, now);
    case 'tool':
      return toolPlace(spans, event, now);
    case 'suspension':
    case 'handoff':
    case 'delegation':
      return own(event.type);
    case 'background_task':
      return taskPlace(spans, event);
    default:
      return undefined;
  }
};

const inferencePlace = (spans: RunSpans, event: TraceEvent, now: number): Placed => {
  const { run, attempts, counts } = spans;
  const step = event.step_index;
  const from = number(event.started_at_ms, now);
  const id =
    typeof step === 'number'
      ? idAt(spans, { inference: step })
      : anyIdOf(run.run_id, 'inference', from, counts.inferences);
  if (typeof step === 'number' && event.error_type !== null)
    attempts.set(step, (attempts.get(step) ?? 0) + 1);
  counts.inferences += 1;
  spans.last = event;
  if (typeof step === 'number') spans.current = id;
  return {
    id,
    parent: rootIdOf(run.run_id),
    name: `${text(event.operation)} ${text(event.model)}`,
    kind: SpanKind.CLIENT,
    from,
    to: number(event.ended_at_ms, now),
  };
};

const stepOf = ({ step_index }: TraceEvent): number | undefined =>
  typeof step_index === 'number' ? step_index : undefined;

const toolPlace = (spans: RunSpans, event: TraceEvent, now: number): Placed => {
  const { run, counts } = spans;
  const step = stepOf(event);
  const place = { tool: text(event.call_id), step };
  const to = number(event.ended_at_ms, now);
  counts.tools += 1;
  if (event.error_type !== null) counts.toolFailures += 1;
  const requestedBy =
    step === undefined
      ? rootIdOf(run.run_id)
      : inferenceIdOf(run.run_id, step, spans.attempts.get(step) ?? 0);
  return {
    id: toolIdOf(run.run_id, place),
    parent: requestedBy,
    name: `execute_tool ${text(event.name)}`,
    kind: SpanKind.INTERNAL,
    from: number(event.started_at_ms, to),
    to,
  };
};

/** A running task has no span yet. */
const taskPlace = ({ run, deps }: RunSpans, event: TraceEvent): Placed | undefined => {
  if (typeof event.completed_at_ms !== 'number') return undefined;
  const above = text(event.parent_task_id);
  const call = text(event.tool_call_id);
  const requestedBy =
    call === '' ? rootIdOf(run.run_id) : toolIdOf(run.run_id, { tool: call, step: stepOf(event) });
  return {
    id: taskIdOf(run.run_id, text(event.task_id)),
    parent: above === '' ? requestedBy : taskIdOf(run.run_id, above),
    name: `${deps.prefix}background_task`,
    kind: SpanKind.INTERNAL,
    from: number(event.created_at_ms, event.completed_at_ms),
    to: event.completed_at_ms,
  };
};

const under = (root: Span, spanId: string): Context => {
  const parent: SpanContext = { ...root.spanContext(), spanId };
  return tracing.setSpanContext(ROOT_CONTEXT, parent);
};

const putSpan = (spans: RunSpans, event: TraceEvent, { id, parent, name, kind, from, to }: Placed): void => {
  const { deps, root } = spans;
  deps.ids.spanId = id;
  const attributes: Attributes = maskCredentialsIn({
    ...commonAttributes(event, deps),
    ...attributesOf(event, deps),
  });
  const span = deps.tracer.startSpan(name, { kind, startTime: from, attributes }, under(root, parent));
  const error = findError(event);
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: maskCredentials(error) });
  const end = Math.max(from, to);
  if (event.type !== 'inference') {
    span.end(end);
    return;
  }
  release(spans);
  spans.held = { span, to: end };
};

/** Ends the span of the last inference, with the verdict of a judge if given. */
export const release = (spans: RunSpans, verdict?: EvaluationResult): void => {
  const { held, deps } = spans;
  if (!held) return;
  spans.held = undefined;
  if (verdict)
    held.span.addEvent('gen_ai.evaluation.result', evaluationAttributes(verdict), deps.clock.now());
  held.span.end(held.to);
};

/** Ends all spans with the final record of the run. */
export const endSpans = (spans: RunSpans, run: Run): void => {
  endRoot(spans, run);
  release(spans);
};

export const endRoot = (spans: RunSpans, run: Run): void => {
  const { deps, root, counts, last, context } = spans;
  const { parent_tool_call_id } = context;
  const now = deps.clock.now();
  const lasted = Math.max(0, now - spans.beganAt);
  root.setAttributes(
    maskCredentialsIn(rootAttributes(run, { ...deps, counts, last, lasted, parent_tool_call_id })),
  );
  if (run.termination_reason?.type === 'error') {
    root.setStatus({ code: SpanStatusCode.ERROR, message: text(last?.error_type) || 'error' });
  }
  root.end(Math.max(now, spans.beganAt));
};
