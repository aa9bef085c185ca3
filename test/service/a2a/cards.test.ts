import t from 'tap';
import { z } from 'zod';
import { tlsFiles } from '../../certificate.ts';
import { ADMIN_TOKEN, startTroupe, type TroupeOptions } from '../troupe.ts';

const CARD = '/.well-known/agent-card.json';
const EXTENDED = '/v1/a2a/extendedAgentCard';
const TOKEN = 'token of the card';
const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
const bearer = { authorization: `Bearer ${TOKEN}` };

const minimal = (settings: TroupeOptions['settings'] = {}): TroupeOptions => ({
  settings: { seed: { profile: 'minimal' }, ...settings },
});

t.test('serves the card of the default agent under the requested address', async (t) => {
  const { call, url } = await startTroupe(t, minimal());
  const { status, body, headers } = await call('GET', CARD);
  t.equal(status, 200);
  t.match(body, {
    name: 'default',
    supportedInterfaces: [{ url: `${url}/v1/a2a`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' }],
    provider: { organization: 'Troupe', url },
    capabilities: {
      streaming: true,
      pushNotifications: true,
      stateTransitionHistory: false,
      extendedAgentCard: false,
    },
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'default', name: 'default', tags: ['agent'] }],
  });
  t.equal((body.supportedInterfaces as object[]).length, 1);
  for (const key of ['url', 'id', 'securitySchemes', 'securityRequirements', 'signatures', 'iconUrl']) {
    t.notOk(key in body, key);
  }
  t.equal(headers.get('cache-control'), 'public, max-age=60');
  t.match(headers.get('etag'), /^"[\w-]+"$/);
  t.ok(Date.parse(headers.get('last-modified') ?? '') > Date.parse('2020-01-01'));
  t.match(headers.get('vary'), /Accept, Host/);
});

t.test('returns 304 for a card that the client already has', async (t) => {
  const { call } = await startTroupe(t, minimal());
  const etag = (await call('GET', CARD)).headers.get('etag') ?? '';
  for (const tags of [etag, `"other", W/${etag}`, '*']) {
    const again = await call('GET', CARD, undefined, { 'if-none-match': tags });
    t.same([again.status, again.headers.get('etag')], [304, etag]);
  }
  t.equal((await call('GET', CARD, undefined, { 'if-none-match': '"other"' })).status, 200);
  const typed = await call('GET', CARD, undefined, { 'if-none-match': etag, accept: 'application/a2a+json' });
  t.equal(typed.status, 200, 'the tag depends on the media type');
});

t.test('takes the origin from the forwarded headers of a trusted proxy (check 94)', async (t) => {
  const { call } = await startTroupe(t, minimal());
  const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a.example' };
  const { body } = await call('GET', CARD, undefined, forwarded);
  t.match(body, {
    supportedInterfaces: [{ url: 'https://a.example/v1/a2a' }],
    provider: { url: 'https://a.example' },
  });
  const ignored: Record<string, string>[] = [
    { 'x-forwarded-proto': 'javascript', 'x-forwarded-host': 'a"b/c' },
    // A proxy that appends to the line of a client does not vouch for all of it.
    { 'x-forwarded-proto': 'https , http', 'x-forwarded-host': 'a.example, b.example' },
    { 'x-real-ip': '203.0.113.7', forwarded: 'host=a.example;proto=https' },
  ];
  for (const strange of ignored) {
    t.match((await call('GET', CARD, undefined, strange)).body, {
      supportedInterfaces: [{ url: /^http:\/\/127\.0\.0\.1:\d+\/v1\/a2a$/ }],
    });
  }
});

t.test('names the scheme of the listener unless a proxy names another', async (t) => {
  const { app } = await startTroupe(t, minimal({ tls: tlsFiles(t) }));
  t.match(app.url, /^https:/);
  const urlFor = async (headers: Record<string, string>): Promise<string> => {
    const request = new Request(`http://agents.example${CARD}`, { headers });
    const response = await app.fetch(request);
    const { provider } = z.object({ provider: z.object({ url: z.string() }) }).parse(await response.json());
    return provider.url;
  };
  t.equal(await urlFor({ host: 'agents.example' }), 'https://agents.example');
  t.equal(await urlFor({ host: 'agents.example', 'x-forwarded-proto': 'http' }), 'http://agents.example');
  t.equal(await urlFor({ host: 'agents.example', 'x-forwarded-proto': 'gopher' }), 'https://agents.example');
});

t.test('ignores the forwarded headers of an untrusted proxy', async (t) => {
  const { call, url } = await startTroupe(t, minimal({ trust_forwarded_headers: false }));
  const { body } = await call('GET', CARD, undefined, { 'x-forwarded-host': 'a.example' });
  t.match(body, { supportedInterfaces: [{ url: `${url}/v1/a2a` }] });
});

t.test('takes origin, provider and fields removed in A2A 1.0 from settings', async (t) => {
  const { call } = await startTroupe(
    t,
    minimal({
      a2a_public_base_url: 'https://agents.example/',
      a2a_provider_organization: 'Example Org',
      a2a_provider_url: 'https://example.org/about',
      a2a_strict_card: true,
      a2a_push_enabled: false,
    }),
  );
  const { body } = await call('GET', CARD, undefined, { 'x-forwarded-host': 'a.example' });
  t.match(body, {
    supportedInterfaces: [{ url: 'https://agents.example/v1/a2a' }],
    provider: { organization: 'Example Org', url: 'https://example.org/about' },
  });
  t.same(body.capabilities, { streaming: true, pushNotifications: false, extendedAgentCard: false });
});

t.test('publishes the first agent that can run here if the default agent is missing', async (t) => {
  const { call } = await startTroupe(t, minimal({ default_agent_id: 'nobody', leader_seed: true }));
  const removed = await call('DELETE', '/v1/config/agents/nobody?force=true', undefined, admin);
  t.ok(removed.status < 300, `removed: ${removed.status}`);
  t.match((await call('GET', CARD)).body, { name: 'echo' });
});

t.test('neither publishes nor accepts messages for agents that run elsewhere or cannot run', async (t) => {
  const endpoint = { backend: 'a2a', base_url: 'https://agents.example/v1/a2a' };
  const agents = [
    { id: 'far', endpoint },
    { id: 'broken', model_id: 'there-is-none' },
  ];
  const { call } = await startTroupe(t, {
    ...minimal({ default_agent_id: 'far', a2a_extended_card_bearer_token: TOKEN }),
  });
  for (const agent of agents) {
    const path = `/v1/config/agents/${agent.id}`;
    t.ok((await call('PUT', path, { model_id: '', system_prompt: '', ...agent }, admin)).status < 500);
  }
  t.match((await call('GET', CARD)).body, { name: 'echo' });
  for (const { id } of agents) {
    const answer = await call('GET', `/v1/a2a/${id}/extendedAgentCard`, undefined, bearer);
    t.match([answer.status, answer.body], [404, { error: { message: `agent not found: ${id}` } }]);
  }
});

t.test('serves no card and accepts no message if no agent can run here', async (t) => {
  const { call, post, restart } = await startTroupe(t, minimal());
  await restart({ agents: [] });
  const { items } = (await call('GET', '/v1/config/agents', undefined, admin)).body as {
    items: { id: string }[];
  };
  for (const { id } of items)
    t.ok((await call('DELETE', `/v1/config/agents/${id}?force=true`, undefined, admin)).status < 300, id);
  const error = { code: 404, status: 'NOT_FOUND', message: 'no runnable local agents registered' };
  t.match(await call('GET', CARD), { status: 404, body: { error } });
  const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
  t.match(await post('/v1/a2a/message:send', { message }), { status: 404, body: { error } });
});

t.test('accepts a tenant exactly while its agent is published', async (t) => {
  const { call } = await startTroupe(t, minimal({ a2a_extended_card_bearer_token: TOKEN }));
  const path = '/v1/a2a/a2/extendedAgentCard';
  t.equal((await call('GET', path, undefined, bearer)).status, 404);
  const agent = { id: 'a2', model_id: 'echo', system_prompt: 'x', description: ' Second ' };
  t.equal((await call('POST', '/v1/config/agents', agent, admin)).status, 201);
  t.match((await call('GET', path, undefined, bearer)).body, {
    name: 'a2',
    description: 'Second',
    supportedInterfaces: [{ tenant: 'a2' }],
    skills: [{ id: 'a2', description: 'Second' }],
  });
  t.ok((await call('DELETE', '/v1/config/agents/a2', undefined, admin)).status < 300);
  t.equal((await call('GET', path, undefined, bearer)).status, 404);
});

t.test('returns 501 for the extended card unless it is configured', async (t) => {
  const { call } = await startTroupe(t, minimal());
  for (const path of [EXTENDED, '/v1/a2a/nobody/extendedAgentCard']) {
    const { status, body } = await call('GET', path, undefined, bearer);
    t.equal(status, 501);
    t.match(body, {
      error: {
        code: 501,
        status: 'UNIMPLEMENTED',
        message: 'extendedAgentCard is not configured for this agent',
        details: [{ reason: 'UNSUPPORTED_OPERATION', metadata: {} }],
      },
    });
  }
});

t.test('requires the token of the extended card, and explains why a request is rejected', async (t) => {
  const { call } = await startTroupe(t, minimal({ a2a_extended_card_bearer_token: TOKEN }));
  const table: [string | undefined, string][] = [
    [undefined, 'missing Authorization header for extendedAgentCard'],
    ['Basic abc', 'Authorization header must use Bearer authentication'],
    ['Bearer', 'Authorization header must use Bearer authentication'],
    ['Bearer wrong', 'invalid bearer token for extendedAgentCard'],
  ];
  for (const [authorization, text] of table) {
    for (const path of [EXTENDED, '/v1/a2a/echo/extendedAgentCard']) {
      const answer = await call('GET', path, undefined, authorization === undefined ? {} : { authorization });
      t.equal(answer.status, 401);
      t.equal(answer.headers.get('www-authenticate'), 'Bearer');
      t.match(answer.body, {
        error: {
          status: 'UNAUTHENTICATED',
          message: text,
          details: [{ reason: 'UNAUTHENTICATED', metadata: {} }],
        },
      });
    }
  }
  t.equal((await call('GET', EXTENDED, undefined, { authorization: `bearer ${TOKEN}` })).status, 200);
});

t.test('lists every local agent in the extended card, which the public card advertises', async (t) => {
  const { call } = await startTroupe(t, minimal({ a2a_extended_card_bearer_token: TOKEN }));
  const { body } = await call('GET', EXTENDED, undefined, bearer);
  const { supportedInterfaces, skills } = body as {
    supportedInterfaces: { tenant?: string; url: string }[];
    skills: { id: string }[];
  };
  t.same(
    supportedInterfaces.map(({ tenant }) => tenant),
    [undefined, 'default', 'echo', 'flaky', 'slow', 'steps'],
  );
  t.equal(new Set(supportedInterfaces.map(({ url }) => url)).size, 1);
  t.same(
    skills.map(({ id }) => id),
    ['default', 'echo', 'flaky', 'slow', 'steps'],
  );
  t.match((await call('GET', CARD)).body, {
    capabilities: { extendedAgentCard: true },
    securitySchemes: { extendedCardBearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } },
    securityRequirements: [{ schemes: { extendedCardBearer: { list: [] } } }],
  });
});
