import type { Test } from 'tap';
import { only, startWith } from './agent-loop/agents.ts';
import type { Inference } from './models.ts';
import { ADMIN_TOKEN, type Troupe } from './troupe.ts';

/** Services with a budget `b` and an agent `own`. The estimate of the input of their runs is below 100 tokens. */

export const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

export const uses =
  (input: number, output: number): Inference =>
  (sink) => {
    sink.text('done');
    return { stop: 'EndTurn', usage: { prompt_tokens: input, completion_tokens: output } };
  };

export const MODEL = {
  id: 'steps',
  provider_id: 'test',
  upstream_model: 'steps-upstream',
  max_tokens: 500,
  input_token_price_per_million_usd: 1,
  output_token_price_per_million_usd: 2,
};

export const startBudgets = async (
  t: Test,
  entries: Parameters<typeof startWith>[1] = {},
): Promise<Troupe> => {
  const retry = { max_retries: 0, backoff_base_ms: 1, max_stream_retries: 0 };
  const troupe = await startWith(t, {
    agents: [{ id: 'own', model_id: 'steps', allowed_tools: ['get_weather'], sections: { retry } }],
    ...entries,
  });
  t.equal((await troupe.call('PUT', '/v1/config/models/steps', MODEL, admin)).status, 200);
  return troupe;
};

export const save = async (t: Test, troupe: Troupe, budget: object): Promise<void> => {
  const entry = { id: 'b', window: { every: 'total' }, on_exceeded: 'stop', ...budget };
  const { status, body } = await troupe.call('PUT', '/v1/config/budgets/b', entry, admin);
  t.equal(status, 200, JSON.stringify(body));
};

export const latest = async (troupe: Troupe, thread: string) =>
  Object((await troupe.call('GET', `/v1/threads/${thread}/runs/latest`)).body);

export const finishOf = async (troupe: Troupe, body: object) =>
  only(await troupe.runToEnd(body), 'run_finish')[0];

export const noticesOf = async (troupe: Troupe, thread: string) => {
  const { body } = await troupe.call('GET', `/v1/threads/${thread}/events?limit=200`);
  const { items = [] } = Object(body);
  return items
    .filter(({ event_kind }: { event_kind: string }) => event_kind.startsWith('Budget'))
    .map(({ event_kind, payload, run_id }: { event_kind: string; payload: object; run_id: string }) => ({
      event_kind,
      payload,
      run_id,
    }));
};
