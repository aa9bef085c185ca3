import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from 'ai-sdk-provider-4';
import { type AiSdkModel, type AiSdkOptions, type AiSdkSource, fromAiSdk } from '../../src/ai-sdk/index.ts';
import { defineProvider } from '../../src/models/define.ts';
import { ModelError } from '../../src/models/errors.ts';
import type {
  InferenceEnd,
  InferenceRequest,
  InferenceSink,
  InferenceSource,
  Model,
} from '../../src/models/model.ts';
import type { AnswerPart } from '../../src/schema/answer-part.ts';
import type { ReasoningItem } from '../../src/schema/message.ts';
import type { ModelSpec } from '../../src/schema/model.ts';
import { type Heard, recordingSink } from '../models/infer.ts';

/** Models of the AI SDK without a package, and what a sink received from them. */

const USAGE = {
  inputTokens: { total: 10, noCache: 4, cacheRead: 6, cacheWrite: 0 },
  outputTokens: { total: 5, text: 2, reasoning: 3 },
};

const NO_USAGE = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

type Unified = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

export const finish = (
  unified: Unified,
  raw: string | null = unified,
  { counted = false } = {},
): Extract<LanguageModelV3StreamPart, { type: 'finish' }> => ({
  type: 'finish',
  finishReason: { unified, raw: raw ?? undefined },
  usage: counted ? USAGE : NO_USAGE,
});

export const said = (delta: string, id = '0'): LanguageModelV3StreamPart => ({
  type: 'text-delta',
  id,
  delta,
});

export const called = (id: string, input: string): LanguageModelV3StreamPart[] => [
  { type: 'tool-input-start', id, toolName: 'search' },
  { type: 'tool-call', toolCallId: id, toolName: 'search', input },
];

export type Received = {
  heard: Heard[];
  items: Omit<ReasoningItem, 'after'>[];
  parts: AnswerPart[];
  sources: InferenceSource[];
  end?: InferenceEnd;
  error?: ModelError;
};

export const recorded = (): { received: Received; sink: InferenceSink } => {
  const received: Received = { heard: [], items: [], parts: [], sources: [] };
  return {
    received,
    sink: {
      ...recordingSink(received.heard),
      reasoningItem: (item) => received.items.push(item),
      part: (part) => received.parts.push(part),
      source: (source) => received.sources.push(source),
    },
  };
};

export const streamOf = <Part>(parts: readonly Part[]): ReadableStream<Part> =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

const notStreamed = (): never => {
  throw new Error('only streams are used');
};

export type Fake<Options> = { asked: Options[] };

/** Calls `open` for each inference. */
export const fakeModel3 = (
  open: (call: LanguageModelV3CallOptions) => ReadableStream<LanguageModelV3StreamPart> | Promise<never>,
): LanguageModelV3 & Fake<LanguageModelV3CallOptions> => {
  const asked: LanguageModelV3CallOptions[] = [];
  return {
    specificationVersion: 'v3',
    provider: 'fake',
    modelId: 'up',
    supportedUrls: {},
    asked,
    doGenerate: notStreamed,
    doStream: async (call) => {
      asked.push(call);
      return { stream: await open(call) };
    },
  };
};

export const fakeModel4 = (
  open: (call: LanguageModelV4CallOptions) => ReadableStream<LanguageModelV4StreamPart>,
): LanguageModelV4 & Fake<LanguageModelV4CallOptions> => {
  const asked: LanguageModelV4CallOptions[] = [];
  return {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: 'up',
    supportedUrls: {},
    asked,
    doGenerate: notStreamed,
    doStream: async (call) => {
      asked.push(call);
      return { stream: open(call) };
    },
  };
};

export const modelOf = (
  source: AiSdkSource,
  options: AiSdkOptions = {},
  spec: Partial<ModelSpec> = {},
): Model =>
  defineProvider({ id: 'p', stream: fromAiSdk(source, options) }).model({
    id: 'm',
    provider_id: 'p',
    upstream_model: 'up',
    ...spec,
  });

/** Executes one inference. Returns what was received, with the end or the error. */
export const inferFrom = async (
  model: Model | AiSdkModel,
  request: InferenceRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Received> => {
  const { received, sink } = recorded();
  const asked = 'doStream' in model ? modelOf(model) : model;
  try {
    received.end = await asked.stream(request, sink, signal);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    received.error = error;
  }
  return received;
};
