import t, { type Test } from 'tap';
import { ADMIN_TOKEN, startTroupe, type Troupe } from './troupe.ts';

/** Keys and users over HTTP: identity.md 2.1, 2.2, and checks 11 to 14, 18, 19, 31, 59, 93. */

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });

const closed = async (t: Test): Promise<Troupe> =>
  startTroupe(t, { settings: { identity: { anonymous: 'never' } } });

type Body = Record<string, unknown>;

/** Creates a user with a key, and returns the key. */
const keyOf = async (troupe: Troupe, user: string, grants: string[], more: Body = {}): Promise<Body> => {
  const body = { name: user, user, new_user: { kind: 'person', grants }, ...more };
  const { status, body: created } = await troupe.call('POST', '/v1/keys', body, admin);
  if (status !== 201) throw new Error(JSON.stringify(created));
  return created;
};

t.test('accepts a key on every surface, until it is revoked (checks 11 and 13)', async (t) => {
  const troupe = await closed(t);
  const { key, id, ...shown } = await keyOf(troupe, 'alice', ['member', 'observe']);
  t.match(shown, { user: 'alice', scope: 'default', state: 'active', created_by: '~admin' });
  const get = (path: string, headers = bearer(key)) => troupe.call('GET', path, undefined, headers);
  t.equal((await get('/v1/threads')).status, 200);
  t.equal((await get('/v1/system/info')).status, 200);
  t.match(await get('/v1/threads', bearer('tpk_x')), { status: 401, body: { error: 'invalid credential' } });
  t.match(await get('/v1/system/info', bearer('tpk_x')), {
    status: 401,
    body: { error: 'invalid admin bearer token' },
  });
  t.match(await get(`/v1/keys/${id}`), { status: 200, body: { name: 'alice', last_used_ip: '127.0.0.1' } });
  const listed = await get('/v1/keys?state=active');
  t.match(listed.body, { total: 1, has_more: false, next_cursor: null, items: [{ id }] });
  t.notMatch(JSON.stringify(listed.body), String(key));
  t.equal((await troupe.call('DELETE', `/v1/keys/${id}`, undefined, bearer(key))).status, 204);
  t.match(await get('/v1/threads'), { status: 401, body: { error: "API key 'alice' has been revoked" } });
  t.match((await get('/v1/keys?state=revoked', admin)).body, { items: [{ id, state: 'revoked' }] });
});

t.test('returns a new key only once, and not to caches (check 11)', async (t) => {
  const troupe = await closed(t);
  const { key } = await keyOf(troupe, 'alice', ['member', 'keys']);
  const made = await troupe.call('POST', '/v1/keys', { name: 'second' }, bearer(key));
  t.equal(made.headers.get('cache-control'), 'no-store');
  const rotated = await troupe.call(
    'POST',
    `/v1/keys/${made.body.id}/rotate`,
    { grace_secs: 60 },
    bearer(key),
  );
  t.equal(rotated.status, 201);
  t.equal((await troupe.call('GET', '/v1/threads', undefined, bearer(made.body.key))).status, 200);
  for (const path of ['/v1/keys', `/v1/keys/${made.body.id}`, '/v1/audit-log']) {
    const { body } = await troupe.call('GET', path, undefined, admin);
    for (const secret of [key, made.body.key, rotated.body.key]) {
      t.notMatch(JSON.stringify(body), String(secret), path);
    }
  }
});

t.test('asks for the grant before it reads the body (check 18)', async (t) => {
  const troupe = await closed(t);
  const { key } = await keyOf(troupe, 'alice', ['member']);
  t.match(await troupe.call('POST', '/v1/keys', { nonsense: 1 }, bearer(key)), {
    status: 403,
    body: { code: 'forbidden', needs: ['keys'] },
  });
  t.equal((await troupe.call('POST', '/v1/keys', { nonsense: 1 }, bearer('tpk_x'))).status, 401);
  t.equal((await troupe.call('POST', '/v1/keys', { nonsense: 1 }, admin)).status, 422);
  t.match(await troupe.call('POST', '/v1/keys', { name: 'x' }, admin), {
    status: 400,
    body: { error: /^user is required/ },
  });
  t.match(await troupe.call('GET', '/v1/users', undefined, bearer(key)), { status: 403 });
  t.match(await troupe.call('GET', '/v1/users/alice', undefined, bearer(key)), { status: 200 });
});

t.test('lists, changes and deletes users (checks 19 and 31)', async (t) => {
  const troupe = await closed(t);
  const { key } = await keyOf(troupe, 'alice', ['member']);
  for (const id of ['bob', 'carl', 'a/b']) {
    await troupe.call('POST', '/v1/users', { id, kind: 'person', name: `Mr ${id}` }, admin);
  }
  const get = async (path: string) => (await troupe.call('GET', path, undefined, admin)).body;
  const first = await get('/v1/users?limit=3');
  t.match(first, { total: 4, has_more: true, items: [{ id: 'a/b' }, { id: 'alice' }, { id: 'bob' }] });
  t.match(await get(`/v1/users?limit=3&cursor=${first.next_cursor}`), {
    has_more: false,
    items: [{ id: 'carl' }],
  });
  t.match(await get('/v1/users?q=mr%20b'), { items: [{ id: 'bob' }] });
  t.match(await get('/v1/scopes'), { items: ['default'] });
  const patch = (body: object) => troupe.call('PATCH', '/v1/users/alice', body, admin);
  t.match(await patch({ disabled: true, grants: ['viewer'] }), { status: 200, body: { disabled: true } });
  t.match(await troupe.call('GET', '/v1/threads', undefined, bearer(key)), {
    status: 401,
    body: { error: "user 'alice' is disabled" },
  });
  t.equal((await patch({ grants: ['nonsense'] })).status, 400);
  t.equal((await troupe.call('POST', '/v1/users', { id: 'Bob', kind: 'person' }, admin)).status, 409);
  t.equal((await troupe.call('DELETE', '/v1/users/a%2Fb', undefined, admin)).status, 204);
  t.equal((await troupe.call('GET', '/v1/users/a%2Fb', undefined, admin)).status, 404);
  const audit = await get('/v1/audit-log?user=~admin&resource=users');
  t.match(audit, {
    items: [
      { action: 'delete', resource: 'users/default/a%2Fb', user: '~admin', credential: { kind: 'admin' } },
      { action: 'update', resource: 'users/default/alice' },
    ],
  });
  t.match(await get('/v1/audit-log?user=alice'), { items: [] });
  t.equal((await troupe.call('GET', '/v1/audit-log?user=a&actor=b', undefined, admin)).status, 400);
});

t.test('audits the user and the credential of a change (check 93)', async (t) => {
  const troupe = await closed(t);
  const { key, id, actor } = await keyOf(troupe, 'op', ['operator']);
  await troupe.call('POST', '/v1/users', { id: 'bob', kind: 'service' }, bearer(key));
  const { body } = await troupe.call('GET', '/v1/audit-log?user=op', undefined, admin);
  t.match(body, {
    items: [
      {
        actor,
        user: 'op',
        scope: 'default',
        credential: { kind: 'key', id },
        ip: '127.0.0.1',
        action: 'create',
        resource: 'users/default/bob',
      },
    ],
  });
});

t.test('acts for the end user that a header names (check 59)', async (t) => {
  const troupe = await closed(t);
  const grants = ['member', 'act', 'observe'];
  const { key } = await keyOf(troupe, 'app', [], { new_user: { kind: 'service', grants } });
  const as = (user: string, path: string) =>
    troupe.call('GET', path, undefined, { ...bearer(key), 'x-service-user': user });
  t.equal((await as('u1', '/v1/threads')).status, 200);
  t.match(await as('u1', '/v1/users/u1'), { status: 200, body: { id: 'u1', kind: 'person' } });
  t.match(await as('u1', '/v1/system/info'), { status: 403, body: { needs: ['observe'] } });
  t.equal((await as('%', '/v1/threads')).status, 400);
  const { key: bare } = await keyOf(troupe, 'alice', ['member']);
  t.match(await troupe.call('GET', '/v1/threads', undefined, { ...bearer(bare), 'x-service-user': 'u1' }), {
    status: 403,
    body: { needs: ['act'] },
  });
});
