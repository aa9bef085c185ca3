import type { ResolvedAgent } from '../../loop/agent.ts';
import type { TraceFact } from '../../loop/trace-fact.ts';
import { describeMedia } from '../../schema/described-media.ts';
import type { Json, JsonObject } from '../../schema/endpoint.ts';
import type { MediaBlock } from '../../schema/media.ts';
import type { ContentBlock, Message, ToolCall } from '../../schema/message.ts';
import type { EvaluationResult, TraceEvent } from '../../schema/trace.ts';
import { promptId, toolId } from './ids.ts';
import { type PayloadPolicy, redacted, shownPayload, withoutSecrets } from './payload.ts';

/** Creates the lines of a trace from the facts of the loop (evals-and-traces.md 9.8). */

export type CapturePolicy = {
  content: boolean;
  tool_io: 'disabled' | 'arguments' | 'results' | 'arguments_and_results';
  payload: PayloadPolicy;
};

export type TraceContext = {
  run_id: string;
  thread_id: string;
  parent_run_id?: string | undefined;
  parent_tool_call_id?: string | undefined;
  release_tag?: string | undefined;
  experiment_id?: string | undefined;
  variant_name?: string | undefined;
};

type Fact<Type extends TraceFact['type']> = Extract<TraceFact, { type: Type }>;

type Composing = { agent: ResolvedAgent; context: TraceContext; capture: CapturePolicy; now: number };

export const composeEvents = (fact: TraceFact, composing: Composing): TraceEvent[] => {
  const { now } = composing;
  switch (fact.type) {
    case 'inference':
      return [line('inference', now - ms(fact), composing, inferenceFields(fact, composing))];
    case 'tool':
      return toolEvents(fact, composing);
    case 'suspension':
      return [line('suspension', now, composing, suspensionFields(fact, now))];
    case 'handoff': {
      const fields = { from_agent_id: composing.agent.spec.id, to_agent_id: fact.to, reason: null };
      return [line('handoff', now, composing, { ...fields, timestamp_ms: now })];
    }
    case 'background_task':
      return [taskEvent(fact, composing)];
  }
};

export const evaluationEvent = (
  result: EvaluationResult,
  context: TraceContext,
  agent_id: string,
  now: number,
): TraceEvent => ({
  type: 'evaluation_result',
  ...contextFields(context),
  agent_id,
  ...result,
  timestamp_ms: now,
  kind: 'evaluation_result',
  ts: now / 1000,
});

const ms = ({ seconds }: { seconds: number }): number => Math.round(seconds * 1000);

/** `at` is in milliseconds. Later fields replace earlier ones with the same name. */
const line = (
  type: TraceEvent['type'],
  at: number,
  { agent, context }: Composing,
  fields: JsonObject,
): TraceEvent => ({
  type,
  ...contextFields(context),
  ...(agent.spec.id !== '' && { agent_id: agent.spec.id }),
  prompt_id: promptId(agent.spec),
  ...fields,
  kind: type,
  ts: at / 1000,
});

const contextFields = (context: TraceContext): JsonObject =>
  Object.fromEntries(
    Object.entries(context).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  );

const FINISH = {
  EndTurn: 'end_turn',
  MaxTokens: 'max_tokens',
  ToolUse: 'tool_use',
  StopSequence: 'stop_sequence',
} as const;

/** Settings that every inference line contains; others are present only if they were sent. */
const UNSET = { temperature: null, top_p: null, max_tokens: null };

const inferenceFields = (fact: Fact<'inference'>, { capture, now }: Composing): JsonObject => {
  const { step_index, request, end, error, model, provider } = fact;
  const { stop = [], ...settings } = fact.sent?.settings ?? {};
  const tools = request?.tools.map(toolId) ?? [];
  return {
    ...(tools.length > 0 && { tool_desc_ids: tools }),
    ...(step_index !== undefined && { step_index }),
    model,
    provider,
    operation: 'chat',
    response_model: null,
    response_id: null,
    finish_reasons: end ? [FINISH[end.stop]] : [],
    error_type: error?.type ?? null,
    error_class: error ? (error.isTransient ? 'transient' : 'permanent') : null,
    ...tokensOf(end),
    ...(fact.cut_off && { cut_off: fact.cut_off }),
    ...(fact.cost_usd !== undefined && { cost_usd: fact.cost_usd }),
    ...UNSET,
    ...settings,
    stop_sequences: stop,
    ...(settings.provider_options && { provider_options: withoutSecrets(settings.provider_options) }),
    ...(fact.sent && fact.sent.adjusted.length > 0 && { adjusted_settings: [...fact.sent.adjusted] }),
    duration_ms: ms(fact),
    started_at_ms: now - ms(fact),
    ended_at_ms: now,
    ...(capture.content && end && contentOf(fact, capture)),
  };
};

const tokensOf = (end: Fact<'inference'>['end']): JsonObject => {
  const usage = end?.usage;
  return {
    thinking_tokens: usage?.thinking_tokens ?? null,
    input_tokens: usage?.prompt_tokens ?? null,
    output_tokens: usage?.completion_tokens ?? null,
    total_tokens: usage?.total_tokens ?? null,
    cache_read_input_tokens: usage?.cache_read_tokens ?? null,
    cache_creation_input_tokens: usage?.cache_creation_tokens ?? null,
  };
};

/** Blocks, calls and messages are JSON by their schemas. */
const jsonOf = (values: readonly object[]): JsonObject[] => values as readonly JsonObject[] as JsonObject[];

/**
 * Content is shown unchanged, except that tool arguments lose their secrets everywhere: secrets removed from the line
 * of a tool must not appear in that of the model.
 */
const contentOf = (
  { content, calls, request, step_index }: Fact<'inference'>,
  { payload }: CapturePolicy,
): JsonObject => {
  const messages = step_index === 0 ? (request?.messages ?? []) : [];
  const shown = (value: Json): Json => redacted(value, 'content', payload);
  return {
    ...(content.length > 0 && { response_content: shown(jsonOf(content.map(blockOf))) }),
    ...(calls.length > 0 && { response_tool_calls: shown(jsonOf(calls.map(callOf))) }),
    ...(messages.length > 0 && { request_messages: shown(jsonOf(messages.map(messageOf))) }),
  };
};

const callOf = ({ id, name, arguments: args }: ToolCall): ToolCall => ({
  id,
  name,
  arguments: withoutSecrets(args),
});

/** Traces are read by people, so file contents are replaced by a description. */
const blockOf = (block: ContentBlock): ContentBlock => {
  if ((block.type === 'tool_use' || block.type === 'provider_call') && block.input !== undefined) {
    // Masking an object results in an object.
    return { ...block, input: withoutSecrets(block.input) } as ContentBlock;
  }
  return isFile(block) ? { ...block, source: { ...block.source, data: describeMedia(block) } } : block;
};

type FileBlock = MediaBlock & { source: Extract<MediaBlock['source'], { type: 'base64' }> };

const isFile = (block: ContentBlock): block is FileBlock =>
  'source' in block && block.source.type === 'base64';

const messageOf = (message: Message): Message => {
  const { content, tool_calls } = message;
  if (!tool_calls && content.every((block) => blockOf(block) === block)) return message;
  return {
    ...message,
    content: content.map(blockOf),
    ...(tool_calls && { tool_calls: tool_calls.map(callOf) }),
  };
};

const toolEvents = (fact: Fact<'tool'>, composing: Composing): TraceEvent[] => {
  const { step_index, call, descriptor, result, ended_at, delegatesTo } = fact;
  const { context, capture } = composing;
  const started_at_ms = ended_at - ms(fact);
  const executed = line('tool', started_at_ms, composing, {
    ...(descriptor && { tool_desc_ids: [toolId(descriptor)] }),
    ...(step_index !== undefined && { step_index }),
    name: call.name,
    operation: 'execute_tool',
    call_id: call.id,
    tool_type: 'function',
    ...payloadsOf(fact, capture),
    error_type: errorOf(fact),
    duration_ms: ms(fact),
    started_at_ms,
    ended_at_ms: ended_at,
  });
  if (delegatesTo === undefined || !result || result.status === 'pending') return [executed];
  const child = result.metadata?.child_run_id;
  const delegated = line('delegation', ended_at, composing, {
    parent_run_id: context.run_id,
    child_run_id: typeof child === 'string' ? child : null,
    target_agent_id: delegatesTo,
    tool_call_id: call.id,
    duration_ms: ms(fact),
    success: result.status === 'success',
    error_message: result.status === 'success' ? null : (result.message ?? null),
    timestamp_ms: ended_at,
  });
  return [executed, delegated];
};

const errorOf = ({ result }: Fact<'tool'>): string | null => {
  if (!result) return 'missing_tool_result';
  return result.status === 'error' ? 'tool_error' : null;
};

const payloadsOf = ({ call, result }: Fact<'tool'>, { tool_io, payload }: CapturePolicy): JsonObject => {
  const takesArguments = tool_io === 'arguments' || tool_io === 'arguments_and_results';
  const takesResult = tool_io === 'results' || tool_io === 'arguments_and_results';
  return {
    ...(takesArguments && { call_arguments: shownPayload(call.arguments, 'arguments', payload) }),
    ...(takesResult &&
      result &&
      result.status !== 'pending' && {
        call_result: shownPayload(result.data ?? result.message, 'result', payload),
      }),
  };
};

const suspensionFields = ({ call, decided, waited_ms }: Fact<'suspension'>, now: number): JsonObject => ({
  tool_call_id: call.id,
  tool_name: call.name,
  action: decided ? 'resumed' : 'suspended',
  resume_mode: decided ?? null,
  duration_ms: waited_ms ?? null,
  timestamp_ms: now,
});

const taskEvent = ({ task }: Fact<'background_task'>, composing: Composing): TraceEvent => {
  const { task_id, name, parent, call_id, step_index, status, started_at, updated_at, error } = task;
  const isOver = status !== 'running';
  return line('background_task', isOver ? updated_at : started_at, composing, {
    task_id,
    task_type: 'background',
    description: name ?? '',
    ...(name !== undefined && { task_name: name }),
    ...(parent !== undefined && { parent_task_id: parent }),
    ...(call_id !== undefined && { tool_call_id: call_id }),
    ...(step_index !== undefined && { step_index }),
    status,
    ...(error !== undefined && isOver && { error_message: error }),
    created_at_ms: started_at,
    ...(isOver && { completed_at_ms: updated_at }),
  });
};
