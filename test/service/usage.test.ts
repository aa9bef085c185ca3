import t, { type Test } from 'tap';
import type { Run } from '../../src/schema/run.ts';
import type { UsageItem } from '../../src/schema/usage.ts';
import { say } from './agent-loop/agents.ts';
import { asks, type Inference } from './models.ts';
import { ADMIN_TOKEN, startTroupe, type Troupe } from './troupe.ts';

/** Usage of the runs of a scope (identity.md 5.5; 12: 80). */

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const uses =
  (input: number, output: number): Inference =>
  (sink) => {
    sink.text('done');
    return { stop: 'EndTurn', usage: { prompt_tokens: input, completion_tokens: output } };
  };

const DAY = 86_400_000;

const start = async (t: Test) => {
  let now = Date.parse('2026-11-27T12:00:00Z');
  const clock = { now: () => now };
  const troupe = await startTroupe(t, { app: { clock }, settings: { identity: { anonymous: 'never' } } });
  const price = { input_token_price_per_million_usd: 1, output_token_price_per_million_usd: 2 };
  const model = { id: 'steps', provider_id: 'test', upstream_model: 'steps-upstream', ...price };
  t.equal((await troupe.call('PUT', '/v1/config/models/steps', model, admin)).status, 200);
  const userOf = async (user: string, grants = ['member']) => {
    const body = { name: 'laptop', user, new_user: { kind: 'person', grants } };
    const { key } = Object((await troupe.call('POST', '/v1/keys', body, admin)).body);
    return { authorization: `Bearer ${key}` };
  };
  const tomorrow = () => {
    now += DAY;
  };
  return { troupe, userOf, tomorrow };
};

type Head = Record<string, string>;

const usageFor = async (t: Test, { call }: Troupe, query: string, head: Head = admin) => {
  const { status, body } = await call('GET', `/v1/usage${query}`, undefined, head);
  t.equal(status, 200, JSON.stringify(body));
  const { items, next_cursor } = Object(body);
  return { items, next_cursor } as { items: UsageItem[]; next_cursor: string | null };
};

const allRuns = async ({ call }: Troupe): Promise<Run[]> =>
  Object((await call('GET', '/v1/runs?limit=200', undefined, admin)).body).items;

t.test('usage adds up to the run records, divided by user, agent, model and day', async (t) => {
  const { troupe, userOf, tomorrow } = await start(t);
  const { models, call } = troupe;
  const [alice, bob] = [await userOf('alice'), await userOf('bob')];
  const run = async (head: Head, thread: string) =>
    t.equal((await call('POST', '/v1/runs', say('steps', 'x', thread), head)).status, 200);

  models.steps.push(asks(['c', 'get_weather', { location: 'Rome' }]), uses(100, 20));
  await run(alice, 'one');
  models.steps.push(uses(7, 3));
  await run(bob, 'one');
  tomorrow();
  models.steps.push(uses(50, 5));
  await run(alice, 'two');

  const { items } = await usageFor(t, troupe, '?by=user,day');
  t.match(items, [
    { user: 'alice', day: '2026-11-27', runs: 1, inferences: 2 },
    { user: 'alice', day: '2026-11-28', runs: 1, inferences: 1, input_tokens: 50, output_tokens: 5 },
    { user: 'bob', day: '2026-11-27', runs: 1, inferences: 1, input_tokens: 7, output_tokens: 3 },
  ]);
  t.equal(items[1]?.usd, 60e-6);
  t.match((await usageFor(t, troupe, '?by=model,agent')).items, [
    { model: 'steps', agent: 'steps', runs: 3 },
  ]);
  t.match((await usageFor(t, troupe, '?by=day&since=2026-11-28&until=2026-11-28')).items, [
    { day: '2026-11-28', runs: 1 },
  ]);
  const [sums] = (await usageFor(t, troupe, '')).items;
  const runs = await allRuns(troupe);
  t.equal(runs.length, 3);
  t.same(sums, {
    runs: runs.length,
    inferences: runs.reduce((sum, { steps }) => sum + steps, 0),
    input_tokens: runs.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
    output_tokens: runs.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
    usd: Math.round(runs.reduce((sum, { cost_usd = 0 }) => sum + cost_usd, 0) * 1e9) / 1e9,
  });
});

t.test('runs of the admin token count as `~admin`', async (t) => {
  const { troupe, userOf } = await start(t);
  const { models, call } = troupe;
  models.steps.push(uses(7, 3));
  t.equal((await call('POST', '/v1/runs', say('steps', 'x', 'of-admin'), admin)).status, 200);
  models.steps.push(uses(1, 2));
  t.equal((await call('POST', '/v1/runs', say('steps', 'x', 'one'), await userOf('alice'))).status, 200);
  t.match((await usageFor(t, troupe, '?by=user')).items, [
    { user: 'alice', runs: 1, input_tokens: 1 },
    { user: '~admin', runs: 1, input_tokens: 7 },
  ]);
  const [run] = (await allRuns(troupe)).filter(({ thread_id }) => thread_id === 'of-admin');
  t.match(run, { credential: { kind: 'admin' } });
  t.notOk(run && 'user' in run, 'the run acts for no user');
});

t.test('interrupted attempts count as in the run record', async (t) => {
  const { troupe } = await start(t);
  troupe.models.steps.push(
    (sink) => {
      sink.text('word '.repeat(100));
      throw new Error('broken');
    },
    uses(10, 10),
  );
  await troupe.call('POST', '/v1/runs', say('steps', 'x', 'A'), admin);
  const [run] = await allRuns(troupe);
  const [sums] = (await usageFor(t, troupe, '')).items;
  t.equal(sums?.input_tokens, (run?.input_tokens ?? 0) + (run?.cut_off?.input_tokens ?? 0));
  t.equal(sums?.output_tokens, (run?.output_tokens ?? 0) + (run?.cut_off?.output_tokens ?? 0));
});

t.test('a user reads its own usage, `read:all` and `observe` that of the scope', async (t) => {
  const { troupe, userOf } = await start(t);
  const { models, call } = troupe;
  const [alice, bob] = [await userOf('alice'), await userOf('bob')];
  for (const head of [alice, bob]) {
    models.steps.push(uses(10, 1));
    await call('POST', '/v1/runs', say('steps', 'x', 'one'), head);
  }
  const usersFor = async (head: Head) =>
    (await usageFor(t, troupe, '?by=user', head)).items.map(({ user }) => user);
  t.same(await usersFor(alice), ['alice']);
  t.same(await usersFor(await userOf('viewer', ['viewer'])), ['alice', 'bob']);
  t.same(await usersFor(await userOf('observer', ['observe'])), ['alice', 'bob']);
  t.same(await usersFor(admin), ['alice', 'bob']);
  t.equal((await call('GET', '/v1/usage?of_scope=globex', undefined, alice)).status, 403);
  t.same((await usageFor(t, troupe, '?by=user&of_scope=globex')).items, []);
});

t.test('usage is read in pages, whose cursors belong to their query', async (t) => {
  const { troupe, userOf } = await start(t);
  const { models, call } = troupe;
  const users = ['a', 'b', 'c', 'd', 'e'];
  for (const user of users) {
    models.steps.push(uses(10, 1));
    await call('POST', '/v1/runs', say('steps', 'x', 'one'), await userOf(user));
  }
  const seen: (string | undefined)[] = [];
  let next: string | null = '';
  while (next !== null) {
    const from: string = next === '' ? '' : `&cursor=${encodeURIComponent(next)}`;
    const page = await usageFor(t, troupe, `?by=user&limit=2${from}`);
    t.ok(page.items.length <= 2);
    seen.push(...page.items.map(({ user }) => user));
    if (page.next_cursor !== null && seen.length === 2) {
      const other = `/v1/usage?by=agent&cursor=${encodeURIComponent(page.next_cursor)}`;
      t.equal((await call('GET', other, undefined, admin)).status, 400);
    }
    next = page.next_cursor;
  }
  t.same(seen, users);
});

t.test('rejects unknown and repeated properties, days that are none, and foreign cursors', async (t) => {
  const { troupe } = await start(t);
  for (const query of [
    'by=run',
    'by=user,user',
    'by=,',
    'since=2026-13-01',
    'until=yesterday',
    'cursor=3',
    'cursor=x',
  ]) {
    const { status, body } = await troupe.call('GET', `/v1/usage?${query}`, undefined, admin);
    t.equal(status, 400, `${query}: ${JSON.stringify(body)}`);
  }
});
