import type { ModelSpec } from '../schema/model.ts';
import type { Prices } from './catalog.ts';
import type { InferenceUsage } from './model.ts';

export type PriceFields = Pick<
  ModelSpec,
  | 'input_token_price_per_million_usd'
  | 'output_token_price_per_million_usd'
  | 'cached_input_token_price_per_million_usd'
  | 'cache_write_5m_token_price_per_million_usd'
  | 'cache_write_1h_token_price_per_million_usd'
  | 'reasoning_token_price_per_million_usd'
>;

/**
 * The prices of a model: those of its entry, then `known` ones. A price in the entry is a contract price, so the public
 * prices of subsets of the same tokens do not apply alongside it.
 */
export const resolvePrices = (spec: PriceFields, known: Prices | undefined): Prices | undefined => {
  const own = {
    input: spec.input_token_price_per_million_usd,
    output: spec.output_token_price_per_million_usd,
  };
  const input = own.input ?? known?.input;
  const output = own.output ?? known?.output;
  if (input === undefined || output === undefined) return undefined;
  const ofInput = own.input === undefined ? known : undefined;
  const ofOutput = own.output === undefined ? known : undefined;
  return {
    input,
    output,
    cached_input: spec.cached_input_token_price_per_million_usd ?? ofInput?.cached_input,
    cache_write_5m: spec.cache_write_5m_token_price_per_million_usd ?? ofInput?.cache_write_5m,
    cache_write_1h: spec.cache_write_1h_token_price_per_million_usd ?? ofInput?.cache_write_1h,
    reasoning: spec.reasoning_token_price_per_million_usd ?? ofOutput?.reasoning,
  };
};

/** Converts prices to the fields of an entry. */
export const toPriceFields = (prices: Prices): PriceFields => ({
  input_token_price_per_million_usd: prices.input,
  output_token_price_per_million_usd: prices.output,
  ...(prices.cached_input !== undefined && {
    cached_input_token_price_per_million_usd: prices.cached_input,
  }),
  ...(prices.cache_write_5m !== undefined && {
    cache_write_5m_token_price_per_million_usd: prices.cache_write_5m,
  }),
  ...(prices.cache_write_1h !== undefined && {
    cache_write_1h_token_price_per_million_usd: prices.cache_write_1h,
  }),
  ...(prices.reasoning !== undefined && { reasoning_token_price_per_million_usd: prices.reasoning }),
});

/**
 * The cost of an inference in USD (evals-and-traces.md 5.6): the cost that its provider reported, or its tokens at
 * these prices. Undefined without prices or without tokens. Cached and reasoning tokens are part of the input and
 * output tokens, and cost the same as these if they have no price.
 */
export const costUsd = (
  usage: InferenceUsage | undefined,
  prices: Prices | undefined,
): number | undefined => {
  if (usage?.reported_cost_usd !== undefined) return usage.reported_cost_usd;
  const { prompt_tokens = 0, completion_tokens = 0 } = usage ?? {};
  if (!prices || prompt_tokens + completion_tokens === 0) return undefined;
  const { input, output, cached_input = input, cache_write_5m = input, reasoning = output } = prices;
  const { cache_write_1h = cache_write_5m } = prices;
  const read = Math.min(usage?.cache_read_tokens ?? 0, prompt_tokens);
  const written = Math.min(usage?.cache_creation_tokens ?? 0, prompt_tokens - read);
  const long = Math.min(usage?.cache_creation_1h_tokens ?? 0, written);
  const thought = Math.min(usage?.thinking_tokens ?? 0, completion_tokens);
  const total =
    (prompt_tokens - read - written) * input +
    read * cached_input +
    (written - long) * cache_write_5m +
    long * cache_write_1h +
    (completion_tokens - thought) * output +
    thought * reasoning;
  return total / 1e6;
};
