import type {
  LanguageModelV3FinishReason,
  LanguageModelV3Source,
  LanguageModelV3StreamPart,
  LanguageModelV3Usage,
} from '@ai-sdk/provider';
import { toStreamError } from '../../../src/ai-sdk/errors.ts';
import { BOUNDS } from '../../../src/models/bounds.ts';
import { interrupted } from '../../../src/models/classify.ts';
import { ModelError } from '../../../src/models/errors.ts';
import type { InferenceEnd, InferenceSink, InferenceSource, StopReason } from '../../../src/models/model.ts';
import type { Usage } from '../../../src/schema/run-event.ts';

/**
 * Passes the parts that a provider package reports to the sink, one by one. The decoders are compared with it, and it
 * shares no code with them.
 */

/** Returns the end with the last part, and throws a `ModelError` for a part that reports a failure. */
export type PartReceiver = (part: LanguageModelV3StreamPart) => InferenceEnd | undefined;

export const createPartReceiver = (sink: InferenceSink): PartReceiver => {
  const calls = trackCalls(sink);
  const measure = createMeasure();
  const encrypted = once((value) => {
    measure.answer(value);
    sink.reasoningEncrypted(value);
  });
  let begun = false;

  return (part) => {
    switch (part.type) {
      case 'text-delta':
        if (part.delta === '') return undefined;
        begun = true;
        measure.answer(part.delta);
        sink.text(part.delta);
        return undefined;
      case 'reasoning-delta':
        if (part.delta !== '') {
          begun = true;
          measure.answer(part.delta);
          sink.reasoning(part.delta);
        }
        encrypted(encryptedOf(part));
        return undefined;
      case 'reasoning-start':
      case 'reasoning-end':
        encrypted(encryptedOf(part));
        return undefined;
      case 'file':
        begun = true;
        measure.part();
        sink.part?.({ file: part.data, media_type: part.mediaType });
        return undefined;
      case 'source':
        begun = true;
        measure.source(part);
        sink.source?.(sourceOf(part));
        return undefined;
      case 'tool-input-start':
        begun = true;
        measure.call(part.id, part.toolName);
        calls.start(part.id, part.toolName);
        return undefined;
      case 'tool-input-delta':
        measure.args(part.id, part.delta);
        sink.toolDelta(part.id, part.delta);
        return undefined;
      case 'tool-call':
        begun = true;
        measure.call(part.toolCallId, part.toolName);
        measure.wholeArgs(part.input);
        calls.end(part.toolCallId, part.toolName, part.input);
        return undefined;
      case 'error':
        throw toStreamError(part.error, begun);
      case 'finish': {
        const usage = usageOf(part.usage);
        const stop = stopOf(part.finishReason, calls.any(), usage);
        calls.release();
        return { stop, ...(usage && { usage }) };
      }
      default:
        return undefined;
    }
  };
};

const sourceOf = (part: LanguageModelV3Source): InferenceSource => {
  const { id, title } = part;
  if (part.sourceType === 'url') return { type: 'url', id, url: part.url, ...(title && { title }) };
  const { mediaType: media_type, filename } = part;
  return { type: 'document', id, media_type, title: part.title, ...(filename && { filename }) };
};

/** Enforces the limits on one completion. Throws a ModelError when it exceeds them. */
const createMeasure = () => {
  const args = new Map<string, number>();
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
  const wholeArgs = (text: string): void => {
    within(text.length, BOUNDS.argumentsLength, 'characters of arguments of one call');
  };
  return {
    answer,
    wholeArgs,
    part(): void {
      parts = within(parts + 1, BOUNDS.parts, 'files and sources');
    },
    source(source: LanguageModelV3Source): void {
      parts = within(parts + 1, BOUNDS.parts, 'files and sources');
      answer(source.sourceType === 'url' ? source.url : source.mediaType + (source.filename ?? ''));
      answer(source.id + (source.title ?? ''));
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

const trackCalls = (sink: InferenceSink) => {
  const started = new Set<string>();
  const held: { id: string; args: string }[] = [];
  const start = (id: string, name: string): void => {
    if (started.has(id)) return;
    started.add(id);
    sink.toolStart(id, name);
  };
  return {
    start,
    end: (id: string, name: string, args: string): void => {
      start(id, name);
      if (held.length === 0 && isComplete(args)) sink.toolEnd(id, args);
      else held.push({ id, args });
    },
    any: () => started.size > 0,
    /** Reports the deferred calls: the provider has finished, so their arguments are what the model wrote. */
    release: (): void => {
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

const STOPS: Partial<Record<LanguageModelV3FinishReason['unified'], StopReason>> = {
  stop: 'EndTurn',
  other: 'EndTurn',
  'content-filter': 'EndTurn',
  length: 'MaxTokens',
  'tool-calls': 'ToolUse',
};

/**
 * A package reports `other` without a raw reason for a stream without a finish reason. For a model that refused in text
 * it reports a content filter although the provider reported none: that counts as a completion.
 */
const stopOf = (
  { unified, raw }: LanguageModelV3FinishReason,
  hasCalls: boolean,
  usage: Usage | undefined,
): StopReason => {
  const refused = raw === undefined || raw === 'stop';
  if (unified === 'content-filter' && !refused) throw new ModelError('content_filtered', raw, { usage });
  if (unified === 'other' && raw === undefined) throw interrupted('connection reset', undefined, usage);
  if (raw === 'stop_sequence') return 'StopSequence';
  const stop = STOPS[unified];
  if (!stop) throw new ModelError('provider', `the model stopped with ${raw ?? unified}`, { usage });
  return stop === 'EndTurn' && hasCalls ? 'ToolUse' : stop;
};

/** Packages report missing details as 0; missing details and details of 0 are both omitted. */
const usageOf = ({ inputTokens, outputTokens }: LanguageModelV3Usage): Usage | undefined => {
  const [prompt, cacheRead, cacheWrite, completion, reasoning] = [
    inputTokens.total,
    inputTokens.cacheRead,
    inputTokens.cacheWrite,
    outputTokens.total,
    outputTokens.reasoning,
  ].map(countOf);
  if (prompt === undefined && completion === undefined) return undefined;
  return {
    ...(prompt !== undefined && { prompt_tokens: prompt }),
    ...(completion !== undefined && { completion_tokens: completion }),
    ...(prompt !== undefined && completion !== undefined && { total_tokens: prompt + completion }),
    ...(cacheRead && { cache_read_tokens: cacheRead }),
    ...(cacheWrite && { cache_creation_tokens: cacheWrite }),
    ...(reasoning && { thinking_tokens: reasoning }),
  };
};

/** A valid token count; undefined for any other number. */
const countOf = (given: number | undefined): number | undefined =>
  Number.isSafeInteger(given) && (given ?? -1) >= 0 ? given : undefined;

type ReasoningPart = Extract<LanguageModelV3StreamPart, { type: `reasoning-${string}` }>;

/** The position at which a package reports the opaque text of a provider; it is complete in this part. */
const ENCRYPTED: Record<ReasoningPart['type'], readonly [provider: string, key: string][]> = {
  'reasoning-start': [['anthropic', 'redactedData']],
  'reasoning-delta': [
    ['anthropic', 'signature'],
    ['google', 'thoughtSignature'],
    ['vertex', 'thoughtSignature'],
  ],
  'reasoning-end': [['openai', 'reasoningEncryptedContent']],
};

const encryptedOf = ({ type, providerMetadata }: ReasoningPart): string | undefined => {
  if (!providerMetadata) return undefined;
  const values = ENCRYPTED[type].map(([provider, key]) => providerMetadata[provider]?.[key]);
  return values.find((value): value is string => typeof value === 'string' && value !== '');
};

/** Passes a value once, because consecutive parts repeat the same text. */
const once = (tell: (value: string) => void): ((value: string | undefined) => void) => {
  let last: string | undefined;
  return (value) => {
    if (value === undefined || value === last) return;
    last = value;
    tell(value);
  };
};
