import t from 'tap';
import { ADMIN_TOKEN, eventually, startTroupe } from './troupe.ts';

/** Ids of another scope are unknown on every route (runtime.md 0.5, 18.13). */

const tenant = (name: string) => ({ 'x-tenant': name });

t.test('hides the data of one scope from other scopes', async (t) => {
  const troupe = await startTroupe(t, {
    app: { resolveScope: (_surface, { header }) => header('x-tenant') ?? 'default' },
  });
  const start = { agentId: 'echo', threadId: 'T', messages: [{ role: 'user', content: 'Hello' }] };
  await troupe.call('POST', '/v1/runs', start, tenant('a'));
  const latest = await troupe.call('GET', '/v1/threads/T/runs/latest', undefined, tenant('a'));
  const { run_id, dispatch_id } = latest.body;
  t.equal(latest.status, 200);

  const input = { messages: [{ role: 'user', content: 'x' }] };
  const decision = { toolCallId: 'c', action: 'resume' };
  const unknown: [method: string, path: string, body?: object][] = [
    ['GET', '/v1/threads/T'],
    ['PATCH', '/v1/threads/T', { title: 'mine' }],
    ['PATCH', '/v1/threads/T/metadata', {}],
    ['DELETE', '/v1/threads/T'],
    ['GET', '/v1/threads/T/messages'],
    ['POST', '/v1/threads/T/messages', input],
    ['POST', '/v1/threads/T/cancel'],
    ['POST', '/v1/threads/T/interrupt'],
    ['POST', '/v1/threads/T/decision', decision],
    ['GET', '/v1/threads/T/runs/latest'],
    ['GET', `/v1/runs/${run_id}`],
    ['POST', `/v1/runs/${run_id}/inputs`, input],
    ['POST', `/v1/runs/${run_id}/cancel`],
    ['POST', `/v1/runs/${dispatch_id}/cancel`],
    ['POST', `/v1/runs/${run_id}/decision`, decision],
  ];
  for (const [method, path, body] of unknown) {
    t.equal((await troupe.call(method, path, body, tenant('b'))).status, 404, `${method} ${path}`);
  }

  const lists: [path: string, key: string][] = [
    ['/v1/threads', 'items'],
    ['/v1/threads/summaries', 'items'],
    ['/v1/threads/T/runs', 'items'],
    ['/v1/threads/T/mailbox', 'items'],
    ['/v1/threads/T/events', 'items'],
    [`/v1/runs/${run_id}/events`, 'items'],
    ['/v1/runs', 'items'],
  ];
  for (const [path, key] of lists) {
    t.same((await troupe.call('GET', path, undefined, tenant('b'))).body[key], [], path);
    const own = await troupe.call('GET', path, undefined, tenant('a'));
    t.not((own.body[key] as unknown[]).length, 0, path);
    t.notMatch(JSON.stringify(own.body), /scope:|"a"/, 'no id contains the scope');
  }
  const active = await troupe.call('GET', '/v1/threads/T/runs/active', undefined, tenant('b'));
  t.same(active.body, { active_run: null });
  t.equal(
    (await troupe.call('GET', '/v1/threads/T', undefined, tenant('a'))).status,
    200,
    'the thread still exists',
  );
});

t.test('uses the same id for different threads in different scopes', async (t) => {
  const troupe = await startTroupe(t, {
    app: { resolveScope: (_surface, { header }) => header('x-tenant') ?? 'default' },
  });
  for (const name of ['a', 'b']) {
    const messages = [{ role: 'user', content: `Hello from ${name}` }];
    await troupe.call('POST', '/v1/runs', { agentId: 'echo', threadId: 'T', messages }, tenant(name));
  }
  for (const name of ['a', 'b']) {
    const { body } = await troupe.call('GET', '/v1/threads/T/messages', undefined, tenant(name));
    t.match(body, { total: 2, messages: [{ content: [{ text: `Hello from ${name}` }] }, {}] });
  }
});

t.test('counts only runs of the scope in the summary, the actor list and the actor stream', async (t) => {
  const troupe = await startTroupe(t, {
    app: { resolveScope: (_surface, { header }) => header('x-tenant') ?? 'default' },
  });
  const messages = [{ role: 'user', content: 'Hello' }];
  const body = { agentId: 'slow', messages };
  await troupe.call('POST', '/v1/threads/T/mailbox', { payload: 'x' }, tenant('a'));
  await fetch(`${troupe.url}/v1/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...tenant('a') },
    body: JSON.stringify(body),
  });
  const admin = (path: string, name: string) =>
    troupe.call('GET', path, undefined, { ...tenant(name), authorization: `Bearer ${ADMIN_TOKEN}` });
  const summary = await eventually(
    () => admin('/v1/runs/summary', 'a'),
    (answer) => answer.body.running === 1,
  );
  t.equal(summary.body.running, 1);
  t.match((await admin('/v1/runs/summary', 'b')).body, { running: 0, waiting: 0, created: 0 });
  t.not((await admin('/v1/system/actors', 'a')).body.total, 0);
  t.match((await admin('/v1/system/actors', 'b')).body, { items: [], total: 0 });
});

const BAD: [name: string, provider: () => string | Promise<string>][] = [
  ['that fails', () => Promise.reject(new Error('who are you?'))],
  ['whose scope is blank', () => '  '],
  ['whose scope is too long', () => 'x'.repeat(513)],
];

for (const [name, resolveScope] of BAD) {
  t.test(`rejects requests when the scope provider ${name}`, async (t) => {
    const troupe = await startTroupe(t, { app: { resolveScope } });
    const { status, body } = await troupe.call('GET', '/v1/threads');
    t.equal(status, 401);
    t.match(body.error, /^scope resolution failed: /);
  });
}
