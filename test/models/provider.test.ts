import t from 'tap';
import {
  adapterName,
  checkProviderOptions,
  checkUsable,
  KEY_VARIABLES,
  SUPPORTED_ADAPTERS,
} from '../../src/models/provider.ts';
import type { JsonObject } from '../../src/schema/json.ts';
import type { ProviderSpec } from '../../src/schema/model.ts';
import { Invalid } from '../../src/schema/outcome.ts';
import { createProvider } from './create-provider.ts';

const create = (spec: Partial<ProviderSpec>, env: Record<string, string> = {}) =>
  createProvider({ id: 'p', adapter: 'openai', ...spec }, env);

t.test('lists the supported adapters in order, without scripted', async (t) => {
  t.same(
    SUPPORTED_ADAPTERS.join(' '),
    'anthropic openai openai_resp deepseek gemini ollama ollama_cloud cohere together fireworks groq xai zai bigmodel aliyun mimo nebius vertex github_copilot azure bedrock mistral openrouter vllm lmstudio openai_compatible',
  );
});

t.test('builds every supported adapter from a key', async (t) => {
  const base_url = 'https://bedrock-runtime.us-east-1.amazonaws.com';
  for (const adapter of SUPPORTED_ADAPTERS) {
    const model = create({ adapter, api_key: 'key', base_url }).model({
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
  t.test(`resolves adapter "${given}" to ${name}`, async (t) => {
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
  t.test(`rejects a spec with ${name}`, async (t) => {
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
  t.test(`${adapter} may read its key from ${variable}`, async (t) => {
    const adapter_options = { allow_env_credentials: true };
    t.ok(create({ adapter, adapter_options }, { [variable]: 'key' }));
    t.throws(() => create({ adapter, adapter_options }, {}), Invalid);
    t.throws(() => create({ adapter }, { [variable]: 'key' }), Invalid);
  });
}

t.test(
  'sends a key from the environment only to its company and to the address in its own variable',
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

t.test('requires no key for a service that works without one', async (t) => {
  const base_url = 'http://localhost:9/v1';
  for (const adapter of ['ollama', 'vllm', 'lmstudio', 'openai_compatible']) {
    t.ok(create({ adapter, base_url }), adapter);
    t.ok(create({ adapter, base_url, adapter_options: { allow_env_credentials: true } }), adapter);
  }
});

t.test('lists the variables with secrets of all adapters', async (t) => {
  const secrets = [
    'OPENAI_API_KEY',
    'AZURE_CLIENT_SECRET',
    'AZURE_OPENAI_AD_TOKEN',
    'AWS_BEARER_TOKEN_BEDROCK',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'LM_API_TOKEN',
  ];
  for (const name of secrets) t.ok(KEY_VARIABLES.includes(name), name);
});

const withoutAddress: [adapter: string, message: string][] = [
  ['openai_compatible', "adapter 'openai_compatible' requires base_url"],
  ['azure', "adapter 'azure' requires base_url or adapter_options.resource"],
  ['bedrock', "adapter 'bedrock' requires base_url or adapter_options.region"],
];
for (const [adapter, message] of withoutAddress) {
  t.test(`rejects and does not store ${adapter} without an address`, async (t) => {
    const spec: ProviderSpec = { id: 'p', adapter, api_key: 'k' };
    t.throws(() => create(spec), { name: 'Invalid', message });
    t.throws(() => checkUsable(spec), { name: 'Invalid', message });
  });
}

const brokenOptions: [adapter: string, options: JsonObject, message: string][] = [
  ['azure', { resource: 'a/b' }, "adapter_options.resource 'a/b' is not a resource name"],
  ['azure', { resource: 7 }, 'adapter_options.resource must be a string'],
  ['azure', { api: 'x' }, 'adapter_options.api must be one of chat, responses, got "x"'],
  [
    'azure',
    { api_version: 'soon' },
    "adapter_options.api_version must be v1, preview, latest or a date such as 2024-10-21, got 'soon'",
  ],
  [
    'azure',
    { client_id: 'a' },
    'adapter_options.client_id must be given together with tenant_id and client_secret',
  ],
  [
    'azure',
    { tenant_id: 'a/../b' },
    'the tenant of Entra ID must be a domain or an id of letters, digits, dots and hyphens',
  ],
  [
    'azure',
    { authority_host: 'evil.example' },
    'adapter_options.authority_host must be one of login.microsoftonline.com, login.microsoftonline.us, got "evil.example"',
  ],
  [
    'bedrock',
    { region: 'evil.example/' },
    "adapter_options.region must be a region of AWS such as us-east-1, got 'evil.example/'",
  ],
  [
    'bedrock',
    { access_key_id: 'AK' },
    'adapter_options.access_key_id and adapter_options.secret_access_key must be given together',
  ],
  [
    'bedrock',
    { access_key_id: 'AK', secret_access_key: 'a\nb' },
    'adapter_options.secret_access_key must not contain line breaks or other control characters',
  ],
  ['openrouter', { provider: 'fireworks' }, 'adapter_options.provider must be an object'],
];
for (const [adapter, adapter_options, message] of brokenOptions) {
  t.test(`${adapter}: ${message}`, async (t) => {
    const base_url = 'https://bedrock-runtime.us-east-1.amazonaws.com';
    const spec: ProviderSpec = { id: 'p', adapter, api_key: 'k', base_url, adapter_options };
    t.throws(() => create(spec), { name: 'Invalid', message });
    t.throws(() => checkProviderOptions(spec), { name: 'Invalid', message });
  });
}

const withoutCredentials: [adapter: string, options: JsonObject, message: RegExp][] = [
  [
    'azure',
    { resource: 'r' },
    /^provider 'p' has no credentials: give api_key, adapter_options\.azure_ad_token/,
  ],
  ['vertex', {}, /^provider 'p' has no api_key and .* need adapter_options\.project$/],
];
for (const [adapter, options, message] of withoutCredentials) {
  t.test(`rejects ${adapter} if the environment has no credentials`, async (t) => {
    const adapter_options = { ...options, allow_env_credentials: true };
    t.throws(() => create({ adapter, adapter_options }), { name: 'Invalid', message });
  });
}

const otherCredentials: [adapter: string, env: Record<string, string>, home: string, pair: string][] = [
  ['azure', { AZURE_OPENAI_AD_TOKEN: 't' }, 'https://r.openai.azure.com', 'AZURE_OPENAI_ENDPOINT'],
  [
    'azure',
    { AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: 'c', AZURE_CLIENT_SECRET: 's' },
    'https://r.services.ai.azure.com/openai/v1',
    'AZURE_OPENAI_ENDPOINT',
  ],
  [
    'bedrock',
    { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-west-1' },
    'https://vpce-1.bedrock-runtime.eu-west-1.vpce.amazonaws.com',
    'AWS_ENDPOINT_URL_BEDROCK_RUNTIME',
  ],
  ['vertex', {}, 'https://europe-west1-aiplatform.googleapis.com/v1/projects/p/x', 'VERTEX_BASE_URL'],
];
for (const [adapter, env, home, pair] of otherCredentials) {
  t.test(
    `${adapter}: sends ${Object.keys(env)[0] ?? 'credentials of the host'} to its company only`,
    async (t) => {
      const adapter_options = { allow_env_credentials: true };
      t.ok(create({ adapter, adapter_options, base_url: home }, env));
      for (const base_url of ['https://llm.example.com/', home.replace('https', 'http')]) {
        t.throws(() => create({ adapter, adapter_options, base_url }, env), {
          name: 'Invalid',
          message: new RegExp(`is only sent to .*${pair}, not to the host of base_url`),
        });
        t.ok(create({ adapter, adapter_options, base_url }, { ...env, [pair]: base_url }));
      }
      t.throws(() => create({ adapter, base_url: home }, env), Invalid);
    },
  );
}

t.test('a scripted provider requires no key and ignores unknown options', async (t) => {
  t.ok(create({ adapter: 'scripted', adapter_options: { whatever: true } }));
  t.ok(create({ api_key: 'k', adapter_options: { whatever: true } }));
});

t.test('accepts discovery options in any case', async (t) => {
  const adapter_options = { model_discovery_schema: 'OpenRouter', model_discovery_auth: 'No-Auth' };
  t.ok(create({ api_key: 'k', adapter_options }));
});
