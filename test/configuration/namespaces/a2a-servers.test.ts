import t from 'tap';
import { namespace, refuses, restore, write } from './write.ts';

const servers = namespace('a2a-servers');
const whole = { id: 's', base_url: 'https://h/a', auth: { type: 'bearer', token: 'shhh' } };

refuses(t, servers, whole, [
  [{ foo: 1 }, "invalid a2a server spec: unknown field 'foo'"],
  [{ base_url: ' ' }, 'a2a server requires a non-empty base_url'],
  [{ base_url: 'h/a' }, 'a2a server base_url must be a valid URL: it has no scheme or no host'],
  [
    { base_url: 'https://u:hush@h' },
    "a2a server base_url must not contain user info: give a token in 'auth'",
  ],
  [
    { auth: { type: 'bearer', token: 'hush\nhush' } },
    'a2a server auth token must not contain line breaks or other control characters',
  ],
  [
    { options: { headers: { a: 'hush\r\nb: c' } } },
    'a2a server options.headers[a] must not contain line breaks or other control characters',
  ],
  [
    { base_url: 'https://h?token=***' },
    "a2a server base_url must not contain a query or a fragment: give a token in 'auth'",
  ],
  [{ base_url: 'ftp://h' }, 'a2a server base_url must use http or https'],
  [{ auth: { type: 'basic', token: 'shhh' } }, 'a2a server auth currently supports only bearer tokens'],
  [{ auth: { type: 'bearer', token: ' ' } }, 'a2a server auth token must not be empty'],
  [{ auth: { type: 'bearer', token: '***' } }, 'a2a server auth token cannot be a redacted placeholder'],
  [{ timeout_ms: 0 }, 'a2a server timeout_ms must be greater than 0'],
  [{ timeout_ms: 30_001 }, 'a2a server timeout_ms must be less than or equal to 30000'],
  [{ timeout_ms: 'x' }, "invalid a2a server spec: field 'timeout_ms': must be a number, not a string"],
]);

t.test('never returns the token, and keeps it unless it is cleared or replaced', async (t) => {
  const seen = servers.redact(write(servers, { ...whole, target: null }));
  t.strictSame(seen, { id: 's', base_url: 'https://h/a', target: null, has_auth: true });
  t.strictSame(write(servers, { ...seen, timeout_ms: 5 }, whole), {
    id: 's',
    base_url: 'https://h/a',
    target: null,
    timeout_ms: 5,
    auth: whole.auth,
  });
  const cleared = write(servers, { ...seen, auth: null }, whole);
  t.notOk('auth' in cleared);
  t.notOk('has_auth' in servers.redact(cleared));
  const auth = { type: 'bearer', token: 'new' };
  t.strictSame(write(servers, { ...seen, auth }, whole).auth, auth);
});

t.test('restores an entry with the stored token, or without one', async (t) => {
  const payload = servers.audit(whole);
  t.strictSame(payload.auth, { type: 'bearer', token: '***' });
  t.strictSame(restore(servers, payload, whole), { spec: whole, dropped: [] });
  t.strictSame(restore(servers, payload), {
    spec: { id: 's', base_url: 'https://h/a' },
    dropped: ['auth.token'],
  });
});
