import t from 'tap';
import {
  assertStartable,
  listenAddress,
  loadSettings,
  SettingsError,
  settingFlags,
  settingsFrom,
  settingsHelp,
  settingsMarkdown,
  tcpAddress,
  unknownVariables,
} from '../../src/settings/index.ts';
import { problemsOf } from './problems.ts';

const noFile = () => {
  throw new Error('no file was named');
};

t.test('one message contains all problems of a start, one per line', async (t) => {
  const start = () =>
    loadSettings({
      flags: { durability: 'never', colour: 'red' },
      env: { SERVICE_HTTP_ADDR: 'nowhere', AGENT_MAX_ROUNDS: '-1' },
      readFile: noFile,
    });
  await t.rejects(start, SettingsError);
  await t.rejects(start, {
    name: 'SettingsError',
    message:
      /^--colour: .*\n(?:SERVICE_HTTP_ADDR: .*\n)--durability: .*\nAGENT_MAX_ROUNDS: '-1' is not allowed.*$/,
  });
});

t.test('the renewal interval of a lease is below the lease', async (t) => {
  const leaseOf = (lease_ms: number, lease_renewal_ms: number) => () =>
    settingsFrom({ mailbox: { lease_ms, lease_renewal_ms } });
  t.doesNotThrow(leaseOf(10_001, 10_000));
  t.throws(leaseOf(10_000, 10_000), {
    message:
      'SERVICE_MAILBOX_LEASE_RENEWAL_MS (mailbox.lease_renewal_ms): 10000 is not allowed; ' +
      'allowed: below SERVICE_MAILBOX_LEASE_MS (mailbox.lease_ms), which is 10000',
  });
  await t.rejects(loadSettings({ flags: {}, env: { SERVICE_MAILBOX_LEASE_MS: '9000' }, readFile: noFile }), {
    message: /^SERVICE_MAILBOX_LEASE_RENEWAL_MS .* which is 9000$/,
  });
});

t.test('a certificate needs its key, and a TCP port', async (t) => {
  const both = { cert_file: 'cert.pem', key_file: 'key.pem' };
  t.doesNotThrow(() => settingsFrom({ tls: both }));
  t.throws(() => settingsFrom({ tls: { cert_file: 'cert.pem' } }), {
    message:
      'SERVICE_TLS_KEY_FILE (tls.key_file): missing; ' +
      'SERVICE_TLS_CERT_FILE (tls.cert_file) is set; allowed: both or neither',
  });
  t.throws(() => settingsFrom({ tls: { key_file: 'key.pem' } }), {
    message: /^SERVICE_TLS_CERT_FILE \(tls\.cert_file\): missing; SERVICE_TLS_KEY_FILE .* is set/,
  });
  t.throws(() => settingsFrom({ tls: both, http_addr: 'unix:/run/s' }), {
    message: /^SERVICE_TLS_CERT_FILE \(tls\.cert_file\): not allowed with a Unix socket/,
  });
});

t.test(
  'one given eval limit keeps the others unchanged, and none of them allows zero at a time',
  async (t) => {
    t.match(settingsFrom({ eval_limits: { max_samples_per_cell: 7 } }).eval_limits, {
      max_cells_per_sync_run: 100,
      max_concurrent_matrix_cells: 5,
      max_cells_per_sync_online: 10,
      max_concurrent_online_cells: 5,
      max_samples_per_cell: 7,
      max_judge_revisions: 3,
      default_import_traces_max: 50,
    });
    for (const name of ['max_concurrent_matrix_cells', 'max_concurrent_online_cells']) {
      t.throws(() => settingsFrom({ eval_limits: { [name]: 0 } }), {
        name: 'SettingsError',
        message: `eval_limits.${name}: 0 is not allowed; allowed: an integer, 1 or more`,
      });
    }
  },
);

t.test('without an admin token no part of the admin surface may be exposed', async (t) => {
  const closed = { expose_config_routes: false, expose_eval_routes: false, expose_trace_routes: false };
  const startWith = (AdminApiConfig: Partial<typeof closed & { bearer_token: string }>) => () =>
    assertStartable(settingsFrom({ AdminApiConfig: { ...closed, ...AdminApiConfig } }));
  const refusal = {
    message:
      'admin, config, trace, and eval APIs require SERVICE_ADMIN_API_BEARER_TOKEN when any admin surface is exposed',
  };
  t.doesNotThrow(startWith({}));
  t.throws(startWith({ expose_config_routes: true }), refusal);
  t.throws(startWith({ expose_eval_routes: true }), refusal);
  t.throws(startWith({ expose_trace_routes: true }), refusal);
  t.throws(() => assertStartable(settingsFrom({})), refusal);
  t.throws(startWith({ expose_config_routes: true, bearer_token: '  ' }), refusal);
  t.doesNotThrow(startWith({ expose_config_routes: true, bearer_token: 's3cret' }));
});

t.test('an embedding program can give any part of the settings, including entries', async (t) => {
  const settings = settingsFrom({
    http_addr: '127.0.0.1:0',
    openai: { api_key: 'k' },
    AdminApiConfig: { cors_allowed_origins: [] },
    seed: { reasoning_effort: { budget: 100 } },
    entries: { agents: [{ id: 'a' }] },
  });
  t.equal(settings.http_addr, '127.0.0.1:0');
  t.equal(settings.openai.api_key, 'k');
  t.strictSame(settings.AdminApiConfig.cors_allowed_origins, []);
  t.equal(settings.AdminApiConfig.expose_config_routes, true);
  t.strictSame(settings.seed.reasoning_effort, { budget: 100 });
  t.match(settings.entries.agents, [{ id: 'a', max_rounds: 16 }]);
  t.strictSame(settingsFrom(settings), settings);
});

t.test('validates the settings of an embedding program like a file', async (t) => {
  const unknown: object = { mailbox: { leese_ms: 1 }, agents: [] };
  t.match(await problemsOf(() => settingsFrom(unknown)), [
    /^mailbox\.leese_ms: not a setting/,
    /^agents: not a setting/,
  ]);
  t.match(await problemsOf(() => settingsFrom({ body_limit_bytes: 0 })), [
    /^body_limit_bytes: 0 is not allowed/,
  ]);
  t.match(await problemsOf(() => settingsFrom({ entries: { agents: [{ id: '' }] } })), [
    /^entries\.agents\[0\]\.id: /,
  ]);
});

t.test('the defaults of two starts are independent', async (t) => {
  settingsFrom({}).AdminApiConfig.cors_allowed_origins.push('http://evil');
  t.equal(settingsFrom({}).AdminApiConfig.cors_allowed_origins.length, 2);
});

t.test('an address splits into host and port', async (t) => {
  t.strictSame(listenAddress('127.0.0.1:38080'), { host: '127.0.0.1', port: 38_080 });
  t.strictSame(listenAddress('[::1]:0'), { host: '::1', port: 0 });
  t.strictSame(listenAddress('unix:/run/troupe/s'), { path: '/run/troupe/s' });
  t.throws(() => listenAddress('nowhere'), TypeError);
  t.throws(() => tcpAddress('unix:/run/troupe/s'), TypeError);
});

t.test('reports an unknown variable that looks like a setting, with the suggested name', async (t) => {
  const told = unknownVariables({
    SERVICE_HTTP_ADRR: 'x',
    SERVICE_CORS_ALLOWED_ORIGINS: 'x',
    SERVICE_PORT_8080_TCP: 'hush',
    SERVICE_HTTP_ADDR: 'x',
    SERVICE_SETTINGS_FILE: 'x',
    AGENT_MODELL: 'x',
    PATH: 'x',
  });
  t.strictSame(told, [
    'SERVICE_HTTP_ADRR is not a setting; did you mean SERVICE_HTTP_ADDR?',
    'SERVICE_CORS_ALLOWED_ORIGINS is not a setting; did you mean SERVICE_ADMIN_CORS_ALLOWED_ORIGINS?',
    'SERVICE_PORT_8080_TCP is not a setting',
  ]);
});

t.test('no message, help text or page contains a secret', async (t) => {
  const secrets = {
    SERVICE_ADMIN_API_BEARER_TOKEN: 'hush-token',
    OPENAI_API_KEY: 'hush-key',
    OPENAI_BASE_URL: 'ftp://me:hush-password@host/v1',
    SERVICE_HTTP_ADDR: 'nowhere',
  };
  const start = () =>
    loadSettings({ flags: { 'admin-api-bearer-token': 'hush-flag' }, env: secrets, readFile: noFile });
  t.match(await problemsOf(start), [/SERVICE_HTTP_ADDR/, /OPENAI_BASE_URL: 'ftp:\/\/\*\*\*@host\/v1'/]);
  await t.rejects(start, { message: /^(?!.*hush)/s });
  const odd: object = { AdminApiConfig: { bearer_token: ['hush-list'] } };
  t.throws(() => settingsFrom(odd), {
    message: 'AdminApiConfig.bearer_token: the value is not allowed; allowed: a string',
  });
  const words = settingsHelp() + settingsMarkdown() + JSON.stringify(settingFlags);
  t.notMatch(words, /hush/);
});
