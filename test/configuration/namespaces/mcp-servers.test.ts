import t from 'tap';
import { createNamespaces } from '../../../src/configuration/namespaces/namespaces.ts';
import type { JsonObject } from '../../../src/schema/endpoint.ts';
import { namespace, refuses, restore, write } from './write.ts';

const servers = namespace('mcp-servers');
const stdio = { id: 's', transport: 'stdio', command: 'npx', env: { TOKEN: 'shhh', A: 'b' } };
const http = {
  id: 's',
  transport: 'http',
  url: 'https://user:pw@h.example/mcp?api_key=k1&x=1&api_key=k2#top',
  config: { headers: { 'X-Any': 'shhh' }, auth: { refreshToken: 'r', n: 1 } },
  future: [1],
};

refuses(t, servers, stdio, [
  [{ transport: undefined as never }, "invalid mcp server spec: missing field 'transport'"],
  [{ transport: 'HTTP' }, "invalid mcp server spec: field 'transport': must be one of 'stdio', 'http'"],
  [
    { transport: 'http', url: 'https://u:hush@ bad' },
    'http mcp server url must be an absolute URL, such as https://mcp.example.com/mcp',
  ],
  [{ args: ['--token=***'] }, "mcp server config cannot hold a redacted placeholder: field 'args'"],
  [{ command: ' ' }, 'stdio mcp server requires a non-empty command'],
  [{ command: null }, 'stdio mcp server requires a non-empty command'],
  [{ transport: 'http' }, 'http mcp server requires a non-empty url'],
  [{ transport: 'http', url: ' ' }, 'http mcp server requires a non-empty url'],
  [{ transport: 'http', url: 'ftp://u:p@h' }, 'http mcp server url must use http or https'],
  [
    { transport: 'http', url: 'http://h', config: { headers: { n: 1 } } },
    'http mcp server config.headers[n] must be a string',
  ],
  [
    { transport: 'http', url: 'http://h', config: { headers: { n: 'hush\nx: y' } } },
    'http mcp server config.headers[n] must not contain line breaks or other control characters',
  ],
  [
    { env: { A: 'hu\0sh' } },
    'mcp server env[A] must not contain control characters other than tabs and line feeds',
  ],
  [{ env: { A: 'hush\n' } }, 'mcp server env[A] must not begin or end with blanks or line breaks'],
  [{ env: { A: 1 } }, "invalid mcp server spec: field 'env.A': must be a string, not a number"],
  [{ env: { A: '***' } }, 'mcp server config cannot hold a redacted placeholder'],
  [{ config: { password: '***' } }, 'mcp server config cannot hold a redacted placeholder'],
  [{ url: 'http://***@h' }, 'mcp server config cannot hold a redacted placeholder'],
  [{ url: 'http://h?token=***' }, 'mcp server config cannot hold a redacted placeholder'],
]);

t.test('accepts variables with several lines, such as a PEM key', async (t) => {
  const env = { KEY: '-----BEGIN KEY-----\nabc\n-----END KEY-----' };
  t.strictSame(write(servers, { ...stdio, env }).env, env);
});

t.test('never returns the environment, only its sorted names', async (t) => {
  const { env: _, ...rest } = stdio;
  t.strictSame(servers.redact(write(servers, stdio)), { ...rest, has_env: true, env_keys: ['A', 'TOKEN'] });
  t.strictSame(servers.redact(write(servers, { ...rest, env: {} })), rest);
});

t.test('keeps the environment of a replaced entry unless the new one has one, even if empty', async (t) => {
  const seen = servers.redact(stdio);
  t.strictSame(write(servers, { ...seen, timeout_secs: 3 }, stdio), { ...stdio, timeout_secs: 3 });
  t.notOk('env' in write(servers, { ...seen, env: {} }, stdio));
  t.strictSame(write(servers, { ...seen, env: { B: 'c' } }, stdio).env, { B: 'c' });
});

t.test('masks secrets of config and URL, and restores the stored values', async (t) => {
  const seen = servers.redact(write(servers, http));
  t.strictSame(seen, {
    ...http,
    url: 'https://***@h.example/mcp?api_key=***&x=1&api_key=***#top',
    config: { headers: { 'X-Any': '***' }, auth: { refreshToken: '***', n: 1 } },
  });
  t.strictSame(write(servers, seen, http), http);
  const moved = { ...seen, url: 'https://***@other/?api_key=***' };
  t.throws(() => write(servers, moved, http), /field 'url' must be given again: .* stored 'url'/);
  const other = { ...seen, url: 'https://***@h.example/mcp?x=2&api_key=***' };
  t.equal(write(servers, other, http).url, 'https://user:pw@h.example/mcp?x=2&api_key=k1');
});

t.test('masks every environment value in audit events', async (t) => {
  t.strictSame(servers.audit(stdio), { ...stdio, env: { TOKEN: '***', A: '***' } });
  t.strictSame(restore(servers, servers.audit(stdio), stdio), { spec: stdio, dropped: [] });
});

t.test('restores an entry without stored secrets without them', async (t) => {
  const { env: _, ...bare } = stdio;
  t.strictSame(restore(servers, servers.audit(stdio)), { spec: bare, dropped: ['env.TOKEN', 'env.A'] });
  t.strictSame(restore(servers, servers.audit(http)), {
    spec: {
      ...http,
      url: 'https://h.example/mcp?x=1#top',
      config: { headers: {}, auth: { n: 1 } },
    },
    dropped: ['url', 'config.headers.X-Any', 'config.auth.refreshToken'],
  });
});

const NOTES = { id: 's', transport: 'http', url: 'https://notes.example/mcp' };
const SECRET = { client_id: 'c', client_secret: 'hush', issuer: 'https://login.example' };
const oauth = (more: JsonObject = {}): JsonObject => ({ ...NOTES, auth: { type: 'oauth', ...more } });

refuses(t, servers, NOTES, [
  [
    { auth: { type: 'oauth' }, config: { headers: { authorization: 'Bearer x' } } },
    'mcp server cannot have both auth and config.headers',
  ],
  [{ auth: { type: 'oauth', client_id: 'c', client_secret: 'hush' } }, 'auth.client_secret needs issuer'],
  [{ auth: { type: 'oauth', ...SECRET, client_id: null } }, 'auth.client_secret needs client_id'],
  [
    { auth: { type: 'oauth', flow: 'client_credentials' } },
    'auth.flow client_credentials needs client_id and client_secret',
  ],
  [
    { auth: { type: 'oauth', token_url: 'https://login.example/token' } },
    'auth.token_url is for the flow client_credentials only',
  ],
  [{ auth: { type: 'oauth', issuer: 'login' } }, 'auth.issuer must be an absolute http(s) URL'],
  [
    { auth: { type: 'oauth', issuer: 'https://u:p@login.example' } },
    'auth.issuer must not contain user info',
  ],
  [
    { auth: { type: 'oauth', scopes: ['a b'] } },
    "invalid mcp server spec: field 'auth.scopes[0]': auth.scopes must contain scopes without blanks, quotation marks and backslashes",
  ],
  [
    { url: 'https://u:p@notes.example/mcp', auth: { type: 'oauth' } },
    'mcp server with auth cannot have user info in its url',
  ],
  [{ transport: 'stdio', command: 'x', auth: { type: 'oauth' } }, 'mcp server auth needs the transport http'],
  [{ auth: { type: 'basic' } }, "invalid mcp server spec: field 'auth.type': must be 'oauth'"],
  [{ auth: { type: 'oauth', tokens: 1 } }, "invalid mcp server spec: unknown field 'tokens'"],
]);

t.test('keeps a client secret that a replacement omits, and reports only that there is one', async (t) => {
  const stored = oauth(SECRET);
  const shown = servers.redact(stored);
  t.strictSame(shown, oauth({ client_id: 'c', issuer: 'https://login.example', has_client_secret: true }));
  t.strictSame(write(servers, shown, stored), stored);
  t.strictSame(write(servers, oauth({ ...SECRET, client_secret: '***' }), stored), stored);
  t.strictSame(
    write(servers, oauth({ ...SECRET, client_secret: null }), stored),
    oauth({ client_id: 'c', issuer: 'https://login.example' }),
  );
  t.strictSame(write(servers, { ...NOTES, auth: null }, stored), NOTES);
  t.notMatch(JSON.stringify(servers.audit(stored)), 'hush');
  t.match(
    restore(servers, servers.audit(stored), stored),
    { spec: stored, dropped: [] },
    'as for every secret of an entry',
  );
});

t.test('keeps no client secret with another address, issuer or client (check 56)', async (t) => {
  const stored = oauth(SECRET);
  const { client_secret: _, ...rest } = SECRET;
  for (const changed of [
    { ...oauth(rest), url: 'https://notes.example/other' },
    oauth({ ...rest, issuer: 'https://evil.example' }),
    oauth({ ...rest, client_id: 'other' }),
    oauth({ ...rest, flow: 'client_credentials' }),
    oauth({ ...rest, token_url: 'https://evil.example/token', flow: 'client_credentials' }),
    oauth({ ...rest, scopes: ['more'] }),
    oauth({ ...rest, allow_private: true }),
  ])
    t.throws(() => write(servers, changed, stored), {
      message: /field 'auth.client_secret' must be given again/,
    });
  t.match(write(servers, { ...oauth(rest), timeout_secs: 7 }, stored), stored);
  const elsewhere = oauth({ ...SECRET, token_url: 'https://two.example/token', flow: 'client_credentials' });
  t.strictSame(
    restore(servers, servers.audit(elsewhere), stored),
    { spec: NOTES, dropped: ['auth.client_secret'] },
    'a service cannot request a token without the secret',
  );
  t.strictSame(
    restore(servers, servers.audit(oauth({ client_id: 'c' })), stored),
    { spec: oauth({ client_id: 'c' }), dropped: [] },
    'a restored public client has no secret',
  );
});

t.test('needs a key for tokens of users, and an address to which browsers return', async (t) => {
  const named = (missing: object) => createNamespaces({ missingForUsers: missing }).of('mcp-servers');
  t.throws(() => write(named({ secretsKey: true }), oauth()), { message: /SERVICE_SECRETS_KEY/ });
  t.throws(() => write(named({ publicUrl: true }), oauth()), { message: /SERVICE_PUBLIC_URL/ });
  const service = oauth({ ...SECRET, flow: 'client_credentials' });
  t.strictSame(write(named({ secretsKey: true, publicUrl: true }), service), service);
});
