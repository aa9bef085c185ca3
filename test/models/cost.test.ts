import t from 'tap';
import type { Prices } from '../../src/models/catalog.ts';
import { costUsd, resolvePrices } from '../../src/models/cost.ts';

const prices: Prices = { input: 3, output: 15 };
const all: Prices = {
  ...prices,
  cached_input: 0.3,
  cache_write_5m: 3.75,
  cache_write_1h: 6,
  reasoning: 20,
};

t.test('charges tokens per million', async (t) => {
  t.equal(costUsd({ prompt_tokens: 1_000_000, completion_tokens: 200_000 }, prices), 6);
  t.equal(costUsd({ completion_tokens: 1_000_000 }, prices), 15);
});

t.test('charges cached and reasoning tokens at the base price if they have no price', async (t) => {
  const usage = {
    prompt_tokens: 1_000_000,
    cache_read_tokens: 500_000,
    cache_creation_tokens: 400_000,
    cache_creation_1h_tokens: 100_000,
    thinking_tokens: 5,
  };
  t.equal(costUsd(usage, prices), 3);
});

t.test('charges each kind of token once, at its own price', async (t) => {
  const usage = {
    prompt_tokens: 1_000_000,
    cache_read_tokens: 600_000,
    cache_creation_tokens: 300_000,
    cache_creation_1h_tokens: 100_000,
    completion_tokens: 100_000,
    thinking_tokens: 40_000,
  };
  const expected = 0.1 * 3 + 0.6 * 0.3 + 0.2 * 3.75 + 0.1 * 6 + 0.06 * 15 + 0.04 * 20;
  t.ok(Math.abs((costUsd(usage, all) ?? 0) - expected) < 1e-12);
});

t.test('charges one-hour cache writes at the five-minute price if only that is known', async (t) => {
  const usage = {
    prompt_tokens: 1_000_000,
    cache_creation_tokens: 1_000_000,
    cache_creation_1h_tokens: 1_000_000,
  };
  t.equal(costUsd(usage, { ...prices, cache_write_5m: 3.75 }), 3.75);
});

t.test('never charges more cached or reasoning tokens than the total', async (t) => {
  const usage = {
    prompt_tokens: 10,
    cache_read_tokens: 1_000_000,
    cache_creation_tokens: 1_000_000,
    cache_creation_1h_tokens: 2_000_000,
    completion_tokens: 10,
    thinking_tokens: 1_000_000,
  };
  t.equal(costUsd(usage, all), (10 * 0.3 + 10 * 20) / 1e6);
});

t.test('prefers the cost that the provider reports', async (t) => {
  t.equal(costUsd({ prompt_tokens: 1_000_000, reported_cost_usd: 0.5 }, prices), 0.5);
  t.equal(costUsd({ prompt_tokens: 1_000_000, reported_cost_usd: 0 }, undefined), 0);
});

t.test('returns no cost without prices or without tokens', async (t) => {
  t.equal(costUsd({ prompt_tokens: 5 }, undefined), undefined);
  t.equal(costUsd({ prompt_tokens: 0, completion_tokens: 0 }, prices), undefined);
  t.equal(costUsd(undefined, prices), undefined);
});

t.test('charges nothing for a free model', async (t) => {
  t.equal(costUsd({ prompt_tokens: 5 }, { input: 0, output: 0 }), 0);
});

t.test('requires both the input and the output price', async (t) => {
  t.equal(resolvePrices({ input_token_price_per_million_usd: 3 }, undefined), undefined);
  t.equal(resolvePrices({ output_token_price_per_million_usd: 3 }, undefined), undefined);
  t.equal(resolvePrices({ cached_input_token_price_per_million_usd: 3 }, undefined), undefined);
  t.match(
    resolvePrices({ input_token_price_per_million_usd: 0, output_token_price_per_million_usd: 1 }, undefined),
    {
      input: 0,
      output: 1,
    },
  );
});

t.test('prefers prices of the entry, and ignores public prices of subsets of the same tokens', async (t) => {
  t.same(resolvePrices({}, all), all);
  t.match(resolvePrices({ cached_input_token_price_per_million_usd: 1 }, all), { ...all, cached_input: 1 });
  t.match(resolvePrices({ input_token_price_per_million_usd: 1 }, all), {
    input: 1,
    output: 15,
    cached_input: undefined,
    cache_write_5m: undefined,
    cache_write_1h: undefined,
    reasoning: 20,
  });
  t.match(resolvePrices({ output_token_price_per_million_usd: 1 }, all), {
    output: 1,
    reasoning: undefined,
    cached_input: 0.3,
  });
});
