import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { openStore } from '../../../src/store/index.ts';
import { idsOf, listOf, model, provider, startPlane } from './plane.ts';

/** Capabilities, tests of providers, and the status of servers: config.md 10, 12, 13 and 16, checks 58, 62 to 65. */

const answering = async (
  t: Test,
  status: number,
  body: object = { data: [] },
): Promise<{ url: string; asked: () => string[] }> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, asked: () => asked };
};

t.test('lists everything that agents consist of in the capabilities, without secrets', async (t) => {
  const { get, post } = await startPlane(t);
  await post(
    '/v1/config/providers',
    provider('main', { adapter_options: { headers: { 'x-team': 'header-value' } } }),
  );
  const { status, body } = await get('/v1/capabilities');
  t.equal(status, 200);
  t.strictSame(Object.keys(body).sort(), [
    'adapter_defaults',
    'admin_assistant',
    'agents',
    'backends',
    'models',
    'namespaces',
    'plugins',
    'providers',
    'skills',
    'supported_adapters',
    'tools',
  ]);
  t.notMatch(JSON.stringify(body), /key-of-main|header-value/);
  t.ok(listOf(body.providers).every((each) => Object.keys(each).join() === 'id'));
  const keyOf = (id: string) => {
    const plugin = listOf(body.plugins).find((each) => each.id === id);
    return listOf(plugin?.config_schemas)[0]?.key;
  };
  t.equal(keyOf('permission'), 'permission');
  t.equal(keyOf('reminder'), 'reminder');
  t.equal(keyOf('generative-ui'), 'generative-ui');
  t.equal(keyOf('ext-deferred-tools'), 'deferred_tools');
  t.ok(idsOf(body.tools).includes('ToolSearch'), 'tools that no agent uses are listed too');
  t.equal(keyOf('skills-discovery'), 'skills');
  t.notOk(listOf(body.tools).some(({ id }) => String(id).startsWith('admin_')));
  t.strictSame(
    listOf(body.namespaces).map(({ namespace }) => namespace),
    ['agents', 'models', 'model-pools', 'providers', 'mcp-servers', 'skills', 'tools', 'budgets'],
  );
  const adapters = Array.isArray(body.supported_adapters) ? body.supported_adapters : [];
  for (const name of ['openai', 'groq', 'nebius']) t.ok(adapters.includes(name), name);
  t.notOk(adapters.includes('scripted'));
});

t.test('lists known model properties next to each entry, which remains unchanged', async (t) => {
  const { get, post } = await startPlane(t);
  await post('/v1/config/providers', provider('main'));
  const own = { upstream_model: 'openai/gpt-oss-120b', context_window: 1000 };
  t.equal((await post('/v1/config/models', model('public', 'main', own))).status, 201);
  t.equal((await post('/v1/config/models', model('private'))).status, 201);
  const entries = listOf((await get('/v1/capabilities')).body.models);
  const entryOf = (id: string) => entries.find((entry) => entry.id === id);
  t.match(entryOf('public'), { context_window: 1000, provider_id: 'main' });
  t.strictSame(entryOf('public')?.known, {
    context_window: 131_072,
    max_output_tokens: 65_536,
    modalities: { input: ['text'], output: ['text'] },
    input_token_price_per_million_usd: 0.15,
    output_token_price_per_million_usd: 0.6,
    cached_input_token_price_per_million_usd: 0.075,
  });
  t.strictSame(entryOf('private')?.known, {});
  t.notOk('known' in (await get('/v1/config/models/public')).body);
});

t.test('tests a provider by requesting its models', async (t) => {
  const { post } = await startPlane(t);
  const good = await answering(t, 200);
  const closed = await answering(t, 401);
  const stored = async (id: string, more: object) => {
    t.equal((await post('/v1/config/providers', provider(id, more))).status, 201);
    return (await post(`/v1/providers/${id}/test`)).body;
  };
  const ok = await stored('good', { adapter: 'openai', base_url: good.url });
  t.strictSame(
    { ...ok, latency_ms: typeof ok.latency_ms },
    { ok: true, latency_ms: 'number', network_tested: true },
  );
  t.ok(good.asked().includes('GET /v1/models'));
  t.match(await stored('closed', { adapter: 'openai', base_url: closed.url }), {
    ok: false,
    network_tested: true,
    status: 401,
    error: /401/,
  });
  t.match(await stored('nobody', { adapter: 'openai', base_url: 'http://127.0.0.1:9/v1' }), {
    ok: false,
    network_tested: true,
  });
  t.match(await stored('listless', {}), { ok: true, network_tested: false });
  t.match((await post('/v1/providers/default/test')).body, { ok: true, network_tested: false });
  t.match(await post('/v1/providers/nope/test'), {
    status: 404,
    body: { error: 'not found: providers/nope' },
  });
});

t.test('previews a provider with its models without storing it', async (t) => {
  const { get, post } = await startPlane(t);
  const list = { data: [{ id: 'GPT-4o', context_window: 99 }, { id: 'in-house' }, { id: 7 }] };
  const good = await answering(t, 200, list);
  const closed = await answering(t, 401, list);
  const preview = async (more: object) =>
    (await post('/v1/providers/preview', provider('next', { adapter: 'openai', ...more }))).body;
  const { latency_ms, models, ...rest } = await preview({ base_url: good.url });
  t.type(latency_ms, 'number');
  t.strictSame(rest, { ok: true, network_tested: true, status: 200, models_from: 'provider' });
  t.match(models, [
    {
      upstream_model: 'GPT-4o',
      known: { context_window: 99, input_token_price_per_million_usd: 2.5 },
    },
    { upstream_model: 'in-house', known: {} },
  ]);
  t.strictSame(good.asked(), ['GET /v1/models'], 'one request');
  const refused = await preview({ base_url: closed.url });
  t.match(refused, { ok: false, status: 401, models: [] });
  t.notMatch(JSON.stringify(refused), 'key-of-next');
  const wrong = await answering(t, 400, { error: { message: 'API key not valid' } });
  t.match(await preview({ adapter: 'gemini', base_url: wrong.url }), {
    ok: false,
    network_tested: true,
    status: 400,
    error: /status 400$/,
    models: [],
  });
  const listless = await preview({ adapter: 'anthropic' });
  t.match(listless, { ok: true, network_tested: false, models_from: 'catalog' });
  t.match(
    listOf(listless.models).find(({ upstream_model }) => upstream_model === 'claude-opus-5-5'),
    { known: { context_window: 1_000_000, output_token_price_per_million_usd: 20 } },
  );
  t.match(await post('/v1/providers/preview', { id: 'next' }), {
    status: 422,
    body: { error: /adapter/ },
  });
  t.equal((await get('/v1/config/providers/next')).status, 404);
});

t.test('sends no key of the environment to another address in a preview', async (t) => {
  const { post } = await startPlane(t, { app: { env: { GROQ_API_KEY: 'key-of-the-environment' } } });
  const other = await answering(t, 200, { data: [{ id: 'm' }] });
  const spec = { id: 'next', adapter: 'groq', base_url: other.url };
  for (const adapter_options of [{}, { allow_env_credentials: true }]) {
    const { body } = await post('/v1/providers/preview', { ...spec, adapter_options });
    t.match(body, { ok: false, network_tested: false, error: /api_key/i });
  }
  t.strictSame(other.asked(), []);
});

t.test('fails the test of a stored invalid provider without revealing its secrets', async (t) => {
  const { troupe, post } = await startPlane(t);
  await post('/v1/config/providers', provider('old'));
  await troupe.app.stop();
  const store = await openStore({ dir: t.testdirName, durability: 'process' });
  const record = store.config.get('providers', 'old');
  const batch = store.batch('commons');
  if (record) {
    const headers = { 'x-bad header': 'header-secret' };
    store.config.put(batch, { ...record, spec: provider('old', { adapter_options: { headers } }) });
  }
  await store.commit(batch);
  await store.close();
  await troupe.restart();
  const { status, body } = await post('/v1/providers/old/test');
  t.equal(status, 200);
  t.match(body, { ok: false, network_tested: false, error: String });
  t.notMatch(body.error, /x-bad header|header-secret|key-of-old/);
});

const STATUS_KEYS = [
  'changed_tools',
  'connected',
  'consecutive_failures',
  'last_attempt_at',
  'last_error',
  'last_init_at',
  'last_success_at',
  'left_out',
  'permanently_failed',
  'reconnecting',
  'session_generation',
  'tools',
  'transport_reconnect_count',
];

t.test('returns 404 for the status of an unknown MCP server', async (t) => {
  const { get, post } = await startPlane(t);
  for (const part of ['status', 'inventory']) {
    t.match(await get(`/v1/mcp-servers/x/${part}`), { status: 404, body: { error: 'mcp-server/x' } });
  }
  t.match(await post('/v1/mcp-servers/x/restart'), {
    status: 503,
    body: { error: 'invalid managed config: no MCP registry is active' },
  });
});

t.test('returns the status of a stored MCP server, audits its restart, and protects it', async (t) => {
  const { troupe, get, post, del, audit } = await startPlane(t);
  const server = { id: 'files', transport: 'stdio', command: process.execPath };
  await troupe.app.stop();
  // A configured server that is down does not block startup (config.md 13.4).
  const store = await openStore({ dir: t.testdirName, durability: 'process' });
  const batch = store.batch('commons');
  store.config.put(batch, {
    namespace: 'mcp-servers',
    id: 'files',
    spec: server,
    hidden: false,
    source: { kind: 'user' },
    created_at: 0,
    updated_at: 0,
    revision: 1,
    actor: 'anonymous',
  });
  await store.commit(batch);
  await store.close();
  await troupe.restart();
  const status = await get('/v1/mcp-servers/files/status');
  t.strictSame(Object.keys(status.body).sort(), STATUS_KEYS);
  t.match(status.body, { connected: false, session_generation: 0 });
  const inventory = (await get('/v1/mcp-servers/files/inventory')).body;
  t.strictSame(Object.keys(inventory).sort(), [...STATUS_KEYS, 'prompts', 'resources'].sort());
  const restarted = await post('/v1/mcp-servers/files/restart');
  t.match(restarted, { status: 202, body: { text: '' } });
  const [event = {}] = await audit('?action=restart');
  t.match(event, { resource: 'mcp-servers/files', actor: /^[0-9a-f]{16}$/ });
  t.notOk('before' in event || 'after' in event);
  t.match(await post('/v1/mcp-servers/other/restart'), {
    status: 404,
    body: { error: 'mcp-server/other' },
  });
  const skill = {
    id: 's',
    name: 'S',
    description: 'd',
    instructions_md: 'x',
    allowed_tools: ['mcp__files__*'],
  };
  t.equal((await post('/v1/config/skills', skill)).status, 201);
  t.match(await del('/v1/config/mcp-servers/files'), {
    status: 409,
    body: { used_by: [{ namespace: 'skills', id: 's' }] },
  });
});

t.test('does not contact an A2A server on a private address', async (t) => {
  const { get, post } = await startPlane(t);
  const local = await answering(t, 200);
  await post('/v1/config/a2a-servers', { id: 'near', base_url: local.url });
  await post('/v1/config/a2a-servers', { id: 'named', base_url: 'http://localhost:9' });
  for (let twice = 0; twice < 2; twice += 1) {
    const { status, body } = await get('/v1/a2a-servers/near/status');
    t.equal(status, 200);
    t.match(body, { connected: false, last_error: /non-public/, card_url: null, card: null });
    t.strictSame(Object.keys(body).sort(), ['card', 'card_url', 'connected', 'last_error']);
  }
  t.match((await get('/v1/a2a-servers/named/status')).body, {
    last_error: 'A2A discovery URL host is not allowed',
  });
  t.strictSame(local.asked(), []);
  t.match(await get('/v1/a2a-servers/nope/status'), { status: 404, body: { error: 'a2a-server/nope' } });
});
