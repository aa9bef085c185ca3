import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { mergeCapabilities } from '../../src/models/capabilities.ts';
import { createDiscovery, type DiscoveryResult } from '../../src/models/discovery.ts';
import { parseModelList } from '../../src/models/model-list.ts';
import type { ModelSpec, ProviderSpec } from '../../src/schema/model.ts';
import { type SeenRequest, startSseServer } from './sse-server.ts';
import { openTransport } from './transport/open.ts';

/** Covers config.md 7.1. */

const HOUR = 3_600_000;

const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

const LIST = { data: [{ id: 'Up', context_length: 9000, max_completion_tokens: 900 }] };

const model = (more: Partial<ModelSpec> = {}): ModelSpec => ({
  id: 'm',
  provider_id: 'p',
  upstream_model: 'up',
  ...more,
});

type Options = {
  answer?: (response: ServerResponse, request: SeenRequest) => void;
  env?: Record<string, string>;
};

const start = async (t: Test, { answer = json(LIST), env = {} }: Options = {}) => {
  const { url, requests } = await startSseServer(t, answer);
  const clock = { time: 0, now: () => clock.time };
  const provider = (more: Partial<ProviderSpec> = {}): ProviderSpec => ({
    id: 'p',
    adapter: 'openai',
    api_key: 'the-key',
    base_url: `${url}/v1`,
    ...more,
  });
  return {
    url,
    requests,
    clock,
    provider,
    discovery: createDiscovery({ clock, env, transport: openTransport(t) }),
  };
};

const found = (looked: DiscoveryResult) => {
  if (looked.kind !== 'found') throw new Error(JSON.stringify(looked));
  return looked;
};

t.test('requests the list at the base URL with the key of the provider', async (t) => {
  const { discovery, provider, requests } = await start(t);
  const looked = found(await discovery.look(provider(), [model()]));
  t.strictSame(looked.of(model()), { context_window: 9000, max_output_tokens: 900 });
  t.strictSame(looked.of(model({ upstream_model: 'models/UP' })), looked.of(model()));
  t.strictSame(looked.of(model({ upstream_model: 'other' })), {});
  t.equal(requests.length, 1);
  t.match(requests[0], { url: '/v1/models', headers: { authorization: 'Bearer the-key' } });
});

t.test('ranks discovered capabilities below the entry and above the catalog', async (t) => {
  const { discovery, provider } = await start(t, {
    answer: json({ data: [{ id: 'gpt-4o', context_window: 5000 }] }),
  });
  const looked = found(await discovery.look(provider(), [model()]));
  const spec = model({ upstream_model: 'gpt-4o' });
  t.strictSame(mergeCapabilities(spec, looked.of(spec), { max_output_tokens: 16_384 }), {
    context_window: 5000,
    max_output_tokens: 5000,
  });
  t.match(mergeCapabilities({ ...spec, context_window: 70 }, looked.of(spec)), { context_window: 70 });
});

t.test('returns a list only once it is kept, for twelve hours after its request', async (t) => {
  const { discovery, provider, clock, requests } = await start(t);
  const looked = found(await discovery.look(provider(), [model()]));
  t.strictSame(discovery.known(provider(), model()), {});
  looked.keep();
  t.match(discovery.known(provider(), model()), { context_window: 9000 });
  clock.time = 12 * HOUR - 1;
  found(await discovery.look(provider(), [model()])).keep();
  t.equal(requests.length, 1, 'a cached list is not requested again');
  clock.time = 12 * HOUR;
  t.strictSame(discovery.known(provider(), model()), {});
  await discovery.look(provider(), [model()]);
  t.equal(requests.length, 2);
});

t.test('ignores a kept list after a change of the definition or key', async (t) => {
  const { discovery, provider, url, requests } = await start(t);
  found(await discovery.look(provider(), [model()])).keep();
  const others: Partial<ProviderSpec>[] = [
    { api_key: 'other' },
    { base_url: `${url}/v2` },
    { adapter_options: { headers: { a: 'b' } } },
  ];
  for (const [index, other] of others.entries()) {
    t.strictSame(discovery.known(provider(other), model()), {});
    await discovery.look(provider(other), [model()]);
    t.equal(requests.length, index + 2);
  }
  t.strictSame(discovery.known(provider({ adapter_options: { headers: 'broken' } }), model()), {});
});

const complete = model({
  context_window: 1,
  max_output_tokens: 1,
  modalities: { input: ['text'], output: ['text'] },
  knowledge_cutoff: '2025-01',
});

const needs: [name: string, spec: ModelSpec, openai: boolean, gemini: boolean][] = [
  ['says everything', complete, false, false],
  ['has no window', model({ ...complete, context_window: undefined }), true, true],
  ['has no limit of output', model({ ...complete, max_output_tokens: undefined }), true, true],
  ['has no modalities', model({ ...complete, modalities: undefined }), true, false],
  ['has no cutoff', model({ ...complete, knowledge_cutoff: undefined }), true, false],
];
for (const [name, spec, openai, gemini] of needs) {
  t.test(`a model that ${name} ${openai ? 'requires' : 'does not require'} the list`, async (t) => {
    const { discovery, provider, requests } = await start(t);
    await discovery.look(provider(), [spec]);
    t.equal(requests.length, openai ? 1 : 0);
    await discovery.look(provider({ adapter: 'gemini' }), [spec]);
    t.equal(requests.length, (openai ? 1 : 0) + (gemini ? 1 : 0));
  });
}

t.test('sends no request to providers without a known list', async (t) => {
  const { discovery, provider, url, requests } = await start(t);
  const specs: Partial<ProviderSpec>[] = [
    { adapter: 'groq' },
    { adapter: 'openai_resp' },
    { adapter: 'scripted' },
    { adapter: 'nope', adapter_options: { model_discovery_schema: 'openai' } },
    { base_url: undefined, api_key: undefined },
    { base_url: `${url}/v1/chat/completions` },
    { base_url: `${url}/v1/completions/` },
    { base_url: `${url}/v1/responses` },
    { adapter: 'gemini', base_url: `${url}/v1/models/x:streamGenerateContent` },
    {
      adapter: 'vertex',
      adapter_options: { model_discovery_schema: 'gemini', credentials_kind: 'service_account_json' },
    },
  ];
  for (const spec of specs) {
    t.strictSame(
      await discovery.look(provider(spec), [model()]),
      { kind: 'not_needed' },
      JSON.stringify(spec),
    );
  }
  t.strictSame(await discovery.look(provider(), []), { kind: 'not_needed' });
  t.equal(requests.length, 0);
});

t.test('uses a base URL that already ends with the list path unchanged', async (t) => {
  const { discovery, provider, url, requests } = await start(t);
  await discovery.look(provider({ base_url: `${url}/own/models/` }), [model()]);
  t.equal(requests[0]?.url, '/own/models');
});

const auths: [option: string | undefined, adapter: string, headers: object][] = [
  [undefined, 'openai', { authorization: 'Bearer the-key', 'x-goog-api-key': undefined }],
  [undefined, 'gemini', { authorization: undefined, 'x-goog-api-key': 'the-key' }],
  ['Gemini-API-Key', 'openai', { authorization: undefined, 'x-goog-api-key': 'the-key' }],
  ['authorization-bearer', 'gemini', { authorization: 'Bearer the-key', 'x-goog-api-key': undefined }],
  ['disabled', 'openai', { authorization: undefined, 'x-goog-api-key': undefined }],
];
for (const [option, adapter, headers] of auths) {
  t.test(`requests the list of ${adapter} with authentication ${option ?? 'of the adapter'}`, async (t) => {
    const { discovery, provider, requests } = await start(t);
    const adapter_options: ProviderSpec['adapter_options'] = option ? { model_discovery_auth: option } : {};
    await discovery.look(provider({ adapter, adapter_options }), [model()]);
    const { authorization, 'x-goog-api-key': google } = requests[0]?.headers ?? {};
    t.strictSame({ authorization, 'x-goog-api-key': google }, headers);
  });
}

t.test('sends custom headers except those with credentials', async (t) => {
  const { discovery, provider, requests } = await start(t);
  const secret = ['Authorization', 'Proxy-Authorization', 'Cookie', 'X-Goog-Api-Key', 'X-API-Key', 'API-Key'];
  const names = [...secret, 'Ocp-Apim-Subscription-Key', 'X-Auth-Token'];
  const headers = { 'x-title': 'me', ...Object.fromEntries(names.map((name) => [name, 'leak'])) };
  await discovery.look(provider({ adapter_options: { headers } }), [model()]);
  t.equal(requests[0]?.headers['x-title'], 'me');
  t.notMatch(JSON.stringify(requests[0]?.headers), 'leak');
});

t.test('uses a key from the environment if the spec allows it', async (t) => {
  const env: Record<string, string> = { OPENAI_API_KEY: 'from-env' };
  const { discovery, provider, requests } = await start(t, { env });
  env.OPENAI_BASE_URL = provider().base_url ?? '';
  await discovery.look(provider({ api_key: undefined }), [model()]);
  const adapter_options = { allow_env_credentials: true };
  await discovery.look(provider({ api_key: undefined, adapter_options }), [model()]);
  t.strictSame(
    requests.map(({ headers }) => headers.authorization),
    [undefined, 'Bearer from-env'],
  );
});

const failures: [name: string, answer: Options['answer'], problem: RegExp][] = [
  ['refuses', json({ error: 'the-key' }, 401), /\/v1\/models: status 401$/],
  [
    'leads elsewhere',
    (response) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    /status 302$/,
  ],
  ['answers something else', (response) => response.end('<html>'), /the response is not JSON$/],
  ['answers another shape', json({ models: [] }), /the response has no list 'data'$/],
  ['hangs up', (response) => response.destroy(), /no connection/],
  [
    'an interrupted body',
    (response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{');
      setImmediate(() => response.destroy());
    },
    /was interrupted/,
  ],
  [
    'never ends',
    (response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(1024 * 1024)));
      };
      response.on('drain', more);
      more();
    },
    /more than 8388608 bytes/,
  ],
];
for (const [name, answer, problem] of failures) {
  t.test(`reports a provider that ${name} as a failure, and requests the list again`, async (t) => {
    const { discovery, provider, requests } = await start(t, answer ? { answer } : {});
    for (const times of [1, 2]) {
      const looked = await discovery.look(provider({ base_url: provider().base_url }), [model()]);
      t.match(looked, { kind: 'failed', problem });
      t.notMatch(JSON.stringify(looked), 'the-key');
      t.equal(requests.length, times);
    }
  });
}

t.test('reports a timeout as a failure', async (t) => {
  const { discovery, provider } = await start(t, { answer: () => {} });
  t.match(await discovery.look(provider({ timeout_secs: 1 }), [model()]), {
    kind: 'failed',
    problem: /no answer in time$/,
  });
});

t.test('does not quote a password in the base URL', async (t) => {
  const { discovery, provider, url } = await start(t);
  const base_url = url.replace('http://', 'http://me:hunter2@');
  const looked = await discovery.look(provider({ base_url }), [model()]);
  t.equal(looked.kind, 'failed');
  t.notMatch(JSON.stringify(looked), 'hunter2');
});

const items: [name: string, item: object, said: object][] = [
  ['the first window that is not zero', { context_window: 0, context_size: 7 }, { context_window: 7 }],
  ['a limit of the top provider', { top_provider: { max_completion_tokens: 3 } }, { max_output_tokens: 3 }],
  ['an answer longer than the window', { context_window: 5, max_output_tokens: 6 }, {}],
  ['numbers that are none', { context_window: '5', max_output_tokens: -1 }, {}],
  [
    'modalities of the architecture',
    { architecture: { input_modalities: ['text', 'images', 'image'], output_modalities: ['TEXT'] } },
    { modalities: { input: ['text', 'image'], output: ['text'] } },
  ],
  ['modalities of its own', { inputModalities: ['audio'] }, { modalities: { input: ['audio'] } }],
  ['a modality that is not known', { input_modalities: ['text', 'smell'], output_modalities: ['text'] }, {}],
  ['a cutoff', { knowledge_cutoff: '2025-02' }, { knowledge_cutoff: '2025-02' }],
  ['a cutoff that is no date', { knowledge_cutoff: '2025-02-30' }, {}],
];
for (const [name, item, said] of items) {
  t.test(`parses a list item with ${name}`, async (t) => {
    const list = parseModelList('openai', { data: [null, { id: 3 }, { id: 'x', ...item }] });
    t.strictSame([...list], [['x', said]]);
  });
}

t.test('parses names and limits from the list of Gemini', async (t) => {
  const list = parseModelList('gemini', {
    models: [
      { name: 'models/Gemini-A', inputTokenLimit: 100, outputTokenLimit: 10 },
      { name: 'models/b', input_token_limit: 50, output_token_limit: 5 },
      { name: 'models/c', inputTokenLimit: 1, outputTokenLimit: 2 },
    ],
  });
  t.strictSame(
    [...list],
    [
      ['gemini-a', { context_window: 100, max_output_tokens: 10 }],
      ['b', { context_window: 50, max_output_tokens: 5 }],
      ['c', {}],
    ],
  );
});
