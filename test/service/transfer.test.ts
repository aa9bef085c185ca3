import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { ask, type Got } from './http.ts';
import { mcpClient, rpc } from './mcp/mcp.ts';
import { asks, hangs } from './models.ts';
import { readBlocks } from './stream.ts';
import { resume, withTools } from './suspended.ts';
import type { TestTools } from './tools.ts';
import { ADMIN_TOKEN, type Answer, eventually, type Troupe, type TroupeOptions } from './troupe.ts';

/** Changes of the owner of a thread: identity.md 1.3 and 1.5, checks 42 and 48. */

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

type Person = { key: string; call: Call };

type Service = {
  troupe: Troupe;
  tools: TestTools;
  admin: Call;
  alice: Person;
  bob: Person;
  /** Has `write:all`. */
  oscar: Person;
};

const startService = async (t: Test, options: TroupeOptions = {}): Promise<Service> => {
  const { troupe, tools } = await withTools(t, {
    ...options,
    settings: { ...options.settings, identity: { anonymous: 'never' } },
  });
  const as =
    (key: string): Call =>
    (method, path, body) =>
      troupe.call(method, path, body, bearer(key));
  const admin = as(ADMIN_TOKEN);
  const person = async (id: string, grants: string[]): Promise<Person> => {
    const new_user = { kind: 'person', grants };
    const { body } = await admin('POST', '/v1/keys', { name: id, user: id, new_user });
    return { key: String(body.key), call: as(String(body.key)) };
  };
  return {
    troupe,
    tools,
    admin,
    alice: await person('alice', ['member']),
    bob: await person('bob', ['member']),
    oscar: await person('oscar', ['operator']),
  };
};

const hello = [{ role: 'user', content: 'Hello' }];

const runEcho = ({ call }: Person, threadId: string) =>
  call('POST', '/v1/runs', { agentId: 'echo', threadId, messages: hello });

const give = ({ call }: Person, thread: string, owner = 'bob') =>
  call('PATCH', `/v1/threads/${thread}`, { owner });

const idsOf = async ({ call }: Person): Promise<unknown> => (await call('GET', '/v1/threads')).body.items;

t.test('gives a thread to another user, with everything that hangs on it (check 48)', async (t) => {
  const { alice, bob, oscar } = await startService(t);
  await runEcho(alice, 't1');
  await runEcho(bob, 't1');
  const { uid } = (await alice.call('GET', '/v1/threads/t1')).body;
  const path = `/v1/threads/${uid}`;
  t.equal((await bob.call('GET', path)).status, 404, 'the thread is unknown to Bob before');
  const { items: runs } = (await alice.call('GET', '/v1/threads/t1/runs')).body as {
    items: { run_id: string }[];
  };
  const run = `/v1/runs/${runs[0]?.run_id}`;
  const page = (await alice.call('GET', '/v1/threads/t1/events?limit=3')).body;
  const events = (await alice.call('GET', '/v1/threads/t1/events')).body.items as unknown[];

  const given = await give(alice, 't1');
  t.match(given, { status: 200, body: { id: uid, uid, owner: 'bob', visibility: 'private' } });
  for (const each of ['/v1/threads/t1', path, run, '/v1/threads/t1/messages'])
    t.equal((await alice.call('GET', each)).status, 404, `${each} is unknown to Alice`);
  t.match(await bob.call('GET', path), { status: 200, body: { id: uid, uid, owner: 'bob' } });
  t.match((await bob.call('GET', run)).body, { thread_id: uid, owner: 'bob', user: 'alice', status: 'done' });
  t.same(await idsOf(bob), [uid, 't1'], 'Bob keeps his own thread of that name');
  t.same(await idsOf(alice), []);
  t.match((await bob.call('GET', `${path}/messages`)).body, { messages: { length: 2 } });
  const rest = await bob.call('GET', `${path}/events?limit=200&cursor=${String(page.next_cursor)}`);
  t.equal(rest.status, 200, 'a cursor of the former owner continues');
  t.equal((rest.body.items as unknown[]).length, events.length - 3 + 1, 'with the change itself');
  t.match((rest.body.items as unknown[]).at(-1), { event_kind: 'ThreadUpdated', thread_id: uid });
  t.match(await runEcho(bob, String(uid)), { status: 200 });
  t.match((await bob.call('GET', `${path}/messages`)).body, { messages: { length: 4 } });
  t.match((await oscar.call('GET', path)).body, { owner: 'bob' });
});

t.test('gives a new thread with the former id another uid', async (t) => {
  const { alice, bob, oscar } = await startService(t);
  await runEcho(alice, 't1');
  const { id } = (await give(alice, 't1')).body;
  await runEcho(alice, 't1');
  const again = (await alice.call('GET', '/v1/threads/t1')).body;
  t.not(again.uid, id);
  t.match((await oscar.call('GET', `/v1/threads/${again.uid}`)).body, { owner: 'alice', id: 't1' });
  t.match((await oscar.call('GET', `/v1/threads/${id}`)).body, { owner: 'bob' });
  const second = (await give(alice, 't1')).body;
  t.equal(second.id, again.uid);
  t.same(new Set((await idsOf(bob)) as string[]), new Set([id, second.id]));
});

t.test('changes the owner only for the owner and holders of write:all (check 48)', async (t) => {
  const { admin, alice, bob, oscar } = await startService(t);
  await runEcho(alice, 't1');
  const { uid } = (await alice.call('GET', '/v1/threads/t1')).body;
  t.equal((await give(bob, String(uid))).status, 404);
  await alice.call('PATCH', '/v1/threads/t1', { visibility: 'write' });
  t.match(await give(bob, String(uid)), { status: 403, body: { needs: ['write:all'] } });
  t.match(await give(alice, 't1', 'nobody'), { status: 400, body: { error: /unknown user 'nobody'/ } });
  t.match(await give(alice, 't1', '~admin'), { status: 400 });
  t.equal((await alice.call('PATCH', '/v1/threads/t1', { owner: null })).status, 422);
  t.match(await give(alice, 't1', 'alice'), { status: 200, body: { id: 't1', owner: 'alice' } });
  t.match(await give(oscar, String(uid)), { status: 200, body: { owner: 'bob', visibility: 'write' } });
  const made = (await admin('POST', '/v1/threads', { title: 'of nobody' })).body;
  t.match(await give(oscar, String(made.id)), {
    status: 200,
    body: { id: made.id, uid: made.id, owner: 'bob', title: undefined, metadata: { title: 'of nobody' } },
  });
});

t.test('changes other fields with the owner', async (t) => {
  const { alice, bob } = await startService(t);
  await runEcho(alice, 't1');
  const change = { owner: 'bob', title: 'For Bob', visibility: 'read', custom: { n: 1 } };
  const { status, body } = await alice.call('PATCH', '/v1/threads/t1/metadata', change);
  t.match({ status, body }, { status: 200, body: { visibility: 'read', metadata: { title: 'For Bob' } } });
  t.match((await bob.call('GET', `/v1/threads/${body.id}`)).body.metadata, { custom: { n: 1 } });
  t.match(await alice.call('GET', `/v1/threads/${body.id}`), { status: 200 }, 'Alice sees the shared thread');
});

const open = async ({ troupe }: Service, { key }: Person, path: string, body?: object) => {
  const got: Got = await ask(troupe.url + path, {
    method: body ? 'POST' : 'GET',
    headers: { ...bearer(key), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (got.status !== 200) throw new Error(`${path}: ${got.status} ${await got.text()}`);
  const { next, raw } = readBlocks(got);
  await next();
  return { next, raw };
};

const drain = async ({ next }: { next(): Promise<string | undefined> }): Promise<void> => {
  while ((await next()) !== undefined);
};

t.test('ends every stream of the thread, and its executing run continues (check 42)', async (t) => {
  const service = await startService(t);
  const { troupe, alice, bob, oscar } = service;
  const { id } = (await alice.call('POST', '/v1/threads', {})).body;
  await alice.call('PATCH', `/v1/threads/${id}`, { visibility: 'read' });
  const body = { agentId: 'slow', threadId: id, messages: hello };
  const own = await open(service, alice, '/v1/runs', body);
  const { items } = (await alice.call('GET', `/v1/threads/${id}/runs`)).body;
  const [{ run_id = '' } = {}] = items as { run_id: string }[];
  const followed = [
    `/v1/threads/${id}/events/stream`,
    `/v1/runs/${run_id}/events/stream`,
    `/v1/a2a/tasks/${run_id}:subscribe`,
  ];
  const readers = await Promise.all(
    [alice, bob, oscar].flatMap((person) => followed.map((path) => open(service, person, path))),
  );
  t.match(await give(alice, String(id)), { status: 200, body: { id, active_run_id: String } });
  await Promise.all([own, ...readers].map(drain));
  t.notMatch(own.raw(), 'run_finish');
  const waiting = await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  t.equal(waiting, 1, 'the run continues');
  troupe.models.releaseAll();
  const run = await eventually(
    async () => (await bob.call('GET', `/v1/runs/${run_id}`)).body,
    ({ status }) => status === 'done',
  );
  t.match(run, { termination_reason: { type: 'natural_end' }, owner: 'bob', user: 'alice', thread_id: id });
});

t.test('resumes a waiting run of the former owner by a decision of the new one', async (t) => {
  const { troupe, tools, alice, bob } = await startService(t);
  troupe.models.steps.push(asks(['c1', 'risky']));
  await alice.call('POST', '/v1/runs', { agentId: 'steps', threadId: 't1', messages: hello });
  const { id } = (await give(alice, 't1')).body;
  const { body: thread } = await bob.call('GET', `/v1/threads/${id}`);
  const { waiting } = (await bob.call('GET', `/v1/runs/${thread.open_run_id}`)).body;
  const [ticket] = (waiting as { tickets: { digest: string }[] }).tickets;
  const decision = { ...resume('c1', { approved: true }), digest: ticket?.digest };
  t.match(await alice.call('POST', '/v1/threads/t1/decision', decision), { status: 404 });
  t.match(await bob.call('POST', `/v1/threads/${id}/decision`, decision), { status: 202 });
  const run = await eventually(
    async () => (await bob.call('GET', `/v1/runs/${thread.open_run_id}`)).body,
    ({ status }) => status === 'done',
  );
  t.match(run, { user: 'alice', owner: 'bob', termination_reason: { type: 'natural_end' } });
  t.same(tools.executed, ['c1']);
});

t.test('keeps queued and pending input of a thread', async (t) => {
  const { troupe, alice, bob } = await startService(t);
  const input = (mode: string, text: string) => ({
    agentId: mode === 'queue' ? 'echo' : 'slow',
    mode,
    messages: [{ role: 'user', content: text }],
  });
  await runEcho(alice, 't1');
  await alice.call('POST', '/v1/threads/t1/messages', { ...input('queue', 'held'), agentId: 'slow' });
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );
  await alice.call('POST', '/v1/threads/t1/messages', input('queue', 'queued'));
  await alice.call('POST', '/v1/threads/t1/messages', input('steer', 'steered'));
  const { id } = (await give(alice, 't1')).body;
  const done = await eventually(
    async () => {
      troupe.models.releaseAll();
      return (await bob.call('GET', `/v1/threads/${id}`)).body;
    },
    (thread) => thread.open_run_id === undefined,
  );
  t.match(done, { owner: 'bob' });
  const { body } = await bob.call('GET', `/v1/threads/${id}/messages?limit=50`);
  const said = JSON.stringify(body);
  for (const text of ['Hello', 'held', 'queued', 'steered']) t.match(said, `"${text}"`);
});

t.test('gives threads below to the new owner, and a thread without its parent', async (t) => {
  const { alice, bob } = await startService(t);
  await runEcho(alice, 't1');
  const fork = (await alice.call('POST', '/v1/threads/t1/fork', { id: 'f1' })).body;
  t.match(fork, { parent_thread_id: 't1' });
  const below = (await alice.call('POST', '/v1/threads/f1/fork', { id: 'f2' })).body;
  const first = (await give(alice, 'f1')).body;
  t.notOk('parent_thread_id' in first, 'the parent stays with Alice');
  t.notOk('forked_from' in first, 'the origin of the fork stays with Alice');
  t.match((await bob.call('GET', `/v1/threads/${below.uid}`)).body, {
    parent_thread_id: first.id,
    forked_from: { thread_id: first.id },
  });
  t.same(await idsOf(alice), ['t1']);
  t.match(await bob.call('DELETE', `/v1/threads/${first.id}?child_strategy=cascade`), { status: 204 });
  t.same(await idsOf(bob), []);
});

t.test('refuses to give a thread away while a run of a sub-agent executes', async (t) => {
  const agents = [
    AgentSpec.parse({ id: 'boss', model_id: 'steps', max_rounds: 8, delegates: ['steps'] }),
    AgentSpec.parse({ id: 'steps', model_id: 'steps', max_rounds: 8 }),
  ];
  const { troupe, alice, bob } = await startService(t, { app: { records: { ...NO_RECORDS, agents } } });
  troupe.models.steps.push(asks(['c1', 'agent_run_steps', { prompt: 'a task' }]), hangs('half'));
  await runEcho(alice, 't1');
  const body = { agentId: 'boss', mode: 'queue', messages: hello };
  await alice.call('POST', '/v1/threads/t1/messages', body);
  const { items } = await eventually(
    async () => (await alice.call('GET', '/v1/threads/summaries')).body as { items: { id: string }[] },
    ({ items }) => items.length === 2,
  );
  await eventually(
    async () => troupe.models.requests.length,
    (count) => count === 3,
  );
  const child = items.find(({ id }) => id !== 't1')?.id ?? '';
  t.match(await give(alice, 't1'), { status: 409, body: { error: /executes a run for a call/ } });
  t.match(await give(alice, child), { status: 409 });
  t.match((await alice.call('GET', '/v1/threads/t1')).body, { active_run_id: String }, 'the run continues');
  t.equal((await alice.call('POST', '/v1/threads/t1/cancel')).status, 202);
  await eventually(
    async () => (await alice.call('GET', '/v1/threads/t1')).body,
    (thread) => thread.open_run_id === undefined,
  );
  const given = await eventually(
    () => give(alice, 't1'),
    ({ status }) => status === 200,
  );
  const { id } = given.body;
  t.match((await bob.call('GET', `/v1/threads/${child}`)).body, { owner: 'bob', parent_thread_id: id });
  t.same(await idsOf(alice), []);
});

t.test('ends streams without a user when their thread gets an owner', async (t) => {
  const { troupe } = await withTools(t);
  await troupe.runToEnd({ agentId: 'echo', threadId: 't1', messages: hello });
  const got = await ask(`${troupe.url}/v1/threads/t1/events/stream`);
  const reading = readBlocks(got);
  await reading.next();
  const admin = bearer(ADMIN_TOKEN);
  const user = { id: 'alice', kind: 'person', grants: ['member'] };
  t.equal((await troupe.call('POST', '/v1/users', user, admin)).status, 201);
  const given = await troupe.call('PATCH', '/v1/threads/t1', { owner: 'alice' }, admin);
  t.match(given, { status: 200, body: { id: 't1', owner: 'alice' } });
  await drain(reading);
  t.equal((await troupe.call('GET', '/v1/threads/t1')).status, 404);
});

t.test('answers waiting requests of the former owner when the thread gets another owner', async (t) => {
  const service = await startService(t);
  const { troupe, alice, bob } = service;
  const waits = () =>
    eventually(
      async () => troupe.models.waiting(),
      (count) => count > 0,
    );
  const message = { messageId: 'm-1', contextId: 'c1', role: 'ROLE_USER', parts: [{ text: 'hello' }] };
  const version = { ...bearer(alice.key), 'a2a-version': '1.0' };
  const sent = troupe.call('POST', '/v1/a2a/slow/message:send', { message }, version);
  await waits();
  t.match(await give(alice, 'c1'), { status: 200 });
  t.match(await sent, { status: 404 }, 'a blocking send ends');

  const chat = {
    id: 'c2',
    agentId: 'slow',
    messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
  };
  const answer = await open(service, alice, '/v1/ai-sdk/chat', chat);
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 2,
  );
  const { id } = (await give(alice, 'c2')).body;
  await drain(answer);
  t.notMatch(answer.raw(), 'finish-step');
  const random = await alice.call('GET', '/v1/ai-sdk/chat/never/stream');
  t.equal((await alice.call('GET', '/v1/ai-sdk/chat/c2/stream')).status, random.status);
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 2,
  );
  const resumed = await open(service, bob, `/v1/ai-sdk/chat/${id}/stream`).catch(() => undefined);
  troupe.models.releaseAll();
  if (resumed) await drain(resumed);
  const thread = await eventually(
    async () => (await bob.call('GET', `/v1/threads/${id}`)).body,
    ({ open_run_id }) => open_run_id === undefined,
  );
  t.match(thread, { owner: 'bob' });
});

t.test('ends an MCP call of the former owner when its thread gets another owner', async (t) => {
  const { troupe, alice, bob } = await startService(t);
  const { post } = mcpClient(() => troupe.url);
  const head = {
    ...bearer(alice.key),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const opened = await post(rpc(1, 'initialize'), head);
  const session = { ...head, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const called = post(rpc(2, 'tools/call', { name: 'slow', arguments: { message: 'Hello' } }), session);
  // The model is called before the write of the thread, which the list reads, has been committed.
  const [id] = await eventually(
    async () => (await idsOf(alice)) as string[],
    (ids) => ids.length === 1,
  );
  t.match(await give(alice, String(id)), { status: 200 });
  await called.catch(() => {});
  await eventually(
    async () => {
      troupe.models.releaseAll();
      return (await bob.call('GET', `/v1/threads/${id}`)).body;
    },
    ({ open_run_id }) => open_run_id === undefined,
  );
});
