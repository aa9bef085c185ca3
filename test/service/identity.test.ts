import t, { type Test } from 'tap';
import { createPrincipal } from '../../src/schema/principal.ts';
import { ADMIN_TOKEN, startTroupe, type TroupeOptions } from './troupe.ts';

/** `GET /v1/identity`: identity.md 2.4, and check 17. */

const started = async (t: Test, anonymous: 'never' | 'loopback', app: TroupeOptions['app'] = {}) => {
  const troupe = await startTroupe(t, { settings: { identity: { anonymous } }, app });
  return {
    troupe,
    who: (headers: Record<string, string> = {}) => troupe.call('GET', '/v1/identity', undefined, headers),
  };
};

const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` });

t.test('reports the user of a key, with the grants that the key leaves', async (t) => {
  const { troupe, who } = await started(t, 'never');
  const body = {
    name: 'ci',
    user: 'alice',
    new_user: { kind: 'person', name: 'Alice', grants: ['member'] },
    grants: ['invoke:support', 'keys'],
  };
  const { body: made } = await troupe.call('POST', '/v1/keys', body, bearer(ADMIN_TOKEN));
  const answer = await who(bearer(made.key));
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.strictSame(answer.body, {
    authenticated: true,
    anonymous: false,
    scope: 'default',
    user: 'alice',
    name: 'Alice',
    grants: ['read:own', 'invoke:support'],
    credential: { kind: 'key', id: made.id },
    sign_in: [{ kind: 'key' }],
  });
  await troupe.call('PATCH', '/v1/users/alice', { grants: ['viewer'] }, bearer(ADMIN_TOKEN));
  t.strictSame((await who(bearer(made.key))).body.grants, []);
  await troupe.call('DELETE', `/v1/keys/${made.id}`, undefined, bearer(ADMIN_TOKEN));
  t.match(await who(bearer(made.key)), {
    status: 401,
    body: { error: "API key 'ci' has been revoked" },
  });
});

t.test('reports the admin token, which has no user', async (t) => {
  const { who } = await started(t, 'never');
  t.strictSame((await who(bearer(ADMIN_TOKEN))).body, {
    authenticated: true,
    anonymous: false,
    scope: 'default',
    grants: ['admin'],
    credential: { kind: 'admin' },
    sign_in: [{ kind: 'key' }],
  });
});

t.test('answers requests without a credential, and rejects a bad one on a closed service', async (t) => {
  const { troupe, who } = await started(t, 'never');
  t.match(await who(), { status: 200 });
  t.strictSame((await who()).body, {
    authenticated: false,
    anonymous: false,
    grants: [],
    sign_in: [{ kind: 'key' }],
  });
  for (const bad of [bearer('nope'), bearer('tpk_nope'), { authorization: 'Basic x' }]) {
    t.match(await who(bad), { status: 401, body: { error: 'invalid credential' } });
  }
  t.equal((await who({ 'x-service-user': 'u1' })).status, 403, 'the header is never ignored');
  t.equal((await troupe.call('GET', '/v1/keys')).status, 401, 'other routes stay closed');
});

t.test('reports anonymous access where it holds', async (t) => {
  const { who } = await started(t, 'loopback');
  t.strictSame((await who()).body, {
    authenticated: false,
    anonymous: true,
    scope: 'default',
    grants: ['invoke:*', 'read:own', 'decide:*/*'],
    sign_in: [{ kind: 'key' }],
  });
  t.equal((await who({ 'x-forwarded-for': '127.0.0.1' })).body.anonymous, false, 'not behind a proxy');
  t.equal((await who(bearer('tpk_nope'))).status, 401);
});

t.test('reports the principal of an embedding program', async (t) => {
  const { who } = await started(t, 'never', {
    authenticate({ header }) {
      const user = header('x-session');
      return user === undefined ? undefined : createPrincipal({ scope: 'acme', user, grants: ['viewer'] });
    },
  });
  t.match((await who({ 'x-session': 'bob' })).body, {
    authenticated: true,
    scope: 'acme',
    user: 'bob',
    grants: ['read:all'],
    credential: { kind: 'program' },
  });
  t.match((await who()).body, { authenticated: false, anonymous: false });
});

t.test('describes the route as open', async (t) => {
  const { troupe } = await started(t, 'never');
  const { body } = await troupe.call('GET', '/openapi.json');
  const { paths } = body as { paths: Record<string, { get?: { security?: object[] } }> };
  t.strictSame(paths['/v1/identity']?.get?.security, [
    {},
    { adminBearer: [] },
    { bearer: [] },
    { session: [] },
  ]);
  t.strictSame(paths['/v1/keys']?.get?.security, [{ adminBearer: [] }, { bearer: [] }, { session: [] }]);
});

t.test('counts authentications by kind of credential and result', async (t) => {
  const { troupe } = await started(t, 'never', {
    authenticate: ({ header }) =>
      header('x-later') === undefined
        ? undefined
        : Promise.resolve(createPrincipal({ scope: 'acme', user: 'bob', grants: ['member'] })),
  });
  const key = async (user: string, body = {}) =>
    (
      await troupe.call(
        'POST',
        '/v1/keys',
        { name: user, user, new_user: { kind: 'person', grants: ['member'] }, ...body },
        bearer(ADMIN_TOKEN),
      )
    ).body;
  const good = await key('alice');
  const revoked = await key('bob');
  const disabled = await key('carl');
  await troupe.call('DELETE', `/v1/keys/${revoked.id}`, undefined, bearer(ADMIN_TOKEN));
  await troupe.call('PATCH', '/v1/users/carl', { disabled: true }, bearer(ADMIN_TOKEN));
  const get = (headers: Record<string, string>, path = '/v1/threads') =>
    troupe.call('GET', path, undefined, headers);
  await get(bearer(good.key));
  await get(bearer(good.key), '/v1/users');
  await get(bearer(revoked.key));
  await get(bearer(disabled.key));
  await get(bearer('tpk_x'));
  await get(bearer('a.b.c'));
  await get(bearer('nope'));
  await get({ authorization: 'Basic x' });
  await get({});
  await get({}, '/v1/identity');
  await get({}, '/health');
  await get({ 'x-later': '1' });
  await get({ 'x-later': '1' }, '/v1/users');
  const { body } = await get(bearer(ADMIN_TOKEN), '/metrics');
  const counts = String(body.text)
    .split('\n')
    .filter((line) => line.startsWith('service_auth_requests_total{'))
    .map((line) => line.slice('service_auth_requests_total'.length))
    .sort();
  t.strictSame(counts, [
    '{kind="admin",result="invalid"} 1',
    // Three keys, a revocation, a change of a user, and the metrics.
    '{kind="admin",result="ok"} 6',
    '{kind="jwt",result="invalid"} 1',
    '{kind="key",result="disabled"} 1',
    '{kind="key",result="forbidden"} 1',
    '{kind="key",result="invalid"} 1',
    '{kind="key",result="ok"} 1',
    '{kind="key",result="revoked"} 1',
    '{kind="none",result="invalid"} 2',
    '{kind="none",result="ok"} 1',
    '{kind="program",result="forbidden"} 1',
    '{kind="program",result="ok"} 1',
  ]);
});
