import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
} from '@ai-sdk/provider';
import { toBrokenStream, toModelError } from '../../../src/ai-sdk/errors.ts';
import { interrupted } from '../../../src/models/classify.ts';
import { ModelError } from '../../../src/models/errors.ts';
import { idleLimitSeconds } from '../../../src/models/idle.ts';
import type { InferenceEnd, InferenceRequest, Model } from '../../../src/models/model.ts';
import { createWatchdog, type Watchdog } from '../../../src/models/watchdog.ts';
import type { ModelSpec } from '../../../src/schema/model.ts';
import type { ReasoningEffort } from '../../../src/schema/model-settings.ts';
import { nameForModel, schemaForModel } from '../../../src/schema/model-tool.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import { createPartReceiver, type PartReceiver } from './package-parts.ts';
import { toPrompt } from './package-prompt.ts';

/** One model that uses a provider package, with which the wire formats are compared. */

export type AiSdkAdapter = {
  language(upstream: string): Promise<LanguageModelV3>;
  effort(effort: ReasoningEffort, upstream: string): LanguageModelV3CallOptions['providerOptions'];
  /** Provider options of every call. */
  options?: LanguageModelV3CallOptions['providerOptions'];
  systemFirst: boolean;
  /** Whether the model accepts pictures from its own completions. */
  ownPictures?(upstream: string): boolean;
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
    const idle = idleLimitSeconds(request, upstreamOf(request, spec));
    const watchdog = createWatchdog({ call: timeoutSeconds, idle }, signal);
    try {
      if (signal.aborted) throw new ModelError('cancelled', '');
      const reader = await open(
        await adapter.language(upstreamOf(request, spec)),
        callOptions(adapter, spec, request, watchdog.signal),
      );
      watchdog.opened();
      return await deliver(reader, createPartReceiver(sink), watchdog);
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
  ]);
  return {
    prompt: toPrompt(request, {
      modalities: spec.modalities,
      systemFirst: adapter.systemFirst,
      ownPictures: adapter.ownPictures?.(upstreamOf(request, spec)) === true,
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

/**
 * A client may declare a tool with a schema that no provider accepts; it receives the arguments as the model wrote
 * them.
 */
const sentSchema = (parameters: ToolDescriptor['parameters']): object => {
  const fitted = schemaForModel(parameters);
  return 'schema' in fitted ? fitted.schema : { type: 'object', properties: {} };
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
    // The rest of the stream can no longer change the inference, so neither outcome is reported.
    (end ? drain(reader) : reader.cancel()).catch(() => {});
  }
};

const nextPart = async (reader: PartReader): Promise<LanguageModelV3StreamPart> => {
  const { done, value } = await reader.read().catch((error: unknown) => {
    throw toBrokenStream(error, false);
  });
  if (done) throw interrupted('connection reset');
  return value;
};

/** Reads to the end so that the connection can be reused; the platform times out a body that never ends. */
const drain = async (reader: PartReader): Promise<void> => {
  let done = false;
  while (!done) ({ done } = await reader.read());
};
