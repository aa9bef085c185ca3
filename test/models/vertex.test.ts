import { createVerify, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { parseServiceAccount, serviceAccountTokens } from '../../src/models/google-token.ts';
import { createProvider as createWith } from '../../src/models/provider.ts';
import type { TokenDeps } from '../../src/models/token-source.ts';
import type { TextRequest, Transport } from '../../src/models/transport/types.ts';
import { vertexAuthorization, vertexHome } from '../../src/models/vertex.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { createProvider } from './create-provider.ts';
import { infer, inferenceFailure, joined, requestOf } from './infer.ts';
import { ANTHROPIC_ANSWER, sendEvents, startSseServer } from './sse-server.ts';
import { openTransport } from './transport/open.ts';
import { refusalsOf } from './wire/strict-anthropic.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

const account = {
  client_email: 'agent@demo.iam.gserviceaccount.com',
  private_key: privateKey,
  private_key_id: 'k1',
  project_id: 'demo',
};

const provider = (more: Partial<ProviderSpec>): ProviderSpec => ({ id: 'v', adapter: 'vertex', ...more });
const withAccount = (key: object, more: object = {}): ProviderSpec =>
  provider({
    api_key: JSON.stringify(key),
    adapter_options: { credentials_kind: 'service_account_json', ...more },
  });

/** A mock of Google's token service for the exchange. */
const tokenService = (answers: readonly { status?: number; body?: object }[]) => {
  const asked: URLSearchParams[] = [];
  const clock = { time: 1_700_000_000_000 };
  const text: TokenDeps['text'] = async (request) => {
    const answer = answers[Math.min(asked.length, answers.length - 1)] ?? {};
    asked.push(new URLSearchParams(request.body));
    const body = answer.body ?? { access_token: `token-${asked.length}`, expires_in: 3600 };
    return { status: answer.status ?? 200, headers: {}, body: JSON.stringify(body) };
  };
  return { asked, clock, deps: { text, now: () => clock.time } };
};

t.test('signs the assertion with the key of the account, for Google, for one hour', async (t) => {
  const { asked, deps } = tokenService([{}]);
  const token = serviceAccountTokens(parseServiceAccount(JSON.stringify(account)), ['a', 'b'], deps);
  t.equal(await token.get(), 'token-1');
  t.equal(asked[0]?.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
  const [header = '', claims = '', signature = ''] = (asked[0]?.get('assertion') ?? '').split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  t.same(decode(header), { alg: 'RS256', typ: 'JWT', kid: 'k1' });
  t.same(decode(claims), {
    iss: account.client_email,
    scope: 'a b',
    aud: 'https://oauth2.googleapis.com/token',
    iat: 1_700_000_000,
    exp: 1_700_003_600,
  });
  const verifier = createVerify('RSA-SHA256').update(`${header}.${claims}`);
  t.ok(verifier.verify(publicKey, signature, 'base64url'));
});

t.test('uses a token until shortly before its expiry, and requests it once for several calls', async (t) => {
  const { asked, clock, deps } = tokenService([{}]);
  const token = serviceAccountTokens(parseServiceAccount(JSON.stringify(account)), [], deps);
  t.same(await Promise.all([token.get(), token.get(), token.get()]), ['token-1', 'token-1', 'token-1']);
  clock.time += 3_539_999;
  t.equal(await token.get(), 'token-1');
  clock.time += 1;
  t.equal(await token.get(), 'token-2');
  t.equal(asked.length, 2);
});

t.test('retries a failed exchange with the next call', async (t) => {
  const { deps } = tokenService([{ status: 503 }, { status: 401 }, {}]);
  const token = serviceAccountTokens(parseServiceAccount(JSON.stringify(account)), [], deps);
  await t.rejects(token.get(), {
    message: 'provider error: Google refused the service account (status 503)',
  });
  await t.rejects(token.get(), { message: 'unauthorized: Google refused the service account (status 401)' });
  t.equal(await token.get(), 'token-3');
});

const granting = (access_token: string) => (response: ServerResponse) => {
  response.end(JSON.stringify({ access_token, expires_in: 9 }));
};
const answersOfToken: [name: string, answer: (response: ServerResponse) => void][] = [
  ['without an end', (response) => response.write(Buffer.alloc(100_000))],
  ['with a token that no header can carry', granting('a\nb')],
  ['with a token of 20,000 characters', granting('x'.repeat(20_000))],
  [
    'that leads elsewhere',
    (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/never' }).end(),
  ],
];
for (const [name, answer] of answersOfToken) {
  t.test(`rejects a token response ${name}`, async (t) => {
    const { url } = await startSseServer(t, answer);
    const { text } = openTransport(t);
    const deps: TokenDeps = { text: (request) => text({ ...request, url }), now: () => 0 };
    const token = serviceAccountTokens(parseServiceAccount(JSON.stringify(account)), [], deps);
    await t.rejects(token.get(), {
      message: /^unauthorized: Google refused the service account \(status \d+\)$/,
    });
  });
}

const PREFIX = 'api_key is not a service account key: ';
const refused: [name: string, key: unknown, why: string][] = [
  ['a key that is not JSON', undefined, 'it must be a JSON object'],
  ['a list', [], 'it must be a JSON object'],
  ['a blank address', { ...account, client_email: ' ' }, 'client_email must not be blank'],
  ['no private key', { ...account, private_key: 'secret' }, 'private_key must hold a PEM key'],
  [
    'a broken private key',
    { ...account, private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----' },
    'private_key cannot be read',
  ],
  [
    'another token service',
    { ...account, token_uri: 'https://example.org/token' },
    'token_uri must be https://oauth2.googleapis.com/token',
  ],
];
for (const [name, key, why] of refused) {
  t.test(`rejects ${name}`, async (t) => {
    const spec = withAccount({});
    const build = () => createProvider({ ...spec, api_key: JSON.stringify(key) ?? '{secret' }, {});
    t.throws(build, { name: 'Invalid', message: `${PREFIX}${why}` });
  });
}

t.test('requires the key of a service account in the spec', async (t) => {
  const spec = provider({
    adapter_options: { credentials_kind: 'service_account_json', allow_env_credentials: true },
  });
  t.throws(() => createProvider(spec, { VERTEX_API_KEY: 'x' }), {
    message: "credentials_kind 'service_account_json' requires api_key with the JSON key",
  });
});

const addresses: [name: string, spec: ProviderSpec, url: string][] = [
  ['no project', provider({ api_key: 'k' }), 'https://aiplatform.googleapis.com/v1/publishers/google/'],
  [
    'the project of the account',
    withAccount(account),
    'https://aiplatform.googleapis.com/v1/projects/demo/locations/global/publishers/google/',
  ],
  [
    'a project and a location of its own',
    withAccount(account, { project: 'other', location: 'europe-west1' }),
    'https://europe-west1-aiplatform.googleapis.com/v1/projects/other/locations/europe-west1/publishers/google/',
  ],
];
for (const [name, spec, url] of addresses) {
  t.test(`resolves ${name} to the address ${url}`, async (t) => {
    t.equal(vertexHome(spec), url);
    t.ok(createProvider(spec, {}));
  });
}

t.test('rejects a location that would change the host', async (t) => {
  const spec = provider({ api_key: 'k', adapter_options: { project: 'p', location: 'evil.example/' } });
  t.throws(() => vertexHome(spec), { name: 'Invalid', message: /is not a location/ });
});

t.test('sends a bearer token unchanged, and no key', async (t) => {
  const { url, requests } = await startSseServer(t, (response) => {
    sendEvents(response, [
      {
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
      },
    ]);
    response.end();
  });
  const spec = provider({ api_key: 'ya29', base_url: `${url}/v1/projects/p/locations/l/publishers/google` });
  const model = createProvider(spec, {}).model({
    id: 'm',
    provider_id: 'v',
    upstream_model: 'gemini-2.5-pro',
  });
  const { heard, end } = await infer(model, requestOf('x', { overrides: { reasoning_effort: 'low' } }));
  t.equal(joined(heard, 'text'), 'Hi');
  t.equal(end.stop, 'EndTurn');
  const [seen] = requests;
  t.equal(
    seen?.url,
    '/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
  );
  t.equal(seen?.headers.authorization, 'Bearer ya29');
  t.notOk(seen?.headers['x-goog-api-key']);
  t.match(JSON.parse(seen?.body ?? ''), { generationConfig: { thinkingConfig: { thinkingBudget: 1024 } } });
});

t.test('a cancel ends the wait for a token, but not the shared exchange', async (t) => {
  const abort = new AbortController();
  const exchanges: AbortSignal[] = [];
  const text: TokenDeps['text'] = ({ signal }) => {
    exchanges.push(signal);
    setImmediate(() => abort.abort());
    return new Promise<never>(() => {});
  };
  const tokens = { text, now: () => 0 };
  const connection = { apiKey: JSON.stringify(account), env: {}, tokens };
  const authorization = vertexAuthorization(connection, withAccount(account));
  await t.rejects(authorization.headers(abort.signal), { name: 'AbortError' });
  t.strictSame(
    exchanges.map((signal) => signal.aborted),
    [false],
  );
});

const ADC = { allow_env_credentials: true, project: 'demo' };
const PROJECT_PATH = '/v1/projects/demo/locations/global/publishers/google';

/** Google's services: tokens at Google's addresses, models at the provider's address. */
const startGoogle = async (t: Test, accepts = 'Bearer token-1') => {
  const { url, requests } = await startSseServer(t, (response, request) => {
    if (request.headers.authorization !== accepts) {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end('{"error":{"code":401,"message":"Request had invalid authentication credentials."}}');
      return;
    }
    sendEvents(response, request.url.includes('/anthropic/') ? ANTHROPIC_ANSWER : GEMINI_ANSWER);
    response.end();
  });
  const real = openTransport(t);
  const exchanges: TextRequest[] = [];
  const transport: Transport = {
    ...real,
    async text(request) {
      exchanges.push(request);
      const body = JSON.stringify({ access_token: `token-${exchanges.length}`, expires_in: 3600 });
      return { status: 200, headers: {}, body };
    },
  };
  const model = (
    env: Record<string, string>,
    upstream_model = 'gemini-2.5-pro',
    more: Partial<ProviderSpec> = {},
  ) =>
    createWith(
      provider({ adapter_options: ADC, base_url: `${url}${PROJECT_PATH}`, ...more }),
      // Only a host of Google, or localhost, may receive credentials from the environment.
      { VERTEX_BASE_URL: url, ...env },
      transport,
    ).model({ id: 'm', provider_id: 'v', upstream_model });
  return { requests, exchanges, model };
};

const GEMINI_ANSWER = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }] },
];

const file = (t: Test, content: unknown, name = 'adc.json'): string => {
  const path = join(t.testdir(), name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const USER = { type: 'authorized_user', client_id: 'c', client_secret: 's3cret', refresh_token: 'r3fresh' };

t.test('reads host credentials from a service account file', async (t) => {
  const { exchanges, model } = await startGoogle(t);
  const path = file(t, { type: 'service_account', ...account });
  const { heard } = await infer(model({ GOOGLE_APPLICATION_CREDENTIALS: path }), requestOf('x'));
  t.equal(joined(heard, 'text'), 'Hi');
  t.match(exchanges, [
    { url: 'https://oauth2.googleapis.com/token', body: /^grant_type=.*jwt-bearer&assertion=/ },
  ]);
});

t.test('reads host credentials from the login of gcloud', async (t) => {
  const { exchanges, model, requests } = await startGoogle(t);
  const path = file(t, USER, 'application_default_credentials.json');
  const env = { CLOUDSDK_CONFIG: dirname(path), GOOGLE_CLOUD_QUOTA_PROJECT: 'billed' };
  await infer(model(env), requestOf('x'));
  t.equal(exchanges[0]?.url, 'https://oauth2.googleapis.com/token');
  t.strictSame(Object.fromEntries(new URLSearchParams(exchanges[0]?.body)), {
    grant_type: 'refresh_token',
    client_id: 'c',
    client_secret: 's3cret',
    refresh_token: 'r3fresh',
  });
  t.equal(requests[0]?.headers['x-goog-user-project'], 'billed');
});

t.test('reads host credentials from the metadata server', async (t) => {
  const { exchanges, model } = await startGoogle(t);
  await infer(model({ CLOUDSDK_CONFIG: t.testdir() }), requestOf('x'));
  t.match(exchanges, [
    {
      method: 'GET',
      url: /^http:\/\/metadata\.google\.internal\/computeMetadata\/v1\/instance\/service-accounts\/default\/token\?scopes=/,
      headers: { 'metadata-flavor': 'Google' },
    },
  ]);
});

const brokenFiles: [content: unknown, problem: RegExp][] = [
  ['{"type":', /is no JSON object with a type; supported types: service_account, authorized_user$/],
  [{ type: 'external_account' }, /has the type 'external_account'; supported types/],
  [{ ...USER, refresh_token: '' }, /has no text in 'refresh_token'$/],
  [{ type: 'service_account', ...account, client_email: ' ' }, /client_email must not be blank$/],
  [{ type: 'service_account', ...account, token_uri: 'https://evil.example' }, /token_uri must be https/],
];
for (const [content, problem] of brokenFiles) {
  t.test(`rejects a credentials file: ${problem}`, async (t) => {
    const { exchanges, model, requests } = await startGoogle(t);
    const env = { GOOGLE_APPLICATION_CREDENTIALS: file(t, content) };
    const { error } = await inferenceFailure(model(env), requestOf('x'));
    t.match(error, { class: 'unauthorized', message: problem });
    t.notMatch(error.message, /s3cret|PRIVATE/);
    t.equal(exchanges.length + requests.length, 0);
  });
}

t.test('requires a named credentials file, and reads it again for the next token', async (t) => {
  const { model } = await startGoogle(t);
  const path = join(t.testdir(), 'adc.json');
  const used = model({ GOOGLE_APPLICATION_CREDENTIALS: path });
  const { error } = await inferenceFailure(used, requestOf('x'));
  t.match(error, { class: 'unauthorized', message: /cannot be read \(ENOENT\)$/ });
  writeFileSync(path, JSON.stringify(USER));
  t.equal(joined((await infer(used, requestOf('x'))).heard, 'text'), 'Hi');
});

t.test('renews a token that Google rejects as expired once', async (t) => {
  const { exchanges, model, requests } = await startGoogle(t, 'Bearer token-2');
  const used = model({ GOOGLE_APPLICATION_CREDENTIALS: file(t, USER) });
  t.equal(joined((await infer(used, requestOf('x'))).heard, 'text'), 'Hi');
  t.equal(exchanges.length, 2);
  t.equal(requests.length, 2);
});

for (const upstream of [
  'claude-sonnet-4-5@20250929',
  'publishers/anthropic/models/claude-sonnet-4-5@20250929',
]) {
  t.test(`calls ${upstream} as Claude on Vertex`, async (t) => {
    const { model, requests } = await startGoogle(t, 'Bearer ya29');
    const request = requestOf('x', { overrides: { reasoning_effort: 'low' } });
    const { heard, end } = await infer(model({}, upstream, { api_key: 'ya29' }), request);
    t.equal(joined(heard, 'text'), 'Hi');
    t.equal(end.stop, 'EndTurn');
    const [seen] = requests;
    t.equal(
      seen?.url,
      '/v1/projects/demo/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
    );
    t.notOk(seen?.headers['anthropic-version']);
    const { anthropic_version, ...body } = JSON.parse(seen?.body ?? '');
    t.equal(anthropic_version, 'vertex-2023-10-16');
    t.notOk('model' in body);
    // The rest must be valid in the Messages protocol.
    const named = { model: 'claude-sonnet-4-5@20250929', ...body };
    const headers = { 'anthropic-version': '2023-06-01' };
    t.strictSame(refusalsOf({ path: 'messages', headers, body: named }), []);
  });
}

t.test('serves Gemini and Claude from one provider, and rejects a name that is a path', async (t) => {
  const { model, requests } = await startGoogle(t, 'Bearer ya29');
  const key = { api_key: 'ya29' };
  await infer(model({}, 'gemini-2.5-pro', key), requestOf('x'));
  const other = requestOf('x', { overrides: { upstream_model: 'claude-opus-5' } });
  await infer(model({}, 'gemini-2.5-pro', key), other);
  t.match(requests, [{ url: /google\/models\/gemini/ }, { url: /anthropic\/models\/claude-opus-5:/ }]);
  const { error } = await inferenceFailure(model({}, 'claude-/../../x', key), requestOf('x'));
  t.match(error, { class: 'invalid_request' });
});
