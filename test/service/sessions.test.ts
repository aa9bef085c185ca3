import t, { type Test } from 'tap';
import { checksumOf } from '../../src/identity/credentials/key-format.ts';
import { AUDIENCE, startProvider } from '../identity/issuers/provider.ts';
import { type Browser, ORIGIN, openBrowser, THROUGH_PROXY } from './browser.ts';
import { ask } from './http.ts';
import { readBlocks } from './stream.ts';
import { ADMIN_TOKEN, startTroupe, type Troupe, type TroupeOptions } from './troupe.ts';

/** Sessions of browsers: identity.md 2.5, and checks 31, 35, 38 and 39. */

const COOKIE = '__Host-troupe_session';
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const admin = bearer(ADMIN_TOKEN);

type Service = {
  troupe: Troupe;
  clock: { ms: number; now(): number };
  browser: Browser;
  /** Creates a key of a new person. */
  key(user: string, grants?: string[], more?: object): Promise<{ key: string; id: string }>;
};

const start = async (t: Test, options: TroupeOptions = {}): Promise<Service> => {
  const clock = { ms: Date.now(), now: () => clock.ms };
  const troupe = await startTroupe(t, {
    ...options,
    app: { clock, ...options.app },
    settings: { ...options.settings, identity: { anonymous: 'never', ...options.settings?.identity } },
  });
  return {
    troupe,
    clock,
    browser: openBrowser(troupe),
    async key(user, grants = ['member', 'keys'], more = {}) {
      const new_user = { kind: 'person', grants };
      const { status, body } = await troupe.call(
        'POST',
        '/v1/keys',
        { name: 'k', user, new_user, ...more },
        admin,
      );
      if (status !== 201) throw new Error(JSON.stringify(body));
      return { key: String(body.key), id: String(body.id) };
    },
  };
};

t.test('a key is exchanged for a cookie that only this origin has', async (t) => {
  const { browser, key } = await start(t);
  const { key: text } = await key('alice');
  const { status, body, headers } = await browser.call('POST', '/v1/session', undefined, bearer(text));
  t.equal(status, 201);
  t.match(body, { authenticated: true, anonymous: false, scope: 'default', user: 'alice' });
  t.match(body.credential, { kind: 'session', id: String });
  t.notOk('token' in body, 'only the cookie has the session');
  t.match(
    headers.get('set-cookie'),
    /^__Host-troupe_session=tps_[0-9A-Za-z]{49}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax$/,
  );
  t.equal(headers.get('cache-control'), 'no-store');
  const who = await browser.call('GET', '/v1/identity');
  t.strictSame(who.body, body, 'the identity is that of the session');
  t.match(who.body.sign_in, [{ kind: 'key' }]);
  const token = browser.cookies.get(COOKIE) ?? '';
  t.equal(token.slice(-6), checksumOf(token.slice(0, -6)));
});

t.test('the cookie counts only where the own origin is https (check 35)', async (t) => {
  const { troupe, browser, key } = await start(t);
  const { key: text } = await key('alice');
  const overHttp = await troupe.call('POST', '/v1/session', undefined, bearer(text));
  t.equal(overHttp.status, 400);
  t.match(overHttp.body.error, /^sessions need https/);
  t.equal(overHttp.headers.get('set-cookie'), null);
  await browser.call('POST', '/v1/session', undefined, bearer(text));
  const { status, body } = await troupe.call('GET', '/v1/threads', undefined, { cookie: browser.cookie() });
  t.match({ status, body }, { status: 401, body: { error: 'authentication required' } });
  const header = bearer(browser.cookies.get(COOKIE) ?? '');
  t.equal((await troupe.call('GET', '/v1/threads', undefined, header)).status, 200, 'the header counts');
});

t.test('needs a credential in the header', async (t) => {
  const { browser, key } = await start(t);
  t.match(await browser.call('POST', '/v1/session'), { status: 401 });
  const { key: text } = await key('alice');
  await browser.call('POST', '/v1/session', undefined, bearer(text));
  t.match(await browser.call('POST', '/v1/session'), { status: 401 }, 'a cookie is not enough');
  t.match(await browser.call('POST', '/v1/session', undefined, bearer('nonsense')), { status: 401 });
});

t.test('a header beats the cookie, and a bad one never falls back to it', async (t) => {
  const { browser, key } = await start(t);
  await browser.call('POST', '/v1/session', undefined, bearer((await key('alice')).key));
  const { key: other } = await key('bob');
  t.match((await browser.call('GET', '/v1/identity', undefined, bearer(other))).body, { user: 'bob' });
  t.equal((await browser.call('GET', '/v1/identity', undefined, bearer(`${other}x`))).status, 401);
});

t.test('state-changing requests with a cookie must come from the own origin (check 38)', async (t) => {
  const { troupe, browser, key } = await start(t);
  const { key: text } = await key('alice');
  await browser.call('POST', '/v1/session', undefined, bearer(text));
  const post = (headers: Record<string, string>) =>
    troupe.call('POST', '/v1/threads', {}, { ...THROUGH_PROXY, cookie: browser.cookie(), ...headers });
  const own = { origin: 'https://agents.example' };
  const refused: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site', ...own },
    { 'sec-fetch-site': 'same-site', origin: 'https://other.agents.example' },
    { 'sec-fetch-site': 'none' },
    {},
    { origin: 'https://evil.example' },
    { origin: 'http://agents.example' },
    { origin: 'https://agents.example:8443' },
    { origin: 'null' },
  ];
  for (const headers of refused) {
    const { status, body } = await post(headers);
    t.match({ status, body }, { status: 403, body: { code: 'cross_site' } }, JSON.stringify(headers));
  }
  for (const headers of [
    { 'sec-fetch-site': 'same-origin' },
    own,
    { 'sec-fetch-site': 'cross-site', ...bearer(text) },
  ])
    t.equal((await post(headers)).status, 201, JSON.stringify(Object.keys(headers)));
  const read = { ...THROUGH_PROXY, cookie: browser.cookie(), 'sec-fetch-site': 'cross-site' };
  t.equal((await troupe.call('GET', '/v1/threads', undefined, read)).status, 200, 'reading changes nothing');
});

t.test('the rule for cookies holds for origins of CORS and for every protocol (check 38)', async (t) => {
  const origin = 'https://app.example';
  const { troupe, browser, key } = await start(t, {
    settings: { AdminApiConfig: { bearer_token: ADMIN_TOKEN, cors_allowed_origins: [origin] } },
  });
  await browser.call('POST', '/v1/session', undefined, bearer((await key('alice')).key));
  const head = { ...THROUGH_PROXY, cookie: browser.cookie(), origin, 'a2a-version': '1.0' };
  for (const path of ['/v1/threads', '/v1/runs', '/v1/a2a/message:send']) {
    const { status, body, headers } = await troupe.call('POST', path, {}, head);
    t.equal(status, 403, path);
    t.match(JSON.stringify(body), /requests that pages of/, path);
    t.equal(headers.get('access-control-allow-credentials'), null);
  }
  const ofProtocol = { ...head, origin: 'https://agents.example:8443' };
  t.equal((await troupe.call('POST', '/v1/mcp', {}, ofProtocol)).status, 403);
});

t.test('a session ends with its key, when idle, and after its longest life (check 39)', async (t) => {
  const { troupe, browser, clock, key } = await start(t);
  const signIn = async () => {
    const made = await key(`u${clock.ms}`, ['member'], { expires_in_secs: 8_640_000 });
    browser.cookies.clear();
    await browser.call('POST', '/v1/session', undefined, bearer(made.key));
    return made;
  };
  const get = async () => {
    const { status, body, headers } = await browser.call('GET', '/v1/threads', undefined, {
      cookie: `${COOKIE}=${token}`,
    });
    return { status, error: body.error, cookie: headers.get('set-cookie') };
  };
  const ended = {
    status: 401,
    error: 'session has ended',
    cookie: /^__Host-troupe_session=; Path=\/; Max-Age=0;/,
  };

  const { id } = await signIn();
  let token = browser.cookies.get(COOKIE);
  t.match(await get(), { status: 200 });
  await troupe.call('DELETE', `/v1/keys/${id}`, undefined, admin);
  t.match(await get(), ended, 'the key is revoked');

  clock.ms += 1;
  await signIn();
  token = browser.cookies.get(COOKIE);
  clock.ms += 43_199_999;
  t.match(await get(), { status: 200 }, 'used within 12 hours');
  clock.ms += 43_199_999;
  t.match(await get(), { status: 200 }, 'each request counts');
  clock.ms += 43_200_000;
  t.match(await get(), ended, 'idle for 12 hours');

  await signIn();
  token = browser.cookies.get(COOKIE);
  for (let hours = 0; hours < 160; hours += 8) {
    clock.ms += 8 * 3_600_000;
    t.match(await get(), { status: 200 });
  }
  clock.ms += 8 * 3_600_000 - 1;
  t.match(await get(), { status: 200 });
  clock.ms += 1;
  t.match(await get(), ended, 'a week old');
});

t.test('sessions survive a restart, except those of an admin token that has changed', async (t) => {
  const { troupe, browser, key } = await start(t);
  await browser.call('POST', '/v1/session', undefined, bearer((await key('alice')).key));
  await troupe.restart();
  t.match(await browser.call('GET', '/v1/identity'), { status: 200, body: { user: 'alice' } });
});

t.test('admin routes accept a session, and the audit log has its actor and user (check 39)', async (t) => {
  const { browser, troupe, key } = await start(t);
  const { key: text } = await key('root', ['member', 'observe', 'manage']);
  await browser.call('POST', '/v1/session', undefined, bearer(text));
  t.equal((await browser.call('GET', '/v1/system/info')).status, 200);
  t.equal((await browser.call('PUT', '/v1/config/agents/a', {})).status, 403);
  const made = await browser.call('POST', '/v1/users', { id: 'carol', kind: 'person' });
  t.equal(made.status, 201);
  const { body } = await troupe.call('GET', '/v1/audit-log?user=root', undefined, admin);
  t.match(body, { items: [{ user: 'root', actor: /^[0-9a-f]{16}$/, credential: { kind: 'session' } }] });
});

t.test('the admin token has sessions too', async (t) => {
  const { browser, troupe, clock } = await start(t);
  const { body } = await browser.call('POST', '/v1/session', undefined, admin);
  t.match(body, { authenticated: true, grants: ['admin'], credential: { kind: 'session' } });
  t.notOk('user' in body);
  t.equal((await browser.call('GET', '/v1/config/agents')).status, 200);
  const { items } = (await browser.call('GET', '/v1/sessions')).body as { items: object[] };
  t.match(items, [{ user: '~admin', source: 'admin', current: true }]);
  clock.ms += 1;
  await troupe.restart();
  t.equal((await browser.call('GET', '/v1/config/agents')).status, 200);
});

t.test('lists and ends sessions', async (t) => {
  const { troupe, browser, key } = await start(t);
  const { key: text } = await key('alice');
  await browser.call('POST', '/v1/session', undefined, bearer(text));
  const phone = openBrowser(troupe);
  await phone.call('POST', '/v1/session', undefined, { ...bearer(text), 'user-agent': 'x'.repeat(1000) });
  const { body } = await browser.call('GET', '/v1/sessions');
  t.match(body.items, [
    { user_agent: 'x'.repeat(256), ip: '192.0.2.7', current: false, user: 'alice', source: 'key' },
    { user_agent: 'Test browser', current: true },
  ]);
  t.notMatch(JSON.stringify(body), /tps_|digest/);
  const [{ id }] = body.items as [{ id: string }];
  const mallory = bearer((await key('mallory')).key);
  t.match(await troupe.call('DELETE', `/v1/sessions/${id}`, undefined, mallory), {
    status: 404,
    body: { error: `session not found: ${id}` },
  });
  t.equal((await troupe.call('GET', '/v1/sessions?user=alice', undefined, mallory)).status, 403);
  t.equal((await browser.call('DELETE', `/v1/sessions/${id}`)).status, 204);
  t.equal((await browser.call('DELETE', `/v1/sessions/${id}`)).status, 404);
  t.match(await phone.call('GET', '/v1/threads'), { status: 401, body: { error: 'session has ended' } });
  t.strictSame([...phone.cookies], [], 'the browser forgets the ended session');
  t.equal((await phone.call('GET', '/v1/identity')).status, 200);
  const cookie = browser.cookie();
  t.equal((await browser.call('DELETE', '/v1/session')).status, 204);
  t.strictSame([...browser.cookies], []);
  t.equal((await browser.call('GET', '/v1/threads', undefined, { cookie })).status, 401);
  t.match(await troupe.call('DELETE', '/v1/session', undefined, bearer(text)), { status: 400 });
});

t.test('manage reaches the sessions of users whose grants it has', async (t) => {
  const { troupe, browser, key } = await start(t);
  const manager = bearer((await key('manager', ['member', 'manage'])).key);
  await browser.call('POST', '/v1/session', undefined, bearer((await key('alice', ['member'])).key));
  const boss = openBrowser(troupe);
  await boss.call('POST', '/v1/session', undefined, bearer((await key('boss', ['observe'])).key));
  const idOf = async (user: string) => {
    const { body } = await troupe.call('GET', `/v1/sessions?user=${user}`, undefined, manager);
    return (body.items as { id: string }[])[0]?.id;
  };
  t.equal(
    (await troupe.call('DELETE', `/v1/sessions/${await idOf('alice')}`, undefined, manager)).status,
    204,
  );
  t.equal(
    (await troupe.call('DELETE', `/v1/sessions/${await idOf('boss')}`, undefined, manager)).status,
    403,
  );
  t.equal((await troupe.call('GET', '/v1/sessions?of_scope=globex', undefined, manager)).status, 403);
  t.equal((await troupe.call('GET', '/v1/sessions?user=~admin', undefined, manager)).status, 403);
});

t.test('the 101st session ends the one that was unused for longest (check 22)', async (t) => {
  const { troupe, clock, key } = await start(t);
  const text = (await key('alice')).key;
  const browsers: Browser[] = [];
  for (let count = 0; count < 100; count += 1) {
    const browser = openBrowser(troupe);
    t.equal((await browser.call('POST', '/v1/session', undefined, bearer(text))).status, 201);
    browsers.push(browser);
    clock.ms += 1000;
  }
  const [first, second] = browsers;
  clock.ms += 120_000;
  t.equal((await first?.call('GET', '/v1/threads'))?.status, 200);
  await openBrowser(troupe).call('POST', '/v1/session', undefined, bearer(text));
  t.equal((await first?.call('GET', '/v1/threads'))?.status, 200, 'the oldest was used');
  t.equal((await second?.call('GET', '/v1/threads'))?.status, 401);
  const { body } = await troupe.call('GET', '/v1/sessions', undefined, bearer(text));
  t.equal((body.items as object[]).length, 100);
});

t.test('disabling, signing out and deleting a user end its sessions (check 31)', async (t) => {
  const { troupe, browser, clock, key } = await start(t);
  const text = (await key('alice')).key;
  await browser.call('POST', '/v1/session', undefined, bearer(text));
  const { cookies } = browser;
  const token = cookies.get(COOKIE) ?? '';
  const status = async () => (await troupe.call('GET', '/v1/threads', undefined, bearer(token))).status;
  await troupe.call('PATCH', '/v1/users/alice', { disabled: true }, admin);
  t.equal(await status(), 401);
  await troupe.call('PATCH', '/v1/users/alice', { disabled: false }, admin);
  t.equal(await status(), 200);
  clock.ms += 1000;
  await troupe.call('POST', '/v1/users/alice/sign-out', undefined, admin);
  t.equal(await status(), 401);
  t.equal(
    (await troupe.call('GET', '/v1/threads', undefined, bearer(text))).status,
    200,
    'keys continue to work',
  );
  clock.ms += 1000;
  cookies.clear();
  await browser.call('POST', '/v1/session', undefined, bearer(text));
  await troupe.call('DELETE', '/v1/users/alice', undefined, admin);
  t.equal((await browser.call('GET', '/v1/threads')).status, 401);
});

t.test('a session from an access token has its grants and ends with it', async (t) => {
  const provider = await startProvider(t);
  const issuer = {
    id: 'acme',
    issuer: provider.issuer,
    audiences: [AUDIENCE],
    claims: { roles: 'groups' },
    map: { users: ['member'], root: ['admin'] },
    service_grants: true,
  };
  const { browser, clock } = await start(t, { settings: { identity: { issuers: [issuer] } } });
  const iat = Math.floor(clock.ms / 1000);
  const narrow = await provider.sign({ groups: ['root'], iat, exp: iat + 600, scope: 'openid observe' });
  const { body } = await browser.call('POST', '/v1/session', undefined, bearer(narrow));
  t.match(body, { user: '00u1', grants: ['observe'] });
  t.equal((await browser.call('PUT', '/v1/config/agents/a', {})).status, 403);
  const demoted = await provider.sign({ groups: ['users'], iat: iat + 1, exp: iat + 600 });
  await browser.call('GET', '/v1/threads', undefined, bearer(demoted));
  t.equal((await browser.call('GET', '/v1/system/info')).status, 403, 'a newer token has fewer grants');
  clock.ms += 600_000;
  t.equal((await browser.call('GET', '/v1/threads')).status, 401);
});

t.test('a session is never that of an end user', async (t) => {
  const { browser, key } = await start(t);
  const back = bearer((await key('backend', ['member', 'act'])).key);
  const named = await browser.call('POST', '/v1/session', undefined, { ...back, 'x-service-user': 'u1' });
  t.equal(named.status, 403);
  const asAdmin = await browser.call('POST', '/v1/session', undefined, { ...admin, 'x-service-user': 'u1' });
  t.equal(asAdmin.status, 403);
  const header = { user_header: 'x-end-user' };
  const other = await key('frontend', ['member', 'act'], header);
  t.equal((await browser.call('POST', '/v1/session', undefined, bearer(other.key))).status, 403);
  t.equal(browser.cookies.size, 0);
});

t.test('streams of a session end with it, and with its key', async (t) => {
  const { troupe, browser, key } = await start(t);
  const { key: text, id } = await key('alice');
  const follow = async () => {
    await browser.call('POST', '/v1/session', undefined, bearer(text));
    const thread = await browser.call('POST', '/v1/threads', {});
    const head = bearer(browser.cookies.get(COOKIE) ?? '');
    const stream = readBlocks(
      await ask(`${troupe.url}/v1/threads/${thread.body.id}/events/stream`, { headers: head }),
    );
    t.match(await stream.next(), /^: from/);
    return stream;
  };
  const first = await follow();
  await browser.call('DELETE', '/v1/session');
  t.equal(await first.next(), undefined, 'signed out');
  const second = await follow();
  await troupe.call('DELETE', `/v1/keys/${id}`, undefined, admin);
  t.equal(await second.next(), undefined, 'key revoked');
});

t.test('1 000 bad cookies fill no bucket of guesses, and are counted as sessions', async (t) => {
  const { troupe } = await start(t, { settings: { AdminApiConfig: { bearer_token: 'short' } } });
  for (let count = 0; count < 1000; count += 1) {
    const head = { ...THROUGH_PROXY, cookie: `${COOKIE}=tps_${count}` };
    const { status, body } = await troupe.call('GET', '/v1/threads', undefined, head);
    if (status !== 401 || body.error !== 'invalid credential') t.fail(`${status} ${body.error}`);
  }
  const { status, body } = await troupe.call('GET', '/metrics', undefined, bearer('short'));
  t.equal(status, 200);
  t.match(String(body.text), /auth_requests_total\{kind="session",result="invalid"\} 1000/);
});

t.test('pages that a browser opens offer sign-in in place of a refused session', async (t) => {
  const { troupe, browser, key } = await start(t, { settings: { public_url: ORIGIN } });
  const { key: text, id } = await key('alice');
  await browser.call('POST', '/v1/session', undefined, bearer(text));
  const ended = browser.cookie();
  await troupe.call('DELETE', `/v1/keys/${id}`, undefined, admin);
  const path = '/v1/authorizations/0193f0aa/start';
  for (const cookie of [ended, '__Host-troupe_session=tps_nonsense', '__Host-troupe_session=']) {
    browser.cookies.set(COOKIE, cookie.split('=')[1] ?? '');
    const { status, headers } = await browser.call('GET', path);
    t.equal(status, 303, cookie);
    t.equal(headers.get('location'), `/sign-in?return_to=${encodeURIComponent(path)}`);
    browser.cookies.clear();
  }
  browser.cookies.set(COOKIE, ended.split('=')[1] ?? '');
  await browser.call('GET', path);
  t.strictSame([...browser.cookies], [], 'the browser forgets the ended session');
  t.match(
    await browser.call('GET', path, undefined, { cookie: ended, ...bearer('tpk_nonsense') }),
    { status: 401 },
    'a header is judged instead of the cookie',
  );
  t.equal((await browser.call('GET', '/v1/identity', undefined, { cookie: ended })).status, 401);
});

t.test('a user whose account was changed by hand is notified at the next sign-ins', async (t) => {
  const { troupe, browser, key, clock } = await start(t);
  const text = (await key('alice')).key;
  const signIn = () => browser.call('POST', '/v1/session', undefined, bearer(text));
  const who = async () => (await browser.call('GET', '/v1/identity')).body;
  const change = (body: object) => troupe.call('PATCH', '/v1/users/alice', body, admin);
  t.notOk('identity_changed' in (await signIn()).body);
  clock.ms += 1000;
  t.equal((await change({ name: 'Alice' })).status, 200);
  browser.cookies.clear();
  t.notOk('identity_changed' in (await signIn()).body, 'a change of the name');
  clock.ms += 1000;
  const identity = { issuer: 'https://idp.example', subject: '00u9' };
  const { body: user } = await change({ identity });
  t.match(user, { identity });
  t.notOk('identity_written' in user);
  const identity_changed = { at: clock.ms, by: '~admin' };
  t.notOk('identity_changed' in (await who()), 'a session from before');
  for (let count = 0; count < 2; count += 1) {
    clock.ms += 1000;
    browser.cookies.clear();
    t.match((await signIn()).body, { identity_changed });
    t.match(await who(), { user: 'alice', identity_changed });
  }
  t.equal((await change({ identity })).status, 200);
  t.match(await who(), { identity_changed }, 'the same account is no change');
  t.notOk(
    'identity_changed' in (await troupe.call('GET', '/v1/identity', undefined, bearer(text))).body,
    'a key is no sign-in',
  );
  clock.ms += 30 * 86_400_000;
  browser.cookies.clear();
  t.notOk('identity_changed' in (await signIn()).body);
});
