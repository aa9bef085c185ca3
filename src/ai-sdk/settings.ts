import type { InferenceRequest, SentSettings } from '../models/model.ts';
import { layered } from '../models/settings/layers.ts';
import type { JsonObject } from '../schema/json.ts';
import type { AiSdkModel, AiSdkProviderOptions } from './model.ts';

/** Settings for which the AI SDK has no field. Packages accept them as their own options. */
const WITHOUT_FIELD = ['parallel_tool_calls', 'verbosity', 'service_tier'] as const;

const REASON = 'the AI SDK has no such setting; set it in provider_options, as the package names it';

/** Returns the settings of a call that a package of this version receives. */
export function sentToPackage(
  { overrides }: InferenceRequest,
  version: AiSdkModel['specificationVersion'],
): SentSettings {
  const omitted = version === 'v3' ? [...WITHOUT_FIELD, 'reasoning_effort' as const] : WITHOUT_FIELD;
  const left = omitted.filter((setting) => overrides[setting] != null);
  const { upstream_model: _, ...settings } = overrides;
  const kept = Object.entries(settings).filter(
    ([name, value]) => value != null && !left.some((setting) => setting === name),
  );
  return {
    // Settings are JSON by their schema.
    settings: Object.fromEntries(kept) as JsonObject,
    adjusted: left.map((setting) => ({ setting, sent: null, reason: REASON })),
  };
}

/** Options of the request take precedence over those of the program. */
export function joinedOptions(
  own: AiSdkProviderOptions | undefined,
  { overrides }: InferenceRequest,
): AiSdkProviderOptions | undefined {
  const { provider_options } = layered(own ? { provider_options: own } : {}, {
    ...(overrides.provider_options && { provider_options: overrides.provider_options }),
  });
  // Every key of validated options has an object as its value.
  return provider_options as AiSdkProviderOptions | undefined;
}
