import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { createDiscovery } from '../../src/models/discovery.ts';
import { createListRequest } from '../../src/models/list-request.ts';
import { ADAPTER_DEFAULTS } from '../../src/models/provider.ts';
import { createProviderTest } from '../../src/models/provider-test.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import type { ModelSpec, ProviderSpec } from '../../src/schema/model.ts';
import { type SeenRequest, startSseServer } from './sse-server.ts';
import { openTransport } from './transport/open.ts';

/** Model lists of adapters whose list has another form, or needs other credentials, than OpenAI's. */

const KEYS = { region: 'us-east-1', access_key_id: 'AK', secret_access_key: 'hush' };

type Row = {
  spec: Partial<ProviderSpec> & { adapter: string };
  list: JsonObject;
  upstream: string;
  path: string;
  accepts(headers: SeenRequest['headers']): boolean;
  found: object;
};

const bearer = ({ authorization }: SeenRequest['headers']): boolean => authorization === 'Bearer the-key';

const rows: Row[] = [
  {
    spec: { adapter: 'mistral' },
    list: { object: 'list', data: [{ id: 'mistral-large-latest', max_context_length: 262_144 }] },
    upstream: 'mistral-large-latest',
    path: '/v1/models',
    accepts: bearer,
    found: { context_window: 262_144 },
  },
  {
    spec: { adapter: 'openrouter' },
    list: {
      data: [
        {
          id: 'anthropic/claude-opus-5',
          context_length: 1_000_000,
          top_provider: { max_completion_tokens: 128_000 },
          architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
        },
      ],
    },
    upstream: 'anthropic/claude-opus-5',
    path: '/v1/models',
    accepts: bearer,
    found: {
      context_window: 1_000_000,
      max_output_tokens: 128_000,
      modalities: { input: ['text', 'image'], output: ['text'] },
    },
  },
  {
    spec: { adapter: 'vllm', api_key: null },
    list: { data: [{ id: 'Qwen/Qwen3-32B', max_model_len: 40_960 }] },
    upstream: 'Qwen/Qwen3-32B',
    path: '/v1/models',
    accepts: ({ authorization }) => authorization === undefined,
    found: { context_window: 40_960 },
  },
  {
    spec: { adapter: 'lmstudio', api_key: null },
    list: { data: [{ id: 'openai/gpt-oss-20b' }] },
    upstream: 'openai/gpt-oss-20b',
    path: '/v1/models',
    accepts: ({ authorization }) => authorization === undefined,
    found: {},
  },
  {
    spec: { adapter: 'openai_compatible' },
    list: { data: [{ id: 'up', context_window: 9000 }] },
    upstream: 'up',
    path: '/v1/models',
    accepts: bearer,
    found: { context_window: 9000 },
  },
  {
    spec: { adapter: 'azure' },
    list: { data: [{ id: 'gpt-5', context_window: 400_000 }] },
    upstream: 'gpt-5',
    path: '/v1/openai/v1/models',
    accepts: (headers) => headers['api-key'] === 'the-key' && headers.authorization === undefined,
    found: { context_window: 400_000 },
  },
  {
    spec: { adapter: 'anthropic', adapter_options: { model_discovery_schema: 'openai' } },
    list: { data: [{ type: 'model', id: 'claude-opus-5', display_name: 'Claude Opus 5' }], has_more: false },
    upstream: 'claude-opus-5',
    path: '/v1/models?limit=1000',
    accepts: (headers) =>
      headers['x-api-key'] === 'the-key' &&
      headers['anthropic-version'] === '2023-06-01' &&
      headers.authorization === undefined,
    found: {},
  },
  {
    spec: { adapter: 'groq', adapter_options: { model_discovery_schema: 'openai' } },
    list: { object: 'list', data: [{ id: 'llama-3.3-70b', context_window: 131_072 }] },
    upstream: 'llama-3.3-70b',
    path: '/v1/models',
    accepts: bearer,
    found: { context_window: 131_072 },
  },
  {
    spec: { adapter: 'bedrock', api_key: null, adapter_options: KEYS },
    list: {
      modelSummaries: [
        {
          modelId: 'anthropic.claude-opus-5-v1',
          inputModalities: ['TEXT', 'IMAGE'],
          outputModalities: ['TEXT'],
        },
      ],
    },
    upstream: 'anthropic.claude-opus-5-v1',
    path: '/v1/foundation-models',
    accepts: ({ authorization = '' }) =>
      /^AWS4-HMAC-SHA256 Credential=AK\/\d{8}\/us-east-1\/bedrock\/aws4_request, /.test(authorization),
    found: { modalities: { input: ['text', 'image'], output: ['text'] } },
  },
];

const start = async (t: Test, { spec, list, path, accepts }: Row) => {
  const answer = (response: ServerResponse, { url, headers }: SeenRequest): void => {
    if (url !== path) response.writeHead(500).end('{}');
    else if (!accepts(headers)) response.writeHead(401).end('{}');
    else response.end(JSON.stringify(list));
  };
  const { url, requests } = await startSseServer(t, answer);
  const given: ProviderSpec = { id: 'p', api_key: 'the-key', base_url: `${url}/v1`, ...spec };
  return { requests, given, deps: { clock: { now: Date.now }, env: {}, transport: openTransport(t) } };
};

for (const row of rows) {
  t.test(`${row.spec.adapter}: reads limits from the list and passes the provider test`, async (t) => {
    const { given, deps, requests } = await start(t, row);
    const model: ModelSpec = { id: 'm', provider_id: 'p', upstream_model: row.upstream };
    const looked = await createDiscovery(deps).look(given, [model]);
    t.equal(looked.kind, 'found', JSON.stringify(looked));
    if (looked.kind === 'found') t.strictSame(looked.of(model), row.found);
    t.match(await createProviderTest(deps)(given), { ok: true, network_tested: true });
    t.equal(requests.length, 2);
    t.notMatch(JSON.stringify(requests), 'hush');
  });
}

t.test('requests a list that is read on request only for options that name its schema', async (t) => {
  const onRequest = Object.entries(ADAPTER_DEFAULTS).filter(([, row]) => row.lists_models_on_request);
  t.strictSame(onRequest.map(([id]) => id).toSorted(), ['anthropic', 'deepseek', 'groq', 'ollama', 'xai']);
  const deps = { env: {}, tokens: { text: openTransport(t).text, now: Date.now } };
  for (const [adapter, { lists_models }] of onRequest) {
    const spec = { id: 'p', adapter, api_key: 'k' };
    t.equal(lists_models, false);
    t.equal(createListRequest(spec, deps), undefined);
    const named = { ...spec, adapter_options: { model_discovery_schema: 'openai' } };
    t.match(createListRequest(named, deps)?.url.href, /\/models(\?limit=1000)?$/);
  }
});

t.test('reports the reason when the provider test fails with a rejected Entra ID token', async (t) => {
  const transport = {
    ...openTransport(t),
    text: async () => ({ status: 401, headers: {}, body: '{"error":"invalid_client"}' }),
  };
  const spec: ProviderSpec = {
    id: 'az',
    adapter: 'azure',
    adapter_options: { resource: 'r', tenant_id: 't', client_id: 'c', client_secret: 'hush' },
  };
  t.match(await createProviderTest({ clock: { now: Date.now }, env: {}, transport })(spec), {
    ok: false,
    network_tested: true,
    error: 'unauthorized: Microsoft Entra ID refused the application (status 401)',
  });
});

t.test('requests a token in the test of Google Cloud credentials, because there is no list', async (t) => {
  const asked: string[] = [];
  const transport = {
    ...openTransport(t),
    text: async ({ url }: { url: string }) => {
      asked.push(new URL(url).host);
      return { status: 200, headers: {}, body: '{"access_token":"t","expires_in":9}' };
    },
  };
  const env = { CLOUDSDK_CONFIG: t.testdir() };
  const spec: ProviderSpec = {
    id: 'v',
    adapter: 'vertex',
    adapter_options: { project: 'p', allow_env_credentials: true },
  };
  const test = createProviderTest({ clock: { now: Date.now }, env, transport });
  t.match(await test(spec), { ok: true, network_tested: true });
  t.strictSame(asked, ['metadata.google.internal']);
  t.match(await test({ ...spec, api_key: 'ya29' }), { ok: true, network_tested: false });
});
