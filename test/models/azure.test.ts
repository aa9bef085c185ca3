import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { createProvider } from '../../src/models/provider.ts';
import type { TextResponse } from '../../src/models/transport/text.ts';
import type { TextRequest, Transport } from '../../src/models/transport/types.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { infer, inferenceFailure, joined, requestOf } from './infer.ts';
import { chatChunk, type SeenRequest, sendEvents, startSseServer } from './sse-server.ts';
import { openTransport } from './transport/open.ts';

/** Azure OpenAI as documented: the paths, versions, bodies and credentials that it accepts. */

const VERSIONS = ['2024-10-21', '2025-04-01-preview'];

const refuse = (response: ServerResponse, status: number, error: object, headers: object = {}): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ error }));
};

type Accepts = (headers: SeenRequest['headers']) => boolean;

type Answer = (response: ServerResponse, isChat: boolean) => void;

const strictAzure =
  (accepts: Accepts, answer: Answer) =>
  (response: ServerResponse, { url, headers, body: text }: SeenRequest): void => {
    const { pathname, searchParams } = new URL(url, 'http://azure');
    const version = searchParams.get('api-version');
    const { deployment, api } =
      /^\/openai\/(v1|deployments\/(?<deployment>[^/]+))?\/?(?<api>chat\/completions|responses)$/.exec(
        pathname,
      )?.groups ?? {};
    const isV1 = pathname.startsWith('/openai/v1/');
    const isKnown = isV1 ? ['preview', null].includes(version) : VERSIONS.includes(version ?? '');
    const body: JsonObject = JSON.parse(text);
    const isDeployed = deployment !== undefined;
    if (!accepts(headers)) refuse(response, 401, { code: '401', message: 'Access denied.' });
    else if (api === undefined || !isKnown) {
      refuse(response, 404, { code: '404', message: 'Resource not found' });
    } else if (isDeployed && ('model' in body || 'prompt_cache_key' in body)) {
      refuse(response, 400, { message: 'Unrecognized request argument supplied' });
    } else if ((deployment ?? body.model) !== 'gpt-5-prod') {
      refuse(response, 404, { code: 'DeploymentNotFound', message: 'no such deployment' });
    } else answer(response, api !== 'responses');
  };

const RESPONSE = { id: 'r', status: 'completed', output: [], usage: { input_tokens: 1, output_tokens: 1 } };

const sayHi = (response: ServerResponse, isChat: boolean): void => {
  if (isChat) {
    sendEvents(response, [
      { choices: [], prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
      chatChunk({ role: 'assistant', content: 'Hi' }),
      chatChunk({}, 'stop'),
    ]);
    response.end('data: [DONE]\n\n');
    return;
  }
  sendEvents(response, [
    { type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta: 'Hi' },
    { type: 'response.completed', response: RESPONSE },
  ]);
  response.end();
};

const byKey: Accepts = (headers) => headers['api-key'] === 'the-key' && headers.authorization === undefined;

/** `granted`: responses of Microsoft Entra ID, in order. */
const start = async (
  t: Test,
  { accepts = byKey, answer = sayHi, granted = [] as Partial<TextResponse>[] } = {},
) => {
  const { url, requests } = await startSseServer(t, strictAzure(accepts, answer));
  const real = openTransport(t);
  const exchanges: TextRequest[] = [];
  const transport: Transport = {
    ...real,
    async text(request) {
      exchanges.push(request);
      const given = granted[Math.min(exchanges.length, granted.length) - 1];
      const body = JSON.stringify({ access_token: `token-${exchanges.length}`, expires_in: 3600 });
      return { status: 200, headers: {}, body, ...given };
    },
  };
  const model = (more: Partial<ProviderSpec> = {}, env: Record<string, string> = {}) =>
    createProvider(
      { id: 'az', adapter: 'azure', api_key: 'the-key', base_url: url, ...more },
      env,
      transport,
    ).model({ id: 'm', provider_id: 'az', upstream_model: 'gpt-5-prod' });
  return { url, requests, exchanges, model };
};

const requests = requestOf('Hi', {
  cache: { stable_messages: 1 },
  session: { thread_id: 't', run_id: 'r' },
});

const paths: [options: JsonObject, path: string][] = [
  [{}, '/openai/v1/chat/completions'],
  [{ api_version: 'preview' }, '/openai/v1/chat/completions?api-version=preview'],
  [{ api_version: '2024-10-21' }, '/openai/deployments/gpt-5-prod/chat/completions?api-version=2024-10-21'],
  [{ api: 'responses' }, '/openai/v1/responses'],
  [
    { api: 'responses', api_version: '2025-04-01-preview' },
    '/openai/responses?api-version=2025-04-01-preview',
  ],
];
for (const [adapter_options, path] of paths) {
  t.test(`resolves ${JSON.stringify(adapter_options)} to the path ${path}`, async (t) => {
    const { model, requests: seen, url } = await start(t);
    for (const base_url of [url, `${url}/openai`, `${url}/openai/v1/`]) {
      const { heard, end } = await infer(model({ adapter_options, base_url }), requests);
      t.equal(joined(heard, 'text'), 'Hi');
      t.equal(end.stop, 'EndTurn');
      t.equal(seen.at(-1)?.url, path);
    }
  });
}

t.test('reports an unknown version and an unknown deployment as a model that is not found', async (t) => {
  const { model } = await start(t);
  const old = await inferenceFailure(model({ adapter_options: { api_version: '2020-01-01' } }), requests);
  t.match(old.error, { class: 'model_not_found', detail: 'Resource not found' });
  const other = requestOf('Hi', { overrides: { upstream_model: 'other' } });
  const { error } = await inferenceFailure(model(), other);
  t.match(error, { class: 'model_not_found', detail: 'no such deployment' });
});

t.test('sends a static Entra ID token from the options or the environment', async (t) => {
  const accepts: Accepts = (headers) =>
    headers.authorization === 'Bearer static' && headers['api-key'] === undefined;
  const { model, url, exchanges } = await start(t, { accepts });
  const token = { azure_ad_token: 'static' };
  await infer(model({ api_key: null, adapter_options: token }), requests);
  const adapter_options = { allow_env_credentials: true };
  const env = { AZURE_OPENAI_AD_TOKEN: 'static', AZURE_OPENAI_ENDPOINT: url };
  await infer(model({ api_key: null, base_url: null, adapter_options }, env), requests);
  t.equal(exchanges.length, 0);
});

const APPLICATION = { tenant_id: 'tenant-1', client_id: 'app', client_secret: 'hush/+' };

t.test('requests one application token for all calls, from the Microsoft address', async (t) => {
  const { model, exchanges } = await start(t, {
    accepts: ({ authorization }) => authorization === 'Bearer token-1',
  });
  const used = model({ api_key: null, adapter_options: APPLICATION });
  await Promise.all([infer(used, requests), infer(used, requests), infer(used, requests)]);
  t.equal(exchanges.length, 1);
  const [asked] = exchanges;
  t.equal(asked?.url, 'https://login.microsoftonline.com/tenant-1/oauth2/v2.0/token');
  t.strictSame(Object.fromEntries(new URLSearchParams(asked?.body)), {
    grant_type: 'client_credentials',
    client_id: 'app',
    client_secret: 'hush/+',
    scope: 'https://cognitiveservices.azure.com/.default',
  });
});

t.test('renews a token rejected as expired once, for all calls that used it', async (t) => {
  const {
    model,
    exchanges,
    requests: seen,
  } = await start(t, {
    accepts: ({ authorization }) => authorization === 'Bearer token-2',
  });
  const used = model({ api_key: null, adapter_options: APPLICATION });
  const answers = await Promise.all([infer(used, requests), infer(used, requests)]);
  for (const { heard } of answers) t.equal(joined(heard, 'text'), 'Hi');
  t.equal(exchanges.length, 2);
  t.equal(seen.length, 4);
});

t.test('fails after a second rejection, and does not resend a key', async (t) => {
  const { model, requests: seen } = await start(t, { accepts: () => false });
  const used = model({ api_key: null, adapter_options: APPLICATION });
  t.match((await inferenceFailure(used, requests)).error, { class: 'unauthorized', status: 401 });
  t.equal(seen.length, 2);
  t.match((await inferenceFailure(model(), requests)).error, { class: 'unauthorized', status: 401 });
  t.equal(seen.length, 3);
});

const refusals: [given: Partial<TextResponse>, error: object][] = [
  [
    { status: 401, body: '{"error":"invalid_client"}' },
    { class: 'unauthorized', transient: false },
  ],
  [{ status: 503 }, { class: 'provider', transient: true }],
  [{ body: 'no token' }, { class: 'unauthorized' }],
];
for (const [given, error] of refusals) {
  t.test(`requests a token again after Entra ID responds with ${JSON.stringify(given)}`, async (t) => {
    const { model, requests: seen } = await start(t, {
      accepts: () => true,
      granted: [given, {}],
    });
    const used = model({ api_key: null, adapter_options: APPLICATION });
    const failure = await inferenceFailure(used, requests);
    t.match(failure.error, {
      ...error,
      message: /Microsoft Entra ID refused the application \(status \d+\)/,
    });
    t.notMatch(failure.error.message, /hush/);
    t.equal(seen.length, 0);
    t.equal(joined((await infer(used, requests)).heard, 'text'), 'Hi');
  });
}

const failures: [name: string, answer: (response: ServerResponse) => void, error: object][] = [
  [
    'a prompt that the content filter stopped',
    (response) =>
      refuse(response, 400, {
        code: 'content_filter',
        message: "The response was filtered due to the prompt triggering Azure's content management policy.",
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      }),
    { class: 'content_filtered', transient: false },
  ],
  [
    'an answer that the content filter stopped',
    (response) => {
      sendEvents(response, [
        chatChunk({ content: 'I would' }),
        {
          choices: [
            {
              index: 0,
              delta: {},
              finish_reason: 'content_filter',
              content_filter_results: { violence: { filtered: true, severity: 'high' } },
            },
          ],
        },
      ]);
      response.end('data: [DONE]\n\n');
    },
    { class: 'content_filtered', detail: 'content_filter' },
  ],
  [
    'throttling',
    (response) =>
      refuse(response, 429, { code: '429', message: 'exceeded call rate' }, { 'retry-after': '7' }),
    { class: 'rate_limited', retryAfterSeconds: 7 },
  ],
];
for (const [name, answer, error] of failures) {
  t.test(`reports ${name} as ${JSON.stringify(error)}`, async (t) => {
    const { model } = await start(t, { answer });
    t.match((await inferenceFailure(model(), requests)).error, error);
  });
}
