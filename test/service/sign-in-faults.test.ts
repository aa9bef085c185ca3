import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { createKey, startProvider } from '../identity/issuers/provider.ts';
import { openBrowser } from './browser.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Sign-in with a provider that fails or lies: identity.md 2.6, check 36. */

const START = '/v1/session/sign-in/acme';
const CALLBACK = '/v1/session/callback/acme';

type Reply = (response: ServerResponse) => void;

const json =
  (body: unknown, status = 200): Reply =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** A server that answers every request as it is asked to, and counts them. */
const scripted = async (t: Test) => {
  const state = { reply: json({}), requests: 0, url: '' };
  const server = createServer((request, response) => {
    state.requests += 1;
    request.resume();
    state.reply(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
};

const start = async (t: Test) => {
  const [provider, endpoint, elsewhere] = await Promise.all([startProvider(t), scripted(t), scripted(t)]);
  provider.state.metadata = {
    authorization_endpoint: `${provider.issuer}/auth`,
    token_endpoint: `${endpoint.url}/token`,
    authorization_response_iss_parameter_supported: true,
    id_token_signing_alg_values_supported: ['ES256'],
  };
  const issuer = {
    id: 'acme',
    issuer: provider.issuer,
    audiences: ['https://agents.example'],
    default_grants: ['member'],
    sign_in: { client_id: 'troupe', client_secret: 'secret' },
  };
  const troupe = await startTroupe(t, { settings: { identity: { issuers: [issuer] } } });
  const browser = openBrowser(troupe);

  /** Begins a sign-in, and returns where its callback leads the browser. */
  const signIn = async (
    reply: (nonce: string) => Promise<Reply> | Reply,
    answer: Record<string, string> = { code: 'c' },
  ): Promise<string | null> => {
    const begun = await browser.call('GET', START);
    const { searchParams } = new URL(begun.headers.get('location') ?? '');
    endpoint.reply = await reply(searchParams.get('nonce') ?? '');
    const query = new URLSearchParams({
      state: searchParams.get('state') ?? '',
      iss: provider.issuer,
      ...answer,
    });
    const ended = await browser.call('GET', `${CALLBACK}?${query}`, undefined, {
      'sec-fetch-site': 'cross-site',
    });
    t.equal(ended.status, 303);
    t.strictSame(
      [...browser.cookies.keys()].filter((name) => name.includes('sign_in')),
      [],
    );
    return ended.headers.get('location');
  };

  /** A token response with these claims in place of the right ones. */
  const token =
    (claims: object = {}, options: Record<string, unknown> = {}) =>
    async (nonce: string): Promise<Reply> => {
      const now = Math.floor(Date.now() / 1000);
      const all = { aud: 'troupe', iat: now, exp: now + 600, nonce, ...claims };
      const id_token = await provider.sign(all, options);
      return json({ access_token: 'at', token_type: 'Bearer', expires_in: 600, id_token });
    };

  const users = async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    return (await troupe.call('GET', '/v1/users', undefined, headers)).body.items;
  };
  return { provider, endpoint, elsewhere, troupe, browser, signIn, token, users };
};

type Service = Awaited<ReturnType<typeof start>>;

/** A fault makes no session and no user, and the next sign-in succeeds. */
const leavesNothing = async (t: Test, { browser, users, signIn, token }: Service): Promise<void> => {
  t.strictSame([...browser.cookies], [], 'no session');
  t.strictSame(await users(), [], 'no user');
  t.equal(await signIn(token()), '/', 'the next one succeeds');
  t.match((await browser.call('GET', '/v1/identity')).body, { user: '00u1' });
};

const FAULTS: Record<
  string,
  [fault: (service: Service) => (nonce: string) => Promise<Reply> | Reply, error: string]
> = {
  'another nonce': [({ token }) => token({ nonce: 'another' }), 'mismatch'],
  'no nonce': [({ token }) => token({ nonce: undefined }), 'mismatch'],
  'a token of another issuer': [({ token }) => token({ iss: 'https://other.example' }), 'mismatch'],
  'a token for another client': [({ token }) => token({ aud: 'another' }), 'mismatch'],
  'a token that another client requested': [
    ({ token }) => token({ aud: ['troupe', 'another'], azp: 'another' }),
    'mismatch',
  ],
  'an expired token': [({ token }) => token({ iat: 1_700_000_000, exp: 1_700_000_600 }), 'provider'],
  'a key of another provider': [
    ({ token }) =>
      async (nonce) =>
        token({}, { key: await createKey('k1') })(nonce),
    'mismatch',
  ],
  'a token without a signature': [
    () => (nonce) => {
      const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: 'x', sub: '00u1', aud: 'troupe', iat: now, exp: now + 600, nonce };
      const id_token = `${part({ alg: 'none' })}.${part(claims)}.`;
      return json({ access_token: 'at', token_type: 'Bearer', id_token });
    },
    'mismatch',
  ],
  'a response without an ID token': [
    () => () => json({ access_token: 'at', token_type: 'Bearer' }),
    'mismatch',
  ],
  'a refused code': [() => () => json({ error: 'invalid_grant' }, 400), 'provider'],
  'a broken provider': [() => () => json({ error: 'server_error' }, 500), 'provider'],
  'no JSON': [
    () => () => (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
    'provider',
  ],
  'an oversized response': [() => () => json({ id_token: 'x'.repeat(300 * 1024) }), 'provider'],
  'a redirect': [
    ({ elsewhere }) =>
      () =>
      (response) =>
        void response.writeHead(307, { location: `${elsewhere.url}/token` }).end(),
    'provider',
  ],
  'a closed connection': [() => () => (response) => void response.socket?.destroy(), 'provider'],
};

for (const [name, [fault, error]] of Object.entries(FAULTS)) {
  t.test(`rejects a sign-in with ${name} (check 36)`, async (t) => {
    const service = await start(t);
    const location = await service.signIn(fault(service));
    t.equal(location, `/sign-in?error=${error}`);
    t.equal(service.elsewhere.requests, 0, 'the secret of the client went nowhere else');
    await leavesNothing(t, service);
  });
}

for (const [name, reply] of Object.entries<Reply>({
  'does not respond': () => {},
  'sends a body without an end': (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).write('{"id_token":"'),
})) {
  t.test(`a sign-in ends when the token endpoint ${name} (check 36)`, async (t) => {
    const service = await start(t);
    t.equal(await service.signIn(() => reply), '/sign-in?error=provider');
    await leavesNothing(t, service);
  });
}

t.test('rejects callbacks without asking the provider (check 36)', async (t) => {
  const service = await start(t);
  const { signIn, endpoint, token } = service;
  t.equal(await signIn(token(), { code: 'c', iss: 'https://other.example' }), '/sign-in?error=mismatch');
  t.equal(await signIn(token(), { code: 'c', iss: '' }), '/sign-in?error=mismatch');
  t.equal(await signIn(token(), { code: 'c', state: 'another' }), '/sign-in?error=mismatch');
  t.equal(await signIn(token(), { error: 'access_denied' }), '/sign-in?error=denied');
  t.equal(await signIn(token(), { error: 'server_error' }), '/sign-in?error=provider');
  t.equal(endpoint.requests, 0);
  await leavesNothing(t, service);
});

t.test('begins no sign-in with wrong metadata of a provider', async (t) => {
  const service = await start(t);
  const { provider, browser } = service;
  const right = provider.state.metadata;
  const begin = async (metadata: object) => {
    provider.state.metadata = { ...right, ...metadata };
    return (await browser.call('GET', START)).headers.get('location');
  };
  for (const metadata of [
    { issuer: 'https://other.example' },
    { issuer: `${provider.issuer}/` },
    { authorization_endpoint: 'javascript:alert(1)' },
    { authorization_endpoint: 'http://login.example/auth' },
    { authorization_endpoint: undefined },
    { padding: 'x'.repeat(300 * 1024) },
  ])
    t.equal(await begin(metadata), '/sign-in?error=provider', JSON.stringify(metadata).slice(0, 80));
});
