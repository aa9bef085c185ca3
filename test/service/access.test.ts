import t from 'tap';
import { longUidOf } from '../../src/schema/thread-uid.ts';
import { asks } from './models.ts';
import { ADMIN_TOKEN, eventually } from './troupe.ts';
import { runEcho, type User, withUsers } from './users.ts';

/** Ownership and visibility of threads: identity.md 1.3 to 1.5, checks 45 to 50. */

const hello = { messages: [{ role: 'user', content: 'Hello' }] };

const ids = async (user: User, path: string): Promise<{ ids: unknown[]; total: unknown }> => {
  const { body } = await user.get(path);
  const items = body.items as (string | { run_id: string })[];
  return { ids: items.map((item) => (typeof item === 'string' ? item : item.run_id)), total: body.total };
};

t.test('a name belongs to its owner', async (t) => {
  const service = await withUsers(t);
  const [alice, bob, carol] = [service.user('alice'), service.user('bob'), service.user('globex/carol')];
  const reader = service.user('rita', 'viewer');
  t.equal((await runEcho(alice, 't1')).status, 200);
  for (const other of [bob, carol]) {
    t.match(await other.get('/v1/threads/t1'), { status: 404, body: { error: 'thread not found: t1' } });
    t.strictSame(await ids(other, '/v1/threads'), { ids: [], total: 0 });
    t.strictSame(await ids(other, '/v1/runs'), { ids: [], total: 0 });
  }
  t.match(await reader.get('/v1/threads/t1'), {
    status: 200,
    body: { owner: 'alice', visibility: 'private' },
  });
  t.equal((await runEcho(bob, 't1')).status, 200, 'a new thread of Bob');
  t.match(await reader.get('/v1/threads/t1'), {
    status: 409,
    body: { error: "'t1' names more than one thread: use its uid" },
  });
  const { body: own } = await alice.get('/v1/threads/t1');
  const { body: his } = await bob.get('/v1/threads/t1');
  t.not(own.uid, his.uid);
  t.match(await reader.get(`/v1/threads/${own.uid}`), { status: 200, body: { id: 't1', owner: 'alice' } });
  t.equal((await bob.get(`/v1/threads/${own.uid}`)).status, 404);
  t.match(await reader.get('/v1/threads'), { body: { total: 2 } });
  t.match(await service.admin('GET', '/v1/threads'), { body: { total: 2 } });
  t.match(await service.admin('GET', '/v1/runs?preview=true&q=hello'), {
    body: { items: [{ preview: 'Hello', owner: 'alice', user: 'alice' }, { owner: 'bob' }] },
  });
});

t.test('equal run ids of two users need a uid, which the error names', async (t) => {
  const service = await withUsers(t);
  const [alice, bob, reader] = [service.user('alice'), service.user('bob'), service.user('rita', 'viewer')];
  const message = {
    messageId: 'm1',
    taskId: 'r1',
    contextId: 'c1',
    role: 'ROLE_USER',
    parts: [{ text: 'x' }],
  };
  for (const user of [alice, bob])
    t.equal((await user.post('/v1/a2a/echo/message:send', { message })).status, 200);
  t.equal((await alice.get('/v1/runs/r1')).status, 200, 'the own run');
  const { status, body } = await reader.get('/v1/runs/r1');
  t.equal(status, 409);
  const uids = [...String(body.error).matchAll(/'(r1~[\w-]{22})'/g)].map(([, uid]) => uid);
  t.equal(uids.length, 2);
  const threads = await Promise.all(
    uids.map(async (uid) => (await reader.get(`/v1/runs/${uid}`)).body.owner),
  );
  t.strictSame(threads.sort(), ['alice', 'bob']);
  for (const uid of uids) t.equal((await service.user('dora').get(`/v1/runs/${uid}`)).status, 404);
});

t.test('a shared thread does not name a parent that the reader may not see', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob')];
  const { body: parent } = await alice.post('/v1/threads', {});
  const { body: child } = await alice.post('/v1/threads', { parent_thread_id: parent.id });
  const path = `/v1/threads/${child.id}`;
  await alice.call('PATCH', path, { visibility: 'write' });
  t.match((await alice.get(path)).body, { parent_thread_id: parent.id });
  t.notOk('parent_thread_id' in (await bob.get(path)).body);
  t.notOk('parent_thread_id' in (await bob.call('PATCH', path, { title: 'x' })).body);
  const list = async (): Promise<unknown> => {
    const { body } = await bob.get('/v1/threads/summaries');
    return (body.items as { parent_thread_id: unknown }[]).map((item) => item.parent_thread_id);
  };
  t.strictSame(await list(), [null]);
  t.match((await service.user('rita', 'viewer').get(path)).body, { parent_thread_id: parent.id });
  await alice.call('PATCH', `/v1/threads/${parent.id}`, { visibility: 'read' });
  t.match((await bob.get(path)).body, { parent_thread_id: parent.id });
});

t.test('events and runs of a shared thread do not name a parent that the reader may not see', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob')];
  const lead = { id: 'lead', model_id: 'steps', delegates: ['echo'] };
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  t.equal((await service.call('PUT', '/v1/config/agents/lead', lead, admin)).status, 200);
  service.models.steps.push(asks(['d1', 'agent_run_echo', { prompt: 'say it' }]));
  await runEcho(alice, 'above', { agentId: 'lead' });
  const { body } = await alice.get('/v1/threads/above/runs');
  const [parent] = body.items as [{ run_id: string }];
  const { body: threads } = await alice.get('/v1/threads');
  const child = (threads.items as string[]).find((id) => id !== 'above') ?? '';
  await alice.call('PATCH', `/v1/threads/${child}`, { visibility: 'read' });
  const { body: runs } = await alice.get(`/v1/threads/${child}/runs`);
  const [run] = runs.items as [{ run_id: string; activation: { trace: { parent_thread_id: string } } }];
  t.equal(run.activation.trace.parent_thread_id, 'above');

  const paths = [
    `/v1/threads/${child}`,
    `/v1/threads/${child}/events`,
    `/v1/threads/${child}/runs`,
    `/v1/threads/${child}/runs/latest`,
    `/v1/runs/${run.run_id}`,
    `/v1/runs/${run.run_id}/events`,
    '/v1/runs',
    '/v1/runs?preview=true',
    '/v1/threads/summaries',
  ];
  const named = new RegExp(`"above"|${parent.run_id}`);
  const read = async (user: User, path: string) => JSON.stringify((await user.get(path)).body);
  for (const path of paths) {
    t.match(await read(alice, path), named, `the owner sees it: ${path}`);
    t.match(await read(service.user('rita', 'viewer'), path), named, `a reader of all sees it: ${path}`);
    const seen = await read(bob, path);
    t.match(seen, new RegExp(child), path);
    t.notMatch(seen, named, path);
  }
  const follow = async (user: User): Promise<string> => {
    const response = await fetch(`${service.url}/v1/threads/${child}/events/stream?cursor=cur_0`, {
      headers: user.head,
    });
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (/RunFinished/.test(text) && text.endsWith('\n\n')) break;
    }
    return text;
  };
  const [whole, shown] = [await follow(alice), await follow(bob)];
  t.match(whole, named);
  t.notMatch(shown, named);
  t.match(shown, /"parent_thread_id":null/);
  t.strictSame(shown.match(/^id: .*$/gm), whole.match(/^id: .*$/gm), 'the same events');
  await alice.call('PATCH', '/v1/threads/above', { visibility: 'read' });
  t.match(await read(bob, `/v1/threads/${child}/events`), named, 'the parent is visible now');
});

t.test('no stream of a run names a parent that its reader may not see', async (t) => {
  const service = await withUsers(t);
  const [alice, bob, rita] = [
    service.user('alice'),
    service.user('bob'),
    service.user('rita', 'viewer', 'approver', 'invoke', 'write:all'),
  ];
  const lead = { id: 'lead', model_id: 'steps', delegates: ['steps'] };
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
  t.equal((await service.call('PUT', '/v1/config/agents/lead', lead, admin)).status, 200);
  await runEcho(alice, 'above');
  t.equal((await alice.call('PATCH', '/v1/threads/above', { visibility: 'write' })).status, 200);
  const { models } = service;
  models.steps.push(
    asks(['d1', 'agent_run_steps', { prompt: 'say it' }]),
    asks(['c1', 'risky']),
    asks(['c2', 'risky']),
    asks(['c3', 'pick_color']),
  );
  // The run acts for Bob, who may continue its delegate after the thread above was made private.
  await runEcho(bob, 'above', { agentId: 'lead' });
  const [, parent = { run_id: '' }] = (await alice.get('/v1/threads/above/runs')).body.items as {
    run_id: string;
  }[];
  const { body: threads } = await alice.get('/v1/threads');
  const child = (threads.items as string[]).find((id) => id !== 'above') ?? '';
  t.equal((await alice.call('PATCH', '/v1/threads/above', { visibility: 'private' })).status, 200);
  t.equal((await bob.get('/v1/threads/above')).status, 404);

  const named = new RegExp(`above|${parent.run_id}`);
  const textOf = async (user: User, method: string, path: string, body?: object, head = {}) => {
    const answer = await user.call(method, path, body, head);
    t.equal(answer.status, 200, path);
    return String(answer.body.text);
  };
  const approval = (call: string) => [
    { interruptId: `perm_${call}`, status: 'resolved', payload: { approved: true } },
  ];
  const agUi = (user: User, call: string, more: object = {}) =>
    textOf(user, 'POST', '/v1/ag-ui/run', {
      threadId: child,
      runId: `leg ${call}`,
      messages: [],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
      resume: approval(call),
      ...more,
    });
  const streamed = await agUi(bob, 'c1');
  t.match(streamed, /"RUN_STARTED"/);
  t.notMatch(streamed, named, 'AG-UI');
  const native = {
    threadId: child,
    agentId: 'steps',
    messages: [{ role: 'user', content: 'go on' }],
  };
  const key = { 'idempotency-key': 'once' };
  const first = await textOf(bob, 'POST', '/v1/runs', native, key);
  t.match(first, /"run_start"[\s\S]*"run_finish"/);
  t.notMatch(first, named, 'the native stream');
  const again = await textOf(bob, 'POST', '/v1/runs', native, key);
  t.match(again, /"run_start"[\s\S]*"run_finish"/);
  t.notMatch(again, named, 'the stream of a repeated request');
  await service.restart();
  const stored = await textOf(bob, 'POST', '/v1/runs', native, key);
  t.match(stored, /"run_start"[\s\S]*"run_finish"/);
  t.notMatch(stored, named, 'the stream of a request that is repeated after a restart');
  for (const path of ['/v1/ag-ui', '/v1/ai-sdk'].map((root) => `${root}/threads/${child}/replay`)) {
    const replayed = await textOf(bob, 'GET', path);
    t.match(replayed, /"(RUN_STARTED|start)"/, path);
    t.notMatch(replayed, named, path);
  }
  const replay = `/v1/ag-ui/threads/${child}/replay`;
  t.match(await textOf(alice, 'GET', replay), named, 'the owner sees it');
  t.match(await textOf(rita, 'GET', replay), named, 'a reader of all sees it');
});

t.test('a user with `write:all` uses the ids of dispatches of other users', async (t) => {
  const service = await withUsers(t);
  const [alice, bob, carol] = [service.user('alice'), service.user('bob'), service.user('globex/carol')];
  const operator = service.user('olga', 'member', 'write:all');
  const send = async (thread: string, agent_id: string): Promise<string> => {
    const { body } = await alice.post('/v1/threads', { title: thread });
    const { body: sent } = await alice.post(`/v1/threads/${body.id}/messages`, { agent_id, ...hello });
    t.type(sent.dispatch_id, 'string');
    return String(sent.dispatch_id);
  };
  const first = await send('first', 'slow');
  const cancel = (user: User, id: string) => user.post(`/v1/runs/${id}/cancel`);
  for (const stranger of [bob, carol]) {
    const unknown = await cancel(stranger, 'd0');
    t.equal(unknown.status, 404);
    t.match(await cancel(stranger, first), {
      status: 404,
      body: { error: String(unknown.body.error).replace('d0', first) },
    });
  }
  const reader = service.user('rita', 'invoke', 'read:all');
  t.match(await cancel(reader, first), { status: 403, body: { needs: ['write:all'] } });
  t.equal((await cancel(operator, first)).status, 202);
  await eventually(
    () => alice.get('/v1/runs'),
    ({ body }) => (body.items as { status: string }[]).every(({ status }) => status === 'done'),
  );
});

t.test('a decision by the id of a run or dispatch has the rights on its thread', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob')];
  const deny = { toolCallId: 'c1', action: 'cancel' };
  for (const by of ['run_id', 'dispatch_id'] as const) {
    service.models.steps.push(asks(['c1', 'pick_color']));
    const { body: thread } = await alice.post('/v1/threads', {});
    await alice.post(`/v1/threads/${thread.id}/messages`, { agent_id: 'steps', ...hello });
    const { body: run } = await eventually(
      () => alice.get(`/v1/threads/${thread.id}/runs/latest`),
      ({ body }) => body.status === 'waiting',
    );
    const decide = (decision: object) => bob.post(`/v1/runs/${run[by]}/decision`, decision);
    t.equal((await decide(deny)).status, 404, by);
    await alice.call('PATCH', `/v1/threads/${thread.id}`, { visibility: 'read' });
    t.match(await decide(deny), { status: 403, body: { needs: ['write:all'] } }, by);
    await alice.call('PATCH', `/v1/threads/${thread.id}`, { visibility: 'write' });
    t.equal(
      (await decide({ ...deny, action: 'resume', payload: 'red' })).status,
      403,
      'only its user answers',
    );
    t.equal((await decide(deny)).status, 202, by);
    await eventually(
      () => alice.get(`/v1/threads/${thread.id}/runs/latest`),
      ({ body }) => body.status === 'done',
    );
  }
});

t.test('a user who takes the id of another thread does not hide it from readers', async (t) => {
  const service = await withUsers(t);
  const [alice, bob, reader] = [service.user('alice'), service.user('bob'), service.user('rita', 'viewer')];
  const { body: made } = await alice.post('/v1/threads', { title: 'first' });
  t.equal((await runEcho(bob, String(made.id))).status, 200);
  t.match(await reader.get(`/v1/threads/${made.id}`), { status: 200, body: { owner: 'alice' } });
  t.match(await reader.get(`/v1/threads/${longUidOf('bob', String(made.id))}`), {
    status: 200,
    body: { owner: 'bob' },
  });
});

t.test('a thread is shared for reading or writing by its owner', async (t) => {
  const service = await withUsers(t);
  const [alice, bob, carol] = [service.user('alice'), service.user('bob'), service.user('globex/carol')];
  await runEcho(alice, 't1');
  const share = (user: User, visibility: string) => user.call('PATCH', '/v1/threads/t1', { visibility });
  t.equal((await share(bob, 'write')).status, 404);
  t.match(await share(alice, 'read'), { status: 200, body: { visibility: 'read' } });
  t.equal((await bob.get('/v1/threads/t1/messages')).status, 200);
  t.equal((await bob.get('/v1/threads/t1/events')).status, 200);
  t.equal((await bob.get('/v1/ai-sdk/threads/t1/messages')).status, 200);
  t.strictSame(await ids(bob, '/v1/threads'), { ids: ['t1'], total: 1 });
  t.equal((await ids(bob, '/v1/runs')).total, 1);
  t.match(await bob.post('/v1/threads/t1/messages', hello), {
    status: 403,
    body: { code: 'forbidden', needs: ['write:all'] },
  });
  t.equal((await bob.call('DELETE', '/v1/threads/t1')).status, 403);
  t.equal((await runEcho(bob, 't1')).status, 403);
  t.equal((await bob.post('/v1/threads/t1/decision', { toolCallId: 'x', action: 'resume' })).status, 403);
  t.match(await share(alice, 'write'), { status: 200 });
  t.equal((await runEcho(bob, 't1')).status, 200);
  t.match((await bob.get('/v1/threads/t1/runs')).body, { items: [{ user: 'alice' }, { user: 'bob' }] });
  t.equal((await share(bob, 'private')).status, 403, 'only its owner decides who sees it');
  t.equal((await carol.get('/v1/threads/t1')).status, 404);
  t.match(await share(alice, 'private'), { status: 200 });
  t.equal((await bob.get('/v1/threads/t1')).status, 404);
  t.strictSame(await ids(bob, '/v1/threads'), { ids: [], total: 0 });
  t.strictSame(await ids(bob, '/v1/runs'), { ids: [], total: 0 });
});

t.test('requests without a user see what has no owner', async (t) => {
  const service = await withUsers(t);
  const [alice, reader] = [service.user('alice'), service.user('rita', 'viewer')];
  await service.runToEnd({ agentId: 'echo', threadId: 'free', ...hello });
  await runEcho(alice, 'hers');
  t.match(await service.call('GET', '/v1/threads'), { body: { items: ['free'], total: 1 } });
  t.equal((await service.call('GET', '/v1/threads/hers')).status, 404);
  t.equal((await alice.get('/v1/threads/free')).status, 404);
  t.strictSame((await ids(reader, '/v1/threads')).total, 2);
});

t.test('a run keeps its owner when its thread is deleted', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob')];
  await runEcho(alice, 't1');
  const [run] = (await ids(alice, '/v1/runs')).ids;
  t.equal((await alice.call('DELETE', '/v1/threads/t1')).status, 204);
  t.equal((await alice.get(`/v1/runs/${run}`)).status, 200);
  t.match(await bob.get(`/v1/runs/${run}`), { status: 404, body: { error: `run not found: ${run}` } });
  t.match(await service.admin('GET', `/v1/runs/${run}`), { status: 200, body: { owner: 'alice' } });
});

t.test('threads of delegates and children have the owner of their parent', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob')];
  const { body: parent } = await alice.post('/v1/threads', { title: 'above' });
  t.equal(parent.uid, parent.id);
  await alice.call('PATCH', `/v1/threads/${parent.id}`, { visibility: 'write' });
  t.match(await bob.post('/v1/threads', { parent_thread_id: parent.id }), {
    status: 201,
    body: { owner: 'alice', visibility: 'write' },
  });
  t.match(await alice.call('DELETE', `/v1/threads/${parent.id}?child_strategy=reject`), { status: 400 });
  t.equal((await alice.call('DELETE', `/v1/threads/${parent.id}?child_strategy=cascade`)).status, 204);
  t.match(await alice.get('/v1/threads'), { body: { total: 0 } });
});

t.test('a user with whom a thread is shared does not reach the private threads around it', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob')];
  await runEcho(alice, 'shared');
  await runEcho(alice, 'private');
  await alice.call('PATCH', '/v1/threads/shared', { visibility: 'write' });
  const move = (user: User, parent_thread_id: string) =>
    user.call('PATCH', '/v1/threads/shared', { parent_thread_id });
  for (const parent of ['private', 'unused']) {
    t.match(await move(bob, parent), { status: 400, body: { error: `parent thread not found: ${parent}` } });
  }
  t.match(await move(alice, 'private'), { status: 200, body: { parent_thread_id: 'private' } });
  t.equal((await alice.call('PATCH', '/v1/threads/shared', { parent_thread_id: null })).status, 200);
  t.equal((await alice.call('PATCH', '/v1/threads/private', { parent_thread_id: 'shared' })).status, 200);
  const { body: seen } = await bob.post('/v1/threads', { parent_thread_id: 'shared' });
  await alice.call('PATCH', `/v1/threads/${seen.id}`, { visibility: 'read' });
  t.match(await bob.call('DELETE', '/v1/threads/shared?child_strategy=cascade'), { status: 403 });
  await alice.call('PATCH', `/v1/threads/${seen.id}`, { visibility: 'write' });
  t.equal((await bob.call('DELETE', '/v1/threads/shared?child_strategy=cascade')).status, 204);
  t.equal((await alice.get(`/v1/threads/${seen.id}`)).status, 404);
  const { status, body } = await alice.get('/v1/threads/private');
  t.equal(status, 200, 'the private child is detached');
  t.notOk(body.parent_thread_id);
});

t.test('input of another user is a separate run', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob', 'member', 'write:all')];
  const input = { agent_id: 'slow', mode: 'live_then_queue', ...hello };
  await alice.post('/v1/threads', {});
  const [id] = (await ids(alice, '/v1/threads')).ids;
  t.equal((await alice.post(`/v1/threads/${id}/messages`, input)).status, 202);
  await eventually(
    () => alice.get(`/v1/threads/${id}/runs/active`),
    ({ body }) => (body.active_run as { status?: string } | null)?.status === 'running',
  );
  t.match(await bob.post(`/v1/threads/${id}/messages`, input), { status: 202, body: { status: 'queued' } });
  t.match(await alice.post(`/v1/threads/${id}/messages`, input), {
    status: 202,
    body: { status: 'running' },
  });
  t.match((await alice.get(`/v1/threads/${id}/runs`)).body, {
    items: [{ user: 'alice' }, { user: 'bob', owner: 'alice' }],
  });
  service.models.releaseAll();
});

t.test('input of another user does not continue a waiting run', async (t) => {
  const service = await withUsers(t);
  const [alice, bob] = [service.user('alice'), service.user('bob', 'member', 'write:all')];
  service.models.steps.push(asks(['c1', 'risky']));
  await runEcho(alice, 't1', { agentId: 'steps' });
  const input = { mode: 'resume_open_run', ...hello };
  t.match(await bob.post('/v1/threads/t1/messages', input), {
    status: 403,
    body: { error: 'the run acts for another user' },
  });
  service.models.steps.push(asks());
  t.match(await bob.post('/v1/threads/t1/messages', { mode: 'queue', ...hello }), { status: 202 });
  t.match((await alice.get('/v1/threads/t1/runs')).body, {
    items: [{ user: 'alice', status: 'waiting' }, { user: 'bob' }],
  });
});

t.test('an agent without a grant does not exist', async (t) => {
  const service = await withUsers(t);
  const narrow = service.user('alice', 'invoke:slow');
  t.match(await runEcho(narrow, 't1'), { status: 400, body: { error: 'agent not found: echo' } });
  t.match(await narrow.post('/v1/ai-sdk/chat', { agentId: 'echo', messages: [] }), { status: 400 });
  const bob = service.user('bob');
  await runEcho(bob, 'shared');
  await bob.call('PATCH', '/v1/threads/shared', { visibility: 'write' });
  const [run] = (await ids(bob, '/v1/runs')).ids;
  t.match(await narrow.post(`/v1/runs/${run}/inputs`, hello), {
    status: 400,
    body: { error: 'agent not found: echo' },
  });
  t.equal((await bob.post(`/v1/runs/${run}/inputs`, hello)).status, 202);
});

t.test('runs of users are recovered by the next process', async (t) => {
  const service = await withUsers(t);
  const alice = service.user('alice');
  const { body: thread } = await alice.post('/v1/threads', {});
  await alice.post(`/v1/threads/${thread.id}/messages`, { agent_id: 'slow', ...hello });
  const run = async () => {
    const { body } = await alice.get(`/v1/threads/${thread.id}/runs/latest`);
    return body as { status?: string; user?: string };
  };
  await eventually(run, ({ status }) => status === 'running');
  await service.restart();
  await eventually(
    async () => service.models.waiting(),
    (waiting) => waiting > 0,
  );
  service.models.releaseAll();
  t.match(await eventually(run, ({ status }) => status === 'done'), { user: 'alice' });
});
