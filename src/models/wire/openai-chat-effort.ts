import type { JsonObject } from '../../schema/json.ts';
import type { ReasoningEffort } from '../../schema/run.ts';
import { isOpenAiThinker, nameOf } from '../effort.ts';
import type { InferenceRequest } from '../model.ts';
import type { ChatOptions } from './openai-chat-options.ts';

/** Fields of the body that depend on the model: each service rejects a request with a field that a model lacks. */

/** OpenAI's models from this version on reason always; these are the exceptions. */
const ALWAYS_REASONS = /^(openai\/)?gpt-([6-9]|1\d)(?!\d)/;
const MAY_NOT_REASON = /^(openai\/)?(gpt-6-sol|gpt-6-luna|gpt-6\.1-terra)$/;

export function effortFields(
  effort: ReasoningEffort | null | undefined,
  upstream: string,
  { service }: Pick<ChatOptions, 'service'>,
): JsonObject {
  if (effort == null) return {};
  const name = nameOf(effort);
  if (service !== 'openai' && !isOpenAiThinker(upstream)) {
    // Most services know low, medium and high.
    return { reasoning_effort: name === 'max' ? 'high' : name };
  }
  if (name === 'none' && ALWAYS_REASONS.test(upstream) && !MAY_NOT_REASON.test(upstream)) return {};
  return { reasoning_effort: name === 'max' ? 'xhigh' : name };
}

type Overrides = InferenceRequest['overrides'];

/** Models that accept a temperature when the effort of the request is `none`. */
const SAMPLES_WITHOUT_REASONING = /^(openai\/)?gpt-5\.[1-9]/;
const SEARCHES = /^(openai\/)?gpt-4o(-mini)?-search-preview/;

export function samplingFields(
  { temperature, top_p, reasoning_effort }: Overrides,
  upstream: string,
): JsonObject {
  const reasons = reasoning_effort == null || nameOf(reasoning_effort) !== 'none';
  if (isOpenAiThinker(upstream) && (reasons || !SAMPLES_WITHOUT_REASONING.test(upstream))) return {};
  return {
    ...(temperature != null && !SEARCHES.test(upstream) && { temperature }),
    ...(top_p != null && { top_p }),
  };
}

export function limitFields(limit: number | undefined, upstream: string): JsonObject {
  if (limit === undefined) return {};
  return isOpenAiThinker(upstream) ? { max_completion_tokens: limit } : { max_tokens: limit };
}

const LONGEST_KEY = 64;

/** Requests with the same key reach the host that kept the last one; two threads with one key do no harm. */
export function cacheFields(
  { cache, session }: Pick<InferenceRequest, 'cache' | 'session'>,
  { cacheKey }: Pick<ChatOptions, 'cacheKey'>,
): JsonObject {
  return cacheKey && cache && session ? { prompt_cache_key: session.thread_id.slice(0, LONGEST_KEY) } : {};
}
