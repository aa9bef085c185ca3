import type { JsonObject } from '../../schema/json.ts';
import type { ReasoningEffort } from '../../schema/run.ts';
import { isOpenAiThinker, nameOf } from '../effort.ts';
import type { InferenceRequest } from '../model.ts';

/** Settings of a request that depend on the model: OpenAI rejects a request with a setting that its model lacks. */

type Overrides = Pick<InferenceRequest['overrides'], 'reasoning_effort' | 'temperature' | 'top_p'>;

export const modelFields = (upstream: string, overrides: Overrides): JsonObject => {
  const { reasoning_effort, temperature, top_p } = overrides;
  const effort = reasoning_effort == null ? undefined : effortName(reasoning_effort);
  const reasoning = effort === undefined ? undefined : reasoningField(upstream, effort);
  return {
    ...(acceptsSampling(upstream, effort) && {
      ...(temperature != null && { temperature }),
      ...(top_p != null && { top_p }),
    }),
    ...(isOpenAiThinker(upstream) && { include: ['reasoning.encrypted_content'] }),
    ...(reasoning && { reasoning }),
  };
};

const effortName = (effort: ReasoningEffort): string => {
  const name = nameOf(effort);
  return name === 'max' ? 'xhigh' : name;
};

const reasoningField = (upstream: string, effort: string): JsonObject | undefined => {
  if (!isOpenAiThinker(upstream)) return undefined;
  if (effort !== 'none') return { effort, summary: 'auto' };
  return alwaysReasons(upstream) ? undefined : { effort };
};

const FROM_GPT_6 = /^(openai\/)?gpt-([6-9]|1\d)(?!\d)/;
const GPT_6_WITHOUT_REASONING = /^(openai\/)?gpt-6(-sol|-luna|\.1-terra)$/;

const alwaysReasons = (upstream: string): boolean =>
  FROM_GPT_6.test(upstream) && !GPT_6_WITHOUT_REASONING.test(upstream);

/** Models that reason have no sampling settings, except those from GPT-5.1 to 5.x while they do not reason. */
const acceptsSampling = (upstream: string, effort: string | undefined): boolean =>
  !isOpenAiThinker(upstream) || (effort === 'none' && /^(openai\/)?gpt-5\.[1-9]/.test(upstream));

const LONGEST_KEY = 64;

/** Requests with the same key reach the host that kept the prompt; two threads with one key do no harm. */
export const cacheFields = ({ cache, session }: Pick<InferenceRequest, 'cache' | 'session'>): JsonObject =>
  cache && session ? { prompt_cache_key: session.thread_id.slice(0, LONGEST_KEY) } : {};
