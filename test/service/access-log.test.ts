import t from 'tap';
import { createClient } from '../../src/client/index.ts';
import { createPrincipal } from '../../src/schema/principal.ts';
import { asks } from './models.ts';
import { ADMIN_TOKEN, startTroupe, type Troupe } from './troupe.ts';
import { runEcho, withUsers } from './users.ts';

/** `GET /v1/access-log`: identity.md 7, checks 60, 94 and 96. */

const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });
const ADMIN = bearer(ADMIN_TOKEN);

const keyOf = async (troupe: Troupe, user: string, ...grants: string[]) => {
  const made = { name: user, user, new_user: { kind: 'service', grants } };
  const { status, body } = await troupe.call('POST', '/v1/keys', made, ADMIN);
  t.equal(status, 201);
  return { id: String(body.id), head: bearer(body.key) };
};

type Event = Record<string, unknown>;

const listed = async (troupe: Troupe, query = '', head: Record<string, string> = ADMIN) => {
  const { status, body } = await troupe.call('GET', `/v1/access-log${query}`, undefined, head);
  return { status, items: (body.items ?? []) as Event[], body };
};

t.test('records refused credentials and grants with a count (check 94)', async (t) => {
  const troupe = await startTroupe(t);
  const reader = await keyOf(troupe, 'reader', 'member');
  for (let n = 0; n < 30; n += 1)
    await troupe.call('GET', '/v1/users', undefined, bearer(`tpk_${'x'.repeat(49)}`));
  for (let n = 0; n < 3; n += 1) await troupe.call('GET', '/v1/users', undefined, reader.head);
  await troupe.call('GET', '/v1/keys?user=other', undefined, reader.head);
  const { items } = await listed(troupe, '?kind=denied');
  t.match(
    items.filter(({ user }) => user === 'reader'),
    [
      { route: '/v1/keys', count: 1 },
      {
        scope: 'default',
        credential: { kind: 'key', id: reader.id },
        route: '/v1/users',
        reason: 'this needs the grant manage',
        count: 3,
        ip: '127.0.0.1',
      },
    ],
  );
  const anonymous = items.filter(({ user }) => user === undefined);
  t.match(anonymous, [
    { reason: 'too many failed authentications from this address', count: 10 },
    { ip: '127.0.0.1', route: '/v1/users', reason: 'invalid credential', count: 20 },
  ]);
  t.notMatch(JSON.stringify(items), 'tpk_');
});

t.test('records the first use of the admin token from an address (check 96)', async (t) => {
  const troupe = await startTroupe(t);
  const from = (ip: string) =>
    troupe.call('GET', '/v1/system/info', undefined, { ...ADMIN, 'x-forwarded-for': ip });
  await from('203.0.113.7');
  await from('203.0.113.7');
  await from('203.0.113.8');
  await troupe.restart();
  await from('203.0.113.7');
  const { items } = await listed(troupe, '?kind=admin_new_address');
  t.match(items, [
    { ip: '127.0.0.1', user: '~admin' },
    { ip: '203.0.113.8' },
    { ip: '203.0.113.7', credential: { kind: 'admin' }, route: '/v1/system/info', count: 1 },
  ]);
  t.equal(items.length, 3);
});

t.test('rejects a scope in place of a principal for requests of the program (check 96)', async (t) => {
  const { app } = await startTroupe(t);
  const request = new Request('http://localhost/v1/threads');
  await t.rejects(app.fetchAs('acme' as never, request), { message: 'fetchAs needs a principal' });
  const alice = createPrincipal({ scope: 'acme', user: 'alice', grants: ['member'] });
  t.equal((await app.fetchAs(alice, request)).status, 200);
});

t.test('records a decision with its principal, run and tool (check 60)', async (t) => {
  const service = await withUsers(t);
  const alice = service.user('alice');
  service.models.steps.push(asks(['c1', 'risky']));
  const { body } = await runEcho(alice, 't1', { agentId: 'steps' });
  t.ok(body);
  const decision = { toolCallId: 'c1', action: 'resume', payload: { approved: true } };
  t.equal((await alice.post('/v1/threads/t1/decision', decision)).status, 202);
  const { items } = await listed(service, '?kind=decide');
  t.match(items, [
    {
      kind: 'decide',
      user: 'alice',
      scope: 'default',
      credential: { kind: 'program' },
      ip: '127.0.0.1',
      route: '/v1/threads/:id/decision',
      reason: "resume 'risky'",
      thread_id: 't1',
      run_id: /^[\da-f-]{36}$/,
      count: 1,
    },
  ]);
  await alice.post('/v1/threads/t1/decision', decision);
  t.equal((await listed(service, '?kind=decide')).items.length, 1, 'a refused decision is none');
});

t.test('lists the own scope with `manage`, and every scope with `observe`', async (t) => {
  const service = await withUsers(t);
  for (const id of ['acme/alice', 'globex/bob']) await service.user(id).get('/v1/users');
  const manager = service.user('acme/mia', 'manage');
  const own = await listed(service, '?kind=denied', manager.head);
  t.match(own.items, [{ user: 'alice', scope: 'acme' }]);
  t.equal(own.items.length, 1);
  t.equal((await listed(service, '?of_scope=acme', manager.head)).status, 200);
  t.match(await listed(service, '?of_scope=globex', manager.head), {
    status: 403,
    body: { needs: ['observe'] },
  });
  t.equal((await listed(service, '?user=bob', manager.head)).items.length, 0);
  t.equal((await listed(service, '?user=bob', service.user('acme/oz', 'observe').head)).items.length, 1);
  t.match(await listed(service, '', service.user('acme/ada').head), {
    status: 403,
    body: { needs: ['observe'] },
  });
});

t.test('pages and filters over HTTP and with the client', async (t) => {
  const troupe = await startTroupe(t);
  const keys = [await keyOf(troupe, 'one', 'member'), await keyOf(troupe, 'two', 'member')];
  for (const { head } of keys)
    for (const path of ['/v1/users', '/v1/system/info', '/v1/audit-log'])
      await troupe.call('GET', path, undefined, head);
  const client = createClient({ url: troupe.url, headers: ADMIN });
  const routes: unknown[] = [];
  for await (const { route } of client.accessLog.list({ credential: String(keys[0]?.id), limit: 2 }))
    routes.push(route);
  t.strictSame(routes, ['/v1/audit-log', '/v1/system/info', '/v1/users']);
  t.equal((await client.accessLog.list({ user: 'two', kind: 'denied' })).items.length, 3);
  t.equal((await listed(troupe, '?until=2020-01-01T00:00:00Z')).items.length, 0);
  t.equal((await listed(troupe, '?limit=0')).items.length, 1);
  t.match(await listed(troupe, '?user=one&ip=127.0.0.1'), {
    status: 400,
    body: { error: 'give one of user, credential and ip' },
  });
  t.match(await listed(troupe, '?cursor=x'), { status: 400, body: { error: 'invalid cursor' } });
  t.equal((await listed(troupe, '?kind=guess')).status, 400);
  t.equal((await listed(troupe, '?user=%00')).status, 200);
});

t.test('reports a log that is switched off', async (t) => {
  const troupe = await startTroupe(t, { settings: { access_log: { enabled: false } } });
  t.match(await listed(troupe), { status: 503, body: { error: 'access log is not configured' } });
});
