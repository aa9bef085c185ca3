import t, { type Test } from 'tap';
import type { IssuerInput } from '../../src/schema/issuer.ts';
import { AUDIENCE, createKey, startProvider } from '../identity/issuers/provider.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Access tokens of identity providers over HTTP: identity.md 2.3, and checks 6, 24, 25, 27, 29, 30, 31 and 33. */

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const start = async (t: Test, fields: Partial<IssuerInput> = {}) => {
  const provider = await startProvider(t);
  const issuer: IssuerInput = {
    id: 'acme',
    issuer: provider.issuer,
    audiences: [AUDIENCE],
    claims: { roles: 'groups' },
    map: { users: ['member'], root: ['admin'] },
    ...fields,
  };
  const troupe = await startTroupe(t, { settings: { identity: { issuers: [issuer] } } });
  const now = (): number => Math.floor(Date.now() / 1000);
  const sign: typeof provider.sign = (claims, options) =>
    provider.sign({ groups: ['users'], iat: now(), exp: now() + 600, ...claims }, options);
  const get = async (token: string, path = '/v1/threads') => {
    const { status, body, headers } = await troupe.call('GET', path, undefined, {
      authorization: `Bearer ${token}`,
    });
    return { status, body, headers };
  };
  return { ...provider, troupe, sign, get, now };
};

t.test('a token creates its user and binds it to the account (check 24)', async (t) => {
  const { troupe, issuer, sign, get, state } = await start(t);
  t.strictSame(state.requests, [], 'the start fetches nothing');
  const token = await sign();
  t.equal((await get(token)).status, 200);
  t.equal((await get(token)).status, 200, 'the token is remembered');
  const { body } = await troupe.call('GET', '/v1/users/00u1', undefined, admin);
  t.match(body, { kind: 'person', identity: { issuer, subject: '00u1' }, grants: [] });
  t.equal(state.requests.length, 2);
});

t.test('rejects a bad token on each surface with its reason (check 25)', async (t) => {
  const { sign, get, now } = await start(t);
  const expired = await sign({ exp: now() - 120 });
  for (const path of ['/v1/threads', '/v1/system/info']) {
    const { status, body, headers } = await get(expired, path);
    t.strictSame([status, body.error], [401, 'invalid token: expired'], path);
    t.equal(headers.get('www-authenticate'), 'Bearer');
  }
});

t.test('requests without a credential need one once an issuer is set (check 6)', async (t) => {
  const { troupe } = await start(t);
  const { status, body } = await troupe.call('GET', '/v1/threads');
  t.match({ status, body }, { status: 401, body: { error: 'authentication required' } });
});

t.test('answers 503 while keys cannot be fetched (check 29)', async (t) => {
  const { sign, get, state } = await start(t);
  state.answer = { status: 500, body: '' };
  const { status, body, headers } = await get(await sign());
  t.match({ status, body }, { status: 503, body: { error: "cannot verify tokens of 'acme' now" } });
  t.equal(headers.get('retry-after'), '30');
});

t.test('a user made by hand is not that of a token (check 27)', async (t) => {
  const { troupe, sign, get } = await start(t);
  const made = await troupe.call('POST', '/v1/users', { id: 'alice', kind: 'person' }, admin);
  t.equal(made.status, 201);
  t.match(await get(await sign({ sub: 'alice' })), {
    status: 401,
    body: { error: 'invalid token: identity' },
  });
});

for (const [service_grants, expected] of [
  [false, 403],
  [true, 200],
] as const) {
  t.test(`service grants of roles with service_grants ${service_grants} (check 30)`, async (t) => {
    const { sign, get } = await start(t, { service_grants });
    const token = await sign({ sub: 'root', groups: ['root', 'users'] });
    t.equal((await get(token, '/v1/config/agents')).status, expected);
    t.equal((await get(token)).status, 200);
  });
}

t.test('accepts tokens of up to 8 KiB', async (t) => {
  const { sign, get } = await start(t);
  const padding = (bytes: number): Promise<string> => sign({ padding: 'x'.repeat(bytes) });
  const overhead = (await padding(0)).length;
  const long = await padding(Math.floor(((8192 - overhead) * 3) / 4));
  t.ok(long.length > 8180 && long.length <= 8192, `${long.length} bytes`);
  t.equal((await get(long)).status, 200);
  t.match(await get(await padding(7000)), { status: 401, body: { error: 'invalid token: form' } });
});

t.test('disabling a user ends its tokens at once (check 31)', async (t) => {
  const { troupe, sign, get } = await start(t);
  const token = await sign();
  t.equal((await get(token)).status, 200);
  await troupe.call('PATCH', '/v1/users/00u1', { disabled: true }, admin);
  t.match(await get(token), { status: 401, body: { error: /disabled/ } });
});

t.test('creates no user with provision known (check 33)', async (t) => {
  const { troupe, sign, get } = await start(t, { provision: 'known' });
  t.equal((await get(await sign())).status, 401);
  t.equal((await troupe.call('GET', '/v1/users/00u1', undefined, admin)).status, 404);
});

t.test('counts bad tokens per address, and still judges good ones', async (t) => {
  const { sign, get } = await start(t);
  const good = await sign();
  t.equal((await get(good)).status, 200);
  const bad = await sign({}, { key: await createKey('k1') });
  for (let attempt = 0; attempt < 20; attempt += 1) t.equal((await get(bad)).status, 401);
  t.equal((await get(bad)).status, 429);
  t.equal((await get(good)).status, 200);
});

for (const [token, status] of [
  ['nineteen-characters', 429],
  ['exactly-20-character', 200],
] as const) {
  t.test(
    `a full bucket answers ${status} to an admin token of ${token.length} characters (check 95)`,
    async (t) => {
      const provider = await startProvider(t);
      const issuer = {
        id: 'acme',
        issuer: provider.issuer,
        audiences: [AUDIENCE],
        default_grants: ['member'],
      };
      const troupe = await startTroupe(t, {
        settings: { AdminApiConfig: { bearer_token: token }, identity: { issuers: [issuer] } },
      });
      const as = (credential: string, ip = '203.0.113.7') =>
        troupe.call('GET', '/v1/identity', undefined, {
          authorization: `Bearer ${credential}`,
          'x-forwarded-for': ip,
        });
      const made = await troupe.call(
        'POST',
        '/v1/keys',
        { name: 'k', user: 'alice', new_user: { kind: 'person', grants: ['member'] } },
        { authorization: `Bearer ${token}` },
      );
      const now = Math.floor(Date.now() / 1000);
      for (let attempt = 0; attempt < 20; attempt += 1) t.equal((await as('wrong')).status, 401);
      t.equal((await as('wrong')).status, 429);
      t.equal((await as(token)).status, status);
      t.equal((await as(String(made.body.key))).status, 200, 'a key');
      t.equal(
        (await as(await provider.sign({ iat: now, exp: now + 600 }))).status,
        200,
        'a new access token',
      );
      t.equal((await as('wrong', '203.0.113.8')).status, 401, 'another address');
    },
  );
}

t.test('bad cookies and tickets fill no bucket (check 95)', async (t) => {
  const { troupe } = await start(t);
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    await troupe.call('GET', `/v1/threads?ticket=tpt_${attempt}`, undefined, {
      cookie: `__Host-troupe_session=tps_${attempt}`,
    });
  }
  const { status } = await troupe.call('GET', '/v1/threads', undefined, { authorization: 'Bearer wrong' });
  t.equal(status, 401);
});

t.test('metrics have the fetches of keys by issuer and result', async (t) => {
  const { sign, get } = await start(t, { service_grants: true });
  const { body } = await get(await sign({ groups: ['root'] }), '/metrics');
  t.match(String(body.text), /auth_jwks_fetches_total\{issuer="acme",result="ok"\} 1/);
  t.match(String(body.text), /auth_jwks_age_seconds\{issuer="acme"\} [\d.e-]+/);
});
