import { createVerify, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { parseServiceAccount, serviceAccountTokens } from '../../src/models/google-token.ts';
import type { TokenDeps } from '../../src/models/token-source.ts';
import { vertexAuthorization, vertexHome } from '../../src/models/vertex.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { createProvider } from './create-provider.ts';
import { infer, joined, requestOf } from './infer.ts';
import { sendEvents, startSseServer } from './sse-server.ts';
import { openTransport } from './transport/open.ts';

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

/** Google's token service, as far as the exchange sees it. */
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

t.test('the assertion is signed by the account, for Google, for one hour', async (t) => {
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

t.test('a token is used until shortly before its end, and asked for once by several calls', async (t) => {
  const { asked, clock, deps } = tokenService([{}]);
  const token = serviceAccountTokens(parseServiceAccount(JSON.stringify(account)), [], deps);
  t.same(await Promise.all([token.get(), token.get(), token.get()]), ['token-1', 'token-1', 'token-1']);
  clock.time += 3_539_999;
  t.equal(await token.get(), 'token-1');
  clock.time += 1;
  t.equal(await token.get(), 'token-2');
  t.equal(asked.length, 2);
});

t.test('an exchange that fails is tried again by the next call', async (t) => {
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
  t.test(`an answer to the exchange ${name} is none`, async (t) => {
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
  t.test(`${name} is refused`, async (t) => {
    const spec = withAccount({});
    const build = () => createProvider({ ...spec, api_key: JSON.stringify(key) ?? '{secret' }, {});
    t.throws(build, { name: 'Invalid', message: `${PREFIX}${why}` });
  });
}

t.test('a service account needs its key in the spec', async (t) => {
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
  t.test(`with ${name} the address is ${url}`, async (t) => {
    t.equal(vertexHome(spec), url);
    t.ok(createProvider(spec, {}));
  });
}

t.test('a location cannot lead to another host', async (t) => {
  const spec = provider({ api_key: 'k', adapter_options: { project: 'p', location: 'evil.example/' } });
  t.throws(() => vertexHome(spec), { name: 'Invalid', message: /is not a location/ });
});

t.test('a bearer token goes along as such, and no key', async (t) => {
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

t.test('a cancel ends the wait for a token, and not the exchange that others share', async (t) => {
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
