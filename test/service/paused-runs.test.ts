import t, { type Test } from 'tap';
import { definePlugin } from '../../src/plugins/define.ts';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import { openStore } from '../../src/store/index.ts';
import { only, say } from './agent-loop/agents.ts';
import { admin, latest, noticesOf, save, startBudgets, uses } from './budget.ts';
import { asks } from './models.ts';
import { eventually, type Troupe } from './troupe.ts';

/** Runs that wait for an exhausted budget: identity.md 5.4, check 75. */

const PAUSES = { on_exceeded: 'pause' };
const STOPPED = { type: 'stopped', value: { code: 'budget', detail: 'b' } };

/** A run of thread `A` that waits, since 1000 tokens are spent. */
const paused = async (troupe: Troupe, thread = 'A') => {
  await troupe.runToEnd(say('own', 'x', thread));
  const run = await latest(troupe, thread);
  return { run_id: String(run.run_id), ticket_id: String(run.waiting?.ticket_ids?.[0]), run };
};

const spend = async (troupe: Troupe, tokens = 1000) => {
  troupe.models.steps.push(uses(tokens, 0));
  await troupe.runToEnd(say('own', 'x', 'spender'));
};

const decide = (troupe: Troupe, run_id: string, decision: object, headers: Record<string, string> = admin) =>
  troupe.call('POST', `/v1/runs/${run_id}/decision`, { action: 'resume', ...decision }, headers);

const untilDone = (troupe: Troupe, thread = 'A') =>
  eventually(
    () => latest(troupe, thread),
    ({ status }) => status === 'done',
  );

t.test('a run waits with a ticket that shows the limit, and new runs are accepted', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const events = await troupe.runToEnd(say('own', 'x', 'A'));
  const run = await latest(troupe, 'A');
  const shown = { budget: 'b', unit: 'tokens', spent: 1000, limit: 1000 };
  const [id = ''] = run.waiting.ticket_ids;
  t.match(id, /^budget_[0-9a-f-]{36}$/);
  const digest = digestOfCall({ tool: 'budget', arguments: shown });
  t.match(run, {
    status: 'waiting',
    steps: 0,
    waiting: {
      reason: 'manual_pause',
      message: 'budget_exceeded',
      tickets: [
        {
          ticket_id: id,
          tool_call_id: id,
          tool_name: 'budget',
          reason: 'budget:exceeded',
          resume_mode: 'pass_decision_to_tool',
          arguments: shown,
          message: "Budget 'b' is exhausted",
          digest,
        },
      ],
    },
  });
  t.strictSame(run.waiting.tickets[0].arguments, shown);
  t.match(only(events, 'run_finish'), [{ termination: { type: 'suspended' } }]);
  t.match(only(events, 'tool_call_done'), [{ id, outcome: 'suspended', result: { status: 'pending' } }]);
  t.strictSame(only(events, 'inference_complete'), []);
  t.match(await noticesOf(troupe, 'A'), []);
  const { body } = await troupe.call('GET', '/v1/threads/A/messages');
  t.equal(Object(body).messages.length, 1, 'no message is added');
  t.equal(troupe.models.requests.length, 1, 'no model is called');
  const metrics = await (await fetch(`${troupe.url}/metrics`)).text();
  t.match(metrics, 'service_budget_exceeded_total{budget="b",action="pause"} 1');
});

t.test('a decision with an amount continues the run and raises the limit for others', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  const other = await paused(troupe, 'B');
  t.equal(other.run.status, 'waiting');
  troupe.models.steps.push(uses(100, 10), uses(200, 20));
  const { status } = await decide(troupe, run_id, {
    toolCallId: ticket_id,
    payload: { extra: { tokens: 2000 } },
  });
  t.equal(status, 202);
  t.match(await untilDone(troupe), { steps: 1, termination_reason: { type: 'natural_end' } });
  t.match(await untilDone(troupe, 'B'), { steps: 1, termination_reason: { type: 'natural_end' } });
  const { items } = Object((await troupe.call('GET', '/v1/budgets/b/usage', undefined, admin)).body);
  t.match(items, [{ spent: { tokens: 1330 }, limit: { tokens: 1000 }, extra: { tokens: 2000, usd: 0 } }]);
});

t.test('an amount for one run is spent by this run only', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  const other = await paused(troupe, 'B');
  troupe.models.steps.push(uses(600, 20));
  const payload = { extra: { tokens: 2000 }, run_only: true };
  t.equal((await decide(troupe, run_id, { toolCallId: ticket_id, payload })).status, 202);
  await untilDone(troupe);
  t.equal((await latest(troupe, 'B')).waiting.ticket_ids[0], other.ticket_id, 'the other run still waits');
  t.equal((await paused(troupe, 'C')).run.status, 'waiting');
  const usage = async () =>
    Object((await troupe.call('GET', '/v1/budgets/b/usage', undefined, admin)).body).items[0];
  t.match(await usage(), { spent: { tokens: 1620 }, extra: { tokens: 620 } });
  await troupe.restart();
  t.match(await usage(), { spent: { tokens: 1620 }, extra: { tokens: 620 } });
  t.equal((await latest(troupe, 'B')).status, 'waiting');
});

t.test('a decision without an amount checks the budget again, and waits with another ticket', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  t.equal((await decide(troupe, run_id, { toolCallId: ticket_id })).status, 202);
  const again = await eventually(
    () => latest(troupe, 'A'),
    ({ status, waiting }) => status === 'waiting' && waiting?.ticket_ids?.[0] !== ticket_id,
  );
  t.match(again.waiting.ticket_ids, [/^budget_/]);
  t.equal(
    (await decide(troupe, run_id, { toolCallId: ticket_id })).status,
    404,
    'the first ticket is closed',
  );
});

t.test('a refusal ends the run as a budget that stops', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  t.equal((await decide(troupe, run_id, { toolCallId: ticket_id, action: 'cancel' })).status, 202);
  t.match(await untilDone(troupe), { termination_reason: STOPPED });
  const { items } = Object((await troupe.call('GET', '/v1/runs?outcome=failed')).body);
  t.match(items, [{ run_id }], 'the run counts as failed');
});

t.test('an amount must raise the exceeded limit', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  for (const payload of [
    {},
    'ok',
    { approved: true },
    { extra: {} },
    { extra: { tokens: 0 } },
    { extra: { tokens: -5 } },
    { extra: { tokens: 1.5 } },
    { extra: { tokens: '5' } },
    { extra: { usd: 5 } },
    { extra: { tokens: 5, usd: 10_000_000 } },
    { extra: { tokens: 5 }, run_only: 'yes' },
    { extra: { tokens: 5 }, more: 1 },
  ]) {
    const refused = await decide(troupe, run_id, { toolCallId: ticket_id, payload });
    t.equal(refused.status, 422, JSON.stringify(payload));
    t.match(Object(refused.body).error, /tokens/);
  }
  const other = await decide(troupe, run_id, { toolCallId: ticket_id, digest: 'f'.repeat(64) });
  t.equal(other.status, 409);
  t.match(await latest(troupe, 'A'), { status: 'waiting', waiting: { ticket_ids: [ticket_id] } });
});

t.test('of two decisions at once, one raises the budget', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  troupe.models.steps.push(uses(10, 10));
  const decision = { toolCallId: ticket_id, payload: { extra: { tokens: 2000 } } };
  const decided = await Promise.all([decide(troupe, run_id, decision), decide(troupe, run_id, decision)]);
  t.strictSame(decided.map(({ status }) => status).sort(), [202, 404]);
  await untilDone(troupe);
  const { items } = Object((await troupe.call('GET', '/v1/budgets/b/usage', undefined, admin)).body);
  t.equal(items[0].extra.tokens, 2000);
});

const clockAt = (start: number) => {
  let now = start;
  return {
    clock: { now: () => now, monotonic: () => performance.now() },
    set(at: number) {
      now = at;
    },
  };
};

const NOON = Date.UTC(2026, 10, 28, 12);
const MIDNIGHT = Date.UTC(2026, 10, 29);

t.test('a new window continues the run without a request', async (t) => {
  const { clock, set } = clockAt(NOON);
  const troupe = await startBudgets(t, { clock });
  await save(t, troupe, { limits: { tokens: 1000 }, window: { every: 'day' }, ...PAUSES });
  await spend(troupe);
  const { run } = await paused(troupe);
  t.equal(run.waiting.tickets[0].arguments.resets_at, MIDNIGHT);
  troupe.models.steps.push(uses(10, 10));
  set(MIDNIGHT);
  t.match(await untilDone(troupe), { termination_reason: { type: 'natural_end' } });
  const { body } = await troupe.call('GET', '/v1/threads/A/events?limit=200');
  const decided = Object(body).items.filter(
    ({ event_kind }: { event_kind: string }) => event_kind === 'MailboxDecisionReceived',
  );
  t.match(decided, [{ payload: { action: 'resume', decided_by: 'budget', result: null } }]);
});

t.test('an amount is added for the rest of its window only', async (t) => {
  const { clock, set } = clockAt(NOON);
  const troupe = await startBudgets(t, { clock });
  await save(t, troupe, { limits: { tokens: 1000 }, window: { every: 'day' }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  troupe.models.steps.push(uses(10, 10));
  t.equal(
    (await decide(troupe, run_id, { toolCallId: ticket_id, payload: { extra: { tokens: 500 } } })).status,
    202,
  );
  await untilDone(troupe);
  set(MIDNIGHT);
  await spend(troupe);
  const { run } = await paused(troupe, 'B');
  t.match(run.waiting.tickets[0].arguments, { spent: 1000, limit: 1000 });
});

for (const [what, change] of Object.entries({
  'a raised entry': { limits: { tokens: 5000 }, ...PAUSES },
  'an entry that no longer pauses': { limits: { tokens: 1000 }, on_exceeded: 'observe' },
  'an entry that no longer matches': { limits: { tokens: 1000 }, match: { agent: 'other' }, ...PAUSES },
  'an entry that divides differently': { limits: { tokens: 1000 }, per: ['agent'], ...PAUSES },
  'a deleted entry': undefined,
})) {
  t.test(`${what} continues the run without a request`, async (t) => {
    const troupe = await startBudgets(t);
    await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
    await spend(troupe);
    await paused(troupe);
    troupe.models.steps.push(uses(10, 10));
    if (change) await save(t, troupe, change);
    else t.equal((await troupe.call('DELETE', '/v1/config/budgets/b', undefined, admin)).status, 204);
    t.match(await untilDone(troupe), { steps: 1, termination_reason: { type: 'natural_end' } });
  });
}

t.test('a lowered entry leaves the run waiting, one that stops ends it', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { ticket_id } = await paused(troupe);
  await save(t, troupe, { limits: { tokens: 900 }, ...PAUSES });
  const other = await paused(troupe, 'B');
  t.equal(other.run.waiting.tickets[0].arguments.limit, 900);
  t.equal((await latest(troupe, 'A')).waiting.ticket_ids[0], ticket_id);
  await save(t, troupe, { limits: { tokens: 900 } });
  t.match(await untilDone(troupe), { termination_reason: STOPPED });
  t.match(await untilDone(troupe, 'B'), { termination_reason: STOPPED });
});

t.test('the wait survives a restart, with its ticket, its window and its decision', async (t) => {
  const { clock, set } = clockAt(NOON);
  const troupe = await startBudgets(t, { clock });
  await save(t, troupe, { limits: { tokens: 1000 }, window: { every: 'day' }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  await paused(troupe, 'B');
  await troupe.restart();
  t.match(await latest(troupe, 'A'), { status: 'waiting', waiting: { ticket_ids: [ticket_id] } });
  troupe.models.steps.push(uses(10, 10));
  const payload = { extra: { tokens: 400 }, run_only: true };
  t.equal((await decide(troupe, run_id, { toolCallId: ticket_id, payload })).status, 202);
  t.match(await untilDone(troupe), { termination_reason: { type: 'natural_end' } });
  troupe.models.steps.push(uses(10, 10));
  set(MIDNIGHT);
  await troupe.restart();
  t.match(await untilDone(troupe, 'B'), { termination_reason: { type: 'natural_end' } });
});

t.test('a run whose budget is removed while no process runs continues at the next start', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  t.equal((await paused(troupe)).run.status, 'waiting');
  await troupe.app.stop();
  const store = await openStore({ dir: t.testdirName, durability: 'process' });
  const batch = store.batch('commons');
  store.config.remove(batch, 'budgets', 'b');
  await store.commit(batch);
  await store.close();
  troupe.models.steps.push(uses(10, 10));
  await troupe.restart();
  t.match(await untilDone(troupe), { termination_reason: { type: 'natural_end' } });
});

t.test('a cancelled wait ends the run as cancelled', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  t.equal((await troupe.post(`/v1/runs/${run_id}/cancel`)).status, 202);
  t.match(await untilDone(troupe), { termination_reason: { type: 'cancelled' } });
  t.equal((await decide(troupe, run_id, { toolCallId: ticket_id })).status, 404);
  await save(t, troupe, { limits: { tokens: 5000 }, ...PAUSES });
  t.match(await latest(troupe, 'A'), { status: 'done' });
});

t.test('new input continues the same run, which waits again or calls the model', async (t) => {
  const troupe = await startBudgets(t);
  await save(t, troupe, { limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const first = await paused(troupe);
  const second = await paused(troupe);
  t.equal(second.run_id, first.run_id);
  t.not(second.ticket_id, first.ticket_id);
  t.equal(second.run.waiting.ticket_ids.length, 1);
  troupe.models.steps.push(uses(10, 10));
  const payload = { extra: { tokens: 2000 } };
  t.equal((await decide(troupe, first.run_id, { toolCallId: second.ticket_id, payload })).status, 202);
  await untilDone(troupe);
  const sent = troupe.models.requests.at(-1)?.request.messages.map(({ role }) => role);
  t.strictSame(sent, ['user', 'user'], 'the model reads both messages, and nothing of the wait');
  const { items } = Object((await troupe.call('GET', '/v1/threads/A/events?limit=200')).body);
  t.match(
    items.find(({ event_kind }: { event_kind: string }) => event_kind === 'ToolCallResumed'),
    { payload: { target_id: first.ticket_id, action: 'cancel' } },
    'the first ticket is reported as closed',
  );
});

const DELEGATING = [
  { id: 'own', model_id: 'steps', delegates: ['helper'], allowed_tools: ['agent_run_helper'] },
  { id: 'helper', model_id: 'steps', allowed_tools: ['get_weather'] },
];

/** A run whose delegate waits, since its own inference has spent the budget. */
const withDelegate = async (t: Test) => {
  const troupe = await startBudgets(t, { agents: DELEGATING });
  await save(t, troupe, { match: { agent: 'helper' }, limits: { tokens: 1000 }, ...PAUSES });
  troupe.models.steps.push(uses(1000, 0));
  await troupe.runToEnd(say('helper', 'x', 'spender'));
  troupe.models.steps.push(asks(['c', 'agent_run_helper', { prompt: 'help' }]));
  const { run, run_id, ticket_id } = await paused(troupe);
  return { troupe, run, run_id, ticket_id, below: run.waiting.tickets[0].tickets[0] };
};

t.test('a delegate that waits pauses its parent, which shows the ticket below it', async (t) => {
  const { troupe, run, run_id, ticket_id, below } = await withDelegate(t);
  t.match(run, {
    status: 'waiting',
    waiting: {
      reason: 'manual_pause',
      message: 'budget_exceeded',
      tickets: [{ reason: 'agent_delegate:budget_exceeded', tool_name: 'agent_run_helper' }],
    },
  });
  t.match(below, { id: /^budget_/, tool: 'budget', reason: 'budget:exceeded', agent_id: 'helper' });
  const payload = { extra: { tokens: 3000 } };
  const refused = await decide(troupe, run_id, { toolCallId: below.id, payload: { approved: true } });
  t.equal(refused.status, 422);
  troupe.models.steps.push(uses(10, 10), uses(20, 20));
  t.equal((await decide(troupe, run_id, { toolCallId: below.id, payload })).status, 202);
  t.match(await untilDone(troupe), { steps: 2, termination_reason: { type: 'natural_end' } });
  t.equal((await decide(troupe, run_id, { toolCallId: ticket_id })).status, 404);
  const { items } = Object((await troupe.call('GET', '/v1/budgets/b/usage', undefined, admin)).body);
  t.match(items, [{ extra: { tokens: 3000 } }]);
});

t.test('a delegate whose budget is raised continues, and its parent after it', async (t) => {
  const { troupe } = await withDelegate(t);
  troupe.models.steps.push(uses(10, 10), uses(20, 20));
  await save(t, troupe, { match: { agent: 'helper' }, limits: { tokens: 9000 }, ...PAUSES });
  t.match(await untilDone(troupe), { steps: 2, termination_reason: { type: 'natural_end' } });
});

t.test('a refusal of the ticket of a delegate ends the delegate, and its parent continues', async (t) => {
  const { troupe, run_id, below } = await withDelegate(t);
  troupe.models.steps.push(uses(20, 20));
  t.equal((await decide(troupe, run_id, { toolCallId: below.id, action: 'cancel' })).status, 202);
  t.match(await untilDone(troupe), { termination_reason: { type: 'natural_end' } });
  t.match(JSON.stringify(troupe.models.requests.at(-1)?.request.messages), /stopped: budget/);
});

t.test('a cancelled parent cancels the delegate that waits', async (t) => {
  const { troupe, run_id, below } = await withDelegate(t);
  t.equal((await troupe.post(`/v1/runs/${run_id}/cancel`)).status, 202);
  await untilDone(troupe);
  await eventually(
    async () => Object((await troupe.call('GET', `/v1/runs/${below.run_id}`)).body),
    ({ status, termination_reason }) => status === 'done' && termination_reason.type === 'cancelled',
  );
});

t.test('context of hooks and tools reaches the request that is sent after the wait', async (t) => {
  const remind = definePlugin({
    id: 'remind',
    create: () => ({
      hooks: {
        before_inference: ({ step_index }) =>
          step_index === 0
            ? {
                actions: [
                  {
                    key: 'runtime.add_context_message',
                    payload: { key: 'k', content: 'mind the gap', target: 'system', cooldown_turns: 5 },
                  },
                ],
              }
            : {},
      },
    }),
  });
  const troupe = await startBudgets(t, {
    plugins: [remind],
    agents: [{ id: 'own', model_id: 'steps', allowed_tools: ['get_weather'], plugin_ids: ['remind'] }],
  });
  await save(t, troupe, { match: { user: '~anonymous' }, limits: { tokens: 1000 }, ...PAUSES });
  await spend(troupe);
  const { run_id, ticket_id } = await paused(troupe);
  troupe.models.steps.push(uses(10, 10));
  const payload = { extra: { tokens: 2000 } };
  t.equal((await decide(troupe, run_id, { toolCallId: ticket_id, payload })).status, 202);
  await untilDone(troupe);
  t.match(JSON.stringify(troupe.models.requests.at(-1)?.request), /mind the gap/);
});
