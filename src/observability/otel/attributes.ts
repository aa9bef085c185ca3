import type { Attributes } from '@opentelemetry/api';
import { CutOff } from '../../schema/cut-off.ts';
import type { Json } from '../../schema/endpoint.ts';
import type { Run } from '../../schema/run.ts';
import type { EvaluationResult, TraceEvent } from '../../schema/trace.ts';

/** Span attributes, from the events of traces (evals-and-traces.md 12). Missing values are omitted. */

const isText = (value: Json | undefined): value is string => typeof value === 'string' && value !== '';

const scalar = (value: Json | undefined): string | number | boolean | undefined =>
  isText(value) || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;

const texts = (value: Json | undefined): string[] | undefined => {
  const all = Array.isArray(value) ? value.filter(isText) : [];
  return all.length > 0 ? all : undefined;
};

const inSeconds = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value / 1000 : undefined;

const cutOffOf = (value: Json | undefined): CutOff | undefined => CutOff.safeParse(value).data;

/** Content is exported as JSON text. */
const json = (value: Json | undefined): string | undefined =>
  value === undefined || value === null ? undefined : JSON.stringify(value);

type Read = (value: Json | undefined) => Attributes[string];
type Row = readonly [attribute: string, field: string, read?: Read];

/** `~` stands for the prefix of attributes outside the conventions. */
const COMMON: readonly Row[] = [
  ['~run.id', 'run_id'],
  ['~thread.id', 'thread_id'],
  ['~agent.id', 'agent_id'],
  ['~parent_run.id', 'parent_run_id'],
  ['~parent_tool.call_id', 'parent_tool_call_id'],
];

const WITH_AGENT: readonly Row[] = [
  ['~step.index', 'step_index'],
  ['~prompt_id', 'prompt_id'],
  ['~tool_desc_ids', 'tool_desc_ids', texts],
  ['~skill_ids', 'skill_ids', texts],
  ['~release.tag', 'release_tag'],
  ['~experiment.id', 'experiment_id'],
  ['~experiment.variant', 'variant_name'],
  ['error.type', 'error_type'],
];

const OWN: Readonly<Partial<Record<TraceEvent['type'], readonly Row[]>>> = {
  inference: [
    ...WITH_AGENT,
    ['gen_ai.provider.name', 'provider'],
    ['gen_ai.request.model', 'model'],
    ['gen_ai.operation.name', 'operation'],
    ['gen_ai.conversation.id', 'thread_id'],
    ['gen_ai.agent.id', 'agent_id'],
    ['gen_ai.response.model', 'response_model'],
    ['gen_ai.response.id', 'response_id'],
    ['gen_ai.response.finish_reasons', 'finish_reasons', texts],
    ['gen_ai.usage.input_tokens', 'input_tokens'],
    ['gen_ai.usage.output_tokens', 'output_tokens'],
    ['~cut_off.input_tokens', 'cut_off', (value) => cutOffOf(value)?.input_tokens],
    ['~cut_off.output_tokens', 'cut_off', (value) => cutOffOf(value)?.output_tokens],
    ['gen_ai.usage.cache_read.input_tokens', 'cache_read_input_tokens'],
    ['gen_ai.usage.cache_creation.input_tokens', 'cache_creation_input_tokens'],
    ['gen_ai.usage.reasoning.output_tokens', 'thinking_tokens'],
    ['gen_ai.request.temperature', 'temperature'],
    ['gen_ai.request.top_p', 'top_p'],
    ['gen_ai.request.max_tokens', 'max_tokens'],
    ['gen_ai.request.stop_sequences', 'stop_sequences', texts],
    ['gen_ai.request.seed', 'seed'],
    ['openai.request.service_tier', 'service_tier'],
    ['gen_ai.input.messages', 'request_messages', json],
  ],
  tool: [
    ...WITH_AGENT,
    ['gen_ai.tool.name', 'name'],
    ['gen_ai.operation.name', 'operation'],
    ['gen_ai.tool.call.id', 'call_id'],
    ['gen_ai.tool.type', 'tool_type'],
    ['gen_ai.tool.call.arguments', 'call_arguments', json],
    ['gen_ai.tool.call.result', 'call_result', json],
  ],
  suspension: [
    ['~suspension.action', 'action'],
    ['~suspension.resume_mode', 'resume_mode'],
    ['~suspension.duration', 'duration_ms', inSeconds],
    ['gen_ai.tool.call.id', 'tool_call_id'],
    ['gen_ai.tool.name', 'tool_name'],
  ],
  handoff: [
    ['~handoff.from_agent_id', 'from_agent_id'],
    ['~handoff.to_agent_id', 'to_agent_id'],
    ['~handoff.reason', 'reason'],
  ],
  delegation: [
    ['~delegation.parent_run_id', 'parent_run_id'],
    ['~delegation.child_run_id', 'child_run_id'],
    ['~delegation.target_agent_id', 'target_agent_id'],
    ['~delegation.success', 'success'],
    ['~delegation.duration', 'duration_ms', inSeconds],
    ['gen_ai.tool.call.id', 'tool_call_id'],
    ['error.message', 'error_message'],
  ],
  background_task: [
    ['~background_task.id', 'task_id'],
    ['~background_task.type', 'task_type'],
    ['~background_task.name', 'task_name'],
    ['~background_task.status', 'status'],
    ['~background_task.description', 'description'],
    ['~parent_task.id', 'parent_task_id'],
    ['~background_task.parent_run_id', 'run_id'],
    ['~background_task.parent_tool_call_id', 'tool_call_id'],
    ['error.message', 'error_message'],
  ],
};

const readRows = (
  rows: readonly Row[],
  event: { readonly [field: string]: Json | undefined },
  prefix: string,
): Attributes =>
  Object.fromEntries(
    rows.flatMap(([attribute, field, read = scalar]) => {
      const value = read(event[field]);
      return value === undefined ? [] : [[attribute.replace('~', prefix), value]];
    }),
  );

/** Properties of the spans that are not part of the event. */
type Of = { prefix: string; isReplay?: boolean };

const replayed = ({ prefix, isReplay }: Of): Attributes => (isReplay ? { [`${prefix}replay`]: true } : {});

/** In a delegation event the field of the parent is the run itself. */
export const commonAttributes = (event: TraceEvent, of: Of): Attributes => ({
  ...readRows(event.type === 'delegation' ? COMMON.slice(0, 3) : COMMON, event, of.prefix),
  ...replayed(of),
});

const EVALUATION: readonly Row[] = [
  ['gen_ai.evaluation.name', 'name'],
  ['gen_ai.evaluation.score.value', 'score_value'],
  ['gen_ai.evaluation.score.label', 'score_label'],
  ['gen_ai.evaluation.explanation', 'explanation'],
  ['gen_ai.response.id', 'response_id'],
  ['error.type', 'error_type'],
];

export const evaluationAttributes = (verdict: EvaluationResult): Attributes =>
  readRows(EVALUATION, verdict, '');

const isCut = (value: Json | undefined): boolean =>
  typeof value === 'object' && value !== null && '__payload_truncated' in value;

export const attributesOf = (event: TraceEvent, { prefix }: { prefix: string }): Attributes => ({
  ...readRows(OWN[event.type] ?? [], event, prefix),
  ...(event.type === 'inference' && outputMessages(event)),
  ...(event.type === 'tool' &&
    (isCut(event.call_arguments) || isCut(event.call_result)) && {
      [`${prefix}tool.payload.truncated`]: true,
    }),
  ...(event.type === 'background_task' && event.status === 'failed' && { 'error.type': TASK_ERROR }),
});

/** Returns text and calls as one message of the assistant. */
const outputMessages = ({
  response_content,
  response_tool_calls,
  finish_reasons,
}: TraceEvent): Attributes => {
  if (response_content === undefined && response_tool_calls === undefined) return {};
  const [finish_reason] = texts(finish_reasons) ?? [];
  const message = {
    role: 'assistant',
    ...(response_content !== undefined && { content: response_content }),
    ...(response_tool_calls !== undefined && { tool_calls: response_tool_calls }),
    ...(finish_reason !== undefined && { finish_reason }),
  };
  return { 'gen_ai.output.messages': JSON.stringify([message]) };
};

const TASK_ERROR = 'background_task_error';

/** Returns the error text for the span status; undefined unless the operation failed. */
export const findError = (event: TraceEvent): string | undefined => {
  if (isText(event.error_type)) return event.error_type;
  if (event.type === 'background_task' && event.status === 'failed') return TASK_ERROR;
  if (event.type === 'delegation' && event.success === false) return 'delegation_failed';
  return undefined;
};

export const rootAttributes = (
  run: Run,
  of: Of & {
    counts: { inferences: number; tools: number; toolFailures: number };
    /** The last inference. */
    last: TraceEvent | undefined;
    /** Milliseconds from the start of the run to its end. */
    lasted: number;
    parent_tool_call_id: string | undefined;
    release_tag: string | undefined;
  },
): Attributes => {
  const { prefix, counts, last } = of;
  const optional = {
    'gen_ai.provider.name': scalar(last?.provider),
    'gen_ai.request.model': scalar(last?.model),
    [`${prefix}parent_run.id`]: run.parent_run_id ?? undefined,
    [`${prefix}parent_tool.call_id`]: of.parent_tool_call_id,
    [`${prefix}release.tag`]: of.release_tag,
    [`${prefix}cut_off.input_tokens`]: run.cut_off?.input_tokens,
    [`${prefix}cut_off.output_tokens`]: run.cut_off?.output_tokens,
  };
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.conversation.id': run.thread_id,
    'gen_ai.agent.id': run.agent_id,
    'gen_ai.usage.input_tokens': run.input_tokens,
    'gen_ai.usage.output_tokens': run.output_tokens,
    [`${prefix}run.id`]: run.run_id,
    [`${prefix}thread.id`]: run.thread_id,
    [`${prefix}agent.id`]: run.agent_id,
    // Steps count over all executions of the run; failures are known for this execution only.
    [`${prefix}session.inference_count`]: Math.max(run.steps, counts.inferences),
    [`${prefix}session.tool_count`]: counts.tools,
    [`${prefix}session.tool_failures`]: counts.toolFailures,
    [`${prefix}session.duration`]: of.lasted / 1000,
    ...replayed(of),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
};
