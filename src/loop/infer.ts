import { ModelError } from '../models/errors.ts';
import type { InferenceEnd, InferenceSink, StopReason } from '../models/model.ts';
import type { ToolCall } from '../schema/message.ts';
import { DEEPEST, isTooDeep } from '../schema/nesting.ts';
import type { Termination } from '../schema/run.ts';
import { clearCalls, newCall } from './calls.ts';
import { handOver, noteActive } from './handoff.ts';
import { runPhase } from './phases.ts';
import { requestFor } from './request.ts';
import { count, countFailure, startCount } from './rounds.ts';
import { interruptCalls } from './settle.ts';
import { mustWait } from './tasks.ts';
import { produce, type Step, type StepCall, type Turn } from './turn.ts';

/**
 * One inference: opens the step, sends the prompt, hands deltas to the stream as they come, and keeps what must
 * be committed. Deltas cost one call and one string concatenation here; no promise, no event object.
 */

export type InferOutcome =
  | { kind: 'answer' }
  | { kind: 'calls' }
  | { kind: 'truncated' }
  | { kind: 'pending_work' }
  | { kind: 'stopped'; ending: Ending };

type Ending = Exclude<Termination, { type: 'suspended' | 'error' | 'cancelled' }>;

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
  if (!turn.begun) {
    turn.begun = true;
    startCount(turn);
    noteActive(turn);
    await runPhase(turn, 'run_start', signal);
  }
  const refused = handOver(turn);
  if (refused !== undefined) return stopped({ type: 'blocked', value: refused });
  const step = openStep(turn);
  await runPhase(turn, 'step_start', signal);
  await runPhase(turn, 'before_inference', signal);
  if (signal.aborted) return NOTHING;
  const hearing = listen(turn, step);
  let end: InferenceEnd;
  try {
    end = await turn.agent.model.stream(requestFor(turn, step, signal), hearing.sink, signal);
  } catch (error) {
    observe(turn, step, undefined, error);
    const verdict = signal.aborted ? undefined : countFailure(turn);
    if (verdict) return stopped(verdict);
    throw new InferenceFailed(error);
  }
  if (signal.aborted) return NOTHING;
  hearing.settle(end.stop);
  observe(turn, step, end, undefined);
  return conclude(turn, { step, end, signal });
};

/** The machine has moved on and another service closes the step; nothing of this inference may be kept. */
const NOTHING: InferOutcome = { kind: 'answer' };

const stopped = (ending: Ending): InferOutcome => ({ kind: 'stopped', ending });

const openStep = (turn: Turn): Step => {
  const step: Step = {
    index: turn.steps,
    message_id: turn.ids.uuid(),
    startedAt: turn.clock.now(),
    text: '',
    reported: false,
    completed: false,
  };
  clearCalls(turn);
  turn.step = step;
  turn.stream.emit({ event_type: 'step_start', message_id: step.message_id });
  return step;
};

type Hearing = {
  sink: InferenceSink;
  /** The model has stopped: a call that came to no proper end was cut off, or is what the model wrote. */
  settle(stop: StopReason): void;
};

const listen = (turn: Turn, step: Step): Hearing => {
  const { stream } = turn;
  const names = new Map<string, string>();
  let doubtful: StepCall[] = [];
  // Ids of calls are unique in a message, also where a model repeats one.
  const own = new Map<string, string>();
  const idOf = (id: string): string => own.get(id) ?? id;
  const tellReady = ({ call: { id, name, arguments: args } }: StepCall): void =>
    stream.emit({ event_type: 'tool_call_ready', id, name, arguments: args });
  const sink: InferenceSink = {
    text(delta) {
      step.text += delta;
      stream.text(delta);
    },
    reasoning(delta) {
      stream.reasoning(delta);
    },
    reasoningEncrypted(value) {
      stream.emit({ event_type: 'reasoning_encrypted_value', encrypted_value: value });
    },
    toolStart(given, name) {
      if (names.has(idOf(given))) own.set(given, `${given}_${names.size + 1}`);
      const id = idOf(given);
      names.set(id, name);
      stream.emit({ event_type: 'tool_call_start', id, name });
    },
    toolDelta(id, delta) {
      stream.toolDelta(idOf(id), delta);
    },
    toolEnd(given, argsText) {
      const id = idOf(given);
      const asked = parseCall(turn, { id, name: names.get(id) ?? '' }, argsText);
      turn.calls.push(asked);
      if (asked.malformed !== undefined || argsText.trim() === '') doubtful.push(asked);
      else tellReady(asked);
    },
    toolCancel(id, name, reason) {
      names.delete(id);
      stream.emit({ event_type: 'tool_call_cancel', id, name, reason });
    },
    reset(reason) {
      step.text = '';
      turn.calls = [];
      doubtful = [];
      stream.emit({ event_type: 'stream_reset', reason });
    },
  };
  return {
    sink,
    settle(stop) {
      if (stop !== 'MaxTokens') return doubtful.forEach(tellReady);
      turn.calls = turn.calls.filter((each) => !doubtful.includes(each));
      for (const { call } of doubtful) {
        stream.emit({ event_type: 'tool_call_cancel', id: call.id, name: call.name, reason: 'output limit' });
      }
    },
  };
};

const parseCall = (turn: Turn, named: { id: string; name: string }, argsText: string): StepCall => {
  const asked = (value: ToolCall['arguments'], malformed?: string): StepCall =>
    newCall(turn, { ...named, arguments: value }, malformed);
  if (argsText.trim() === '') return asked({});
  try {
    const args = JSON.parse(argsText) ?? {};
    return isTooDeep(args) ? asked({}, `the arguments nest deeper than ${DEEPEST} levels`) : asked(args);
  } catch (error) {
    return asked({}, `the arguments are not JSON (${error})`);
  }
};

const observe = (turn: Turn, step: Step, end: InferenceEnd | undefined, error: unknown): void => {
  const { model, spec } = turn.agent;
  const call = {
    agent: spec.id,
    model: end?.by?.upstream ?? model.upstream,
    provider: end?.by?.provider ?? model.provider,
    seconds: (turn.clock.now() - step.startedAt) / 1000,
  };
  if (end) turn.observe.inference.ended({ ...call, status: 'ok', ...(end.usage && { usage: end.usage }) });
  else turn.observe.inference.ended({ ...call, status: 'error', errorClass: classOf(error) });
};

const classOf = (error: unknown): string => (error instanceof ModelError ? error.class : 'internal');

type Concluded = { step: Step; end: InferenceEnd; signal: AbortSignal };

const conclude = async (turn: Turn, { step, end, signal }: Concluded): Promise<InferOutcome> => {
  turn.inputTokens += end.usage?.prompt_tokens ?? 0;
  turn.outputTokens += end.usage?.completion_tokens ?? 0;
  turn.note = end.note;
  reportInference(turn, end);
  // Calls that came whole are executed, and their results continue the answer.
  const cutOff =
    end.stop === 'MaxTokens' &&
    turn.calls.length === 0 &&
    turn.continuations < turn.agent.spec.max_continuation_retries;
  keepAnswer(turn, step);
  turn.answered = !cutOff && turn.calls.length === 0;
  const verdict = count(turn, {
    text: step.text,
    calls: turn.calls.map(({ call }) => call),
    usage: end.usage,
  });
  const ends = await runPhase(turn, 'after_inference', signal, {
    inference: {
      text: step.text,
      calls: turn.calls.map(({ call }) => call),
      usage: end.usage,
      model: end.by?.upstream ?? turn.agent.model.upstream,
    },
  });
  if (signal.aborted) return NOTHING;
  // An answer in the last allowed round ends by itself, unless new input makes another step.
  const ending: Ending | undefined = ends ? { type: 'behavior_requested' } : verdict;
  if (ending && ending.type !== 'natural_end') {
    interruptCalls(turn);
    return stopped(ending);
  }
  if (cutOff && !ending) return continueTruncated(turn);
  if (turn.calls.length > 0) return { kind: 'calls' };
  turn.answered = true;
  return (await mustWait(turn, signal)) ? { kind: 'pending_work' } : { kind: 'answer' };
};

/** Also called for an inference that was cancelled: the tail of a run always reports its open inference. */
export const reportInference = (turn: Turn, end?: InferenceEnd): void => {
  const { step } = turn;
  if (!step || step.reported) return;
  step.reported = true;
  turn.stream.emit({
    event_type: 'inference_complete',
    model: end?.by?.upstream ?? turn.agent.model.upstream,
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
