import t from 'tap';
import { costUsd } from '../../src/models/cost.ts';

const prices = { input_token_price_per_million_usd: 3, output_token_price_per_million_usd: 15 };

t.test('tokens cost what a million of them costs, by the million', async (t) => {
  t.equal(costUsd({ prompt_tokens: 1_000_000, completion_tokens: 200_000 }, prices), 6);
  t.equal(costUsd({ completion_tokens: 1_000_000 }, prices), 15);
});

t.test('details of the usage are not paid twice', async (t) => {
  const usage = { prompt_tokens: 1_000_000, cache_read_tokens: 900_000, thinking_tokens: 5 };
  t.equal(costUsd(usage, prices), 3);
});

t.test('without both prices, or without tokens, the cost is unknown', async (t) => {
  t.equal(costUsd({ prompt_tokens: 5 }, { input_token_price_per_million_usd: 3 }), undefined);
  t.equal(costUsd({ prompt_tokens: 5 }, { output_token_price_per_million_usd: 3 }), undefined);
  t.equal(costUsd({ prompt_tokens: 0, completion_tokens: 0 }, prices), undefined);
  t.equal(costUsd(undefined, prices), undefined);
});

t.test('a model for free costs nothing', async (t) => {
  const free = { input_token_price_per_million_usd: 0, output_token_price_per_million_usd: 0 };
  t.equal(costUsd({ prompt_tokens: 5 }, free), 0);
});
