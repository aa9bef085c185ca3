import type { ProviderDefinition } from '../models/define.ts';
import { ModelError } from '../models/errors.ts';
import { idleLimitSeconds } from '../models/idle.ts';
import type { InferenceRequest } from '../models/model.ts';
import { withToolIds } from '../models/tool-names.ts';
import { createWatchdog } from '../models/watchdog.ts';
import type { ModelSpec } from '../schema/model.ts';
import { toCall } from './call.ts';
import { toModelError } from './errors.ts';
import { FORMAT } from './items.ts';
import type { AiSdkModel, AiSdkProviderOptions } from './model.ts';
import { createPartReceiver } from './parts.ts';
import { sentToPackage } from './settings.ts';
import { deliver, openStream, untilAborted } from './stream.ts';

/**
 * Provides models of the AI SDK.
 *
 * Guarantees: those of `Model`. Each inference is one call of `doStream`; the loop repeats it. Reasoning that the
 * package reports is stored and returned to the same model.
 * Cost: that of the package for each chunk, which is several times the cost of a native provider of Troupe.
 */

/**
 * A model, or a function that returns the model with a name, such as a provider of the AI SDK. The function receives
 * the name of the model at the provider, and the entry of the model.
 *
 * @example
 * ```ts
 * import { cohere } from '@ai-sdk/cohere';
 *
 * const source: AiSdkSource = (upstream) => cohere(upstream);
 * ```
 */
export type AiSdkSource =
  | AiSdkModel
  | ((upstream: string, model: ModelSpec) => AiSdkModel | PromiseLike<AiSdkModel>);

/**
 * Options of `fromAiSdk`.
 *
 * @example
 * ```ts
 * const options: AiSdkOptions = {
 *   timeoutSeconds: 60,
 *   cacheMark: { bedrock: { cachePoint: { type: 'default' } } },
 * };
 * ```
 */
export type AiSdkOptions = {
  /** Seconds until the first part of a completion, and between two parts. Default: 300. */
  timeoutSeconds?: number;
  /** Options of a call, by the name of the package that reads them. */
  providerOptions?:
    | AiSdkProviderOptions
    | ((request: InferenceRequest, model: ModelSpec) => AiSdkProviderOptions | undefined);
  /** Options of a message up to which the provider should cache the prompt. Absent: it caches by its own rules. */
  cacheMark?: AiSdkProviderOptions;
  /**
   * Moves system messages to the beginning of a history, because many providers reject them elsewhere. Default: true.
   */
  systemFirst?: boolean;
};

const DEFAULT_TIMEOUT_SECONDS = 300;

/**
 * Returns the `stream` of a provider whose models are models of the AI SDK 6 or 7.
 *
 * It is slower than a native provider, and intended for providers that Troupe does not support natively. A model of the
 * AI SDK 7 receives the reasoning effort of a run; for one of the AI SDK 6, `providerOptions` translates it.
 *
 * @throws TypeError for a model of another version of the AI SDK
 * @throws RangeError for a timeout that is not positive
 * @example
 * ```ts
 * import { cohere } from '@ai-sdk/cohere';
 * import { createTroupe, defineProvider } from 'troupe';
 *
 * const troupe = await createTroupe({
 *   listen: false,
 *   settings: { storage_dir: './data' },
 *   providers: [defineProvider({ id: 'cohere-native', stream: fromAiSdk(cohere) })],
 *   models: [{ id: 'command', provider_id: 'cohere-native', upstream_model: 'command-a-03-2025' }],
 * });
 * await troupe.stop();
 * ```
 */
export function fromAiSdk(source: AiSdkSource, options: AiSdkOptions = {}): ProviderDefinition['stream'] {
  const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = options;
  if (typeof source !== 'function') checkVersion(source);
  if (!(timeoutSeconds > 0))
    throw new RangeError(`timeoutSeconds must be greater than 0 (got ${timeoutSeconds})`);
  return async (request, sink, { model: spec, signal }) => {
    const upstream = request.overrides.upstream_model ?? spec.upstream_model;
    const idle = idleLimitSeconds(request, upstream);
    const watchdog = createWatchdog({ call: timeoutSeconds, idle }, signal);
    try {
      if (signal.aborted) throw new ModelError('cancelled', '');
      const model = await resolveModel(source, request, spec, watchdog.signal);
      const origin = { provider: spec.provider_id, model: upstream, format: FORMAT };
      const call = toCall(model.specificationVersion, request, {
        spec,
        modalities: spec.modalities,
        systemFirst: options.systemFirst ?? true,
        cacheMark: options.cacheMark,
        origin,
        providerOptions: providerOptionsOf(options, request, spec),
      });
      sink.sent?.(sentToPackage(request, model.specificationVersion));
      const reader = await openStream(model, call, watchdog.signal);
      watchdog.opened();
      return await deliver(reader, createPartReceiver(withToolIds(sink, request.tools), origin), watchdog);
    } catch (error) {
      throw watchdog.cause() ?? error;
    } finally {
      watchdog.close();
    }
  };
}

/** @throws ModelError */
async function resolveModel(
  source: AiSdkSource,
  { overrides }: InferenceRequest,
  spec: ModelSpec,
  signal: AbortSignal,
): Promise<AiSdkModel> {
  const upstream = overrides.upstream_model ?? spec.upstream_model;
  if (typeof source !== 'function') {
    if (upstream === spec.upstream_model) return source;
    throw new ModelError('invalid_request', `the provider has one model, and '${upstream}' is another one`);
  }
  try {
    const model = await untilAborted(Promise.resolve(source(upstream, spec)), signal);
    checkVersion(model);
    return model;
  } catch (error) {
    if (error instanceof UnknownVersion) throw new ModelError('invalid_request', error.message);
    throw toModelError(error);
  }
}

class UnknownVersion extends TypeError {}

const VERSIONS: readonly string[] = ['v3', 'v4'] satisfies AiSdkModel['specificationVersion'][];

/** Callers in JavaScript, and package types that are not installed, allow any value. */
function checkVersion(model: AiSdkModel | undefined): void {
  const version = String(model?.specificationVersion);
  if (VERSIONS.includes(version) && typeof model?.doStream === 'function') return;
  throw new UnknownVersion(
    `a model must be a language model of the AI SDK 6 or 7 (specification v3 or v4, got ${version})`,
  );
}

const providerOptionsOf = (
  { providerOptions }: AiSdkOptions,
  request: InferenceRequest,
  spec: ModelSpec,
): AiSdkProviderOptions | undefined =>
  typeof providerOptions === 'function' ? providerOptions(request, spec) : providerOptions;
