import t from 'tap';
import { openRouterWire } from '../../../src/models/wire/openai-chat-openrouter.ts';
import type { ReasoningEffort } from '../../../src/schema/model-settings.ts';
import { requestOf } from '../infer.ts';
import { callOf, decode, unnamed } from './decode.ts';

const ROUTING = { order: ['anthropic'], allow_fallbacks: false };

const efforts: [given: ReasoningEffort | null, reasoning: object | undefined, reported: unknown][] = [
  [null, undefined, undefined],
  ['none', { effort: 'none' }, 'none'],
  ['low', { effort: 'low' }, 'low'],
  ['max', { effort: 'xhigh' }, 'xhigh'],
  [{ budget: 0 }, { effort: 'none' }, 'none'],
  [{ budget: 9000 }, { max_tokens: 9000 }, { budget: 9000 }],
];
for (const [reasoning_effort, reasoning, reported] of efforts) {
  t.test(`sends effort ${JSON.stringify(reasoning_effort)} as ${JSON.stringify(reasoning)}`, async (t) => {
    const request = requestOf('Hi', { overrides: { reasoning_effort } });
    const call = callOf({ request, upstream: 'anthropic/claude-opus-5' });
    const { body, sent } = openRouterWire(ROUTING).encode(call);
    t.strictSame(body.reasoning, reasoning);
    t.strictSame(sent?.settings.reasoning_effort, reported);
    t.notOk('reasoning_effort' in body);
    t.strictSame(body.provider, ROUTING);
    t.strictSame(body.usage, { include: true });
  });
}

t.test('leaves routing to the service if the provider has no rules', async (t) => {
  t.notOk('provider' in openRouterWire(undefined).encode(callOf()).body);
});

const costs: [given: unknown, cost: number | undefined][] = [
  [0.0042, 0.0042],
  [0, 0],
  [-1, undefined],
  ['0.1', undefined],
  [null, undefined],
];
for (const [cost, cost_usd] of costs) {
  t.test(`reports a cost of ${JSON.stringify(cost)} as ${cost_usd}`, async (t) => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, cost };
    const { end } = decode(
      openRouterWire(undefined),
      unnamed([
        { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] },
        JSON.stringify({ choices: [], usage }),
        '[DONE]',
      ]),
    );
    t.equal(end?.usage?.reported_cost_usd, cost_usd);
    t.equal(end?.usage?.total_tokens, 5);
  });
}
