import t, { type Test } from 'tap';
import { say } from './agent-loop/agents.ts';
import { hangs, type Inference } from './models.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe } from './troupe.ts';

/** Limits of concurrent and queued runs (identity.md 5.1; 12: 71). */

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

type Head = Record<string, string>;

const start = async (t: Test, budget: object, app = {}) => {
  const troupe = await startTroupe(t, {
    app,
    settings: { default_agent_id: 'steps', identity: { anonymous: 'never' } },
  });
  const userOf = async (user: string): Promise<Head> => {
    const body = { name: 'laptop', user, new_user: { kind: 'person', grants: ['member'] } };
    const { key } = Object((await troupe.call('POST', '/v1/keys', body, admin)).body);
    return { authorization: `Bearer ${key}` };
  };
  const users = { alice: await userOf('alice'), bob: await userOf('bob') };
  await save(t, troupe, budget);
  return { troupe, ...users };
};

const save = async (t: Test, { call }: Troupe, budget: object): Promise<void> => {
  const { status, body } = await call('PUT', '/v1/config/budgets/b', { id: 'b', ...budget }, admin);
  t.equal(status, 200, JSON.stringify(body));
};

/** Submits input in the background. */
const submit = ({ call }: Troupe, thread: string, head: Head) =>
  call('POST', `/v1/threads/${thread}/mailbox`, { payload: { text: 'x' } }, head);

const statusesOf = async ({ call }: Troupe, head: Head): Promise<Record<string, string>> => {
  const { items } = Object((await call('GET', '/v1/runs?limit=200', undefined, head)).body);
  return Object.fromEntries(
    items.map(({ thread_id, status }: { thread_id: string; status: string }) => [thread_id, status]),
  );
};

/** An answer that is given when `open` is called with the text of the thread. */
const gates = () => {
  const waiting: (() => void)[] = [];
  const step: Inference = (sink) =>
    new Promise((resolve) => {
      waiting.push(() => {
        sink.text('done');
        resolve({ stop: 'EndTurn', usage: { prompt_tokens: 1, completion_tokens: 1 } });
      });
    });
  return { step, waiting };
};

t.test('the third run of a user waits, another user starts at once (check 71)', async (t) => {
  const { troupe, alice, bob } = await start(t, { per: ['user'], limits: { concurrent_runs: 2 } });
  const { step, waiting } = gates();
  troupe.models.steps.push(...Array.from({ length: 6 }, () => step));
  for (const thread of ['A', 'B', 'C', 'D'])
    t.equal((await submit(troupe, thread, alice)).status < 300, true);
  await eventually(
    async () => waiting.length,
    (length) => length === 2,
  );
  await eventually(
    () => statusesOf(troupe, alice),
    ({ A, B }) => A === 'running' && B === 'running',
  );
  t.match(await statusesOf(troupe, alice), { C: 'created', D: 'created' });
  await submit(troupe, 'A', bob);
  await eventually(
    async () => waiting.length,
    (length) => length === 3,
  );
  await eventually(
    () => statusesOf(troupe, bob),
    ({ A }) => A === 'running',
  );
  t.match(await statusesOf(troupe, alice), { C: 'created', D: 'created' });
  waiting[0]?.();
  await eventually(
    () => statusesOf(troupe, alice),
    ({ A, C }) => A === 'done' && C === 'running',
  );
  t.match(await statusesOf(troupe, alice), { B: 'running', C: 'running', D: 'created' });
  for (const open of waiting) open();
  await eventually(
    () => statusesOf(troupe, alice),
    ({ D }) => D === 'running',
  );
  for (const open of waiting) open();
  await eventually(
    () => statusesOf(troupe, alice),
    (statuses) => Object.values(statuses).every((status) => status === 'done'),
  );
});

t.test('a run that streams waits too, and starts when the entry is raised or removed', async (t) => {
  const { troupe, alice } = await start(t, { per: ['user'], limits: { concurrent_runs: 1 } });
  const { step, waiting } = gates();
  troupe.models.steps.push(step, step, step);
  const answers = ['A', 'B', 'C'].map((thread) =>
    troupe.call('POST', '/v1/runs', say('steps', 'x', thread), alice),
  );
  await eventually(
    () => statusesOf(troupe, alice),
    (statuses) => Object.keys(statuses).length === 3,
  );
  await eventually(
    async () => waiting.length,
    (length) => length > 0,
  );
  t.equal(waiting.length, 1);
  await save(t, troupe, { per: ['user'], limits: { concurrent_runs: 2 } });
  await eventually(
    async () => waiting.length,
    (length) => length === 2,
  );
  t.equal((await troupe.call('DELETE', '/v1/config/budgets/b', undefined, admin)).status, 204);
  await eventually(
    async () => waiting.length,
    (length) => length === 3,
  );
  for (const open of waiting) open();
  t.same(
    (await Promise.all(answers)).map(({ status }) => status),
    [200, 200, 200],
  );
});

t.test('a run that waits for a decision or is cancelled leaves room', async (t) => {
  const { troupe, alice } = await start(t, { per: ['user'], limits: { concurrent_runs: 1 } });
  troupe.models.steps.push(hangs(), hangs());
  await submit(troupe, 'A', alice);
  await submit(troupe, 'B', alice);
  await eventually(
    () => statusesOf(troupe, alice),
    ({ A, B }) => A === 'running' && B === 'created',
  );
  await troupe.call('POST', '/v1/threads/A/cancel', {}, alice);
  await eventually(
    () => statusesOf(troupe, alice),
    ({ A, B }) => A === 'done' && B === 'running',
  );
});

t.test('queued runs beyond `queued_runs` are 429', async (t) => {
  const limits = { concurrent_runs: 1, queued_runs: 2 };
  const { troupe, alice, bob } = await start(t, { per: ['user'], limits });
  const { step, waiting } = gates();
  troupe.models.steps.push(...Array.from({ length: 5 }, () => step));
  const tried: number[] = [];
  for (const thread of ['A', 'B', 'C', 'D']) tried.push((await submit(troupe, thread, alice)).status);
  t.equal(tried.pop(), 429);
  t.ok(
    tried.every((status) => status < 300),
    tried.join(' '),
  );
  const refused = await submit(troupe, 'D', alice);
  t.match(refused.body, { code: 'rate_limited', budget: 'b' });
  t.equal(refused.headers.get('retry-after'), '5');
  t.equal((await troupe.call('GET', '/v1/threads/D', undefined, alice)).status, 404);
  t.equal((await submit(troupe, 'A', bob)).status < 300, true);
  waiting[0]?.();
  await eventually(
    () => submit(troupe, 'D', alice),
    ({ status }) => status < 300,
  );
  t.equal((await submit(troupe, 'E', alice)).status, 429);
});
