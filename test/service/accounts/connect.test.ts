import t from 'tap';
import { asks } from '../models.ts';
import { ADMIN_TOKEN, eventually } from '../troupe.ts';
import { ADMIN, open, TOOL, ticketOf } from './connected.ts';

/** Runs that wait for an account of their user, and the ways to connect it: identity.md 6.2. */

t.test('all calls of a user and server share one authorization, and connecting resumes them', async (t) => {
  const { kit, run, connect, done, troupe } = await open(t);
  const first = await run('alice', 't1', ['c1', TOOL, {}], ['c2', TOOL, {}]);
  const second = await run('alice', 't2', ['c1', TOOL, {}], ['c3', TOOL, {}]);
  const third = await run('alice', 't3', ['c4', TOOL, {}]);
  const waiting = [first, second, third];
  t.match(first, { status: 'waiting', waiting: { reason: 'tool_permission', message: 'auth_required' } });
  const tickets = waiting.flatMap(({ waiting }) => waiting?.tickets ?? []);
  t.equal(tickets.length, 5);
  const ids = new Set(tickets.map((ticket) => ticket.arguments.authorization));
  t.equal(ids.size, 1);
  const [id = ''] = ids;
  t.match(ticketOf(first).arguments, {
    server: 'notes',
    scopes: ['read'],
    url: `https://agents.example/v1/authorizations/${id}/start`,
  });
  const ofBob = await run('bob', 't4', ['c1', TOOL, {}]);
  t.not(ticketOf(ofBob).arguments.authorization, id);
  t.equal(kit.calls.length, 0);

  t.match(await connect('alice', id), { status: 200, body: { server: 'notes', state: 'connected' } });
  for (const thread of ['t1', 't2', 't3']) await done('alice', thread);
  t.equal(kit.calls.length, 5);
  const [grant] = new Set(kit.calls.map(({ grant: { id } }) => id));
  t.equal(new Set(kit.calls.map(({ grant: { id } }) => id)).size, 1);
  t.match((await troupe.call('GET', '/v1/threads/t4/runs', undefined, { 'x-user': 'bob' })).body.items, [
    { status: 'waiting' },
  ]);
  const { body } = await troupe.call('GET', '/v1/threads/t1/events', undefined, { 'x-user': 'alice' });
  const decisions = (body.items as { event_kind: string; payload: object }[]).filter(
    ({ event_kind }) => event_kind === 'MailboxDecisionReceived',
  );
  t.match(decisions, [{ payload: { action: 'resume', decided_by: 'alice' } }]);

  await connect('bob', ticketOf(ofBob).arguments.authorization);
  await done('bob', 't4');
  t.not(kit.calls.at(-1)?.grant.id, grant, 'another user never uses this connection (check 92)');
});

t.test('connecting after a restart resumes the calls from before it', async (t) => {
  const { kit, run, connect, done, troupe } = await open(t);
  const waiting = await run('alice', 't1', ['c1', TOOL, {}]);
  await troupe.restart();
  t.equal((await connect('alice', ticketOf(waiting).arguments.authorization)).status, 200);
  await done('alice', 't1');
  t.equal(kit.calls.length, 1);
});

t.test('in a browser, start and callback need a session of the same user (check 82)', async (t) => {
  const { kit, run, browse, callback, as, done } = await open(t);
  const { url, authorization } = ticketOf(await run('alice', 't1', ['c1', TOOL, {}])).arguments;
  for (const stranger of ['', 'alice']) {
    const led = await browse(url, stranger);
    t.equal(led.status, 303);
    t.equal(
      led.headers.get('location'),
      `/sign-in?return_to=${encodeURIComponent(`/v1/authorizations/${authorization}/start`)}`,
    );
  }
  t.equal((await browse(url, 'bob session')).status, 404);
  t.equal(
    (await as('bob').post(`/v1/authorizations/${authorization}/start`, { return_to: '/' })).status,
    404,
  );

  const started = await browse(url, 'alice session');
  t.equal(started.status, 303);
  const query = await kit.approve(started.headers.get('location') ?? '');
  t.equal((await callback(query, 'bob session')).status, 403);
  const led = await callback(query, '');
  t.match(led.headers.get('location'), /^\/sign-in\?return_to=%2Fv1%2Fauthorizations%2Fcallback/);
  t.match((await as('alice').get('/v1/connections')).body, { items: [] });
  const end = await callback(query, 'alice session');
  t.equal(end.status, 200);
  t.match(await end.text(), /connected/);
  await done('alice', 't1');
  t.match((await as('alice').get('/v1/connections')).body, {
    items: [{ server: 'notes', state: 'connected', scopes: ['read'], issuer: kit.issuer }],
  });
  t.match((await as('bob').get('/v1/connections')).body, { items: [] });
  t.equal((await callback(query, 'alice session')).status, 409, 'a code is exchanged once');
});

t.test('tokens of an app are usable once their user has confirmed them (check 82)', async (t) => {
  const { kit, run, throughApp, as, runsOf, done } = await open(t);
  const id = ticketOf(await run('alice', 't1', ['c1', TOOL, {}])).arguments.authorization;
  const path = `/v1/authorizations/${id}/confirm`;
  const first = await throughApp(id, 'alice');
  t.equal(first.get('authorization'), id);
  t.match((await as('alice').get('/v1/connections')).body, { items: [] });
  t.match(await runsOf('alice', 't1'), [{ status: 'waiting' }]);
  t.equal((await as('bob').post(path, { code: first.get('code') })).status, 403);
  t.equal((await as('alice').post(path, { code: first.get('code') })).status, 404, 'the tokens are dropped');
  t.ok(kit.grants.some(({ revoked }) => revoked));

  const second = await throughApp(id, 'alice');
  t.equal((await as('alice').post(path, { code: second.get('code') })).status, 200);
  t.equal((await as('alice').post(path, { code: second.get('code') })).status, 404);
  await done('alice', 't1');
});

t.test('sends a browser back only to this service or to a listed origin', async (t) => {
  const { run, as } = await open(t, {
    settings: {
      identity: { anonymous: 'always' },
      secrets_key: 'a phrase for the secrets of this test',
      public_url: 'https://agents.example',
      AdminApiConfig: { bearer_token: ADMIN_TOKEN, cors_allowed_origins: ['https://app.example'] },
    },
  });
  const id = ticketOf(await run('alice', 't1', ['c1', TOOL, {}])).arguments.authorization;
  const start = (return_to: unknown) => as('alice').post(`/v1/authorizations/${id}/start`, { return_to });
  for (const return_to of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    'https://app.example.evil.example/',
    'https://user@app.example/',
  ])
    t.equal((await start(return_to)).status, 400, return_to);
  for (const return_to of ['/connections?a=1', 'https://agents.example/x', 'https://app.example/done'])
    t.equal((await start(return_to)).status, 200, return_to);
});

t.test('sends a browser back to the name under which it has opened the console on this host', async (t) => {
  const { run, troupe, kit, callback } = await open(t, {
    settings: { public_url: undefined, secrets_key: 'a phrase for the secrets of this test' },
  });
  const { port, origin } = new URL(troupe.url);
  const id = ticketOf(await run('alice', 't1', ['c1', TOOL, {}])).arguments.authorization;
  const start = (return_to: string, host: string) =>
    troupe.call('POST', `/v1/authorizations/${id}/start`, { return_to }, { 'x-user': 'alice', host });
  const local = `localhost:${port}`;
  t.equal((await start(`http://${local}/connections`, new URL(origin).host)).status, 400);
  t.equal((await start(`http://localhost:1/connections`, local)).status, 400);
  t.equal((await start(`https://${local}/connections`, local)).status, 400);
  t.equal((await start(`${origin}/connections`, local)).status, 200, 'the address that it listens on');
  const { status, body } = await start(`http://${local}/connections`, local);
  t.equal(status, 200);
  const back = await callback(await kit.approve(String(body.url)), '');
  t.match(back.headers.get('location'), new RegExp(`^http://${local}/connections\\?authorization=`));
});

for (const public_url of ['https://agents.example', undefined])
  t.test(`a name of another host is no own origin of ${public_url ?? 'a service on loopback'}`, async (t) => {
    const { run, troupe } = await open(t, {
      settings: { public_url, secrets_key: 'a phrase for the secrets of this test' },
    });
    const id = ticketOf(await run('alice', 't1', ['c1', TOOL, {}])).arguments.authorization;
    const forged = { 'x-user': 'alice', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' };
    const body = { return_to: 'https://evil.example/' };
    t.equal((await troupe.call('POST', `/v1/authorizations/${id}/start`, body, forged)).status, 400);
  });

t.test('a denial leaves the call waiting, and cancelling it ends the wait (check 83)', async (t) => {
  const { run, as, callback, runsOf, done, troupe } = await open(t);
  const { ticket_id, arguments: shown } = ticketOf(await run('alice', 't1', ['c1', TOOL, {}]));
  const path = `/v1/authorizations/${shown.authorization}/start`;
  const { body } = await as('alice').post(path, { return_to: '/connections' });
  const state = new URL(String(body.url)).searchParams.get('state') ?? '';
  const back = await callback(new URLSearchParams({ state, error: 'access_denied' }), '');
  t.match(back.headers.get('location'), /error=denied/);
  t.match(await runsOf('alice', 't1'), [{ status: 'waiting' }]);
  t.equal((await as('alice').post(path, { return_to: '/connections' })).status, 200, 'another try');
  const cancel = { toolCallId: ticket_id, action: 'cancel' };
  t.equal((await as('alice').post('/v1/threads/t1/decision', cancel)).status, 202);
  await done('alice', 't1');
  const told = troupe.models.requests.at(-1)?.request.messages.filter(({ role }) => role === 'tool');
  t.match(JSON.stringify(told), /denied/i);
});

t.test(
  'a run without a user fails its call, and input of another user uses the account of that user',
  async (t) => {
    const { kit, run, connect, done, as, troupe } = await open(t);
    await run('', 't0', ['c1', TOOL, {}]);
    const told = troupe.models.requests.at(-1)?.request.messages.filter(({ role }) => role === 'tool');
    t.match(JSON.stringify(told), /server 'notes' needs a signed-in user/);

    await connect('alice');
    await run('alice', 't1', ['c1', TOOL, {}]);
    await done('alice', 't1');
    t.equal((await as('alice').post('/v1/connections', { server: 'other' })).status, 404);
    const patched = await troupe.call(
      'PATCH',
      '/v1/threads/t1',
      { visibility: 'write' },
      { 'x-user': 'alice' },
    );
    t.equal(patched.status, 200);
    const { body } = await as('alice').get('/v1/threads/t1');
    const calls = kit.calls.length;
    troupe.models.steps.push(asks(['c9', TOOL, {}]));
    await as('bob').post('/v1/runs', {
      agentId: 'steps',
      threadId: body.uid,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const { items } = (await as('alice').get('/v1/threads/t1/runs')).body as { items: { user: string }[] };
    const ofBob = items.find(({ user }) => user === 'bob');
    t.match(ofBob, { status: 'waiting', waiting: { message: 'auth_required' } });
    t.equal(kit.calls.length, calls, "the connection of the thread's owner is not used (check 92)");
  },
);

t.test('shows the scopes before a start, if the entry does not bound them (check 88)', async (t) => {
  const { kit, run, browse, callback, done } = await open(t, { auth: { scopes: undefined } });
  const { url } = ticketOf(await run('alice', 't1', ['c1', TOOL, {}])).arguments;
  const shown = await browse(url, 'alice session');
  t.equal(shown.status, 200);
  t.match(shown.headers.get('content-security-policy'), /frame-ancestors 'none'/);
  const page = await shown.text();
  const next = /href="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  t.match(next, /confirmed=/);
  t.equal((await browse(`${url}?confirmed=wrong`, 'alice session')).status, 200);
  const started = await browse(next, 'alice session');
  t.equal(started.status, 303);
  await callback(await kit.approve(started.headers.get('location') ?? ''), 'alice session');
  await done('alice', 't1');
});

t.test('deleting a user ends its connections and authorizations', async (t) => {
  const { connect, as, kit, troupe } = await open(t);
  const made = await troupe.call('POST', '/v1/users', { id: 'carol', kind: 'person' }, ADMIN);
  t.equal(made.status, 201);
  await connect('carol');
  const { body } = await as('carol').post('/v1/connections', { server: 'notes' });
  t.equal((await troupe.call('DELETE', '/v1/users/carol', undefined, ADMIN)).status, 204);
  t.match((await as('carol').get('/v1/connections')).body, { items: [] });
  const start = await as('carol').post(`/v1/authorizations/${body.id}/start`, { return_to: '/' });
  t.equal(start.status, 404);
  t.equal(kit.grants.length, 2);
});

t.test('disconnecting ends the connection, and the next call waits again', async (t) => {
  const { kit, run, connect, as, done, troupe } = await open(t);
  await connect('alice');
  await run('alice', 't1', ['c1', TOOL, {}]);
  await done('alice', 't1');
  t.equal((await as('bob').remove('/v1/connections/notes')).status, 404);
  t.equal((await as('alice').remove('/v1/connections/notes')).status, 204);
  t.equal((await as('alice').remove('/v1/connections/notes')).status, 404);
  await eventually(
    async () => kit.grants,
    (grants) => grants.some(({ revoked }) => revoked),
  );
  t.match(await run('alice', 't2', ['c1', TOOL, {}]), { status: 'waiting' });
  const metrics = await (await fetch(`${troupe.url}/metrics`)).text();
  t.match(metrics, /service_mcp_authorizations_total\{server="notes",result="connected"\} 2/);
});
