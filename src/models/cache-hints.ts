import type { SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { InferenceRequest } from './model.ts';

/**
 * How a provider is asked to keep a prompt (agent-loop.md 9.6). Who is not here caches by itself, without being
 * asked. A hint never changes an answer; at worst it is of no use.
 */
export type CacheHints = {
  /** Options of a message: keep everything up to here. */
  mark?: SharedV3ProviderOptions;
  /** Options of the call. */
  call?(session: InferenceRequest['session']): SharedV3ProviderOptions | undefined;
};

/** Four marks a request are allowed; the prompt sets two. */
export const anthropicCache: CacheHints = { mark: { anthropic: { cacheControl: { type: 'ephemeral' } } } };

const LONGEST_KEY = 64;

/** Requests with the same key go to the machine that kept the last one; two threads with one key do no harm. */
const keyOf = ({ thread_id }: NonNullable<InferenceRequest['session']>): string =>
  thread_id.slice(0, LONGEST_KEY);

export const openaiCache: CacheHints = {
  call: (session) => session && { openai: { promptCacheKey: keyOf(session) } },
};

/** The same, as the package for services in general sends it: as it is, under its own name for itself. */
export const compatibleCache: CacheHints = {
  call: (session) => session && { compatible: { prompt_cache_key: keyOf(session) } },
};
