import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { say } from './agent-loop/agents.ts';
import { asks, type Inference } from './models.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe } from './troupe.ts';

/** Limits of requests, streams and runs in a running service (identity.md 5.1; 12: 70, 78). */

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const start = async (t: Test) => {
  const clock = { at: Date.parse('2026-11-28T12:00:00Z'), now: () => clock.at };
  const troupe = await startTroupe(t, { app: { clock }, settings: { identity: { anonymous: 'never' } } });
  const userOf = async (user: string, grants = ['member']) => {
    const body = { name: 'laptop', user, new_user: { kind: 'person', grants } };
    const { key } = Object((await troupe.call('POST', '/v1/keys', body, admin)).body);
    return { authorization: `Bearer ${key}` };
  };
  const save = async (budget: object) => {
    const { status, body } = await troupe.call('PUT', '/v1/config/budgets/b', { id: 'b', ...budget }, admin);
    t.equal(status, 200, JSON.stringify(body));
  };
  return { troupe, clock, userOf, save };
};

const get = ({ call }: Troupe, path: string, head: Record<string, string>) =>
  call('GET', path, undefined, head);

t.test('`requests` per user: the sixth is 429 and another user is unaffected (check 70)', async (t) => {
  const { troupe, clock, userOf, save } = await start(t);
  const [alice, bob] = [await userOf('alice'), await userOf('bob')];
  await save({ per: ['user'], window: { every: 'minute' }, limits: { requests: 5 } });
  for (let count = 0; count < 5; count += 1) t.equal((await get(troupe, '/v1/threads', alice)).status, 200);
  const refused = await get(troupe, '/v1/threads', alice);
  t.equal(refused.status, 429);
  t.equal(refused.headers.get('retry-after'), '12');
  t.same(refused.body, {
    error: "budget 'b' allows no more requests now",
    code: 'rate_limited',
    budget: 'b',
  });
  t.equal((await get(troupe, '/v1/threads', bob)).status, 200);
  t.equal((await get(troupe, '/health', {})).status, 200, 'routes without a principal do not count');
  clock.at += 12_000;
  t.equal((await get(troupe, '/v1/threads', alice)).status, 200);
  t.equal((await get(troupe, '/v1/threads', alice)).status, 429);
  const metrics = await fetch(`${troupe.url}/metrics`, { headers: await userOf('observer', ['observe']) });
  t.match(await metrics.text(), /service_limited_total\{[^}]*budget="b"[^}]*\} 2/);
});

t.test('no budget of requests locks out its writers: 60 requests are exempt (check 70)', async (t) => {
  const { troupe, userOf, save } = await start(t);
  const alice = await userOf('alice');
  await save({ window: { every: 'hour' }, limits: { requests: 1 } });
  t.equal((await get(troupe, '/v1/threads', alice)).status, 200);
  t.equal((await get(troupe, '/v1/threads', admin)).status, 429);
  t.equal((await get(troupe, '/v1/config/budgets/b', alice)).status, 429, 'not exempt without the grant');
  t.equal((await get(troupe, '/v1/identity', alice)).status, 200);
  const entry = { id: 'b', window: { every: 'hour' }, limits: { requests: 2 } };
  for (let count = 0; count < 30; count += 1) {
    t.equal((await troupe.call('PUT', '/v1/config/budgets/b', entry, admin)).status, 200);
    t.equal((await get(troupe, '/v1/budgets/b/usage', admin)).status, 200);
  }
  const refused = await get(troupe, '/v1/config/budgets/b', admin);
  t.equal(refused.status, 429);
  t.match(refused.body, { code: 'rate_limited', bound: 'exempt_requests' });
});

t.test('every surface answers a limited request in its form', async (t) => {
  const { troupe, userOf, save } = await start(t);
  const alice = await userOf('alice');
  await save({ per: ['user'], window: { every: 'hour' }, limits: { requests: 1 } });
  t.equal((await get(troupe, '/v1/threads', alice)).status, 200);
  const post = (path: string, body: object, head = {}) =>
    troupe.call('POST', path, body, { ...alice, ...head });
  const native = await post('/v1/runs', say('steps', 'x', 'A'));
  t.match([native.status, native.body], [429, { code: 'rate_limited', budget: 'b' }]);
  const mcp = await post(
    '/v1/mcp',
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { accept: 'application/json, text/event-stream' },
  );
  t.equal(mcp.status, 429);
  const a2a = await post('/v1/a2a/message:send', {}, { 'a2a-version': '1.0' });
  t.match([a2a.status, a2a.body], [429, { error: { status: 'RESOURCE_EXHAUSTED' } }]);
});

t.test('`open_streams`: one more than allowed is 429 until another has ended', async (t) => {
  const { troupe, userOf, save } = await start(t);
  const alice = await userOf('alice');
  t.equal((await troupe.call('POST', '/v1/threads', { id: 'A' }, alice)).status < 300, true);
  await save({ per: ['user'], limits: { open_streams: 2 } });
  const open = async () => {
    const controller = new AbortController();
    const { status, headers } = await fetch(`${troupe.url}/v1/threads/A/events/stream`, {
      headers: alice,
      signal: controller.signal,
    });
    return { status, headers, close: () => controller.abort() };
  };
  const [one, two, three] = [await open(), await open(), await open()];
  t.same([one.status, two.status, three.status], [200, 200, 429]);
  t.equal(three.headers.get('retry-after'), '5');
  t.equal((await get(troupe, '/v1/threads', alice)).status, 200);
  one.close();
  const again = await eventually(open, ({ status }) => status === 200);
  for (const each of [two, again]) each.close();
});

t.test('`runs`: submissions beyond the limit are 429 before anything is written', async (t) => {
  const { troupe, clock, userOf, save } = await start(t);
  const [alice, bob] = [await userOf('alice'), await userOf('bob')];
  await save({ per: ['user'], window: { every: 'day' }, limits: { runs: 2 } });
  const run = async (thread: string, head: Record<string, string>) => {
    troupe.models.steps.push((sink) => {
      sink.text('done');
      return { stop: 'EndTurn', usage: { prompt_tokens: 1, completion_tokens: 1 } };
    });
    return troupe.call('POST', '/v1/runs', say('steps', 'x', thread), head);
  };
  t.same([(await run('A', alice)).status, (await run('B', alice)).status], [200, 200]);
  const refused = await run('C', alice);
  t.equal(refused.status, 429);
  t.equal(refused.headers.get('retry-after'), String(12 * 3600));
  t.equal((await get(troupe, '/v1/threads/C', alice)).status, 404);
  t.equal((await run('A', bob)).status, 200);
  const usage = Object((await get(troupe, '/v1/budgets/b/usage', admin)).body);
  t.match(usage.items, [
    { key: { user: 'alice' }, spent: { runs: 2 } },
    { key: { user: 'bob' }, spent: { runs: 1 } },
  ]);
  await troupe.restart();
  t.equal((await run('C', alice)).status, 429, 'the count survives a restart');
  clock.at += 12 * 3_600_000;
  t.equal((await run('C', alice)).status, 200);
});

t.test('an entry whose limits do not fit its division is refused', async (t) => {
  const { troupe } = await start(t);
  for (const [entry, text] of [
    [{ per: ['agent'], limits: { open_streams: 1 } }, /knows no agent, model or run/],
    [{ match: { model: 'm' }, window: { every: 'hour' }, limits: { requests: 1 } }, /knows no agent/],
    [{ per: ['run'], limits: { requests: 1 } }, /knows no agent/],
    [{ limits: { runs: 1 } }, /missing field 'window'/],
    [{ limits: { runs: 0 }, window: { every: 'hour' } }, /runs/],
    [{ limits: { requests: 1.5 }, window: { every: 'hour' } }, /requests/],
  ] as const) {
    const { status, body } = await troupe.call('PUT', '/v1/config/budgets/b', { id: 'b', ...entry }, admin);
    t.equal(status, 400, JSON.stringify(entry));
    t.match(Object(body).error, text);
  }
});

t.test('agents that delegate in a circle make as many runs as `runs` per run allows', async (t) => {
  const agent = AgentSpec.parse({ id: 'boss', model_id: 'steps', max_rounds: 4, delegates: ['boss'] });
  const troupe = await startTroupe(t, { app: { records: { ...NO_RECORDS, agents: [agent] } } });
  const budget = { id: 'b', per: ['run'], limits: { runs: 20 } };
  t.equal((await troupe.call('PUT', '/v1/config/budgets/b', budget, admin)).status, 200);
  let made = 0;
  const delegates: Inference = (sink, request, signal) => {
    if (request.messages.at(-1)?.role === 'tool') {
      sink.text('done');
      return { stop: 'EndTurn', usage: { prompt_tokens: 1, completion_tokens: 1 } };
    }
    made += 1;
    const calls = [1, 2, 3].map((index): [string, string, object] => [
      `c${made}-${index}`,
      'agent_run_boss',
      { prompt: 'Go' },
    ]);
    return asks(...calls)(sink, request, signal);
  };
  troupe.models.steps.push(...Array.from({ length: 60 }, () => delegates));
  const events = await troupe.runToEnd(say('boss', 'Go', 'A'));
  t.match(events.at(-1), { event_type: 'run_finish', termination: { type: 'natural_end' } });
  const { items } = Object((await troupe.call('GET', '/v1/runs?limit=200')).body);
  t.equal(items.length, 20);
  const failed = await Promise.all(
    items.map(async ({ thread_id }: { thread_id: string }) =>
      JSON.stringify(
        (await troupe.call('GET', `/v1/threads/${thread_id}/messages?limit=200&visibility=all`)).body,
      ),
    ),
  );
  t.ok(
    failed.some((text) => text.includes("budget 'b' allows no more runs")),
    'the model reads why',
  );
});
