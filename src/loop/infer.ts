import { ModelError } from '../models/errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink } from '../models/model.ts';
import type { ToolCall } from '../schema/message.ts';
import { clearCalls, newCall } from './calls.ts';
import { modelHistory } from './history.ts';
import { interruptCalls } from './settle.ts';
import { produce, type Step, type StepCall, type Turn } from './turn.ts';

/**
 * One inference: opens the step, sends the prompt, hands deltas to the stream as they come, and keeps what must
 * be committed. Deltas cost one call and one string concatenation here; no promise, no event object.
 */

export type InferOutcome =
  | { kind: 'answer' }
  | { kind: 'calls' }
  | { kind: 'truncated' }
  | { kind: 'stopped'; ending: { type: 'stopped'; value: { code: 'max_rounds' } } };

/** An inference that failed; the message is what `termination.value` says. */
export class InferenceFailed extends Error {
  readonly transient: boolean;
  /** True when trying again cannot help; the dispatch is dead-lettered. */
  readonly permanent: boolean;

  constructor(cause: unknown) {
    super(`inference failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'InferenceFailed';
    this.transient = cause instanceof ModelError ? cause.transient : true;
    this.permanent = !this.transient;
  }
}

export const infer = async (turn: Turn, signal: AbortSignal): Promise<InferOutcome> => {
  const step = openStep(turn);
  let end: InferenceEnd;
  try {
    end = await turn.agent.model.stream(requestOf(turn), sinkOf(turn, step, signal), signal);
  } catch (error) {
    observe(turn, step, undefined, error);
    throw new InferenceFailed(error);
  }
  // The machine has moved on and another service closes the step; nothing of this inference may be kept.
  if (signal.aborted) return { kind: 'answer' };
  observe(turn, step, end, undefined);
  return conclude(turn, step, end);
};

const openStep = (turn: Turn): Step => {
  const step: Step = {
    index: turn.steps,
    message_id: turn.ids.uuid(),
    startedAt: turn.clock.now(),
    text: '',
    reported: false,
  };
  clearCalls(turn);
  turn.step = step;
  turn.stream.emit({ event_type: 'step_start', message_id: step.message_id });
  return step;
};

const requestOf = (turn: Turn): InferenceRequest => {
  const { spec, tools } = turn.agent;
  return {
    system: spec.system_prompt === '' ? [] : [spec.system_prompt],
    messages: modelHistory([...turn.committed(), ...turn.produced]),
    tools: tools.size === 0 ? [] : Array.from(tools.values(), (tool) => tool.descriptor),
    overrides: spec.reasoning_effort === undefined ? {} : { reasoning_effort: spec.reasoning_effort },
  };
};

/** A provider that does not look at its signal talks to nobody once the run has moved on. */
const sinkOf = (turn: Turn, step: Step, signal: AbortSignal): InferenceSink => {
  const { stream } = turn;
  const names = new Map<string, string>();
  // Ids of calls are unique in a message, also where a model repeats one.
  const own = new Map<string, string>();
  const idOf = (id: string): string => own.get(id) ?? id;
  return {
    text(delta) {
      if (signal.aborted) return;
      step.text += delta;
      stream.text(delta);
    },
    reasoning(delta) {
      if (!signal.aborted) stream.reasoning(delta);
    },
    reasoningEncrypted(value) {
      if (!signal.aborted) stream.emit({ event_type: 'reasoning_encrypted_value', encrypted_value: value });
    },
    toolStart(given, name) {
      if (signal.aborted) return;
      if (names.has(idOf(given))) own.set(given, `${given}_${names.size + 1}`);
      const id = idOf(given);
      names.set(id, name);
      stream.emit({ event_type: 'tool_call_start', id, name });
    },
    toolDelta(id, delta) {
      if (!signal.aborted) stream.toolDelta(idOf(id), delta);
    },
    toolEnd(given, argsText) {
      if (signal.aborted) return;
      const id = idOf(given);
      const ready = parseCall(turn, { id, name: names.get(id) ?? '' }, argsText);
      turn.calls.push(ready);
      stream.emit({
        event_type: 'tool_call_ready',
        id,
        name: ready.call.name,
        arguments: ready.call.arguments,
      });
    },
  };
};

const parseCall = (turn: Turn, named: { id: string; name: string }, argsText: string): StepCall => {
  const asked = (value: ToolCall['arguments'], malformed?: string): StepCall =>
    newCall(turn, { ...named, arguments: value }, malformed);
  if (argsText.trim() === '') return asked({});
  try {
    return asked(JSON.parse(argsText) ?? {});
  } catch (error) {
    return asked({}, String(error));
  }
};

const observe = (turn: Turn, step: Step, end: InferenceEnd | undefined, error: unknown): void => {
  const { model } = turn.agent;
  const call = {
    model: model.upstream,
    provider: model.provider,
    seconds: (turn.clock.now() - step.startedAt) / 1000,
  };
  if (end) turn.observe.inference.ended({ ...call, status: 'ok', ...(end.usage && { usage: end.usage }) });
  else turn.observe.inference.ended({ ...call, status: 'error', errorClass: classOf(error) });
};

const classOf = (error: unknown): string => (error instanceof ModelError ? error.class : 'internal');

const conclude = (turn: Turn, step: Step, end: InferenceEnd): InferOutcome => {
  turn.rounds += 1;
  turn.inputTokens += end.usage?.prompt_tokens ?? 0;
  turn.outputTokens += end.usage?.completion_tokens ?? 0;
  reportInference(turn, end);
  const truncated = end.stop === 'MaxTokens' && turn.continuations < turn.agent.spec.max_continuation_retries;
  if (truncated) turn.calls = [];
  keepAnswer(turn, step);
  turn.answered = !truncated && turn.calls.length === 0;
  if (truncated) return continueTruncated(turn);
  const { max_rounds: limit } = turn.agent.spec;
  if (turn.answered) return { kind: 'answer' };
  if (limit === 0 || turn.rounds < limit) return { kind: 'calls' };
  interruptCalls(turn);
  return { kind: 'stopped', ending: { type: 'stopped', value: { code: 'max_rounds' } } };
};

/** Also called for an inference that was cancelled: the tail of a run always reports its open inference. */
export const reportInference = (turn: Turn, end?: InferenceEnd): void => {
  const { step } = turn;
  if (!step || step.reported) return;
  step.reported = true;
  turn.stream.emit({
    event_type: 'inference_complete',
    model: turn.agent.model.upstream,
    ...(end?.usage && { usage: end.usage }),
    duration_ms: turn.clock.now() - step.startedAt,
  });
};

const keepAnswer = (turn: Turn, step: Step): void => {
  turn.response = step.text;
  produce(turn, {
    id: step.message_id,
    role: 'assistant',
    content: step.text === '' ? [] : [{ type: 'text', text: step.text }],
    ...(turn.calls.length > 0 && { tool_calls: turn.calls.map(({ call }) => call) }),
  });
};

const CONTINUE =
  'Your previous answer was cut off because it reached the output limit. Continue exactly where it stopped, in smaller pieces.';

const continueTruncated = (turn: Turn): InferOutcome => {
  turn.continuations += 1;
  produce(turn, {
    id: turn.ids.uuid(),
    role: 'user',
    content: [{ type: 'text', text: CONTINUE }],
    visibility: 'internal',
  });
  return { kind: 'truncated' };
};
