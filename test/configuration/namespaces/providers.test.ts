import t from 'tap';
import { namespace, refuses, restore, write } from './write.ts';

const providers = namespace('providers');
const whole = { id: 'p', adapter: 'openai', api_key: 'sk-secret' };
const options = (adapter_options: object) => JSON.parse(JSON.stringify({ adapter_options }));

const account = JSON.stringify({
  type: 'service_account',
  client_email: 'a@b',
  private_key: '-----BEGIN PRIVATE KEY-----\nabc\n',
  token_uri: 'https://oauth2.googleapis.com/token',
});
const vertex = { adapter: 'vertex', ...options({ credentials_kind: 'service_account_json' }) };

t.test('stores an entry as submitted, and returns it without its key', async (t) => {
  const stored = write(providers, { ...whole, has_api_key: true });
  t.strictSame(stored, whole);
  t.strictSame(providers.redact(stored), { id: 'p', adapter: 'openai', has_api_key: true });
});

t.test('keeps the key in a replacement without one', async (t) => {
  const body = { ...providers.redact(whole), timeout_secs: 7 };
  t.strictSame(write(providers, body, whole), { ...whole, timeout_secs: 7 });
  t.strictSame(write(providers, { ...body, api_key: '***' }, whole).api_key, 'sk-secret');
});

t.test('clears the key on an empty string or null if the environment may provide one', async (t) => {
  for (const api_key of ['', null]) {
    t.throws(() => write(providers, { id: 'p', adapter: 'openai', api_key }, whole), {
      message:
        "invalid payload: credentials_kind 'bearer' requires api_key unless adapter_options.allow_env_credentials is true",
    });
    const body = { id: 'p', adapter: 'openai', api_key, ...options({ allow_env_credentials: true }) };
    const stored = write(providers, body, whole);
    t.notOk('api_key' in stored);
    t.notOk('has_api_key' in providers.redact(stored));
  }
});

refuses(t, providers, whole, [
  [{ future_top_level: 1 }, "invalid provider spec: unknown field 'future_top_level'"],
  [{ adapter: ' ' }, "invalid provider spec: field 'adapter' cannot be empty"],
  [{ adapter: 'foo' }, 'unsupported provider adapter: foo'],
  [{ adapter: 'foo', api_key: null }, 'unsupported provider adapter: foo'],
  [options({ credentials_kind: 5 }), 'adapter_options.credentials_kind must be a string, got 5'],
  [
    options({ credentials_kind: 'x' }),
    "unknown adapter_options.credentials_kind 'x' (valid: bearer, service_account_json)",
  ],
  [
    options({ allow_env_credentials: 'yes' }),
    'adapter_options.allow_env_credentials must be a boolean when present',
  ],
  [options({ scopes: 'x' }), 'adapter_options.scopes must be a list of strings'],
  [options({ scopes: ['x', 1] }), 'adapter_options.scopes must be a list of strings'],
  [options({ headers: { n: 1 } }), 'adapter_options.headers[n] must be a string'],
  [options({ headers: { 'a b': 'x' } }), 'adapter_options.headers[a b] is not a valid HTTP header'],
  [
    options({ headers: { a: 'x\ny' } }),
    'adapter_options.headers[a] must not contain line breaks or other control characters',
  ],
  [
    options({ model_discovery_schema: 'x' }),
    'adapter_options.model_discovery_schema must be one of openai, openai-compatible, openrouter, gemini, google, got "x"',
  ],
  [
    options({ model_discovery_auth: 1 }),
    'adapter_options.model_discovery_auth must be one of bearer, authorization-bearer, x-goog-api-key, google-api-key, gemini-api-key, none, no-auth, disabled, got 1',
  ],
  [
    { adapter_options: vertex.adapter_options },
    "credentials_kind 'service_account_json' requires adapter ∈ [vertex]; got 'openai'",
  ],
  [{ ...vertex, api_key: '' }, "credentials_kind 'service_account_json' requires api_key with the JSON key"],
  [{ ...vertex, api_key: 'no JSON' }, 'api_key is not a service account key: it must be a JSON object'],
  [
    { ...vertex, api_key: account.replace('a@b', ' ') },
    'api_key is not a service account key: client_email must not be blank',
  ],
  [
    { ...vertex, api_key: account.replace('BEGIN', '') },
    'api_key is not a service account key: private_key must hold a PEM key',
  ],
  [
    { ...vertex, api_key: account.replace('googleapis', 'example') },
    'api_key is not a service account key: token_uri must be https://oauth2.googleapis.com/token',
  ],
  [{ api_key: '***' }, 'provider api_key cannot be a redacted placeholder'],
  [{ api_key: 'hush\nhush' }, 'api_key must not contain line breaks or other control characters'],
  [{ api_key: 'hush\n' }, 'api_key must not begin or end with blanks or line breaks'],
  [{ api_key: ' hush' }, 'api_key must not begin or end with blanks or line breaks'],
  [{ api_key: 'hu\0sh' }, 'api_key must not contain line breaks or other control characters'],
  [{ api_key: 'hush…' }, 'api_key must contain printable ASCII characters only'],
  [
    options({ headers: { a: 'hush ' } }),
    'adapter_options.headers[a] must not begin or end with blanks or line breaks',
  ],
  [
    { base_url: 'https://h?key=***' },
    "base_url must not contain a query or a fragment: give a key in 'api_key', anything else in 'adapter_options.headers'",
  ],
  [
    { base_url: 'https://h/v1#hush' },
    "base_url must not contain a query or a fragment: give a key in 'api_key', anything else in 'adapter_options.headers'",
  ],
  ...[
    'http://u:hush@ bad',
    'localhost:11434/v1',
    'file:///etc/passwd',
    'data:application/json,{}',
    '/v1',
  ].map((base_url): [{ base_url: string }, string] => [
    { base_url },
    'base_url must be an absolute URL with http:// or https://, such as https://api.example.com/v1',
  ]),
  [
    { base_url: 'http://u:hush@h/v1' },
    "base_url must not contain user info: give a key in 'api_key', anything else in 'adapter_options.headers'",
  ],
  [
    options({ credentials_kind: { private_key: 'hush' } }),
    'adapter_options.credentials_kind must be a string, got an object',
  ],
  [
    options({ credentials_kind: ['hush'] }),
    'adapter_options.credentials_kind must be a string, got an array',
  ],
  ...[
    ['x'.repeat(40), 'x'.repeat(40)],
    ['x'.repeat(41), `${'x'.repeat(40)}…`],
  ].map(([credentials_kind, told]): [object, string] => [
    options({ credentials_kind }),
    `unknown adapter_options.credentials_kind '${told}' (valid: bearer, service_account_json)`,
  ]),
]);

t.test('reads adapter names and enums in any case, and needs no key for scripted', async (t) => {
  write(providers, { ...whole, adapter: ' OpenAI-Resp ', ...options({ model_discovery_schema: 'OpenAI' }) });
  write(providers, { id: 'p', adapter: 'scripted' });
  write(providers, { ...whole, base_url: null, timeout_secs: null, adapter_options: null });
  t.pass();
});

t.test('omits a service account from responses and audit events', async (t) => {
  const stored = write(providers, { ...whole, ...vertex, api_key: account });
  t.notMatch(JSON.stringify(providers.redact(stored)), 'BEGIN');
  t.notMatch(JSON.stringify(providers.audit(stored)), 'BEGIN');
});

t.test('restores the stored key, or an entry without one', async (t) => {
  const payload = providers.audit(whole);
  t.strictSame(payload, { ...whole, api_key: '***' });
  t.strictSame(restore(providers, payload, whole), { spec: whole, dropped: [] });
  t.strictSame(restore(providers, payload), {
    spec: { id: 'p', adapter: 'openai' },
    dropped: ['api_key'],
  });
});

t.test('masks headers and secret options, and accepts the masks on write', async (t) => {
  const stored = write(providers, {
    ...whole,
    base_url: 'https://h/v1',
    ...options({
      headers: { 'X-Any': 'hush' },
      note: { client_secret: 'hush' },
      allow_env_credentials: true,
    }),
  });
  const seen = providers.redact(stored);
  t.strictSame(seen, {
    id: 'p',
    adapter: 'openai',
    base_url: 'https://h/v1',
    adapter_options: {
      headers: { 'X-Any': '***' },
      note: { client_secret: '***' },
      allow_env_credentials: true,
    },
    has_api_key: true,
  });
  t.strictSame(write(providers, seen, stored), stored);
});
