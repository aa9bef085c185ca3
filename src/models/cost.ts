import type { ModelSpec } from '../schema/model.ts';
import type { Usage } from '../schema/run-event.ts';

type Prices = Pick<ModelSpec, 'input_token_price_per_million_usd' | 'output_token_price_per_million_usd'>;

/**
 * What an inference cost in USD (evals-and-traces.md 5.6); unknown unless both prices are set and there were
 * tokens. Cached and reasoning tokens are part of the input and output tokens and cost what these cost.
 */
export const costUsd = (usage: Usage | undefined, prices: Prices): number | undefined => {
  const { input_token_price_per_million_usd: input, output_token_price_per_million_usd: output } = prices;
  const { prompt_tokens = 0, completion_tokens = 0 } = usage ?? {};
  if (input === undefined || output === undefined || prompt_tokens + completion_tokens === 0)
    return undefined;
  return (prompt_tokens / 1e6) * input + (completion_tokens / 1e6) * output;
};
