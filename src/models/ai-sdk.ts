import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import type { ModelSpec } from '../schema/model.ts';
import { nameForModel, schemaForModel } from '../schema/model-tool.ts';
import type { ToolDescriptor } from '../schema/tool-descriptor.ts';
import type { CacheHints } from './cache-hints.ts';
import { interrupted, toBrokenStream, toModelError } from './classify.ts';
import type { EffortOptions } from './effort.ts';
import { ModelError } from './errors.ts';
import { idleSecondsOf } from './idle.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Model } from './model.ts';
import { toPrompt } from './prompt.ts';
import { createPartReceiver, type PartReceiver } from './stream-parts.ts';
import { createWatchdog, type Watchdog } from './watchdog.ts';

/**
 * One model behind a provider package of the AI SDK.
 *
 * Guarantees: one HTTP request an inference (retries are the loop's); the sink hears nothing after a cancel or a
 * timeout; a stream that ends without the provider's word is an interrupted one, whatever it brought before.
 * Relies on: `doStream` rejects, and its stream errors, when the signal it was given fires.
 * Costs: the promises of the package's own stream; this layer adds one read a part.
 */

export type AiSdkAdapter = {
  language(upstream: string): Promise<LanguageModelV3>;
  effort: EffortOptions;
  /** Provider options of every call. */
  options?: LanguageModelV3CallOptions['providerOptions'];
  /** Absent: the provider caches by itself, or not at all. */
  cache?: CacheHints;
  systemFirst: boolean;
  /** Models that take back the pictures that they have answered with. */
  ownPictures?(upstream: string): boolean;
};

/** A package is loaded when the first of its models is asked: a start needs none, and most services use one. */
export const onceLoaded = (
  load: () => Promise<(upstream: string) => LanguageModelV3>,
): AiSdkAdapter['language'] => {
  let loaded: ReturnType<typeof load> | undefined;
  return async (upstream) => {
    loaded ??= load().catch((error) => {
      // The next one tries again.
      loaded = undefined;
      throw error;
    });
    const language = await loaded;
    return language(upstream);
  };
};

type AiSdkModelOptions = { provider: string; timeoutSeconds: number };

export const createAiSdkModel = (
  adapter: AiSdkAdapter,
  spec: ModelSpec,
  { provider, timeoutSeconds }: AiSdkModelOptions,
): Model => ({
  id: spec.id,
  provider,
  upstream: spec.upstream_model,
  async stream(request, sink, signal) {
    const idle = idleSecondsOf(request, upstreamOf(request, spec));
    const watchdog = createWatchdog({ call: timeoutSeconds, idle }, signal);
    try {
      if (signal.aborted) throw new ModelError('cancelled', '');
      const reader = await open(
        await adapter.language(upstreamOf(request, spec)),
        callOptions(adapter, spec, request, watchdog.signal),
      );
      watchdog.opened();
      return await deliver(reader, createPartReceiver(withToolIds(sink, request.tools)), watchdog);
    } catch (error) {
      throw watchdog.cause() ?? error;
    } finally {
      watchdog.close();
    }
  },
});

const upstreamOf = ({ overrides }: InferenceRequest, spec: ModelSpec): string =>
  overrides.upstream_model ?? spec.upstream_model;

const callOptions = (
  adapter: AiSdkAdapter,
  spec: ModelSpec,
  request: InferenceRequest,
  abortSignal: AbortSignal,
): LanguageModelV3CallOptions => {
  const { temperature, top_p, max_tokens, reasoning_effort } = request.overrides;
  const maxOutputTokens = max_tokens ?? spec.max_output_tokens;
  const providerOptions = mergeOptions([
    adapter.options,
    reasoning_effort == null ? undefined : adapter.effort(reasoning_effort, upstreamOf(request, spec)),
    request.cache && adapter.cache?.call?.(request.session),
  ]);
  return {
    prompt: toPrompt(request, {
      modalities: spec.modalities,
      systemFirst: adapter.systemFirst,
      ownPictures: adapter.ownPictures?.(upstreamOf(request, spec)) === true,
      cacheMark: adapter.cache?.mark,
    }),
    abortSignal,
    ...(request.tools.length > 0 && { tools: request.tools.map(functionTool) }),
    ...(temperature != null && { temperature }),
    ...(top_p != null && { topP: top_p }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(providerOptions && { providerOptions }),
    ...(request.trace && { headers: { ...request.trace } }),
  };
};

type ProviderOptions = LanguageModelV3CallOptions['providerOptions'];

const mergeOptions = (all: readonly ProviderOptions[]): ProviderOptions => {
  const given = all.filter((options) => options !== undefined);
  if (given.length < 2) return given[0];
  const providers = new Set(given.flatMap((options) => Object.keys(options)));
  return Object.fromEntries(
    [...providers].map((name) => [name, Object.assign({}, ...given.map((options) => options[name]))]),
  );
};

type FunctionTool = Extract<NonNullable<LanguageModelV3CallOptions['tools']>[number], { type: 'function' }>;

const functionTool = ({ id, description, parameters }: ToolDescriptor): FunctionTool => ({
  type: 'function',
  name: nameForModel(id),
  description,
  // A descriptor's parameters are a JSON Schema by definition; the package's type for one is stricter than JSON.
  inputSchema: sentSchema(parameters) as FunctionTool['inputSchema'],
});

/** A client may declare a tool whose schema no provider takes; its arguments go to the client as the model wrote them. */
const sentSchema = (parameters: ToolDescriptor['parameters']): object => {
  const fitted = schemaForModel(parameters);
  return 'schema' in fitted ? fitted.schema : { type: 'object', properties: {} };
};

/** Calls come under the names that the model was given; everything else knows tools by their ids. */
const withToolIds = (sink: InferenceSink, tools: readonly ToolDescriptor[]): InferenceSink => {
  const ids = new Map<string, string>();
  for (const { id } of tools) if (nameForModel(id) !== id) ids.set(nameForModel(id), id);
  if (ids.size === 0) return sink;
  return {
    ...sink,
    toolStart: (call, name) => sink.toolStart(call, ids.get(name) ?? name),
    ...(sink.toolCancel && {
      toolCancel: (call, name, reason) => sink.toolCancel?.(call, ids.get(name) ?? name, reason),
    }),
  };
};

type PartReader = ReadableStreamDefaultReader<LanguageModelV3StreamPart>;

const open = async (language: LanguageModelV3, options: LanguageModelV3CallOptions): Promise<PartReader> => {
  try {
    const { stream } = await language.doStream(options);
    return stream.getReader();
  } catch (error) {
    throw toModelError(error);
  }
};

const deliver = async (
  reader: PartReader,
  receive: PartReceiver,
  watchdog: Watchdog,
): Promise<InferenceEnd> => {
  let end: InferenceEnd | undefined;
  try {
    while (!end) {
      const part = await nextPart(reader);
      const cause = watchdog.cause();
      if (cause) throw cause;
      watchdog.touch();
      end = receive(part);
    }
    return end;
  } finally {
    // What the rest of a stream does cannot change the inference any more, so neither outcome is reported.
    (end ? drain(reader) : reader.cancel()).catch(() => {});
  }
};

const nextPart = async (reader: PartReader): Promise<LanguageModelV3StreamPart> => {
  const { done, value } = await reader.read().catch((error: unknown) => {
    throw toBrokenStream(error);
  });
  if (done) throw interrupted('connection reset');
  return value;
};

/** Reading to the end lets the connection be used again; the platform gives up on a body that never ends. */
const drain = async (reader: PartReader): Promise<void> => {
  let done = false;
  while (!done) ({ done } = await reader.read());
};
