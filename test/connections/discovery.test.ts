import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { parseChallenge } from '../../src/connections/challenge.ts';
import { type OAuthKit, oauthKit } from './oauth-server.ts';
import { ALICE, connect, entry, failure, openConnections, REDIRECT } from './open.ts';

const refused = (message: RegExp) => ({ name: 'ConnectionFailure', reason: 'refused', message });

/** A server that counts connections, and redirects to an address. */
const trap = async (t: Test, location: string) => {
  const server = createServer((_, response) => response.writeHead(302, { location }).end());
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { port, count: () => connections };
};

const isToken = (each: string): boolean => each.startsWith('POST /token');

t.test(
  'connects to no private address that metadata names, by address, by name or by redirect (check 86)',
  async (t) => {
    const target = await trap(t, 'http://10.0.0.1/');
    const named = [
      '169.254.169.254',
      '10.0.0.1',
      '127.0.0.1',
      '[::1]',
      '[fd00::1]',
      'localhost',
      'internal.example',
    ];
    for (const host of named) {
      const kit = await oauthKit(t, {
        challenge: `Bearer resource_metadata="https://${host}:${target.port}/metadata"`,
      });
      const { connections } = await openConnections(t, {
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      });
      connections.apply([entry(kit, { allow_private: false })]);
      await t.rejects(connections.discover('notes'), refused(/non-public host/), host);
    }
    t.equal(target.count(), 0, 'no connection was made');
    const kit = await oauthKit(t, {
      challenge: `Bearer resource_metadata="http://127.0.0.1:${target.port}/metadata"`,
    });
    const { connections } = await openConnections(t);
    connections.apply([entry(kit)]);
    await t.rejects(connections.discover('notes'), refused(/is a redirect, which is not followed/));
    t.equal(target.count(), 1);
  },
);

t.test('checks each address of a name when the socket connects (check 86)', async (t) => {
  const kit = await oauthKit(t, { challenge: 'Bearer resource_metadata="https://metadata.example/x"' });
  const { connections } = await openConnections(t, {
    resolve: async () => [
      { address: '93.184.215.14', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ],
  });
  connections.apply([entry(kit, { allow_private: false })]);
  await t.rejects(connections.discover('notes'), refused(/non-public host/));
});

t.test('refuses endpoints that are not https, and private ones (check 86)', async (t) => {
  const wrong = [
    'javascript:alert(1)',
    'http://login.example/authorize',
    'data:text/html,x',
    'ftp://a.example',
    7,
    '/authorize',
    'https://u:p@login.example/',
  ];
  for (const name of [
    'authorization_endpoint',
    'token_endpoint',
    'registration_endpoint',
    'revocation_endpoint',
  ]) {
    for (const address of wrong) {
      const kit = await oauthKit(t, { serverMetadata: { [name]: address } });
      const { connections } = await openConnections(t);
      connections.apply([entry(kit)]);
      await t.rejects(
        connections.discover('notes'),
        refused(/is not an https URL|contains user info/),
        `${name} ${address}`,
      );
    }
  }
  const kit = await oauthKit(t);
  const { connections } = await openConnections(t);
  connections.apply([entry(kit, { allow_private: false })]);
  await t.rejects(connections.discover('notes'), refused(/is not an https URL/), 'http on loopback');
});

t.test('refuses metadata of another resource or issuer, and a server without PKCE (check 87)', async (t) => {
  for (const [options, problem] of [
    [{ resourceMetadata: { resource: 'https://other.example/mcp' } }, /another resource/],
    [{ resourceMetadata: { resource: 7 } }, /another resource/],
    [{ resourceMetadata: { authorization_servers: [] } }, /names no authorization server/],
    [{ serverMetadata: { issuer: 'https://other.example' } }, /another issuer/],
    [{ serverMetadata: { code_challenge_methods_supported: ['plain'] } }, /PKCE/],
    [{ serverMetadata: { code_challenge_methods_supported: undefined } }, /PKCE/],
  ] as const) {
    const kit = await oauthKit(t, options);
    const { connections } = await openConnections(t);
    connections.apply([entry(kit)]);
    await t.rejects(connections.discover('notes'), refused(problem));
    t.notOk(kit.requests.some(isToken));
  }
  const kit = await oauthKit(t);
  kit.options.resourceMetadata = { resource: new URL(kit.url).origin };
  const { connections } = await openConnections(t);
  connections.apply([entry(kit)]);
  await t.rejects(
    connections.discover('notes'),
    refused(/another resource/),
    'the origin at the path of the server',
  );
});

t.test('sends nothing to an issuer other than the pinned one (check 87)', async (t) => {
  const kit = await oauthKit(t);
  const { connections } = await openConnections(t);
  connections.apply([
    entry(kit, { client_id: 'c', client_secret: 'secret-of-c', issuer: 'https://login.example' }),
  ]);
  await t.rejects(connections.discover('notes'), refused(/another issuer than its entry/));
  t.strictSame(kit.requests, ['POST /mcp', 'GET /.well-known/oauth-protected-resource/mcp']);
});

const begin = async (
  kit: OAuthKit,
  connections: Awaited<ReturnType<typeof openConnections>>['connections'],
) => {
  const { scopes } = await connections.discover('notes');
  const begun = await connections.begin({
    server: 'notes',
    redirectUri: REDIRECT,
    clientDocument: undefined,
    scopes,
  });
  return { ...begun, callback: await kit.approve(begun.url) };
};

t.test(
  'redeems no code of a callback with another iss or state, or of a changed entry (check 87)',
  async (t) => {
    for (const iss of ['https://evil.example', null, 'changed', 'HTTP']) {
      const kit = await oauthKit(t);
      kit.options.iss =
        iss === 'changed' ? `${kit.issuer}/` : iss === 'HTTP' ? kit.issuer.toUpperCase() : iss;
      const { connections } = await openConnections(t);
      connections.apply([entry(kit)]);
      const { attempt, callback } = await begin(kit, connections);
      await t.rejects(connections.exchange(attempt, callback), failure('refused'), String(iss));
      t.notOk(kit.requests.some(isToken), 'the code is not sent');
    }
    const kit = await oauthKit(t);
    const { connections, clock } = await openConnections(t);
    connections.apply([entry(kit)]);
    const { attempt, callback } = await begin(kit, connections);
    const other = new URLSearchParams([...callback, ['state', 'other']]);
    for (const wrong of [other, new URLSearchParams({ state: attempt.state }), new URLSearchParams()])
      await t.rejects(connections.exchange(attempt, wrong), failure('refused'));
    connections.apply([entry(kit, {}, { url: kit.url.replace('/mcp', '/other') })]);
    await t.rejects(connections.exchange(attempt, callback), refused(/has changed/));
    connections.apply([entry(kit)]);
    clock.time += 3_600_000;
    kit.options.serverMetadata = { issuer: 'https://evil.example' };
    await t.rejects(connections.exchange(attempt, callback), refused(/another issuer/));
    t.notOk(kit.requests.some(isToken), 'the code is not sent');
    kit.options.serverMetadata = {};
    const tokens = await connections.exchange(attempt, callback);
    t.match(tokens, { access_token: /^at-/, server: 'notes' });
    await t.rejects(
      connections.exchange(attempt, callback),
      { name: 'OAuthRefusal', error: 'invalid_grant' },
      'a code is redeemed once',
    );
    connections.apply([entry(kit, {}, { url: kit.url.replace('/mcp', '/other') })]);
    await t.rejects(connections.store(ALICE, 'notes', tokens), refused(/has changed/));
  },
);

t.test('reports a denial of the user, and an outage', async (t) => {
  const kit = await oauthKit(t);
  const { connections } = await openConnections(t);
  connections.apply([entry(kit)]);
  const { attempt } = await begin(kit, connections);
  const answer = (error: string) =>
    new URLSearchParams({ error, state: attempt.state, iss: kit.issuer, error_description: '<script>' });
  await t.rejects(connections.exchange(attempt, answer('access_denied')), {
    reason: 'denied',
    message: 'the authorization was denied: access_denied',
  });
  await t.rejects(connections.exchange(attempt, answer('<b>')), { message: /: unknown error$/ });
  await t.rejects(connections.exchange(attempt, answer('server_error')), failure('unavailable'));
  await t.rejects(connections.discover('other'), failure('unknown'));
});

t.test('uses the client of the entry, then a metadata document, then a registration', async (t) => {
  const kit = await oauthKit(t, { clients: new Map([['mine', 'its-secret']]) });
  const { connections } = await openConnections(t);
  const clientOf = async (clientDocument?: string) => {
    const { url } = await connections.begin({
      server: 'notes',
      redirectUri: REDIRECT,
      clientDocument,
      scopes: [],
    });
    return new URL(url).searchParams;
  };
  const pinned = { client_id: 'mine', client_secret: 'its-secret', issuer: kit.issuer };
  kit.options.serverMetadata = { client_id_metadata_document_supported: true };
  connections.apply([entry(kit, pinned)]);
  const document = 'https://troupe.example/oauth/client.json';
  t.equal((await clientOf(document)).get('client_id'), 'mine');
  await connect(connections, kit);
  t.equal(connections.list(ALICE).length, 1, 'the client has authenticated with its secret');
  connections.apply([entry(kit)]);
  t.equal((await clientOf(document)).get('client_id'), document);
  const registered = await clientOf();
  t.match(registered.get('client_id'), /^client-/);
  t.equal(
    (await clientOf()).get('client_id'),
    registered.get('client_id'),
    'one registration serves all users',
  );
  t.match(Object.fromEntries(registered), {
    resource: kit.url,
    code_challenge_method: 'S256',
    redirect_uri: REDIRECT,
  });
  t.equal(registered.has('scope'), false);
});

t.test('reads challenges', async (t) => {
  t.strictSame(
    parseChallenge(
      'Basic realm="x", Bearer error="insufficient_scope", scope="a b a", resource_metadata="https://x/y"',
    ),
    { error: 'insufficient_scope', scopes: ['a', 'b'], resourceMetadata: 'https://x/y' },
  );
  t.strictSame(parseChallenge('bearer scope=a').scopes, ['a']);
  t.strictSame(parseChallenge('Bearer scope="a\\"b c"').scopes, ['c'], 'no scope has a quotation mark');
  for (const other of [
    undefined,
    '',
    'Basic realm="Bearer"',
    'Bearer',
    'Digest scope="a"',
    'x'.repeat(100_000),
  ])
    t.match(parseChallenge(other), { error: undefined, scopes: undefined, resourceMetadata: undefined });
});
