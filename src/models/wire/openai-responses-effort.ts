import type { JsonObject } from '../../schema/json.ts';
import type { ModelSettings } from '../../schema/model-settings.ts';
import { isOpenAiThinker } from '../effort.ts';
import type { InferenceRequest } from '../model.ts';
import { wireEffort } from '../settings/efforts.ts';
import type { WireCall } from './wire.ts';

/** `settings`: only the settings that the model accepts. */
export const settingFields = (settings: ModelSettings, { upstream, adapter }: ResponsesModel): JsonObject => {
  const { temperature, top_p, reasoning_effort, verbosity, service_tier } = settings;
  const effort = reasoning_effort && wireEffort(reasoning_effort, upstream, adapter);
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(isOpenAiThinker(upstream) && { include: ['reasoning.encrypted_content'] }),
    ...(effort && { reasoning: effort === 'none' ? { effort } : { effort, summary: 'auto' } }),
    ...(settings.parallel_tool_calls !== undefined && { parallel_tool_calls: settings.parallel_tool_calls }),
    ...(verbosity && { text: { verbosity } }),
    ...(service_tier && { service_tier }),
  };
};

type ResponsesModel = Pick<WireCall, 'upstream' | 'adapter'>;

const LONGEST_KEY = 64;

/** Requests with the same key reach the host with the cached prompt; a collision of two threads is harmless. */
export const cacheFields = ({ cache, session }: Pick<InferenceRequest, 'cache' | 'session'>): JsonObject =>
  cache && session ? { prompt_cache_key: session.thread_id.slice(0, LONGEST_KEY) } : {};
