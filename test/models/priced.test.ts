import t from 'tap';
import type { InferenceEnd, Model } from '../../src/models/model.ts';
import { NOOP_SINK } from '../../src/models/noop-sink.ts';
import { withCost } from '../../src/models/priced.ts';

const modelThatEnds = (end: InferenceEnd): Model => ({
  id: 'm',
  provider: 'p',
  upstream: 'known',
  stream: async () => end,
});

const endOf = (end: InferenceEnd, upstream_model?: string): Promise<InferenceEnd> =>
  withCost(modelThatEnds(end), (upstream) =>
    upstream === undefined ? { input: 1, output: 1 } : undefined,
  ).stream(
    { system: [], messages: [], tools: [], overrides: upstream_model ? { upstream_model } : {} },
    NOOP_SINK,
    new AbortController().signal,
  );

const usage = { prompt_tokens: 1_000_000, completion_tokens: 0 };

t.test('adds the cost, and removes fields that only the cost needs', async (t) => {
  const internal = { ...usage, cache_creation_1h_tokens: 5, reported_cost_usd: 7 };
  t.strictSame(await endOf({ stop: 'EndTurn', usage }), { stop: 'EndTurn', usage, cost_usd: 1 });
  t.strictSame(await endOf({ stop: 'EndTurn', usage: internal }), { stop: 'EndTurn', usage, cost_usd: 7 });
});

t.test('returns no cost for an upstream override without prices, or without usage', async (t) => {
  t.strictSame(await endOf({ stop: 'EndTurn', usage }, 'another'), { stop: 'EndTurn', usage });
  t.strictSame(await endOf({ stop: 'EndTurn' }), { stop: 'EndTurn' });
});

t.test('keeps the cost of a provider of the embedding program', async (t) => {
  t.match(await endOf({ stop: 'EndTurn', usage, cost_usd: 9 }), { cost_usd: 9 });
});
