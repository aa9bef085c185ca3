import t, { type Test } from 'tap';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import { openBrowser } from './browser.ts';
import { mcpClient, type Rpc, rpc } from './mcp/mcp.ts';
import { asks, type Call } from './models.ts';
import { ADMIN_TOKEN, eventually, type Troupe } from './troupe.ts';
import { type User, type Users, withUsers } from './users.ts';

/** Calls that others must decide: identity.md 4, checks 64 and 65. */

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const DIGEST = digestOfCall({ tool: 'note', arguments: {} });
const yes = { toolCallId: 'perm_c1', action: 'resume', payload: { approved: true } };

type Section = { default_behavior?: string; default_deciders?: string; rules?: object[] };

const OTHERS: Section = { rules: [{ tool: 'note', behavior: 'ask', deciders: 'others' }] };

const save = (troupe: Troupe, permission: Section, more: object = {}) =>
  troupe.call(
    'PUT',
    '/v1/config/agents/own',
    { id: 'own', model_id: 'steps', plugin_ids: ['permission'], sections: { permission }, ...more },
    ADMIN,
  );

const run = async (user: User, service: Users, ...calls: Call[]) => {
  service.models.steps.push(asks(...calls));
  const messages = [{ role: 'user', content: 'Hello' }];
  t.equal((await user.post('/v1/runs', { agentId: 'own', threadId: 't1', messages })).status, 200);
};

const waiting = async (t: Test, permission = OTHERS, ...calls: Call[]) => {
  const service = await withUsers(t);
  t.equal((await save(service, permission)).status, 200);
  const alice = service.user('alice', 'member', 'keys');
  await run(alice, service, ...(calls.length > 0 ? calls : [['c1', 'note'] as Call]));
  return { service, alice, bob: service.user('bob', 'approver') };
};

const decide = (user: Pick<User, 'post'>, decision: object = {}) =>
  user.post('/v1/threads/t1/decision', { ...yes, ...decision });

type Found = { status: string; waiting?: { tickets?: Record<string, unknown>[] } };

/** The waiting run of the thread, else one that is not done, else any. */
const stateOf = async (user: User): Promise<Found | undefined> => {
  const { body } = await user.get('/v1/threads/t1/runs');
  const runs = body.items as Found[];
  return (
    runs.find(({ status }) => status === 'waiting') ?? runs.find(({ status }) => status !== 'done') ?? runs[0]
  );
};

const isExecuted = ({ tools }: Users, ...ids: string[]) =>
  eventually(
    async () => tools.executed,
    (executed) => executed.length >= ids.length,
  ).then((executed) => t.strictSame(executed, ids));

t.test('a call for others is decided with its digest by another user (check 64)', async (t) => {
  const { service, alice, bob } = await waiting(t);
  t.match((await stateOf(alice))?.waiting?.tickets, [{ ticket_id: 'perm_c1', deciders: 'others' }]);
  t.match(await decide(alice, { digest: DIGEST }), {
    status: 403,
    body: { error: "a decision on 'note' must be by another than 'alice'" },
  });
  t.match(await decide(bob), { status: 422, body: { error: 'send the digest of what was shown' } });
  t.equal((await decide(bob, { payload: null })).status, 422, 'a bare resume');
  t.match(await decide(bob, { digest: digestOfCall({ tool: 'note', arguments: { a: 1 } }) }), {
    status: 409,
    body: { error: 'the call has changed' },
  });
  t.match(await decide(bob, { digest: DIGEST, payload: { approved: true, remember: 'thread' } }), {
    status: 422,
    body: { error: "a decision on 'note' cannot be remembered: others must decide each call" },
  });
  t.equal((await stateOf(alice))?.status, 'waiting');
  t.strictSame(service.tools.executed, []);
  t.equal((await decide(bob, { digest: DIGEST })).status, 202);
  await isExecuted(service, 'c1');
});

t.test('refuses every request of the user of the run (check 64)', async (t) => {
  const { service, alice } = await waiting(t);
  const admin = service.user('alice', 'admin');
  t.equal((await decide(admin, { digest: DIGEST })).status, 403, 'even with all grants');
  t.equal((await decide(alice, { action: 'cancel', payload: null })).status, 403, 'even to deny');
  const chat = {
    threadId: 't1',
    messages: [
      { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] },
      {
        id: 'a1',
        role: 'assistant',
        parts: [
          {
            type: 'tool-note',
            toolCallId: 'c1',
            state: 'approval-responded',
            input: {},
            approval: { id: 'perm_c1', approved: true },
          },
        ],
      },
    ],
  };
  t.equal((await alice.post('/v1/ai-sdk/chat', chat)).status, 403);
  const agUi = {
    threadId: 't1',
    runId: 'r2',
    messages: [],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
    resume: [{ interruptId: 'perm_c1', status: 'resolved', payload: { approved: true, digest: DIGEST } }],
  };
  t.equal((await alice.post('/v1/ag-ui/run', agUi)).status, 403);
  const { body } = await alice.get('/v1/threads/t1/events');
  const kinds = (body.items as { event_kind: string }[]).map(({ event_kind }) => event_kind);
  t.notOk(kinds.includes('MailboxDecisionReceived'), 'nothing is written');
  t.strictSame(service.tools.executed, []);
});

t.test('an A2A message of the user of the run decides nothing (check 64)', async (t) => {
  const service = await withUsers(t);
  t.equal((await save(service, OTHERS)).status, 200);
  const alice = service.user('alice', 'member');
  type Task = { id: string; contextId: string; status: object };
  const send = async (message: object): Promise<Task> => {
    const body = { message: { role: 'ROLE_USER', ...message } };
    const answer = await alice.call('POST', '/v1/a2a/own/message:send', body, { 'a2a-version': '1.0' });
    return answer.body.task as Task;
  };
  const consent = { approved: true, digest: DIGEST, ticketId: 'perm_c1', toolCallId: 'c1' };
  const begin = async (): Promise<Task> => {
    service.models.steps.push(asks(['c1', 'note']));
    const task = await send({ messageId: 'first', parts: [{ text: 'Hello' }] });
    t.match(task.status, {
      state: 'TASK_STATE_AUTH_REQUIRED',
      message: { metadata: { ticketIds: ['perm_c1'], toolCallIds: ['c1'], digests: [DIGEST] } },
    });
    return task;
  };
  for (const parts of [
    [{ text: 'approved: true' }],
    [{ text: JSON.stringify(consent) }],
    [{ data: consent }],
    [{ data: { action: 'resume', payload: consent } }],
  ]) {
    const { id, contextId } = await begin();
    await send({ messageId: 'second', taskId: id, contextId, parts });
    const { body } = await alice.get(`/v1/threads/${contextId}/events`);
    const kinds = (body.items as { event_kind: string }[]).map(({ event_kind }) => event_kind);
    t.notOk(kinds.includes('MailboxDecisionReceived'), `no decision: ${JSON.stringify(parts)}`);
    t.strictSame(service.tools.executed, []);
  }
  const { id } = await begin();
  const bob = service.user('bob', 'approver');
  t.equal((await bob.post(`/v1/runs/${id}/decision`, { ...yes, digest: DIGEST })).status, 202);
  await isExecuted(service, 'c1');
});

t.test('an MCP client decides nothing for the user of the run (check 64)', async (t) => {
  const service = await withUsers(t);
  t.equal((await save(service, OTHERS)).status, 200);
  const [alice, bob] = [service.user('alice', 'member'), service.user('bob', 'member', 'write:all')];
  const KEY = 'io.modelcontextprotocol';
  const VERSION = '2026-07-28';
  const callAs = async (user: User, params: object): Promise<Rpc> => {
    const { stream } = mcpClient(() => service.url);
    const _meta = {
      [`${KEY}/protocolVersion`]: VERSION,
      [`${KEY}/clientCapabilities`]: { elicitation: {} },
    };
    const args = { name: 'own', arguments: { message: 'go' }, _meta };
    const headers = { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'own' };
    const got = await stream(rpc(1, 'tools/call', { ...args, ...params }), { ...headers, ...user.head });
    return (await got.rest()).at(-1) ?? {};
  };
  service.models.steps.push(asks(['c1', 'note']));
  const { result } = await callAs(alice, {});
  const { thread_id } = JSON.parse(String(result?.requestState));
  const approval = {
    requestState: result?.requestState,
    inputResponses: { perm_c1: { action: 'accept', content: { approve: true } } },
  };
  const refused = await callAs(alice, approval);
  t.match(JSON.stringify(refused), "a decision on 'note' must be by another than 'alice'");
  t.ok(refused.error ?? refused.result?.isError, 'the call is refused');
  const stranger = await callAs(bob, approval);
  t.notOk(stranger.result?.isError === false, 'the state belongs to its user');
  t.strictSame(service.tools.executed, []);
  const { body } = await alice.get(`/v1/threads/${thread_id}/events`);
  const kinds = (body.items as { event_kind: string }[]).map(({ event_kind }) => event_kind);
  t.notOk(kinds.includes('MailboxDecisionReceived'), 'nothing is written');
  const [run] = (await alice.get(`/v1/threads/${thread_id}/runs`)).body.items as Found[];
  t.match(run, { status: 'waiting', waiting: { tickets: [{ ticket_id: 'perm_c1', deciders: 'others' }] } });
});

t.test('asks others in calls over A2A and MCP too, despite an allow rule (check 65)', async (t) => {
  const service = await withUsers(t);
  const rules = [...(OTHERS.rules ?? []), { tool: 'note', behavior: 'allow' }];
  t.equal((await save(service, { rules })).status, 200);
  const alice = service.user('alice', 'member');
  service.models.steps.push(asks(['c1', 'note']));
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
  const sent = await alice.call('POST', '/v1/a2a/own/message:send', { message }, { 'a2a-version': '1.0' });
  t.match(sent.body, { task: { status: { state: 'TASK_STATE_AUTH_REQUIRED' } } });
  service.models.steps.push(asks(['c2', 'note']));
  const { post, stream } = mcpClient(() => service.url);
  const { headers } = await post(rpc(1, 'initialize'), alice.head);
  const session = { ...alice.head, 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
  const call = rpc(2, 'tools/call', { name: 'own', arguments: { message: 'go' } });
  await (await stream(call, session)).rest();
  t.strictSame(service.tools.executed, []);
});

const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });

t.test('compares the users and makers of the keys of both sides (check 64)', async (t) => {
  const { service } = await waiting(t);
  const as = (head: Record<string, string>): Pick<User, 'post'> => ({
    post: (path, body) => service.call('POST', path, body, head),
  });
  const make = async (head: Record<string, string>, key: object) => {
    const { status, body } = await service.call('POST', '/v1/keys', key, head);
    t.equal(status, 201, JSON.stringify(body));
    return body.key;
  };
  const person = (id: string, ...grants: string[]) => ({
    name: id,
    user: id,
    new_user: { kind: 'person', grants },
  });
  const carol = await make(ADMIN, person('carol', 'operator', 'act', 'keys'));
  const messages = [{ role: 'user', content: 'Hello' }];
  service.models.steps.push(asks(['c2', 'note']));
  const begun = { agentId: 'own', threadId: 't2', messages };
  t.equal((await service.call('POST', '/v1/runs', begun, bearer(carol))).status, 200);
  const on = (user: Pick<User, 'post'>) =>
    user.post('/v1/threads/t2/decision', { ...yes, toolCallId: 'perm_c2', digest: DIGEST });
  const second = await make(bearer(carol), { name: 'second' });
  t.equal((await on(as(bearer(second)))).status, 403, 'a second key of the user');
  const service1 = await make(bearer(carol), {
    name: 'bot',
    user: 'bot',
    new_user: { kind: 'service', grants: ['write:all', 'decide'] },
  });
  t.match(
    await on(as(bearer(service1))),
    { status: 403, body: { error: "a decision on 'note' must be by another than 'carol'" } },
    'a service whose key the user made',
  );
  const browser = openBrowser(service);
  t.equal((await browser.call('POST', '/v1/session', undefined, bearer(service1))).status, 201);
  t.match(
    await on({ post: (path, body) => browser.call('POST', path, body) }),
    { status: 403, body: { error: "a decision on 'note' must be by another than 'carol'" } },
    'a session from such a key',
  );
  const dora = await make(ADMIN, person('dora', 'approver'));
  t.equal((await on(as(bearer(dora)))).status, 202, 'a key that the admin token made');
});

t.test(
  'an end user of a back end, and the admin token without a user, decide nothing of theirs',
  async (t) => {
    const service = await withUsers(t);
    await save(service, OTHERS);
    const { body } = await service.call(
      'POST',
      '/v1/keys',
      { name: 'app', user: 'app', new_user: { kind: 'service', grants: ['member', 'write:all', 'act'] } },
      ADMIN,
    );
    const actsFor = (user: string) => ({ ...bearer(body.key), 'x-service-user': user });
    const messages = [{ role: 'user', content: 'Hello' }];
    service.models.steps.push(asks(['c1', 'note']));
    const begun = { agentId: 'own', threadId: 't1', messages };
    t.equal((await service.call('POST', '/v1/runs', begun, actsFor('u1'))).status, 200);
    const decision = { ...yes, digest: DIGEST };
    const path = '/v1/threads/t1/decision';
    t.match(await service.call('POST', path, decision, actsFor('u1')), {
      status: 403,
      body: { error: "a decision on 'note' must be by another than 'u1'" },
    });
    t.match(await service.call('POST', path, decision, bearer(body.key)), {
      status: 403,
      body: { error: "a decision on 'note' must be by another than 'app'" },
    });
    t.equal((await service.call('POST', path, decision, ADMIN)).status, 202);
    await isExecuted(service, 'c1');

    // The inference after the call takes no step of the next run.
    await eventually(
      () => service.call('GET', '/v1/threads/t1/runs', undefined, actsFor('u1')),
      ({ body: list }) => (list.items as Found[])[0]?.status === 'done',
    );
    service.models.steps.push(asks(['c2', 'note']));
    await service.post('/v1/runs', { ...begun, threadId: 't2' });
    const on = { ...decision, toolCallId: 'perm_c2' };
    t.match(await service.post('/v1/threads/t2/decision', on), {
      status: 403,
      body: { error: "a decision on 'note' must be by another than '~anonymous'" },
    });
    t.equal((await service.call('POST', '/v1/threads/t2/decision', on, ADMIN)).status, 403);
    const bob = service.user('bob', 'approver');
    t.equal((await bob.post('/v1/threads/t2/decision', on)).status, 202);
  },
);

t.test('rejects approval by time for calls that others must decide (check 65)', async (t) => {
  const service = await withUsers(t);
  const rule = { tool: 'note', behavior: 'ask', timeout_secs: 60, on_timeout: 'approve' };
  t.equal((await save(service, { rules: [rule] })).status, 200);
  for (const section of [
    { rules: [{ ...rule, deciders: 'others' }] },
    { rules: [rule], default_deciders: 'others' },
  ]) {
    const { status, body } = await save(service, section);
    t.equal(status, 400);
    t.match(JSON.stringify(body), 'a call that others must decide cannot be approved by a time limit');
  }
  t.equal(
    (await save(service, { rules: [{ tool: 'note', behavior: 'allow', deciders: 'others' }] })).status,
    400,
  );
  const own = { ...rule, deciders: 'any' };
  t.equal((await save(service, { rules: [own], default_deciders: 'others' })).status, 200);
});

t.test(
  'asks others although a rule of the section, a decision or a skill allows the call (check 65)',
  async (t) => {
    const { service, alice, bob } = await waiting(t, { rules: [{ tool: 'note', behavior: 'ask' }] });
    t.equal((await decide(alice, { payload: { approved: true, remember: 'thread' } })).status, 202);
    await isExecuted(service, 'c1');
    await run(alice, service, ['c2', 'note']);
    t.strictSame(service.tools.executed, ['c1', 'c2'], 'the decision is remembered');
    for (const permission of [
      { rules: [...(OTHERS.rules ?? []), { tool: 'note', behavior: 'allow' }] },
      { default_behavior: 'ask', default_deciders: 'others' },
      { rules: [{ tool: 'no*', behavior: 'ask' }], default_deciders: 'others' },
    ]) {
      t.equal((await save(service, permission)).status, 200);
      const id = `c${service.tools.executed.length + 1}`;
      await run(alice, service, [id, 'note']);
      const state = await stateOf(alice);
      t.match(state, { status: 'waiting', waiting: { tickets: [{ deciders: 'others' }] } });
      const toolCallId = String(state?.waiting?.tickets?.[0]?.ticket_id);
      t.equal((await decide(alice, { toolCallId, digest: DIGEST })).status, 403);
      t.equal((await decide(bob, { toolCallId, digest: DIGEST })).status, 202);
      await eventually(
        () => stateOf(alice),
        (found) => found?.status === 'done',
      );
      t.ok(service.tools.executed.includes(id));
    }
    t.equal(
      (await save(service, { default_deciders: 'others', rules: [{ tool: 'note', behavior: 'allow' }] }))
        .status,
      200,
    );
    await run(alice, service, ['c9', 'note']);
    t.ok(service.tools.executed.includes('c9'), 'a rule of the section is stronger than its default');
  },
);

t.test('asks others for arguments that a user has edited', async (t) => {
  const permission = {
    rules: [
      { tool: 'note', behavior: 'ask' },
      { tool: 'note(amount = "500")', behavior: 'ask', deciders: 'others' },
    ],
  };
  const { service, alice, bob } = await waiting(t, permission);
  const edited = { amount: '500' };
  const digest = digestOfCall({ tool: 'note', arguments: edited });
  t.equal((await decide(alice, { payload: { approved: true, arguments: edited }, digest })).status, 202);
  const state = await eventually(
    () => stateOf(alice),
    (found) => found?.waiting?.tickets?.[0]?.deciders === 'others',
  );
  t.strictSame(service.tools.executed, []);
  const [ticket] = state?.waiting?.tickets ?? [];
  t.match(ticket, { arguments: edited, digest });
  t.equal((await decide(alice, { toolCallId: ticket?.ticket_id, digest })).status, 403);
  t.equal((await decide(bob, { toolCallId: ticket?.ticket_id, digest })).status, 202);
  await isExecuted(service, 'c1');
});

t.test('others approve a call before the client executes it', async (t) => {
  const permission = { rules: [{ tool: 'pick_color', behavior: 'ask', deciders: 'others' }] };
  const { service, alice, bob } = await waiting(t, permission, ['c1', 'pick_color']);
  const digest = digestOfCall({ tool: 'pick_color', arguments: {} });
  t.equal((await decide(alice, { payload: 'red', digest })).status, 403);
  t.equal((await decide(bob, { digest })).status, 202);
  const state = await eventually(
    () => stateOf(alice),
    (found) => found?.waiting?.tickets?.[0]?.resume_mode === 'use_decision_as_tool_result',
  );
  const toolCallId = state?.waiting?.tickets?.[0]?.ticket_id;
  t.equal((await decide(bob, { toolCallId, payload: 'red', digest })).status, 403);
  t.equal((await decide(alice, { toolCallId, payload: 'red' })).status, 202);
  t.ok(service);
});
