import t from 'tap';
import { namespace, refuses, write } from './write.ts';

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
  t.strictSame(servers.restored(servers.audit(stdio), stdio), stdio);
});

t.test('restores an entry without stored secrets without them', async (t) => {
  t.strictSame(servers.restored(servers.audit(stdio)), { ...stdio, env: {} });
  t.strictSame(servers.check(servers.restored(servers.audit(http))), {
    ...http,
    url: 'https://h.example/mcp?x=1#top',
    config: { headers: {}, auth: { n: 1 } },
  });
});
