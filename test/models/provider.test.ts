import t from 'tap';
import { adapterName, SUPPORTED_ADAPTERS } from '../../src/models/provider.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { Invalid } from '../../src/schema/outcome.ts';
import { createProvider } from './create-provider.ts';

const create = (spec: Partial<ProviderSpec>, env: Record<string, string> = {}) =>
  createProvider({ id: 'p', adapter: 'openai', ...spec }, env);

t.test('the supported adapters come in their order, without scripted', async (t) => {
  t.same(
    SUPPORTED_ADAPTERS.join(' '),
    'anthropic openai openai_resp deepseek gemini ollama ollama_cloud cohere together fireworks groq xai zai bigmodel aliyun mimo nebius vertex github_copilot',
  );
});

t.test('every supported adapter can be built from a key', async (t) => {
  for (const adapter of SUPPORTED_ADAPTERS) {
    const model = create({ adapter, api_key: 'key' }).model({
      id: 'm',
      provider_id: 'p',
      upstream_model: 'up',
    });
    t.match(model, { id: 'm', provider: 'p', upstream: 'up' }, adapter);
  }
});

const names: [given: string, name: string][] = [
  [' OpenAI ', 'openai'],
  ['openai-resp', 'openai_resp'],
  ['Responses', 'openai_resp'],
  ['SCRIPTED', 'scripted'],
];
for (const [given, name] of names) {
  t.test(`adapter "${given}" is ${name}`, async (t) => {
    t.equal(adapterName(given), name);
    t.ok(create({ adapter: given, api_key: 'key' }));
  });
}

const KEY_NEEDED =
  "credentials_kind 'bearer' requires api_key unless adapter_options.allow_env_credentials is true";
const HEADERS = 'adapter_options.headers must be an object of string -> string pairs';

const refused: [name: string, spec: Partial<ProviderSpec>, message: string][] = [
  ['an unknown adapter', { adapter: 'nope', api_key: 'k' }, 'unsupported provider adapter: nope'],
  [
    'a name every object has',
    { adapter: 'constructor', api_key: 'k' },
    'unsupported provider adapter: constructor',
  ],
  ['no key', {}, KEY_NEEDED],
  ['an empty key', { api_key: '' }, KEY_NEEDED],
  ['no key and no allowance', { adapter_options: { allow_env_credentials: false } }, KEY_NEEDED],
  [
    'a variable that is not set',
    { adapter_options: { allow_env_credentials: true } },
    "provider 'p' has no api_key and the environment variable OPENAI_API_KEY is not set",
  ],
  [
    'an allowance that is not a boolean',
    { adapter_options: { allow_env_credentials: 'yes' } },
    'adapter_options.allow_env_credentials must be a boolean when present',
  ],
  ['headers that are a list', { api_key: 'k', adapter_options: { headers: ['a'] } }, HEADERS],
  ['headers that are null', { api_key: 'k', adapter_options: { headers: null } }, HEADERS],
  ['headers that are text', { api_key: 'k', adapter_options: { headers: 'a: b' } }, HEADERS],
  [
    'a header that is a number',
    { api_key: 'k', adapter_options: { headers: { x: 1 } } },
    'adapter_options.headers[x] must be a string',
  ],
  [
    'a header with a broken name',
    { api_key: 'k', adapter_options: { headers: { 'a b': 'x' } } },
    'adapter_options.headers[a b] is not a valid HTTP header',
  ],
  [
    'a kind of credentials that is none',
    { api_key: 'k', adapter_options: { credentials_kind: 'x' } },
    "unknown adapter_options.credentials_kind 'x' (valid: bearer, service_account_json)",
  ],
  [
    'a kind of credentials that is no text',
    { api_key: 'k', adapter_options: { credentials_kind: 1 } },
    'adapter_options.credentials_kind must be a string, got 1',
  ],
  [
    'a service account for another adapter',
    { api_key: 'k', adapter_options: { credentials_kind: 'service_account_json' } },
    "credentials_kind 'service_account_json' requires adapter ∈ [vertex]; got 'openai'",
  ],
  [
    'an unknown discovery schema',
    { api_key: 'k', adapter_options: { model_discovery_schema: 'x' } },
    'adapter_options.model_discovery_schema must be one of openai, openai-compatible, openrouter, gemini, google, got "x"',
  ],
  [
    'a base_url that is none',
    { api_key: 'k', base_url: 'nowhere' },
    'base_url must be an absolute URL with http:// or https://, such as https://api.example.com/v1',
  ],
];
for (const [name, spec, message] of refused) {
  t.test(`a provider is not built from ${name}`, async (t) => {
    t.throws(() => create(spec), { name: 'Invalid', message });
  });
}

const variables: [adapter: string, variable: string][] = [
  ['openai', 'OPENAI_API_KEY'],
  ['openai_resp', 'OPENAI_API_KEY'],
  ['anthropic', 'ANTHROPIC_API_KEY'],
  ['gemini', 'GEMINI_API_KEY'],
  ['groq', 'GROQ_API_KEY'],
];
for (const [adapter, variable] of variables) {
  t.test(`${adapter} may take its key from ${variable}`, async (t) => {
    const adapter_options = { allow_env_credentials: true };
    t.ok(create({ adapter, adapter_options }, { [variable]: 'key' }));
    t.throws(() => create({ adapter, adapter_options }, {}), Invalid);
    t.throws(() => create({ adapter }, { [variable]: 'key' }), Invalid);
  });
}

t.test(
  'a key of the environment is sent to its company and to the address beside it, nowhere else',
  async (t) => {
    const adapter_options = { allow_env_credentials: true };
    for (const [adapter, variable] of variables) {
      const foreign = { adapter, adapter_options, base_url: 'https://llm.example.com/v1' };
      t.throws(() => create(foreign, { [variable]: 'key' }), {
        name: 'Invalid',
        message: new RegExp(`${variable} is only sent to .*, not to the host of base_url`),
      });
      t.ok(create({ ...foreign, api_key: 'given' }, { [variable]: 'key' }));
      const beside = variable.replace('_API_KEY', '_BASE_URL');
      t.ok(create(foreign, { [variable]: 'key', [beside]: 'https://llm.example.com/v1' }));
      t.throws(
        () => create(foreign, { [variable]: 'key', [beside]: 'https://llm.example.com.evil.net/v1' }),
        Invalid,
      );
    }
  },
);

t.test('a local ollama needs no key, once the environment may be asked', async (t) => {
  t.ok(create({ adapter: 'ollama', adapter_options: { allow_env_credentials: true } }));
});

t.test('a scripted provider needs no key, and unknown options are ignored', async (t) => {
  t.ok(create({ adapter: 'scripted', adapter_options: { whatever: true } }));
  t.ok(create({ api_key: 'k', adapter_options: { whatever: true } }));
});

t.test('discovery options are taken in any case', async (t) => {
  const adapter_options = { model_discovery_schema: 'OpenRouter', model_discovery_auth: 'No-Auth' };
  t.ok(create({ api_key: 'k', adapter_options }));
});
