import type { ReasoningItem } from '../schema/message.ts';
import type { ProviderCall } from '../schema/provider-tool.ts';
import { BOUNDS } from './bounds.ts';
import { interrupted } from './classify.ts';
import { ModelError } from './errors.ts';
import type { InferenceEnd, InferenceSink, InferenceUsage, StopReason } from './model.ts';
import type { AnswerWriter, Finish } from './wire/wire.ts';

/**
 * One completion on its way from a decoder into the sink.
 *
 * Guarantees: a call is reported complete only when it is. A call whose arguments are empty or not JSON is deferred
 * until the provider has reported the end of the completion, and so is every later call, to keep their order. A
 * completion that exceeds `BOUNDS` is a failure that is not retried. Usage counts, even for an interrupted completion.
 * Cost: one call per delta.
 */
export type Answer = AnswerWriter & {
  /** The usage that the provider has reported so far; undefined before its first report. */
  reported(): InferenceUsage | undefined;
  /** The provider continues the completion in another response, which has its own token counts. */
  paused(): void;
  /** @throws ModelError when there is no completion */
  end(finish: Finish): InferenceEnd;
};

/** `origin` is stored with reasoning that must be sent back to the provider. */
export const createAnswer = (
  sink: InferenceSink,
  origin: Pick<ReasoningItem, 'provider' | 'model' | 'format'>,
): Answer => {
  const calls = trackCalls(sink);
  const measure = createMeasure();
  const usage = createUsageCount();
  let hasBegun = false;
  let encrypted: string | undefined;
  return {
    text(delta) {
      if (delta === '') return;
      hasBegun = true;
      measure.answer(delta);
      sink.text(delta);
    },
    reasoning(delta) {
      if (delta === '') return;
      hasBegun = true;
      measure.answer(delta);
      sink.reasoning(delta);
    },
    reasoningEncrypted(value) {
      if (value === '' || value === encrypted) return;
      encrypted = value;
      measure.answer(value);
      sink.reasoningEncrypted(value);
    },
    reasoningItem(item, tool) {
      measure.answer(JSON.stringify(item));
      sink.reasoningItem?.({ ...origin, item, ...(tool !== undefined && { tool }) });
    },
    file(mediaType, data) {
      hasBegun = true;
      measure.part();
      sink.part?.({ file: data, media_type: mediaType });
    },
    fileAt(mediaType, url) {
      hasBegun = true;
      measure.part();
      measure.answer(url);
      sink.part?.({ url, media_type: mediaType });
    },
    source(source) {
      hasBegun = true;
      measure.part();
      measure.answer(source.id + (source.title ?? ''));
      measure.answer(source.type === 'url' ? source.url : source.media_type + (source.filename ?? ''));
      sink.source?.(source);
    },
    providerCall(call) {
      hasBegun = true;
      measure.providerCall(call);
      sink.providerCall?.(call);
    },
    callStart(id, name) {
      hasBegun = true;
      measure.call(id, name);
      calls.start(id, name);
    },
    callDelta(id, delta) {
      if (delta === '') return;
      measure.args(id, delta);
      sink.toolDelta(id, delta);
    },
    callEnd(id, args) {
      measure.wholeArgs(args);
      calls.end(id, args);
    },
    usage: usage.add,
    hasBegun: () => hasBegun,
    reported: usage.total,
    paused: usage.pause,
    end: (finish) => endOf(finish, { hasBegun, calls, usage: usage.total() }),
  };
};

/** The token counts of the responses that form one completion. */
const createUsageCount = () => {
  let earlier: InferenceUsage | undefined;
  let current: InferenceUsage | undefined;
  return {
    add(more: InferenceUsage): void {
      current = { ...current, ...more };
    },
    /** The counts that follow belong to another response. */
    pause(): void {
      earlier = summed(earlier, current);
      current = undefined;
    },
    total: (): InferenceUsage | undefined => totalled(summed(earlier, current)),
  };
};

const summed = (
  some: InferenceUsage | undefined,
  more: InferenceUsage | undefined,
): InferenceUsage | undefined => {
  if (!some || !more) return some ?? more;
  const sum: InferenceUsage = { ...some };
  for (const key of COUNTS) if (more[key] !== undefined) sum[key] = (sum[key] ?? 0) + more[key];
  return sum;
};

const COUNTS = [
  'prompt_tokens',
  'completion_tokens',
  'cache_read_tokens',
  'cache_creation_tokens',
  'cache_creation_1h_tokens',
  'thinking_tokens',
  'reported_cost_usd',
] as const;

const totalled = (usage: InferenceUsage | undefined): InferenceUsage | undefined => {
  if (!usage) return undefined;
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  return prompt === undefined || completion === undefined
    ? usage
    : { ...usage, total_tokens: prompt + completion };
};

/** Enforces the limits on one completion. Its functions throw a ModelError when the completion exceeds a limit. */
const createMeasure = () => {
  const args = new Map<string, number>();
  const provided = new Set<string>();
  let length = 0;
  let parts = 0;
  const within = (value: number, most: number, what: string): number => {
    if (value > most)
      throw new ModelError('provider', `the completion has more than ${most} ${what}`, { final: true });
    return value;
  };
  const answer = (text: string): void => {
    length = within(length + text.length, BOUNDS.answerLength, 'characters');
  };
  return {
    answer,
    wholeArgs(text: string): void {
      within(text.length, BOUNDS.argumentsLength, 'characters of arguments of one call');
    },
    part(): void {
      parts = within(parts + 1, BOUNDS.parts, 'files and sources');
    },
    providerCall({ id, input, output, error }: ProviderCall): void {
      within(id.length, BOUNDS.nameLength, 'characters in the id or name of a call');
      provided.add(id);
      within(provided.size, BOUNDS.calls, 'calls');
      answer(JSON.stringify([input, output, error]));
    },
    call(id: string, name: string): void {
      within(Math.max(id.length, name.length), BOUNDS.nameLength, 'characters in the id or name of a call');
      if (!args.has(id)) args.set(id, 0);
      within(args.size, BOUNDS.calls, 'calls');
    },
    args(id: string, delta: string): void {
      answer(delta);
      const all = (args.get(id) ?? 0) + delta.length;
      args.set(id, within(all, BOUNDS.argumentsLength, 'characters of arguments of one call'));
    },
  };
};

type Calls = ReturnType<typeof trackCalls>;

const trackCalls = (sink: InferenceSink) => {
  const started = new Set<string>();
  const held: { id: string; args: string }[] = [];
  return {
    start(id: string, name: string): void {
      if (started.has(id)) return;
      started.add(id);
      sink.toolStart(id, name);
    },
    end(id: string, args: string): void {
      if (held.length === 0 && isComplete(args)) sink.toolEnd(id, args);
      else held.push({ id, args });
    },
    any: () => started.size > 0,
    areHeld: () => held.length > 0,
    /** Reports the deferred calls: the provider has finished, so their arguments are what the model wrote. */
    release(): void {
      for (const { id, args } of held) sink.toolEnd(id, args);
    },
  };
};

const isComplete = (args: string): boolean => {
  if (args === '' || args === '{}') return false;
  try {
    JSON.parse(args);
    return true;
  } catch {
    // The text is not JSON: it is either cut off or malformed by the model. The end of the stream decides which.
    return false;
  }
};

type Received = { hasBegun: boolean; calls: Calls; usage: InferenceUsage | undefined };

const endOf = (finish: Finish, received: Received): InferenceEnd => {
  const { calls, usage } = received;
  const stop = stopOf(finish, received);
  calls.release();
  return {
    stop,
    ...(usage && { usage }),
    ...(finish.reason === 'missing' && { cutShort: true }),
  };
};

const stopOf = ({ reason, raw }: Finish, { hasBegun, calls, usage }: Received): StopReason => {
  switch (reason) {
    case 'filtered':
      throw new ModelError('content_filtered', raw ?? '', { usage });
    case 'failed':
      throw new ModelError('provider', `the model stopped with ${raw ?? 'an error'}`, { usage });
    case 'missing':
      // A body that ended regularly is a completion, unless it is empty or contains a call that may be cut off.
      if (!hasBegun || calls.areHeld()) throw interrupted('connection reset', undefined, usage);
      return calls.any() ? 'ToolUse' : 'EndTurn';
    case 'length':
      return 'MaxTokens';
    case 'stop_sequence':
      return 'StopSequence';
    case 'calls':
      return 'ToolUse';
    default:
      return calls.any() ? 'ToolUse' : 'EndTurn';
  }
};
