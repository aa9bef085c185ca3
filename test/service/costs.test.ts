import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import type { InferenceEnd } from '../../src/models/model.ts';
import { AgentStats } from '../../src/schema/runtime-stats.ts';
import type { EntriesInput } from '../../src/settings/index.ts';
import { only, say, startWith } from './agent-loop/agents.ts';
import { asks, type Inference } from './models.ts';
import { readTrace, traced } from './traced.ts';
import { ADMIN_TOKEN, eventually, type Troupe } from './troupe.ts';

/** The cost of a run is the sum of its inferences, and the same wherever it is reported. */

const M = 1_000_000;

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const answers =
  (usage: InferenceEnd['usage']): Inference =>
  (sink) => {
    sink.text('done');
    return { stop: 'EndTurn', ...(usage && { usage }) };
  };

const breaksOff =
  (usage: ModelError['usage']): Inference =>
  (sink) => {
    sink.text('x');
    throw new ModelError('stream_interrupted', 'connection reset', { usage });
  };

const prices = {
  input_token_price_per_million_usd: 1,
  output_token_price_per_million_usd: 2,
  cached_input_token_price_per_million_usd: 0.5,
  cache_write_5m_token_price_per_million_usd: 4,
  cache_write_1h_token_price_per_million_usd: 8,
  reasoning_token_price_per_million_usd: 16,
};

const retry = { max_retries: 0, backoff_base_ms: 1, max_stream_retries: 2 };

const start = async (t: Parameters<typeof startWith>[0], entries: EntriesInput = {}): Promise<Troupe> => {
  const troupe = await startWith(t, {
    models: [
      {
        id: 'spare',
        provider_id: 'test',
        upstream_model: 'spare-upstream',
        input_token_price_per_million_usd: 100,
        output_token_price_per_million_usd: 100,
      },
    ],
    agents: [{ id: 'own', model_id: 'steps', sections: { retry } }],
    settings: traced(),
    ...entries,
  });
  const steps = { id: 'steps', provider_id: 'test', upstream_model: 'steps-upstream', ...prices };
  t.equal((await troupe.call('PUT', '/v1/config/models/steps', steps, admin)).status, 200);
  return troupe;
};

const latest = async (troupe: Troupe, thread: string) =>
  Object((await troupe.call('GET', `/v1/threads/${thread}/runs/latest`)).body);

const costsIn = async (troupe: Troupe, run_id: string): Promise<unknown[]> => {
  const { lines } = await eventually(
    () => readTrace(troupe, run_id),
    ({ lines }) => lines.length > 0,
  );
  return lines.filter(({ type }) => type === 'inference').map(({ cost_usd }) => cost_usd);
};

const metricOf = async (troupe: Troupe, model: string): Promise<number> => {
  const text = await (await fetch(`${troupe.url}/metrics`)).text();
  const line = text
    .split('\n')
    .find((each) => each.includes('inference_cost_usd_total{') && each.includes(`"${model}"`));
  return Number(line?.split(' ').at(-1));
};

const statsOf = async (troupe: Troupe, agent: string) =>
  AgentStats.parse((await troupe.admin('GET', `/v1/agents/${agent}/runtime-stats`)).body);

t.test('charges each kind of token, and reports the same cost everywhere', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(
    answers({
      prompt_tokens: 10 * M,
      cache_read_tokens: 2 * M,
      cache_creation_tokens: 3 * M,
      cache_creation_1h_tokens: M,
      completion_tokens: 2 * M,
      thinking_tokens: M,
      total_tokens: 12 * M,
    }),
  );
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  const cost = 5 * 1 + 2 * 0.5 + 2 * 4 + 1 * 8 + 1 * 2 + 1 * 16;
  const run = await latest(troupe, 'T');
  t.match(run, { cost_usd: cost, input_tokens: 10 * M });
  t.match(only(events, 'inference_complete'), [{ cost_usd: cost }]);
  t.notMatch(JSON.stringify(events), /cache_creation_1h|reported_cost/);
  t.strictSame(await costsIn(troupe, run.run_id), [cost]);
  t.equal((await statsOf(troupe, 'own')).cost_usd, cost);
  t.equal(await metricOf(troupe, 'steps-upstream'), cost);
});

t.test('reports the cost of an inference to chat clients', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(answers({ prompt_tokens: M, completion_tokens: M }));
  const chat = async (agentId: string): Promise<string> => {
    const messages = [{ id: `u-${agentId}`, role: 'user', parts: [{ type: 'text', text: 'x' }] }];
    const response = await fetch(`${troupe.url}/v1/ai-sdk/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agentId, threadId: agentId, messages }),
    });
    return (await response.text()).split('\n').find((line) => line.includes('data-inference-complete')) ?? '';
  };
  t.match(await chat('own'), '"costUsd":3,');
  const unpriced = await chat('echo');
  t.match(unpriced, '"durationMs"');
  t.notMatch(unpriced, 'costUsd');
});

t.test('adds up broken attempts and completions of the same run', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(
    breaksOff({ prompt_tokens: 2 * M, cache_read_tokens: M, completion_tokens: M }),
    answers({ prompt_tokens: M, completion_tokens: M }),
  );
  await troupe.runToEnd(say('own', 'x', 'T'));
  const cost = 1 + 0.5 + 2 + (1 + 2);
  const run = await latest(troupe, 'T');
  t.equal(run.cost_usd, cost);
  t.strictSame(await costsIn(troupe, run.run_id), [cost]);
  t.equal((await statsOf(troupe, 'own')).cost_usd, cost);
  t.equal(await metricOf(troupe, 'steps-upstream'), cost);
});

t.test('charges each pool member at its prices', async (t) => {
  const troupe = await start(t, {
    model_pools: [
      {
        id: 'pool',
        members: [{ model_id: 'steps' }, { model_id: 'spare', role: 'failover_only' }],
        routing: { home: 'first_healthy' },
      },
    ],
    agents: [{ id: 'own', model_id: 'pool', sections: { retry } }],
  });
  troupe.models.steps.push(
    breaksOff({ prompt_tokens: M, completion_tokens: M }),
    answers({ prompt_tokens: M, completion_tokens: 0 }),
  );
  await troupe.runToEnd(say('own', 'x', 'A'));
  t.equal((await latest(troupe, 'A')).cost_usd, 1 + 2 + 1);
  troupe.models.steps.push(() => {
    throw new ModelError('unauthorized', 'no');
  });
  await troupe.runToEnd(say('own', 'x', 'B'));
  // The other model of the tests reports 10 and 20 tokens.
  t.equal((await latest(troupe, 'B')).cost_usd, (30 * 100) / M);
  t.equal(await metricOf(troupe, 'spare-upstream'), (30 * 100) / M);
});

t.test('prefers the cost that the provider reports, also after a restart', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(
    asks(['c', 'get_weather', { location: 'Tokyo' }]),
    answers({ prompt_tokens: M, completion_tokens: M, reported_cost_usd: 0.25 }),
  );
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.equal((await latest(troupe, 'T')).cost_usd, 0.25);
  await troupe.restart();
  t.equal((await latest(troupe, 'T')).cost_usd, 0.25);
  t.equal((await statsOf(troupe, 'own')).cost_usd, 0.25);
});

t.test('omits the cost where the price is unknown', async (t) => {
  const troupe = await start(t);
  await troupe.runToEnd(say('echo', 'x', 'T'));
  const run = await latest(troupe, 'T');
  t.equal(run.input_tokens, 10);
  t.notOk('cost_usd' in run);
  t.strictSame(await costsIn(troupe, run.run_id), [undefined]);
  t.notOk('cost_usd' in (await statsOf(troupe, 'echo')));
});
