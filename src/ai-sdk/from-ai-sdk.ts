import type { ProviderDefinition } from '../models/define.ts';
import { ModelError } from '../models/errors.ts';
import { idleSecondsOf } from '../models/idle.ts';
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
 * Models of the AI SDK as a provider.
 *
 * Guarantees: those of `Model`. One call of `doStream` an inference; the loop repeats it. What the package reports of
 * its reasoning is kept and returned to the same model.
 * Costs: what the package costs for each chunk, which is several times the cost of a provider that Troupe speaks to
 * itself.
 */

/** A model, or a function that returns the model with a name: a provider of the AI SDK is one. */
export type AiSdkSource =
  | AiSdkModel
  | ((upstream: string, model: ModelSpec) => AiSdkModel | PromiseLike<AiSdkModel>);

export type AiSdkOptions = {
  /** Seconds until the first part of an answer, and between two parts. Default: 300. */
  timeoutSeconds?: number;
  /** Options of a call, by the name of the package that reads them. */
  providerOptions?:
    | AiSdkProviderOptions
    | ((request: InferenceRequest, model: ModelSpec) => AiSdkProviderOptions | undefined);
  /** Options of a message up to which the provider is to cache the prompt. Absent: it caches by its own rules. */
  cacheMark?: AiSdkProviderOptions;
  /** Moves system messages of a history to its beginning, because many providers refuse them elsewhere. Default: true. */
  systemFirst?: boolean;
};

const DEFAULT_TIMEOUT_SECONDS = 300;

/**
 * The `stream` of a provider whose models are models of the AI SDK 6 or 7.
 *
 * It is the slower way, for providers that Troupe does not speak to itself. A model of the AI SDK 7 receives the
 * reasoning effort of a run; for one of the AI SDK 6, `providerOptions` translates it.
 *
 * @throws TypeError for a model of another version of the AI SDK
 * @throws RangeError for a timeout that is not positive
 * @example
 * const bedrock = defineProvider({ id: 'bedrock', stream: fromAiSdk(createAmazonBedrock({ region: 'eu-west-1' })) });
 */
export function fromAiSdk(source: AiSdkSource, options: AiSdkOptions = {}): ProviderDefinition['stream'] {
  const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = options;
  if (typeof source !== 'function') checkVersion(source);
  if (!(timeoutSeconds > 0))
    throw new RangeError(`timeoutSeconds must be greater than 0 (got ${timeoutSeconds})`);
  return async (request, sink, { model: spec, signal }) => {
    const upstream = request.overrides.upstream_model ?? spec.upstream_model;
    const idle = idleSecondsOf(request, upstream);
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

/** Programs in JavaScript, and types of packages that are not installed, allow any value. */
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
