import t from 'tap';
import { bringsSecrets, exported, withKeptSecrets } from '../../../src/commands/config/redacted.ts';
import type { JsonObject } from '../../../src/schema/endpoint.ts';

const server: JsonObject = {
  id: 's',
  transport: 'http',
  args: ['--token=***', 'x'],
  url: 'https://***@h/mcp?token=***',
  config: { headers: { 'x-a': '***' }, note: '***' },
  has_env: true,
  env_keys: ['B', 'A'],
};
const place = { namespace: 'mcp-servers', id: 's' } as const;

t.test('leaves out secrets, and keeps values that only look like a marker', async (t) => {
  const left: string[] = [];
  t.strictSame(
    exported(place, server, (path) => left.push(path)),
    {
      id: 's',
      transport: 'http',
      args: ['--token=***', 'x'],
      url: 'https://***@h/mcp?token=***',
      config: { headers: {}, note: '***' },
    },
    'of a list and of a text nothing can be left out',
  );
  t.strictSame(left, ['env.B', 'env.A', 'args.0', 'url', 'config.headers.x-a']);
});

t.test('references replace secrets', async (t) => {
  t.match(exported(place, server), {
    url: /^\$\{MCP_SERVERS_S_URL\}$/,
    args: [/^\$\{MCP_SERVERS_S_ARGS_0\}$/, 'x'],
    config: { headers: { 'x-a': /^\$\{MCP_SERVERS_S_CONFIG_HEADERS_X_A\}$/ } },
    env: { A: /^\$\{MCP_SERVERS_S_ENV_A\}$/ },
  });
  t.match(exported({ namespace: 'a2a-servers', id: 'a' }, { id: 'a', has_auth: true }), {
    auth: { type: 'bearer', token: /^\$\{A2A_SERVERS_A_AUTH_TOKEN\}$/ },
  });
});

t.test('an omitted value keeps its stored content, unless its container is removed', async (t) => {
  const { has_env: _, env_keys: _keys, args: _args, ...shown } = server;
  const given = { id: 's', transport: 'http', config: { headers: {}, note: 'n' } };
  t.strictSame(withKeptSecrets(given, server), {
    ...shown,
    config: { headers: { 'x-a': '***' }, note: 'n' },
  });
  t.strictSame(withKeptSecrets({ id: 's', url: 'https://h', config: {} }, server), {
    id: 's',
    url: 'https://h',
    config: {},
  });
  const inherited = { config: { headers: { constructor: '***' } } };
  t.strictSame(
    withKeptSecrets({ config: { headers: {} } }, inherited),
    inherited,
    'a value is kept whatever its name',
  );
  const auth = { type: 'bearer', token: 'new' };
  const remote = { endpoint: { auth: { type: 'bearer', token: '***' } } };
  t.strictSame(withKeptSecrets({ endpoint: { auth } }, remote), { endpoint: { auth } });
});

t.test('distinguishes entries with a secret from those without one', async (t) => {
  t.ok(bringsSecrets('providers', { id: 'p', api_key: 'k' }));
  t.ok(bringsSecrets('mcp-servers', { id: 's', env: { A: '1' } }));
  t.ok(bringsSecrets('agents', { endpoint: { auth: { token: 't' } } }));
  t.notOk(bringsSecrets('providers', { id: 'p', adapter: 'groq' }));
  t.notOk(bringsSecrets('agents', { id: 'a', system_prompt: 'token: ***' }));
});
