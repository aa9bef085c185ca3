import t, { type Test } from 'tap';
import { z } from 'zod';
import { ModelError } from '../../src/models/errors.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { requestsOf, say, startWith } from './agent-loop/agents.ts';
import { admin } from './budget.ts';
import { startEvals } from './evals/evals.ts';
import { asks, type Inference } from './models.ts';
import { eventually, type Troupe } from './troupe.ts';

/** The inferences that budgets count: identity.md 5.2, check 78. Each one that ends uses 30 tokens. */

const EACH = 30;
const USAGE = { prompt_tokens: 10, completion_tokens: 20, total_tokens: EACH };

const says =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn', usage: USAGE };
  };

const calls =
  (...[name, args = {}]: [string, object?]): Inference =>
  async (sink, request, signal) => ({
    ...(await asks(['c', name, args])(sink, request, signal)),
    usage: USAGE,
  });

const BUDGET = { id: 'b', window: { every: 'total' }, limits: { tokens: 1_000_000 } };

const save = async (t: Test, troupe: Pick<Troupe, 'call'>, spec: object = {}) => {
  const { status } = await troupe.call('PUT', '/v1/config/budgets/b', { ...BUDGET, ...spec }, admin);
  t.equal(status, 200);
};

const countersOf = async (troupe: Pick<Troupe, 'call'>) =>
  Object((await troupe.call('GET', '/v1/budgets/b/usage', undefined, admin)).body).items;

const spentIn = async (troupe: Pick<Troupe, 'call'>): Promise<number> =>
  (await countersOf(troupe))[0]?.spent.tokens ?? 0;

const own = { id: 'own', model_id: 'steps', allowed_tools: ['ask', 'get_weather'] };

t.test('model calls of tools are counted, and refused beyond the limit (check 78)', async (t) => {
  const ask = defineTool({
    id: 'ask',
    description: 'Asks the model.',
    input: z.object({}),
    execute: async (_, { askModel, signal }) => ({
      data: (await askModel({ messages: [{ role: 'user', text: 'x' }] }, signal)).text,
    }),
  });
  const troupe = await startWith(t, { tools: [ask], agents: [own] });
  await save(t, troupe);
  troupe.models.steps.push(calls('ask'), says('asked'), says('done'));
  await troupe.runToEnd(say('own', 'x', 'A'));
  t.equal(await spentIn(troupe), 3 * EACH);
  // Enough for the first inference, and then for none.
  await save(t, troupe, { limits: { tokens: 3 * EACH + 600 }, on_exceeded: 'stop' });
  const costly: Inference = async (sink, request, signal) => ({
    ...(await calls('ask')(sink, request, signal)),
    usage: { prompt_tokens: 600, completion_tokens: 0 },
  });
  troupe.models.steps.push(costly);
  await troupe.runToEnd(say('own', 'x', 'B'));
  const { messages } = Object((await troupe.call('GET', '/v1/threads/B/messages?visibility=all')).body);
  t.match(JSON.stringify(messages), /budget 'b' is exceeded/);
});

t.test('summaries of long threads are counted (check 78)', async (t) => {
  const context_policy = {
    max_context_tokens: 4096,
    max_output_tokens: 1024,
    min_recent_messages: 4,
    enable_prompt_cache: false,
    autocompact_threshold: 2000,
  };
  const compaction = {
    summarizer_system_prompt: 'Summarize.',
    summarizer_user_prompt: 'Before: {previous_summary} Now: {messages}',
    min_savings_ratio: 0.3,
    summary_model: 'summarizer',
  };
  const troupe = await startWith(t, {
    agents: [{ ...own, context_policy, sections: { compaction } }],
  });
  await save(t, troupe);
  troupe.models.steps.push(...Array.from({ length: 60 }, () => says('a'.repeat(400))));
  for (let turn = 0; turn < 12; turn += 1)
    await troupe.runToEnd(say('own', `turn ${turn} ${'x'.repeat(400)}`, 'A'));
  const summaries = requestsOf(troupe).filter(({ overrides }) => overrides.upstream_model === 'summarizer');
  t.ok(summaries.length > 0, 'a summary was made');
  const spent = await eventually(
    () => spentIn(troupe),
    (tokens) => tokens === requestsOf(troupe).length * EACH,
  );
  t.equal(spent, requestsOf(troupe).length * EACH);
});

t.test('retries and failover are counted by what each attempt has used (check 78)', async (t) => {
  const retry = { max_retries: 1, backoff_base_ms: 1, overloaded_backoff_base_ms: 1, max_stream_retries: 0 };
  const troupe = await startWith(t, {
    agents: [
      { ...own, sections: { retry } },
      { ...own, id: 'pooled', model_id: 'pool', sections: { retry } },
    ],
    model_pools: [{ id: 'pool', members: [{ model_id: 'flaky' }, { model_id: 'steps' }] }],
  });
  await save(t, troupe);
  troupe.models.steps.push(() => {
    throw new ModelError('overloaded', 'busy', { usage: { prompt_tokens: 7, completion_tokens: 0 } });
  }, says('done'));
  await troupe.runToEnd(say('own', 'x', 'A'));
  const retried = await spentIn(troupe);
  troupe.models.failures.push(new ModelError('overloaded', 'busy'), new ModelError('overloaded', 'busy'));
  troupe.models.steps.push(says('instead'));
  await troupe.runToEnd(say('pooled', 'x', 'B'));
  const tokensOf = async (thread: string) => {
    const run = Object((await troupe.call('GET', `/v1/threads/${thread}/runs/latest`)).body);
    const { input_tokens: input = 0, output_tokens: output = 0 } = run.cut_off ?? {};
    t.match(run.termination_reason, { type: 'natural_end' });
    return run.input_tokens + run.output_tokens + input + output;
  };
  t.equal(retried, await tokensOf('A'));
  t.equal(await spentIn(troupe), (await tokensOf('A')) + (await tokensOf('B')));
});

t.test('delegates and the admin token are counted (check 78)', async (t) => {
  const agents = [
    { ...own, delegates: ['helper'], allowed_tools: ['agent_run_helper'] },
    { ...own, id: 'helper' },
  ];
  const troupe = await startWith(t, { agents });
  await save(t, troupe, { per: ['agent'] });
  troupe.models.steps.push(calls('agent_run_helper', { prompt: 'help' }), says('helped'), says('done'));
  t.equal((await troupe.call('POST', '/v1/runs', say('own', 'x', 'A'), admin)).status, 200);
  const counters = (await countersOf(troupe)).map(
    ({ key, spent }: { key: { agent: string }; spent: { tokens: number } }) => `${key.agent} ${spent.tokens}`,
  );
  t.strictSame(counters.sort(), [`helper ${EACH}`, `own ${2 * EACH}`]);
});

t.test(
  'live evaluations and their judges are counted, and end at a budget that pauses (check 78)',
  async (t) => {
    const evals = await startEvals(t);
    await save(t, evals, { per: ['user'] });
    const fixture = { id: 'f', user_input: 'Hello', judge: { rubric: 'is polite' } };
    await evals.dataset('D', [fixture]);
    const run = { dataset_id: 'D', models: ['m1'] };
    const before = evals.asked.length;
    await evals.evaluate(run);
    const [counter] = await countersOf(evals);
    t.match(counter, { key: { user: '~admin' } });
    t.equal(counter.spent.tokens, (evals.asked.length - before) * 15);
    await save(t, evals, { limits: { tokens: 1 }, per: ['user'] });
    const { items } = await evals.evaluate(run);
    t.match(items, [{ report: { passed: false, runtime_failure: { message: /budget/ } } }]);
    t.equal((await evals.list()).length, 2);
  },
);
