import t from 'tap';
import type { ConfigNamespace } from '../../../src/schema/config-record.ts';
import type { JsonObject } from '../../../src/schema/endpoint.ts';
import { namespace, restore, write } from './write.ts';

/** A stored secret remains bound to the URL, the adapter and the program that it was given for. */

type Row = [change: string, body: JsonObject, field: string, place: string];

const refused = (name: ConfigNamespace, stored: JsonObject, rows: readonly Row[]): void => {
  const of = namespace(name);
  for (const [change, body, field, place] of rows) {
    t.test(`${name}: ${change} does not reuse the stored secret`, async (t) => {
      const message = `field '${field}' must be given again: the stored secret belongs to the stored '${place}' and is not sent elsewhere`;
      t.throws(() => write(of, body, stored), { message: `invalid payload: ${message}` });
      const { spec, dropped } = restore(of, of.audit({ ...stored, ...body }), stored);
      t.notMatch(JSON.stringify(spec), /hush|\*\*\*/, 'a restore drops it');
      t.ok(
        dropped.some((path) => `${path}.`.startsWith(`${field}.`)),
        `a restore reports ${field}: ${dropped.join()}`,
      );
    });
  }
};

const provider: JsonObject = {
  id: 'p',
  adapter: 'openai',
  api_key: 'hush-key',
  base_url: 'https://one.example/v1',
};

const moves: [change: string, fields: JsonObject, place: string][] = [
  ['another host', { base_url: 'https://two.example/v1' }, 'base_url'],
  ['another scheme', { base_url: 'http://one.example/v1' }, 'base_url'],
  ['another port', { base_url: 'https://one.example:8443/v1' }, 'base_url'],
  ['another path', { base_url: 'https://one.example/v2' }, 'base_url'],
  ['a longer path', { base_url: 'https://one.example/v1/evil' }, 'base_url'],
  ['a parent of the path', { base_url: 'https://one.example/v1/..' }, 'base_url'],
  ['no address', { base_url: '' }, 'base_url'],
  ['another adapter', { adapter: 'groq' }, 'adapter'],
];

refused(
  'providers',
  provider,
  moves.map(([change, fields, place]): Row => {
    const { api_key: _, ...rest } = provider;
    return [change, { ...rest, ...fields }, 'api_key', place];
  }),
);

const withHeaders: JsonObject = { ...provider, adapter_options: { headers: { 'X-Key': 'hush-header' } } };

refused('providers', provider, [
  [
    'a header that names a destination',
    {
      id: 'p',
      adapter: 'openai',
      base_url: 'https://one.example/v1',
      adapter_options: { headers: { Host: 'two.example' } },
    },
    'api_key',
    'adapter_options.headers',
  ],
  [
    'another option',
    {
      id: 'p',
      adapter: 'openai',
      base_url: 'https://one.example/v1',
      adapter_options: { organization: 'two' },
    },
    'api_key',
    'adapter_options.organization',
  ],
]);

refused('providers', withHeaders, [
  [
    'another host with a new key and an old header',
    {
      ...provider,
      api_key: 'new-key',
      base_url: 'https://two.example/v1',
      adapter_options: { headers: { 'X-Key': '***' } },
    },
    'adapter_options.headers.X-Key',
    'base_url',
  ],
]);

refused('providers', { id: 'v', adapter: 'vertex', api_key: 'hush', adapter_options: { project: 'one' } }, [
  [
    'another project',
    { id: 'v', adapter: 'vertex', adapter_options: { project: 'two' } },
    'api_key',
    'adapter_options.project',
  ],
]);

/** Secrets of adapter options, which an editor sends back as masks. */
const azure: JsonObject = {
  id: 'az',
  adapter: 'azure',
  adapter_options: {
    resource: 'one',
    tenant_id: 'tenant-1',
    client_id: 'app',
    client_secret: 'hush-secret',
  },
};
const azureWith = (more: JsonObject): JsonObject => ({
  ...azure,
  adapter_options: {
    resource: 'one',
    tenant_id: 'tenant-1',
    client_id: 'app',
    client_secret: '***',
    ...more,
  },
});
const CLIENT_SECRET = 'adapter_options.client_secret';

refused('providers', azure, [
  ['another resource', azureWith({ resource: 'two' }), CLIENT_SECRET, 'adapter_options.resource'],
  ['another client', azureWith({ client_id: 'app-2' }), CLIENT_SECRET, 'adapter_options.client_id'],
  ['another tenant', azureWith({ tenant_id: 'tenant-2' }), CLIENT_SECRET, 'adapter_options.tenant_id'],
  [
    'another authority',
    azureWith({ authority_host: 'login.microsoftonline.us' }),
    CLIENT_SECRET,
    'adapter_options.authority_host',
  ],
  ['an address', { ...azureWith({}), base_url: 'https://two.example' }, CLIENT_SECRET, 'base_url'],
  ['another adapter', { ...azureWith({}), adapter: 'openai', api_key: 'k' }, CLIENT_SECRET, 'adapter'],
]);

for (const name of ['access_key_id', 'secret_access_key', 'session_token']) {
  const stored: JsonObject = {
    id: 'b',
    adapter: 'bedrock',
    adapter_options: {
      region: 'us-east-1',
      access_key_id: 'hush-1',
      secret_access_key: 'hush-2',
      session_token: 'hush-3',
      [name]: 'hush',
    },
  };
  const given = { access_key_id: 'a', secret_access_key: 'b', session_token: 'c', [name]: '***' };
  const path = `adapter_options.${name}`;
  refused('providers', stored, [
    [
      `another region with an old ${name}`,
      { ...stored, adapter_options: { ...given, region: 'eu-west-1' } },
      path,
      'adapter_options.region',
    ],
    [
      `an address with an old ${name}`,
      { ...stored, base_url: 'https://two.example', adapter_options: { ...given, region: 'us-east-1' } },
      path,
      'base_url',
    ],
  ]);
}

t.test('providers: masks secrets of options, and keeps them for an unchanged target', async (t) => {
  const of = namespace('providers');
  t.match(of.redact(azure), { adapter_options: { client_id: 'app', client_secret: '***' } });
  t.match(write(of, { ...azureWith({}), timeout_secs: 5 }, azure), {
    adapter_options: { client_id: 'app', client_secret: 'hush-secret' },
  });
});

const stdio: JsonObject = {
  id: 's',
  transport: 'stdio',
  command: '/bin/server',
  args: ['--url', 'https://one.example', '--token', 'hush-arg'],
  cwd: '/srv',
  env: { TOKEN: 'hush-env' },
};
const { env: _env, ...withoutEnv } = stdio;
const args = ['--url', 'https://one.example', '--token', '***'];

refused('mcp-servers', stdio, [
  ['another command', { ...withoutEnv, args, command: '/bin/other' }, 'args', 'command'],
  [
    'another argument',
    { ...withoutEnv, args: ['--url', 'https://two.example', '--token', '***'] },
    'args',
    'args',
  ],
  ['other arguments without a secret', { ...withoutEnv, args: ['-c', 'env'] }, 'env', 'args'],
  ['another folder', { ...withoutEnv, args, cwd: '/tmp' }, 'args', 'cwd'],
  [
    'another transport',
    { ...withoutEnv, args, transport: 'http', url: 'https://two.example' },
    'args',
    'transport',
  ],
]);

t.test('mcp-servers: does not pass an argument to a program with another environment', async (t) => {
  const of = namespace('mcp-servers');
  t.throws(() => write(of, { ...stdio, args, env: { TOKEN: 'x', NODE_OPTIONS: '-r /tmp/evil.js' } }, stdio), {
    message: /field 'args' must be given again: .* stored 'env'/,
  });
});

const http: JsonObject = {
  id: 'h',
  transport: 'http',
  url: 'https://one.example/mcp?api_key=hush-query',
  config: { headers: { Authorization: 'hush-header' } },
};

refused('mcp-servers', http, [
  [
    'another address',
    { ...http, url: 'https://two.example/mcp', config: { headers: { Authorization: '***' } } },
    'config.headers.Authorization',
    'url',
  ],
]);

t.test('does not reuse the stored value for a header with another name', async (t) => {
  const of = namespace('mcp-servers');
  const renamed = { ...http, config: { headers: { 'X-Log': '***' } } };
  t.throws(() => write(of, renamed, http), { message: /config\.headers\.X-Log/ });
});

const a2a: JsonObject = {
  id: 'a',
  base_url: 'https://one.example/a2a',
  auth: { type: 'bearer', token: 'hush-token' },
  options: { headers: { 'X-Key': 'hush-header' } },
};

const plainA2a: JsonObject = {
  id: 'a',
  base_url: 'https://one.example/a2a',
  target: 'one',
  auth: { type: 'bearer', token: 'hush' },
};

refused('a2a-servers', plainA2a, [
  ['another target', { id: 'a', base_url: 'https://one.example/a2a', target: 'two' }, 'auth.token', 'target'],
  ['no target', { id: 'a', base_url: 'https://one.example/a2a', target: '' }, 'auth.token', 'target'],
  [
    'another origin for the token',
    {
      id: 'a',
      base_url: 'https://one.example/a2a',
      target: 'one',
      auth_origins: ['https://two.example'],
    },
    'auth.token',
    'auth_origins',
  ],
]);

refused('a2a-servers', a2a, [
  ['another address', { id: 'a', base_url: 'https://two.example/a2a' }, 'auth.token', 'base_url'],
  [
    'another address with a new token and an old header',
    {
      ...a2a,
      auth: { type: 'bearer', token: 'new' },
      base_url: 'https://two.example',
      options: { headers: { 'X-Key': '***' } },
    },
    'options.headers.X-Key',
    'base_url',
  ],
]);

const agent = {
  id: 'g',
  endpoint: { base_url: 'https://one.example', auth: { type: 'bearer', token: 'hush-token' } },
  sections: { hook: { url: 'https://one.example/hook', token: 'hush-section' } },
};

t.test('agents: binds tokens of endpoints and sections to their URLs', async (t) => {
  const of = namespace('agents');
  const stored = of.check(agent);
  const auth = { type: 'bearer', token: '***' };
  const moved = { id: 'g', endpoint: { base_url: 'https://two.example', auth } };
  t.throws(() => write(of, moved, stored), { message: /field 'endpoint\.auth\.token' must be given again/ });
  const changes: JsonObject[] = [{ target: 'two' }, { options: { a2a_server_id: 'other' } }];
  for (const change of changes) {
    const endpoint = { ...agent.endpoint, auth, ...change };
    const again = { message: /field 'endpoint\.auth\.token' must be given again/ };
    t.throws(() => write(of, { id: 'g', endpoint }, stored), again);
    t.throws(() => of.overrides?.merge(stored, {}, { endpoint }), again);
  }
  const hook = { url: 'https://two.example/hook', token: '***' };
  t.throws(() => write(of, { ...agent, sections: { hook } }, stored), {
    message: /field 'sections\.hook\.token' must be given again/,
  });
  t.throws(() => of.overrides?.merge(stored, {}, { sections: { hook } }), {
    message: /field 'sections\.hook\.token' must be given again/,
  });
  const same = { ...agent, endpoint: { ...agent.endpoint, auth, timeout_ms: 5 } };
  t.match(write(of, same, stored), { endpoint: { auth: { token: 'hush-token' } } });
});

t.test('keeps the stored secrets if no target changes', async (t) => {
  const providers = namespace('providers');
  const unmoved: JsonObject[] = [
    { timeout_secs: 5 },
    { base_url: 'https://ONE.example:443/v1/' },
    { adapter: ' OpenAI' },
  ];
  for (const fields of unmoved) {
    const { api_key: _, ...rest } = provider;
    t.match(
      write(providers, { ...rest, ...fields }, provider),
      { api_key: 'hush-key' },
      JSON.stringify(fields),
    );
  }
  const servers = namespace('mcp-servers');
  t.match(write(servers, { ...withoutEnv, args, timeout_secs: 5 }, stdio), {
    env: stdio.env,
    args: stdio.args,
  });
  t.match(
    write(
      namespace('a2a-servers'),
      {
        id: 'a',
        base_url: 'https://one.example/a2a/',
        timeout_ms: 5,
        options: { headers: { 'X-Key': '***' }, poll_interval_ms: 5 },
      },
      a2a,
    ),
    { auth: a2a.auth },
  );
});

t.test('sends a new secret to a new target, and restores a keyless entry without one', async (t) => {
  const of = namespace('providers');
  const moved = { ...provider, base_url: 'https://two.example/v1', api_key: 'new-key' };
  t.match(write(of, moved, provider), { api_key: 'new-key' });
  const keyless = { id: 'p', adapter: 'openai', adapter_options: { allow_env_credentials: true } };
  const bare = { id: 'p', adapter: 'openai' };
  t.strictSame(restore(of, of.audit(bare), provider), { spec: bare, dropped: [] });
  t.match(write(of, { ...keyless, api_key: '' }, provider), keyless);
});
