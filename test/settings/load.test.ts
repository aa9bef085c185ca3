import t from 'tap';
import { loadSettings, type Settings } from '../../src/settings/index.ts';
import fc from '../random.ts';
import { problemsOf } from './problems.ts';

type Given = { flags?: Record<string, string>; env?: Record<string, string | undefined>; file?: string };

const load = ({ flags = {}, env = {}, file }: Given): Promise<Settings> =>
  loadSettings({
    flags,
    env: file === undefined ? env : { SERVICE_SETTINGS_FILE: '/etc/troupe.yaml', ...env },
    readFile: (path) => {
      if (file === undefined) throw new Error(`ENOENT: no such file ${path}`);
      return file;
    },
  });

const refused = (given: Given): Promise<readonly string[]> => problemsOf(() => load(given));

t.test('a flag overrides the variable, the variable the file, and the file the default', async (t) => {
  const file = JSON.stringify({
    body_limit_bytes: 3,
    trust_forwarded_headers: false,
    storage_dir: './file',
    durability: 'process',
    http_addr: 'file:3',
    AdminApiConfig: { cors_allowed_origins: ['http://file'], bearer_token: 'file' },
    seed: { reasoning_effort: 'high' },
  });
  const env = {
    SERVICE_BODY_LIMIT_BYTES: '2',
    SERVICE_TRUST_FORWARDED_HEADERS: 'yes',
    SERVICE_STORAGE_DIR: './env',
    SERVICE_DURABILITY: 'power',
    SERVICE_HTTP_ADDR: 'env:2',
    SERVICE_ADMIN_CORS_ALLOWED_ORIGINS: 'http://env, ,http://env2:81,',
    SERVICE_ADMIN_API_BEARER_TOKEN: 'env',
    SERVICE_SEED_REASONING_EFFORT: 'low',
  };
  const flags = {
    'body-limit-bytes': '1',
    'trust-forwarded-headers': 'off',
    'storage-dir': './flag',
    durability: 'process',
    'http-addr': 'flag:1',
    'admin-cors-allowed-origins': 'http://flag',
    'admin-api-bearer-token': 'flag',
    'seed-reasoning-effort': '512',
  };
  const picked = ({ AdminApiConfig: admin, seed, ...top }: Settings) => [
    top.body_limit_bytes,
    top.trust_forwarded_headers,
    top.storage_dir,
    top.durability,
    top.http_addr,
    admin.cors_allowed_origins,
    admin.bearer_token,
    seed.reasoning_effort,
  ];
  const fromFile = [3, false, './file', 'process', 'file:3', ['http://file'], 'file', 'high'];
  const fromEnv = [2, true, './env', 'power', 'env:2', ['http://env', 'http://env2:81'], 'env', 'low'];
  const fromFlags = [1, false, './flag', 'process', 'flag:1', ['http://flag'], 'flag', { budget: 512 }];
  t.strictSame(picked(await load({ file })), fromFile);
  t.strictSame(picked(await load({ file, env })), fromEnv);
  t.strictSame(picked(await load({ file, env, flags })), fromFlags);
});

t.test('validates only the source that a setting is read from', async (t) => {
  const env = { SERVICE_BODY_LIMIT_BYTES: 'many', AGENT_MAX_ROUNDS: 'many', SERVICE_SEED_MAX_ROUNDS: '4' };
  const settings = await load({ env, flags: { 'body-limit-bytes': '7' } });
  t.equal(settings.body_limit_bytes, 7);
  t.equal(settings.seed.max_rounds, 4);
});

t.test('reads an older name if the current name is not set', async (t) => {
  t.equal((await load({ env: { AGENT_MODEL: 'a' } })).seed.model, 'a');
  t.equal((await load({ env: { AGENT_MODEL: 'a', SERVICE_SEED_MODEL: 'b' } })).seed.model, 'b');
  t.equal((await load({ env: { AGENT_MODEL: 'a', SERVICE_SEED_MODEL: ' ' } })).seed.model, 'a');
  t.equal((await load({ env: { AGENT_ID: 'sales' } })).default_agent_id, 'sales');
  t.equal((await load({ env: { AGENT_REASONING_EFFORT: 'max' } })).seed.reasoning_effort, 'max');
  t.equal((await load({ env: { OPENAI_ADAPTER: 'together' } })).seed.openai_adapter, 'together');
  t.match(await refused({ env: { AGENT_MAX_ROUNDS: 'many' } }), [/^AGENT_MAX_ROUNDS: 'many'/]);
});

t.test('reads the variables of the provider under their own names only', async (t) => {
  const { openai } = await load({ env: { OPENAI_API_KEY: ' k ', OPENAI_BASE_URL: 'http://localhost:9/v1' } });
  t.match(openai, { api_key: 'k', base_url: 'http://localhost:9/v1' });
  t.match(await refused({ file: 'openai: {api_key: hush}' }), [/^openai\.api_key in .*not a setting/]);
  t.match(await refused({ flags: { 'openai-api-key': 'hush' } }), [/^--openai-api-key: not a setting/]);
});

t.test('trims text, and treats blank text as not set', async (t) => {
  t.equal(
    (await load({ env: { SERVICE_ADMIN_API_BEARER_TOKEN: ' s3 ' } })).AdminApiConfig.bearer_token,
    's3',
  );
  const blank = {
    SERVICE_ADMIN_API_BEARER_TOKEN: ' \t',
    SERVICE_BODY_LIMIT_BYTES: '',
    SERVICE_HTTP_ADDR: ' ',
  };
  const settings = await load({ env: blank, file: 'http_addr: file:3\nstorage_dir:\n' });
  t.equal(settings.AdminApiConfig.bearer_token, undefined);
  t.equal(settings.body_limit_bytes, 2_097_152);
  t.equal(settings.http_addr, 'file:3');
  t.equal(settings.storage_dir, './sessions');
});

t.test('a text list without items counts as not set, an empty list in the file as a list', async (t) => {
  const env = { SERVICE_ADMIN_CORS_ALLOWED_ORIGINS: ' , ,' };
  t.equal((await load({ env })).AdminApiConfig.cors_allowed_origins.length, 2);
  const file = 'AdminApiConfig: {cors_allowed_origins: []}';
  t.strictSame((await load({ env, file })).AdminApiConfig.cors_allowed_origins, []);
});

t.test(
  'trace routes: 1, TRUE and " yes " expose them, 0, empty and unset do not, maybe is an error',
  async (t) => {
    const exposed = async (value?: string) =>
      (await load({ env: { SERVICE_EXPOSE_TRACE_ROUTES: value } })).AdminApiConfig.expose_trace_routes;
    t.strictSame(await Promise.all(['1', 'TRUE', ' yes '].map(exposed)), [true, true, true]);
    t.strictSame(await Promise.all(['0', '', undefined].map(exposed)), [false, false, false]);
    t.strictSame(await refused({ env: { SERVICE_EXPOSE_TRACE_ROUTES: 'maybe' } }), [
      "SERVICE_EXPOSE_TRACE_ROUTES: 'maybe' is not allowed; allowed: 1, true, yes, on or 0, false, no, off",
    ]);
  },
);

const booleanWords: Record<string, boolean> = {
  '1': true,
  true: true,
  yes: true,
  on: true,
  '0': false,
  false: false,
  no: false,
  off: false,
};

t.test('a boolean is one of its eight words, trimmed, in any case', async () => {
  const spelled = fc
    .tuple(
      fc.constantFrom(...Object.keys(booleanWords)),
      fc.array(fc.boolean()),
      fc.constantFrom('', ' ', '\t\n'),
    )
    .map(([word, upper, space]) => ({
      word,
      text: space + [...word].map((c, i) => (upper[i] ? c.toUpperCase() : c)).join('') + space,
    }));
  await fc.assert(
    fc.asyncProperty(
      spelled,
      async ({ word, text }) =>
        (await load({ env: { SERVICE_TRUST_FORWARDED_HEADERS: text } })).trust_forwarded_headers ===
        booleanWords[word],
    ),
  );
  const other = fc
    .string()
    .filter((text) => text.trim() !== '' && !(text.trim().toLowerCase() in booleanWords));
  await fc.assert(
    fc.asyncProperty(
      other,
      async (text) => (await refused({ env: { SERVICE_TRUST_FORWARDED_HEADERS: text } })).length === 1,
    ),
  );
});

t.test('a boolean of the file is true, false, 1, 0 or one of the words', async (t) => {
  const read = async (value: string) =>
    (await load({ file: `trust_forwarded_headers: ${value}` })).trust_forwarded_headers;
  t.strictSame(await Promise.all(['true', '1', 'yes', '"ON"'].map(read)), [true, true, true, true]);
  t.strictSame(await Promise.all(['false', '0', 'no', '"off"'].map(read)), [false, false, false, false]);
  t.equal((await refused({ file: 'trust_forwarded_headers: 2' })).length, 1);
});

t.test('an integer consists only of digits, up to the largest safe integer', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: Number.MAX_SAFE_INTEGER }),
      async (n) =>
        (await load({ env: { SERVICE_MAILBOX_GC_RETENTION_SECS: ` ${n} ` } })).mailbox.gc_retention_secs ===
        n,
    ),
  );
  const illegal = fc.oneof(
    fc.constantFrom('-1', '+1', '1.5', '1e3', '0x10', '1_000', '1 0', '9007199254740993', 'NaN', '٣'),
    fc.string().filter((text) => text.trim() !== '' && !/^\d+$/.test(text.trim())),
  );
  await fc.assert(
    fc.asyncProperty(
      illegal,
      async (text) => (await refused({ env: { SERVICE_SHUTDOWN_TIMEOUT_MS: text } })).length === 1,
    ),
  );
  t.equal((await load({ env: { SERVICE_SHUTDOWN_TIMEOUT_MS: '0' } })).shutdown_timeout_ms, 0);
  for (const value of ['-1', '1.5', 'true', '[1]', '{a: 1}', '.inf']) {
    t.equal((await refused({ file: `shutdown_timeout_ms: ${value}` })).length, 1, value);
  }
  t.equal((await load({ file: 'shutdown_timeout_ms: "12"' })).shutdown_timeout_ms, 12);
});

t.test('0 prevents the start where it is not allowed', async (t) => {
  t.strictSame(await refused({ env: { SERVICE_MAX_CONCURRENT_REQUESTS: '0' } }), [
    "SERVICE_MAX_CONCURRENT_REQUESTS: '0' is not allowed; allowed: an integer, 1 or more",
  ]);
  t.equal((await refused({ file: 'mailbox: {max_attempts: 0}' })).length, 1);
});

t.test('an origin is scheme, host and port, normalized as in browsers', async (t) => {
  const origins = async (value: string) =>
    (await load({ env: { SERVICE_ADMIN_CORS_ALLOWED_ORIGINS: value } })).AdminApiConfig.cors_allowed_origins;
  t.strictSame(await origins('HTTPS://Admin.Example:443/, http://[::1]:3002'), [
    'https://admin.example',
    'http://[::1]:3002',
  ]);
  const illegal = [
    '*',
    'null',
    'localhost:3002',
    'ftp://a',
    'http://a/path',
    'http://a?q',
    'http://u:p@a',
    'http://a b',
    'http://a:99999',
  ];
  for (const value of illegal) {
    t.match(
      await refused({ env: { SERVICE_ADMIN_CORS_ALLOWED_ORIGINS: value } }),
      [/CORS_ALLOWED_ORIGINS/],
      value,
    );
  }
});

t.test('the word loopback among the origins allows those of this host', async (t) => {
  t.strictSame(
    (await load({ env: { SERVICE_ADMIN_CORS_ALLOWED_ORIGINS: 'loopback, https://a' } })).AdminApiConfig
      .cors_allowed_origins,
    ['loopback', 'https://a'],
  );
  t.match(await refused({ env: { SERVICE_ADMIN_CORS_ALLOWED_ORIGINS: 'lopback' } }), [
    /and the word loopback$/,
  ]);
});

t.test('an address is host:port', async (t) => {
  for (const legal of ['127.0.0.1:0', '0.0.0.0:65535', '[::1]:80', '[fe80::1%eth0]:80', 'localhost:38080']) {
    t.equal((await load({ flags: { 'http-addr': legal } })).http_addr, legal);
  }
  for (const illegal of ['localhost', ':80', '::1:80', '80', 'a:65536', 'a:b', 'http://a:80', 'a b:80']) {
    t.match(await refused({ flags: { 'http-addr': illegal } }), [/^--http-addr: /], illegal);
  }
});

t.test('the path of a Unix socket is absolute and fits into its address', async (t) => {
  const longest = process.platform === 'linux' ? 107 : 103;
  const pathOf = (bytes: number): string => `unix:/${'x'.repeat(bytes - 1)}`;
  for (const legal of ['unix:/run/troupe/troupe.sock', 'unix:/with space', pathOf(longest)]) {
    t.equal((await load({ flags: { 'http-addr': legal } })).http_addr, legal);
  }
  const allowed = new RegExp(`the absolute path of a socket, of at most ${longest} bytes$`);
  const tooLong = [pathOf(longest + 1), `unix:/${'é'.repeat(60)}`];
  for (const illegal of ['unix:', 'unix:/', 'unix:relative', 'unix:/folder/', 'unix:/a\0b', ...tooLong]) {
    t.match(await refused({ flags: { 'http-addr': illegal } }), [allowed], illegal);
  }
  t.equal((await refused({ flags: { 'inspection-addr': 'unix:/run/s' } })).length, 1);
});

t.test('a scope id has 1 to 512 bytes and no control characters', async (t) => {
  t.equal((await load({ env: { SERVICE_SCOPE_ID: 'é'.repeat(256) } })).scope_id.length, 256);
  t.equal((await refused({ env: { SERVICE_SCOPE_ID: `${'é'.repeat(256)}a` } })).length, 1);
  t.equal((await refused({ env: { SERVICE_SCOPE_ID: 'a\u0007b' } })).length, 1);
});

t.test('the other types reject invalid values', async (t) => {
  const illegal = {
    SERVICE_DURABILITY: 'Power',
    SERVICE_SEED_REASONING_EFFORT: 'enormous',
    SERVICE_METRICS_PREFIX: '9-lives',
    OPENAI_BASE_URL: 'localhost:9',
    SERVICE_STORAGE_DIR: 'a\0b',
  };
  for (const [name, value] of Object.entries(illegal)) {
    t.match(
      await refused({ env: { [name]: value } }),
      [new RegExp(`^${name}: .* is not allowed; allowed: `)],
      name,
    );
  }
  t.match(await refused({ file: 'seed: {model: 4}' }), [
    /^seed\.model in .*: 4 is not allowed; allowed: a string/,
  ]);
});

t.test('rejects a time that is too long for a timer', async (t) => {
  const load = (SERVICE_SSE_HEARTBEAT_MS: string) =>
    loadSettings({ flags: {}, env: { SERVICE_SSE_HEARTBEAT_MS }, readFile: () => '' });
  t.equal((await load('2147483647')).sse_heartbeat_ms, 2_147_483_647);
  await t.rejects(load('2147483648'), { message: /SERVICE_SSE_HEARTBEAT_MS.*1 to 2147483647/ });
});
