import type {
  OAuthClientInformationMixed,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import t, { type Test } from 'tap';
import type { IssuerInput } from '../../../src/schema/issuer.ts';
import { AUDIENCE, startProvider } from '../../identity/issuers/provider.ts';
import { freePort } from '../../ports.ts';
import { asks } from '../models.ts';
import { withTools } from '../suspended.ts';
import { ADMIN_TOKEN, startDemo, startTroupe } from '../troupe.ts';
import { type HeaderValues, mcpClient, rpc, text } from './mcp.ts';
import { startOAuthProvider } from './oauth.ts';

/** The endpoint as an OAuth resource server: identity.md 3.3, and checks 52 and 53. */

const METADATA = '/.well-known/oauth-protected-resource/v1/mcp';
const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

const bearer = (token: string): HeaderValues => ({ authorization: `Bearer ${token}` });

const issuerAt = (issuer: string, more: Partial<IssuerInput> = {}): IssuerInput => ({
  id: 'acme',
  issuer,
  audiences: [AUDIENCE],
  default_grants: ['member'],
  ...more,
});

const start = async (t: Test, more: Partial<IssuerInput> = {}) => {
  const provider = await startProvider(t);
  const { troupe, tools } = await withTools(t, {
    settings: { identity: { issuers: [issuerAt(provider.issuer, more)] } },
  });
  const now = Math.floor(Date.now() / 1000);
  const sign = (claims: object = {}): Promise<string> =>
    provider.sign({ iat: now, exp: now + 600, ...claims });
  return { troupe, tools, sign, ...mcpClient(() => troupe.url) };
};

/** A call without a session. */
const stateless = (agent: string, params: object = {}) => ({
  body: rpc(1, 'tools/call', { name: agent, arguments: { message: 'Hello' }, ...params, _meta: META }),
  headers: { 'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': agent },
});

t.test('has metadata that names the issuers, and challenges that name the metadata (check 52)', async (t) => {
  const { troupe, post, sign } = await start(t);
  const expected = {
    resource: `${troupe.url}/v1/mcp`,
    authorization_servers: [/^http:\/\/127/],
    scopes_supported: ['invoke'],
    bearer_methods_supported: ['header'],
    resource_name: 'Troupe',
  };
  for (const path of [METADATA, '/.well-known/oauth-protected-resource']) {
    const { status, body } = await troupe.call('GET', path);
    t.equal(status, 200, path);
    t.match(body, expected);
  }
  const missing = await post(rpc(1, 'initialize'));
  t.equal(missing.status, 401);
  t.match(missing.body, {
    jsonrpc: '2.0',
    id: null,
    error: { code: -32600, message: 'authentication required' },
  });
  t.equal(
    missing.headers.get('www-authenticate'),
    `Bearer resource_metadata="${troupe.url}${METADATA}", scope="invoke"`,
  );
  const expired = await post(
    rpc(1, 'initialize'),
    bearer(await sign({ exp: 1_000_000_000, iat: 999_999_000 })),
  );
  t.equal(expired.status, 401);
  t.equal(
    expired.headers.get('www-authenticate'),
    `Bearer error="invalid_token", resource_metadata="${troupe.url}${METADATA}", scope="invoke"`,
  );
});

t.test('challenges before any other check, except that of the host', async (t) => {
  const { post, send } = await start(t);
  const others: [string, HeaderValues][] = [
    ['{', {}],
    ['{}', { 'mcp-protocol-version': 'x' }],
    ['{}', { origin: 'https://evil.example' }],
    ['{}', { 'mcp-session-id': 'unknown' }],
  ];
  for (const [body, headers] of others)
    t.equal((await post(body, headers)).status, 401, JSON.stringify(headers));
  for (const method of ['GET', 'DELETE', 'PUT']) t.equal((await send(method)).status, 401, method);
});

t.test('has no metadata and no parameters of a challenge without an issuer (check 52)', async (t) => {
  const troupe = await startTroupe(t, { settings: { identity: { anonymous: 'never' } } });
  for (const path of [METADATA, '/.well-known/oauth-protected-resource'])
    t.equal((await troupe.call('GET', path)).status, 404, path);
  const { status, headers } = await mcpClient(() => troupe.url).post(rpc(1, 'initialize'));
  t.equal(status, 401);
  t.equal(headers.get('www-authenticate'), 'Bearer');
});

t.test('the metadata uses the public address', async (t) => {
  const troupe = await startTroupe(t, {
    settings: {
      public_url: 'https://agents.example/',
      identity: { issuers: [issuerAt('https://login.example')] },
    },
  });
  t.match(await troupe.call('GET', METADATA, undefined, { host: 'agents.example' }), {
    body: { resource: 'https://agents.example/v1/mcp' },
  });
});

t.test('names all scopes that a call needs beyond those of its token (check 53)', async (t) => {
  const { post, stream, sign, troupe } = await start(t);
  const token = bearer(await sign({ scope: 'openid invoke:echo' }));
  const challenge = (scope: string): string =>
    `Bearer error="insufficient_scope", resource_metadata="${troupe.url}${METADATA}", scope="${scope}"`;

  const { body, headers } = stateless('steps');
  const refused = await post(body, { ...headers, ...token });
  t.equal(refused.status, 403);
  t.equal(refused.headers.get('www-authenticate'), challenge('invoke:steps'));

  const { headers: opened } = await post(rpc(1, 'initialize'), token);
  const session = { ...token, 'mcp-session-id': opened.get('mcp-session-id') ?? '' };
  const inSession = await post(rpc(2, 'tools/call', { name: 'steps', arguments: { message: 'x' } }), session);
  t.equal(inSession.status, 403);
  t.equal(inSession.headers.get('www-authenticate'), challenge('invoke:steps'));
  const allowed = await stream(rpc(3, 'tools/call', { name: 'echo', arguments: { message: 'x' } }), session);
  t.equal(text((await allowed.rest()).at(-1) ?? {}), 'echo: x');

  const unknown = await stream(
    rpc(4, 'tools/call', { name: 'no-such', arguments: { message: 'x' } }),
    session,
  );
  t.equal(text((await unknown.rest()).at(-1) ?? {}), 'Unknown tool: no-such');

  const none = await post(rpc(5, 'tools/list'), bearer(await sign({ scope: 'read:own' })));
  t.equal(none.status, 403);
  t.equal(none.headers.get('www-authenticate'), challenge('invoke'));
});

t.test('names the scopes of a call and of its decisions at once (check 53)', async (t) => {
  const { post, stream, sign, troupe, tools } = await start(t);
  troupe.models.steps.push(asks(['c1', 'risky']));
  const { body, headers } = stateless('steps');
  const asked = (await (await stream(body, { ...headers, ...bearer(await sign()) })).rest()).at(-1);
  const { requestState } = asked?.result ?? {};
  const inputResponses = { perm_c1: { action: 'accept', content: { approve: true } } };
  const again = stateless('steps', { requestState, inputResponses });
  const refused = await post(again.body, {
    ...again.headers,
    ...bearer(await sign({ scope: 'invoke:echo' })),
  });
  t.equal(refused.status, 403);
  t.match(refused.headers.get('www-authenticate'), 'scope="invoke:steps decide:steps/risky"');
  t.strictSame(tools.executed, []);
  const limited = bearer(await sign({ scope: 'invoke:steps decide:steps/risky' }));
  t.equal((await (await stream(again.body, { ...again.headers, ...limited })).rest()).length > 0, true);
  t.strictSame(tools.executed, ['c1']);
});

t.test('an agent that the user may not invoke is an unknown tool for every token (check 53)', async (t) => {
  const { post, stream, sign } = await start(t, { default_grants: ['invoke:echo', 'read:own'] });
  for (const scope of [undefined, 'invoke']) {
    const token = bearer(await sign({ ...(scope && { scope }) }));
    const { headers } = await post(rpc(1, 'initialize'), token);
    const session = { ...token, 'mcp-session-id': headers.get('mcp-session-id') ?? '' };
    const list = await post(rpc(2, 'tools/list'), session);
    const { tools } = list.body.result as { tools: { name: string }[] };
    t.strictSame(
      tools.map(({ name }) => name),
      ['echo'],
    );
    const call = await stream(rpc(3, 'tools/call', { name: 'steps', arguments: { message: 'x' } }), session);
    t.equal(text((await call.rest()).at(-1) ?? {}), 'Unknown tool: steps');
  }
});

t.test('sessions and request states belong to one user (check 53)', async (t) => {
  const { post, stream, sign, troupe, tools } = await start(t);
  const alice = bearer(await sign({ sub: 'alice' }));
  const bob = bearer(await sign({ sub: 'bob' }));
  const { headers: opened } = await post(rpc(1, 'initialize'), alice);
  const session = { 'mcp-session-id': opened.get('mcp-session-id') ?? '' };
  t.equal((await post(rpc(2, 'tools/list'), { ...session, ...alice })).status, 200);
  const foreign = await post(rpc(2, 'tools/list'), { ...session, ...bob });
  t.match(foreign, { status: 404, body: { error: { message: 'unknown MCP session' } } });

  troupe.models.steps.push(asks(['c1', 'risky']));
  const { body, headers } = stateless('steps');
  const asked = (await (await stream(body, { ...headers, ...alice })).rest()).at(-1);
  const inputResponses = { perm_c1: { action: 'accept', content: { approve: true } } };
  const { requestState } = asked?.result ?? {};
  const unused = JSON.stringify({ thread_id: 'mcp-unused', run_id: 'unused' });
  const answers = await Promise.all(
    [requestState, unused].map(async (state) => {
      const again = stateless('steps', { requestState: state, inputResponses });
      return (await (await stream(again.body, { ...again.headers, ...bob })).rest()).at(-1);
    }),
  );
  t.match(answers[0], { error: { code: -32602 } });
  t.strictSame(answers[0], answers[1], 'as for a state that was never issued');
  t.strictSame(tools.executed, []);
});

type Kept = {
  client?: OAuthClientInformationMixed;
  discovery?: OAuthDiscoveryState;
  tokens?: StoredOAuthTokens;
  verifier?: string;
  /** The address that a browser is sent to. */
  url?: URL;
};

const REDIRECT = 'http://127.0.0.1:9/callback';

/** Keeps the registration and the tokens of one client. */
const authProvider = (kept: Kept): OAuthClientProvider => ({
  redirectUrl: REDIRECT,
  clientMetadata: {
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
  },
  clientInformation: () => kept.client,
  saveClientInformation(client) {
    kept.client = client;
  },
  discoveryState: () => kept.discovery,
  saveDiscoveryState(state) {
    kept.discovery = state;
  },
  tokens: () => kept.tokens,
  saveTokens(tokens) {
    kept.tokens = tokens;
  },
  redirectToAuthorization(url) {
    kept.url = url;
  },
  saveCodeVerifier(verifier) {
    kept.verifier = verifier;
  },
  codeVerifier: () => kept.verifier ?? '',
});

const CLIENTS = {
  'the first SDK': {
    client: () => new FirstClient({ name: 'official', version: '1' }),
    transport: FirstTransport,
  },
  'the second SDK in a session': {
    client: () => new Client({ name: 'official', version: '1' }, { versionNegotiation: { mode: 'legacy' } }),
    transport: StreamableHTTPClientTransport,
  },
  'the second SDK without one': {
    client: () => new Client({ name: 'official', version: '1' }, { versionNegotiation: { mode: 'auto' } }),
    transport: StreamableHTTPClientTransport,
  },
} as const;

for (const [name, { client: createClient, transport: Transport }] of Object.entries(CLIENTS)) {
  t.test(`${name} discovers the provider, signs in with a code and calls a tool (check 52)`, async (t) => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { issuer, authorize } = await startOAuthProvider(t, {
      audience: `${url}/v1/mcp`,
      scopes: 'invoke',
      account: 'alice',
    });
    const troupe = await startDemo(t, {
      settings: {
        http_addr: new URL(url).host,
        public_url: url,
        identity: { issuers: [{ id: 'acme', issuer, default_grants: ['member'] }] },
      },
    });
    const seen: Kept = {};
    // Both SDKs have the same members; each package declares its types.
    const connect = async () => {
      const client = createClient() as Client;
      const transport = new (Transport as typeof StreamableHTTPClientTransport)(new URL(`${url}/v1/mcp`), {
        authProvider: authProvider(seen),
      });
      return { client, transport, done: client.connect(transport) };
    };
    const first = await connect();
    await t.rejects(first.done, /Unauthorized/);
    t.equal(seen.url?.origin, issuer);
    t.match(seen.url?.searchParams.get('scope'), 'invoke');
    const callback = await authorize(seen.url ?? new URL(url));
    // The first SDK ignores the issuer.
    await first.transport.finishAuth(callback.get('code') ?? '', callback.get('iss') ?? undefined);
    const second = await connect();
    await second.done;
    t.teardown(() => second.client.close());
    t.match(await second.client.callTool({ name: 'echo', arguments: { message: 'hello' } }), {
      content: [{ type: 'text', text: 'echo: hello' }],
    });
    const { body } = await troupe.call('GET', '/v1/users/alice', undefined, bearer(ADMIN_TOKEN));
    t.match(body, { identity: { issuer, subject: 'alice' } });
  });
}
