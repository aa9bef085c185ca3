import { createHash } from 'node:crypto';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import type { IssuerInput } from '../../src/schema/issuer.ts';
import { returnPath } from '../../src/schema/return-to.ts';
import { tlsFiles } from '../certificate.ts';
import { freePort } from '../ports.ts';
import { ORIGIN, openBrowser } from './browser.ts';
import { startOpenIdProvider } from './openid-provider.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Sign-in with a real OpenID provider: identity.md 2.6, and checks 34 to 37. */

const START = '/v1/session/sign-in/acme';
const CALLBACK = '/v1/session/callback/acme';
const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

const start = async (t: Test, fields: Partial<IssuerInput> = {}) => {
  const port = await freePort();
  const own = `http://127.0.0.1:${port}`;
  const provider = await startOpenIdProvider(t, [`${ORIGIN}${CALLBACK}`, `${own}${CALLBACK}`]);
  const issuer: IssuerInput = {
    id: 'acme',
    issuer: provider.issuer,
    audiences: ['https://agents.example'],
    claims: { roles: 'groups', name: 'name' },
    map: { users: ['member'] },
    sign_in: { client_id: 'troupe', client_secret: 'secret', label: 'Acme SSO' },
    ...fields,
  };
  const clock = { ms: Date.now(), now: () => clock.ms };
  const troupe = await startTroupe(t, {
    app: { clock },
    settings: { http_addr: `127.0.0.1:${port}`, identity: { issuers: [issuer] } },
  });
  const browser = openBrowser(troupe);
  /** Begins at the service, signs in at the provider, and returns the path of the callback. */
  const toCallback = async (query = ''): Promise<string> => {
    const { status, headers } = await browser.call('GET', `${START}${query}`);
    if (status !== 302) throw new Error(`${status} ${headers.get('location')}`);
    const { pathname, search } = new URL(await provider.signIn(headers.get('location') ?? ''));
    return pathname + search;
  };
  const end = async (path: string, by = browser) => {
    const { status, headers } = await by.call('GET', path, undefined, { 'sec-fetch-site': 'cross-site' });
    return { status, location: headers.get('location') };
  };
  return { provider, troupe, clock, browser, toCallback, end };
};

t.test('a round trip with the provider signs in with a cookie (check 34)', async (t) => {
  const { browser, provider, toCallback, end, troupe } = await start(t);
  const { body } = await browser.call('GET', '/v1/identity');
  t.strictSame(body.sign_in, [{ kind: 'oidc', id: 'acme', label: 'Acme SSO', url: START }, { kind: 'key' }]);
  const begun = await browser.call('GET', `${START}?return_to=/threads`);
  const url = new URL(begun.headers.get('location') ?? '');
  t.match(Object.fromEntries(url.searchParams), {
    response_type: 'code',
    client_id: 'troupe',
    redirect_uri: `${ORIGIN}${CALLBACK}`,
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/,
  });
  const attempt = begun.headers.get('set-cookie') ?? '';
  t.match(attempt, /^__Host-troupe_sign_in=[^;]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/);
  t.notMatch(attempt, url.searchParams.get('state') ?? '', 'the cookie is sealed');
  t.strictSame(await end(await toCallback('?return_to=/threads')), { status: 303, location: '/threads' });
  t.strictSame([...browser.cookies.keys()], ['__Host-troupe_session']);
  const who = await browser.call('GET', '/v1/identity');
  t.match(who.body, { user: '00u1', name: 'Alice', credential: { kind: 'session' } });
  t.equal((await browser.call('POST', '/v1/threads', {})).status, 201);
  const { body: user } = await troupe.call('GET', '/v1/users/00u1', undefined, admin);
  t.match(user, { identity: { issuer: provider.issuer, subject: '00u1' }, token_grants: [String] });
});

t.test('rejects attempts of other browsers, and replayed ones (check 36)', async (t) => {
  const { browser, troupe, clock, toCallback, end } = await start(t);
  const stranger = openBrowser(troupe);
  const callback = await toCallback();
  t.match(await end(callback, stranger), { location: '/sign-in?error=expired' }, 'no cookie');
  const wrongState = callback.replace(/state=[^&]+/, 'state=other');
  t.match(await end(wrongState), { location: '/sign-in?error=mismatch' });
  const again = await toCallback();
  t.match(await end(again.replace(/iss=[^&]+/, 'iss=https%3A%2F%2Fother.example')), {
    location: '/sign-in?error=mismatch',
  });
  const good = await toCallback();
  t.match(await end(good), { location: '/' });
  browser.cookies.delete('__Host-troupe_session');
  t.match(await end(good), { location: '/sign-in?error=expired' }, 'replayed');
  const late = await toCallback();
  clock.ms += 600_000;
  t.match(await end(late), { location: '/sign-in?error=expired' });
  t.strictSame([...browser.cookies], []);
});

t.test('a code of another attempt has another nonce (check 36)', async (t) => {
  const { browser, provider, toCallback, end } = await start(t);
  const first = new URL(await toCallback(), ORIGIN);
  const begun = await browser.call('GET', START);
  const url = new URL(begun.headers.get('location') ?? '');
  url.searchParams.set('nonce', 'another');
  const answer = new URL(await provider.signIn(url.href));
  t.match(await end(answer.pathname + answer.search), { location: '/sign-in?error=mismatch' });
  t.ok(first.searchParams.get('code'));
});

t.test('reports why a sign-in failed', async (t) => {
  const { provider, toCallback, end, browser } = await start(t, { provision: 'known' });
  t.match(await end(await toCallback()), { location: '/sign-in?error=not_allowed' });
  provider.account.id = undefined;
  t.match(await end(await toCallback()), { location: '/sign-in?error=denied' });
  t.equal((await browser.call('GET', '/v1/session/sign-in/other')).status, 404);
});

t.test('on loopback, only the page that began gets the session, once (check 35)', async (t) => {
  const { troupe, provider } = await start(t);
  const verifier = 'v'.repeat(43);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  t.equal((await troupe.call('GET', START)).status, 400, 'challenge is required');
  const code = async (): Promise<string> => {
    const { headers } = await troupe.call('GET', `${START}?challenge=${challenge}`);
    t.equal(headers.get('set-cookie'), null);
    const answer = new URL(await provider.signIn(headers.get('location') ?? ''));
    const ended = await troupe.call('GET', answer.pathname + answer.search);
    t.equal(ended.headers.get('set-cookie'), null);
    const replayed = await troupe.call('GET', answer.pathname + answer.search);
    t.equal(replayed.headers.get('location'), '/sign-in?error=expired');
    return ended.headers.get('location')?.replace('/sign-in#code=', '') ?? '';
  };
  const redeem = (body: object) => troupe.call('POST', '/v1/session', body);
  const first = await code();
  t.equal((await redeem({ code: first, verifier: 'w'.repeat(43) })).status, 400);
  t.equal((await redeem({ code: first, verifier })).status, 400, 'the attempt has used it');
  const second = await code();
  const { status, body } = await redeem({ code: second, verifier });
  t.match({ status, body }, { status: 201, body: { token: /^tps_[0-9A-Za-z]{49}$/ } });
  t.equal((await redeem({ code: second, verifier })).status, 400);
  const head = { authorization: `Bearer ${body.token}` };
  t.match((await troupe.call('GET', '/v1/identity', undefined, head)).body, { user: '00u1' });
  t.equal((await redeem({ code: 1 })).status, 422);
});

t.test('returns only to paths of the own origin (check 37)', async (t) => {
  const away = [
    '//evil',
    'https://evil',
    '/\\evil',
    '/\t/evil',
    '/\n/evil',
    '/.//evil',
    ' /x',
    'x',
    '',
    '/\u202e',
    '/a b',
  ];
  for (const path of away) t.equal(returnPath(path, ORIGIN), '/', JSON.stringify(path));
  t.equal(returnPath(undefined, ORIGIN), '/');
  for (const path of ['/', '/threads?a=b#c', '/%0a', '/a/../b'])
    t.equal(returnPath(path, ORIGIN), path === '/a/../b' ? '/b' : path);
  const { toCallback, end } = await start(t);
  for (const path of ['//evil', 'https://evil', '/\\evil', '/\t/evil', '/\n/evil'])
    t.match(await end(await toCallback(`?return_to=${encodeURIComponent(path)}`)), { location: '/' });
});

/** A GET of a browser that accepts the certificate of the test, without a proxy in between. */
const getOverTls = (url: string, cookie = ''): Promise<{ status: number; headers: Headers; body: string }> =>
  new Promise((resolve, reject) => {
    const headers = { 'sec-fetch-site': 'cross-site', ...(cookie !== '' && { cookie }) };
    const sent = request(url, { headers, rejectUnauthorized: false, agent: false }, async (response) => {
      const got = new Headers();
      for (const [name, values] of Object.entries(response.headersDistinct))
        for (const value of values ?? []) got.append(name, value);
      resolve({ status: response.statusCode ?? 0, headers: got, body: await text(response) });
    });
    sent.once('error', reject).end();
  });

t.test('a round trip over TLS of the service itself sets a cookie (check 34)', async (t) => {
  const port = await freePort();
  const own = `https://127.0.0.1:${port}`;
  const provider = await startOpenIdProvider(t, [`${own}${CALLBACK}`]);
  const issuer: IssuerInput = {
    id: 'acme',
    issuer: provider.issuer,
    audiences: ['https://agents.example'],
    claims: { roles: 'groups', name: 'name' },
    map: { users: ['member'] },
    sign_in: { client_id: 'troupe', client_secret: 'secret' },
  };
  const { url } = await startTroupe(t, {
    settings: { http_addr: `127.0.0.1:${port}`, tls: tlsFiles(t), identity: { issuers: [issuer] } },
  });
  t.equal(url, own);
  const begun = await getOverTls(`${own}${START}?return_to=/threads`);
  t.equal(begun.status, 302);
  t.equal(begun.headers.get('strict-transport-security'), 'max-age=31536000');
  const [attempt = ''] = begun.headers.getSetCookie();
  t.match(attempt, /^__Host-troupe_sign_in=[^;]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/);
  const callback = await provider.signIn(begun.headers.get('location') ?? '');
  t.ok(callback.startsWith(`${own}${CALLBACK}`), callback);
  t.equal((await getOverTls(callback)).headers.get('location'), '/sign-in?error=expired', 'no cookie');
  const ended = await getOverTls(callback, attempt.split(';')[0]);
  t.equal(ended.status, 303);
  t.equal(ended.headers.get('location'), '/threads');
  const session = ended.headers.getSetCookie().find((each) => each.startsWith('__Host-troupe_session='));
  t.match(
    session,
    /^__Host-troupe_session=tps_\w{49}; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/,
  );
  const who = await getOverTls(`${own}/v1/identity`, session?.split(';')[0]);
  t.match(JSON.parse(who.body), { user: '00u1', name: 'Alice', credential: { kind: 'session' } });
});
