import type { ReasoningItem } from '../schema/message.ts';
import type { ProviderCall } from '../schema/provider-tool.ts';
import { BOUNDS } from './bounds.ts';
import { interrupted } from './classify.ts';
import { ModelError } from './errors.ts';
import type { InferenceEnd, InferenceSink, InferenceUsage, StopReason } from './model.ts';
import type { AnswerWriter, Finish } from './wire/wire.ts';

/**
 * One answer on its way from a decoder into the sink.
 *
 * Guarantees: a call is reported complete only when it is. A call whose arguments are empty or not JSON is held back
 * until the provider has said that it finished, and so is every call after it, to keep their order. An answer that
 * gets longer than `BOUNDS` allow is a failure that is not repeated. Usage counts, also of an answer that breaks off.
 * Costs one call a delta.
 */
export type Answer = AnswerWriter & {
  /** What the provider has reported so far; undefined before it reports any. */
  reported(): InferenceUsage | undefined;
  /** The provider continues the answer in another response, which has counts of its own. */
  paused(): void;
  /** @throws ModelError where there is no answer */
  end(finish: Finish): InferenceEnd;
};

/** `origin` goes with reasoning that the provider wants back. */
export const createAnswer = (
  sink: InferenceSink,
  origin: Pick<ReasoningItem, 'provider' | 'model' | 'format'>,
): Answer => {
  const calls = trackCalls(sink);
  const measure = createMeasure();
  let begun = false;
  let encrypted: string | undefined;
  let usage: InferenceUsage | undefined;
  let earlier: InferenceUsage | undefined;
  const counted = (): InferenceUsage | undefined => totalled(summed(earlier, usage));
  return {
    text(delta) {
      if (delta === '') return;
      begun = true;
      measure.answer(delta);
      sink.text(delta);
    },
    reasoning(delta) {
      if (delta === '') return;
      begun = true;
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
      begun = true;
      measure.part();
      sink.part?.({ file: data, media_type: mediaType });
    },
    fileAt(mediaType, url) {
      begun = true;
      measure.part();
      measure.answer(url);
      sink.part?.({ url, media_type: mediaType });
    },
    source(source) {
      begun = true;
      measure.part();
      measure.answer(source.id + (source.title ?? ''));
      measure.answer(source.type === 'url' ? source.url : source.media_type + (source.filename ?? ''));
      sink.source?.(source);
    },
    providerCall(call) {
      begun = true;
      measure.providerCall(call);
      sink.providerCall?.(call);
    },
    callStart(id, name) {
      begun = true;
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
    usage(more) {
      usage = { ...usage, ...more };
    },
    hasBegun: () => begun,
    reported: counted,
    paused() {
      earlier = summed(earlier, usage);
      usage = undefined;
    },
    end(finish) {
      const reported = counted();
      const stop = stopOf(finish, { begun, calls, usage: reported });
      calls.release();
      return {
        stop,
        ...(reported && { usage: reported }),
        ...(finish.reason === 'missing' && { cutShort: true }),
      };
    },
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

/** Of one answer. @throws ModelError when it is too long */
const createMeasure = () => {
  const args = new Map<string, number>();
  const provided = new Set<string>();
  let length = 0;
  let parts = 0;
  const within = (value: number, most: number, what: string): number => {
    if (value > most)
      throw new ModelError('provider', `the answer has more than ${most} ${what}`, { final: true });
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
    /** The provider has finished: what was doubtful is what the model wrote. */
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
    // Not JSON: either cut off or written so by the model; the end of the stream decides.
    return false;
  }
};

type Heard = { begun: boolean; calls: Calls; usage: InferenceUsage | undefined };

const stopOf = ({ reason, raw }: Finish, { begun, calls, usage }: Heard): StopReason => {
  switch (reason) {
    case 'filtered':
      throw new ModelError('content_filtered', raw ?? '', { usage });
    case 'failed':
      throw new ModelError('provider', `the model stopped with ${raw ?? 'an error'}`, { usage });
    case 'missing':
      // A body that ended in order is an answer, unless it holds nothing, or a call that may be cut off.
      if (!begun || calls.areHeld()) throw interrupted('connection reset', undefined, usage);
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
