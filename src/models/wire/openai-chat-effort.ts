import type { JsonObject } from '../../schema/json.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import type { ChatOptions } from '../chat-options.ts';
import { isOpenAiThinker } from '../effort.ts';
import type { InferenceRequest } from '../model.ts';
import { wireEffort } from '../settings/efforts.ts';
import type { WireCall } from './wire.ts';

/** Body fields that depend on the model: services reject a request with a field that the model lacks. */

/** `settings`: only the settings that the model accepts. */
export function settingFields(settings: ModelSettings, { upstream, adapter }: ChatModel): JsonObject {
  const { temperature, top_p, stop, seed, reasoning_effort, verbosity, service_tier } = settings;
  const { presence_penalty, frequency_penalty } = settings;
  const effort = reasoning_effort && wireEffort(reasoning_effort, upstream, adapter);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(stop && { stop }),
    ...(seed !== undefined && { seed }),
    ...(presence_penalty !== undefined && { presence_penalty }),
    ...(frequency_penalty !== undefined && { frequency_penalty }),
    ...(settings.parallel_tool_calls !== undefined && { parallel_tool_calls: settings.parallel_tool_calls }),
    ...(effort && { reasoning_effort: effort }),
    ...(verbosity && { verbosity }),
    ...(service_tier && { service_tier }),
  };
}

type ChatModel = Pick<WireCall, 'upstream' | 'adapter'>;

export function limitFields(limit: number | undefined, upstream: string): JsonObject {
  if (limit === undefined) return {};
  return isOpenAiThinker(upstream) ? { max_completion_tokens: limit } : { max_tokens: limit };
}

const LONGEST_KEY = 64;

/** Requests with the same key reach the host with the cached prompt; a collision of two threads is harmless. */
export function cacheFields(
  { cache, session }: Pick<InferenceRequest, 'cache' | 'session'>,
  { cacheKey }: Pick<ChatOptions, 'cacheKey'>,
): JsonObject {
  return cacheKey && cache && session ? { prompt_cache_key: session.thread_id.slice(0, LONGEST_KEY) } : {};
}
