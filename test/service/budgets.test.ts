import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { say } from './agent-loop/agents.ts';
import { admin, finishOf, latest, MODEL, noticesOf, save, startBudgets as start, uses } from './budget.ts';
import { asks, type Inference } from './models.ts';
import { eventually } from './troupe.ts';

/** Budgets in a running service. The estimate of the input of these runs is below 100 tokens. */

const M = 1_000_000;
const STOPPED = { type: 'stopped', value: { code: 'budget', detail: 'b' } };

t.test(
  'a run ends at a budget that stops, and new runs are refused before anything is written (check 76)',
  async (t) => {
    const troupe = await start(t);
    await save(t, troupe, { limits: { tokens: 1000 } });
    troupe.models.steps.push(asks(['c', 'get_weather', { location: 'Rome' }]), uses(700, 100));
    t.match(await finishOf(troupe, say('own', 'x', 'A')), { termination: { type: 'natural_end' } });
    t.match(await finishOf(troupe, say('own', 'x', 'B')), { termination: STOPPED });
    t.match(await latest(troupe, 'B'), { status: 'done', termination_reason: STOPPED });
    const { items } = Object((await troupe.call('GET', '/v1/runs?outcome=failed')).body);
    t.equal(items.length, 1, 'the run counts as failed');
    const refused = await troupe.post('/v1/runs', say('own', 'x', 'C'));
    t.equal(refused.status, 402);
    t.strictSame(refused.body, { error: "budget 'b' is exhausted", code: 'budget_exceeded', budget: 'b' });
    t.equal((await troupe.call('GET', '/v1/threads/C')).status, 404);
    t.match(await noticesOf(troupe, 'B'), [
      { event_kind: 'BudgetExceeded', payload: { budget: 'b', unit: 'tokens' } },
    ]);
  },
);

t.test('a budget that is written or raised applies from the next inference on (check 80)', async (t) => {
  const troupe = await start(t);
  troupe.models.steps.push(
    asks(['c', 'get_weather', { location: 'Rome' }]),
    asks(['d', 'get_weather', { location: 'Oslo' }]),
    uses(10, 10),
  );
  await troupe.runToEnd(say('own', 'x', 'A'));
  t.equal((await latest(troupe, 'A')).termination_reason.type, 'natural_end');
  await save(t, troupe, { limits: { tokens: 30 } });
  t.match(await finishOf(troupe, say('own', 'x', 'B')), { termination: STOPPED });
  await save(t, troupe, { limits: { tokens: 100_000 } });
  troupe.models.steps.push(uses(10, 10));
  t.match(await finishOf(troupe, say('own', 'x', 'C')), { termination: { type: 'natural_end' } });
});

t.test('the output is lowered to what fits (check 74)', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { limits: { tokens: 450 } });
  troupe.models.steps.push(uses(10, 20));
  await troupe.runToEnd(say('own', 'x', 'A'));
  const [sent] = troupe.models.requests;
  const most = Number(sent?.request.overrides.max_tokens);
  t.ok(most >= 256 && most < 450, `${most} tokens`);
});

t.test('without a matching budget a request is unchanged', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { match: { agent: 'other' }, limits: { tokens: 1 } });
  troupe.models.steps.push(uses(10, 20));
  t.match(await finishOf(troupe, say('own', 'x', 'A')), { termination: { type: 'natural_end' } });
});

/** Prices at which the reserved cost of an inference is 4 cents. */
const DEAR = { ...MODEL, input_token_price_per_million_usd: 1, output_token_price_per_million_usd: 80 };

for (const [on_exceeded, left] of [
  ['stop', 'done'],
  ['pause', 'waiting'],
] as const) {
  t.test(`50 concurrent runs stay within 1 USD with '${on_exceeded}' (check 72)`, async (t) => {
    const troupe = await start(t);
    t.equal((await troupe.call('PUT', '/v1/config/models/steps', DEAR, admin)).status, 200);
    await save(t, troupe, { limits: { usd: 1 }, on_exceeded });
    const count = 50;
    troupe.models.steps.push(
      ...Array.from(
        { length: count },
        (): Inference =>
          async (sink, { overrides }) => {
            await setTimeout(1);
            sink.text('done');
            const completion_tokens = overrides.max_tokens ?? DEAR.max_tokens;
            return { stop: 'EndTurn', usage: { prompt_tokens: 50, completion_tokens } };
          },
      ),
    );
    const statuses = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const { status } = await troupe.call('POST', '/v1/runs', say('own', 'x', `T${index}`));
        return status;
      }),
    );
    const refused = statuses.filter((status) => status === 402).length;
    t.equal(statuses.filter((status) => status === 200).length + refused, count);
    if (on_exceeded === 'pause') t.equal(refused, 0);
    const runs = Object((await troupe.call('GET', '/v1/runs?limit=100')).body).items;
    t.equal(runs.length, count - refused);
    const ended = runs.filter(
      ({ termination_reason: end }: { termination_reason?: { type: string } }) => end?.type === 'natural_end',
    );
    const spent = runs.reduce((sum: number, { cost_usd = 0 }) => sum + cost_usd, 0);
    t.ok(spent <= 1, `${spent} USD`);
    t.ok(spent > 0.9, `${spent} USD`);
    const rest = runs.filter((run: object) => !ended.includes(run));
    t.ok(rest.every(({ status }: { status: string }) => status === left));
    const [counter] = Object((await troupe.call('GET', '/v1/budgets/b/usage', undefined, admin)).body).items;
    t.ok(Math.abs(counter.spent.usd - spent) < 1e-6, 'the counter is the sum of the runs');
    t.strictSame(counter.reserved, { tokens: 0, usd: 0 });
  });
}

t.test('256 tokens of output behind the input are granted, 255 are exceeded (check 74)', async (t) => {
  const troupe = await start(t);
  const mostOf = () => troupe.models.requests.at(-1)?.request.overrides.max_tokens ?? 0;
  await save(t, troupe, { limits: { tokens: 450 } });
  troupe.models.steps.push(uses(0, 1));
  await troupe.runToEnd(say('own', 'x', 'A'));
  const input = 450 - mostOf();
  const [{ spent }] = Object((await troupe.call('GET', '/v1/budgets/b/usage', undefined, admin)).body).items;
  await save(t, troupe, { limits: { tokens: spent.tokens + input + 255 } });
  t.match(await finishOf(troupe, say('own', 'x', 'B')), { termination: STOPPED });
  await save(t, troupe, { limits: { tokens: spent.tokens + input + 256 } });
  troupe.models.steps.push(uses(0, 1));
  t.match(await finishOf(troupe, say('own', 'x', 'C')), { termination: { type: 'natural_end' } });
  t.equal(mostOf(), 256);
});

t.test('usage that is not reported is estimated (check 72)', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { limits: { tokens: 1000 }, warn_at: [0.3] });
  troupe.models.steps.push((sink) => {
    sink.text('word '.repeat(400));
    return { stop: 'EndTurn', usage: { prompt_tokens: 0, completion_tokens: 0 } };
  });
  await troupe.runToEnd(say('own', 'x', 'A'));
  t.match(await noticesOf(troupe, 'A'), [{ event_kind: 'BudgetWarning' }]);
});

t.test('a warning is an event of the run, once per window (check 76)', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { limits: { tokens: 10_000 }, warn_at: [0.1, 0.2, 0.9] });
  troupe.models.steps.push(uses(2000, 100), uses(100, 100));
  await troupe.runToEnd(say('own', 'x', 'A'));
  await troupe.runToEnd(say('own', 'x', 'A'));
  const payload = { budget: 'b', unit: 'tokens', spent: 2100, limit: 10_000 };
  const notices = await noticesOf(troupe, 'A');
  t.match(notices, [
    { event_kind: 'BudgetWarning', payload: { ...payload, share: 0.1 } },
    { event_kind: 'BudgetWarning', payload: { ...payload, share: 0.2 } },
  ]);
  t.equal(notices.length, 2);
  t.type(notices[0]?.run_id, 'string');
});

t.test('an observing budget reports and never stops', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { limits: { tokens: 10 }, on_exceeded: 'observe' });
  troupe.models.steps.push(uses(100, 100), uses(100, 100));
  t.match(await finishOf(troupe, say('own', 'x', 'A')), { termination: { type: 'natural_end' } });
  t.match(await finishOf(troupe, say('own', 'x', 'A')), { termination: { type: 'natural_end' } });
  const notices = await noticesOf(troupe, 'A');
  t.match(notices, [{ event_kind: 'BudgetExceeded', payload: { spent: 200, limit: 10 } }]);
  t.equal(notices.length, 1);
  const metrics = await (await fetch(`${troupe.url}/metrics`)).text();
  t.match(metrics, 'service_budget_exceeded_total{budget="b",action="observe"} 1');
  t.match(metrics, 'service_budget_spent_ratio{budget="b"} 40');
});

t.test('a model without prices is refused by a limit in USD, or ignored (check 77)', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { limits: { usd: 1 } });
  t.match(await finishOf(troupe, say('echo', 'x', 'A')), {
    termination: { type: 'error', value: "model 'echo' has no price (budget 'b')" },
  });
  await save(t, troupe, { limits: { usd: 1 }, unpriced: 'ignore' });
  t.match(await finishOf(troupe, say('echo', 'x', 'B')), { termination: { type: 'natural_end' } });
});

t.test('spent survives a restart, and a new window starts from zero', async (t) => {
  let now = Date.UTC(2026, 10, 28, 12);
  const troupe = await start(t, { clock: { now: () => now, monotonic: () => performance.now() } });
  await save(t, troupe, { limits: { tokens: 500 }, window: { every: 'day' } });
  troupe.models.steps.push(uses(400, 100));
  await troupe.runToEnd(say('own', 'x', 'A'));
  await troupe.restart();
  const refused = await troupe.post('/v1/runs', say('own', 'x', 'B'));
  t.match(refused, { status: 402, body: { resets_at: Date.UTC(2026, 10, 29) } });
  now = Date.UTC(2026, 10, 29);
  troupe.models.steps.push(uses(10, 10));
  t.match(await finishOf(troupe, say('own', 'x', 'B')), { termination: { type: 'natural_end' } });
});

t.test('failed openings cost nothing, and interrupted streams what was received', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { limits: { usd: 1 }, warn_at: [0.0001] });
  troupe.models.steps.push(() => {
    throw new ModelError('invalid_request', 'no');
  });
  await troupe.runToEnd(say('own', 'x', 'A'));
  t.same(await noticesOf(troupe, 'A'), []);
  troupe.models.steps.push((sink) => {
    sink.text('x'.repeat(4000));
    throw new ModelError('invalid_request', 'no', { usage: { prompt_tokens: M / 10, completion_tokens: 0 } });
  });
  await troupe.runToEnd(say('own', 'x', 'B'));
  t.match(await noticesOf(troupe, 'B'), [{ event_kind: 'BudgetWarning', payload: { unit: 'usd' } }]);
});

t.test('delegates spend for the budget of their root run', async (t) => {
  const troupe = await start(t, {
    agents: [
      { id: 'own', model_id: 'steps', delegates: ['helper'], allowed_tools: ['agent_run_helper'] },
      { id: 'helper', model_id: 'steps', allowed_tools: ['get_weather'] },
    ],
  });
  const { window: _, ...perRun } = { window: undefined, per: ['run'], limits: { tokens: 1500 } };
  const entry = { id: 'b', on_exceeded: 'stop', ...perRun };
  t.equal((await troupe.call('PUT', '/v1/config/budgets/b', entry, admin)).status, 200);
  troupe.models.steps.push(
    asks(['c', 'agent_run_helper', { prompt: 'help' }]),
    uses(1200, 200),
    uses(10, 10),
  );
  t.match(await finishOf(troupe, say('own', 'x', 'A')), { termination: STOPPED });
  troupe.models.steps.splice(0, 9, uses(1000, 100));
  t.match(await finishOf(troupe, say('own', 'x', 'B')), { termination: { type: 'natural_end' } });
});

t.test('diagnostics name models without prices and budgets that match nothing', async (t) => {
  const troupe = await start(t, {
    providers: [{ id: 'p', adapter: 'openai', api_key: 'k' }],
    models: [{ id: 'odd', provider_id: 'p', upstream_model: 'nobody-knows-it' }],
  });
  await save(t, troupe, { limits: { usd: 1 } });
  await troupe.call(
    'PUT',
    '/v1/config/budgets/lost',
    {
      id: 'lost',
      match: { agent: 'gone-*' },
      window: { every: 'day' },
      limits: { usd: 1 },
      on_exceeded: 'stop',
    },
    admin,
  );
  const { diagnostics } = Object((await troupe.admin('GET', '/v1/config/diagnostics')).body);
  const found = diagnostics.filter(({ code }: { code: string }) => code.startsWith('budget_'));
  t.match(found, [
    { code: 'budget_unpriced_model', resource: { namespace: 'budgets', id: 'b' }, depends_on: { id: 'odd' } },
    { code: 'budget_unpriced_model', resource: { id: 'lost' } },
    { code: 'budget_matches_nothing', resource: { namespace: 'budgets', id: 'lost' } },
  ]);
});

t.test('an entry is audited, restored and listed last in the capabilities', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { limits: { tokens: 1000 } });
  await save(t, troupe, { limits: { tokens: 2000 } });
  const { items } = Object((await troupe.admin('GET', '/v1/audit-log?resource=budgets/b')).body);
  t.match(items, [
    { action: 'update', after: { limits: { tokens: 2000 } } },
    { after: { limits: { tokens: 1000 } } },
  ]);
  const restored = await troupe.call('POST', '/v1/config/budgets/b/restore', { version: items[1].id }, admin);
  t.match(restored, { status: 200, body: { limits: { tokens: 1000 } } });
  const { namespaces } = Object((await troupe.admin('GET', '/v1/capabilities')).body);
  t.equal(namespaces.at(-1).namespace, 'budgets');
  await eventually(
    () => troupe.call('DELETE', '/v1/config/budgets/b', undefined, admin),
    ({ status }) => status === 204 || status === 200,
  );
});

t.test('an exceeded budget is a failure on every protocol', async (t) => {
  const troupe = await start(t, {
    agents: [{ id: 'own', model_id: 'steps', allowed_tools: ['get_weather'] }],
  });
  const json = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  const post = async (path: string, body: object): Promise<string> => {
    const response = await fetch(troupe.url + path, {
      method: 'POST',
      headers: json,
      body: JSON.stringify(body),
    });
    return response.text();
  };
  const chat = (threadId: string) => ({
    agentId: 'own',
    threadId,
    messages: [{ id: `u-${threadId}`, role: 'user', parts: [{ type: 'text', text: 'x' }] }],
  });
  const agUi = (threadId: string) => ({
    agentId: 'own',
    threadId,
    runId: `run-${threadId}`,
    messages: [{ id: `u-${threadId}`, role: 'user', content: 'x' }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
  });
  const task = (contextId: string) => ({
    message: { messageId: `m-${contextId}`, contextId, role: 'ROLE_USER', parts: [{ text: 'x' }] },
  });
  // The input does not fit, but the limit is not exhausted: each run starts, and is stopped.
  await save(t, troupe, { limits: { tokens: 300 } });
  t.match(await post('/v1/ai-sdk/chat', chat('chat')), `"errorText":"budget 'b' is exceeded"`);
  t.match(await post('/v1/ag-ui/run', agUi('agui')), '"code":"budget_exceeded"');
  t.match(await post('/v1/a2a/own/message:send', task('a2a')), 'TASK_STATE_FAILED');
  await save(t, troupe, { limits: { tokens: 1 } });
  await troupe.runToEnd(say('own', 'x', 'exhausts'));
  t.match(JSON.parse(await post('/v1/ai-sdk/chat', chat('chat-2'))), {
    code: 'budget_exceeded',
    budget: 'b',
  });
  t.match(JSON.parse(await post('/v1/a2a/own/message:send', task('a2a-2'))), {
    error: { code: 402, status: 'RESOURCE_EXHAUSTED', details: [{ reason: 'BUDGET_EXCEEDED' }] },
  });
});

t.test('the usage of a budget lists its counters', async (t) => {
  const troupe = await start(t);
  await save(t, troupe, { limits: { tokens: 1000 }, per: ['agent'] });
  troupe.models.steps.push(uses(100, 50));
  await troupe.runToEnd(say('own', 'x', 'A'));
  const usage = await troupe.admin('GET', '/v1/budgets/b/usage');
  t.equal(usage.status, 200);
  const { spent } = Object(usage.body).items[0];
  t.equal(spent.tokens, 150);
  t.match(usage.body, {
    items: [{ key: { agent: 'own' }, reserved: { tokens: 0 }, limit: { tokens: 1000 } }],
  });
  t.equal((await troupe.admin('GET', '/v1/budgets/none/usage')).status, 404);
  t.match(await troupe.admin('GET', '/v1/budgets/b/usage?limit=0'), { status: 400 });
});
