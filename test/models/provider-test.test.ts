import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { createProviderTest, ProviderTest } from '../../src/models/provider-test.ts';
import type { Transport } from '../../src/models/transport/types.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { recordingPause } from './fakes.ts';
import { type SeenRequest, startSseServer } from './sse-server.ts';
import { openTransport } from './transport/open.ts';

/** Covers config.md 12 and 16, check 62. */

const status =
  (code: number) =>
  (response: ServerResponse): void => {
    response.writeHead(code, { 'content-type': 'application/json' }).end('{}');
  };

const clock = { now: Date.now };

type Answer = (response: ServerResponse, request: SeenRequest) => void;

const start = async (t: Test, answer: Answer = status(200)) => {
  const { url, requests } = await startSseServer(t, answer);
  const test = createProviderTest({ clock, env: {}, transport: openTransport(t) });
  const run = async (more: Partial<ProviderSpec> = {}): Promise<ProviderTest> => {
    const spec = { id: 'p', adapter: 'openai', api_key: 'the-key', base_url: `${url}/v1`, ...more };
    const result = await test(spec);
    return ProviderTest.strict().parse(JSON.parse(JSON.stringify(result)));
  };
  return { url, requests, run };
};

t.test('passes a provider whose list responds', async (t) => {
  const { run, requests } = await start(t);
  const result = await run();
  t.match(result, { ok: true, network_tested: true });
  t.notOk('error' in result);
  t.match(requests, [{ url: '/v1/models', headers: { authorization: 'Bearer the-key' } }]);
});

for (const [code, ok] of [
  [204, true],
  [302, true],
  [404, true],
  [429, true],
  [400, false],
  [401, false],
  [403, false],
  [500, false],
  [503, false],
] as const) {
  t.test(`a list with status ${code} ${ok ? 'passes' : 'fails'}`, async (t) => {
    const { run, url } = await start(t, status(code));
    t.match(await run(), {
      ok,
      network_tested: true,
      ...(!ok && { status: code, error: `${url}/v1/models: status ${code}` }),
    });
  });
}

t.test('fails when no server listens', async (t) => {
  const { run } = await start(t);
  t.match(await run({ base_url: 'http://127.0.0.1:9/v1' }), {
    ok: false,
    network_tested: true,
    error: /^http:\/\/127\.0\.0\.1:9\/v1\/models: no connection/,
  });
});

t.test('fails after a timeout', async (t) => {
  const { run } = await start(t, () => {});
  const result = await run({ timeout_secs: 1 });
  t.match(result, { ok: false, network_tested: true, error: /no answer in time$/ });
  t.ok(result.latency_ms < 15_000, 'the timeout of the provider applies');
});

t.test('only builds a provider without a list', async (t) => {
  const { run, requests, url } = await start(t);
  const specs: Partial<ProviderSpec>[] = [
    { adapter: 'groq' },
    { adapter: 'anthropic' },
    { adapter: 'scripted', api_key: undefined },
    { base_url: `${url}/v1/chat/completions` },
  ];
  for (const spec of specs) t.match(await run(spec), { ok: true, network_tested: false });
  t.equal(requests.length, 0);
});

const broken: [spec: Partial<ProviderSpec>, error: string][] = [
  [{ adapter: 'foo' }, 'unsupported provider adapter: foo'],
  [
    { api_key: undefined },
    "credentials_kind 'bearer' requires api_key unless adapter_options.allow_env_credentials is true",
  ],
  [
    { adapter_options: { headers: { 'the-key b': 'hunter2' } } },
    'adapter_options.headers[***] is not a valid HTTP header',
  ],
  [
    { adapter_options: { headers: { x: 'hunter2\ny: z' } } },
    'adapter_options.headers[x] must not contain line breaks or other control characters',
  ],
];
for (const [spec, error] of broken) {
  t.test(`rejects the spec: ${error}`, async (t) => {
    const { run, requests } = await start(t);
    const result = await run(spec);
    t.match(result, { ok: false, network_tested: false, error });
    t.notMatch(JSON.stringify(result), /hunter2|the-key/);
    t.equal(requests.length, 0);
  });
}

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const vertex: ProviderSpec = {
  id: 'v',
  adapter: 'vertex',
  api_key: JSON.stringify({ client_email: 'a@b.c', private_key: privateKey, project_id: 'demo' }),
  adapter_options: { credentials_kind: 'service_account_json' },
};

/** Google's token service, on a local port. */
const google = async (t: Test, codes: number[]) => {
  const { url, requests } = await startSseServer(t, (response) => {
    const code = codes[requests.length - 1] ?? 200;
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ access_token: 'secret-token', expires_in: 3600 }));
  });
  const { pause, waited } = recordingPause();
  const open = openTransport(t);
  const transport: Transport = {
    ...open,
    text: (request) => open.text({ ...request, url: `${url}/token` }),
  };
  const test = createProviderTest({ clock, env: {}, pause, transport });
  return { test, requests, waited };
};

t.test('requests only a token for a service account', async (t) => {
  const { test, requests } = await google(t, [200]);
  t.match(await test(vertex), { ok: true, network_tested: true });
  t.equal(requests.length, 1);
  t.match(requests[0]?.body, 'assertion=');
});

t.test('requests a token three times after transient failures, with growing pauses', async (t) => {
  const well = await google(t, [429, 503, 200]);
  t.match(await well.test(vertex), { ok: true, network_tested: true });
  t.strictSame(well.waited, [500, 1000]);
  const ill = await google(t, [500, 500, 500, 200]);
  t.match(await ill.test(vertex), { ok: false, network_tested: true, error: /status 500/ });
  t.equal(ill.requests.length, 3);
});

t.test('does not retry a rejected service account', async (t) => {
  const { test, requests } = await google(t, [401]);
  const result = await test(vertex);
  t.match(result, { ok: false, network_tested: true, error: /status 401/ });
  t.notMatch(JSON.stringify(result), 'PRIVATE');
  t.equal(requests.length, 1);
});

t.test('rejects a service account without a usable key', async (t) => {
  const { test, requests } = await google(t, []);
  t.match(await test({ ...vertex, api_key: '{"client_email":"x"}' }), { ok: false, network_tested: false });
  t.equal(requests.length, 0);
});
