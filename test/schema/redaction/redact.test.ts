import t from 'tap';
import { fillArgs, redactArgs } from '../../../src/schema/redaction/args.ts';
import { isSecretName } from '../../../src/schema/redaction/names.ts';
import { fillMarkers, findMarker, redact } from '../../../src/schema/redaction/redact.ts';
import { fillUrl, redactUrl, redactUrlsIn, urlHasMarker } from '../../../src/schema/redaction/url.ts';

const SECRET = [
  'api_key',
  'OPENAI_API_KEY',
  'apiKey',
  'x-api-key',
  'bearer_token',
  'Bearer',
  'credentials_kind',
  'private_key',
  'privateKey',
  'PASSWORD',
  'client_secret',
  'token',
  'refreshToken',
  'access-token',
  '_token_',
  'Authorization',
  'proxy-authorization',
  'Cookie',
  'set-cookie',
  'passphrase',
  'AWS_ACCESS_KEY_ID',
  'accessKey',
  'credentials',
  'dsn',
  'SENTRY_DSN',
  'sentryDsn',
  'connection_string',
  'ConnectionString',
  'SERVICE_SECRETS_KEY',
  'db-pwd',
  'Ocp-Apim-Subscription-Key',
  'signing_key',
];
const OPEN = [
  'max_context_tokens',
  'input_tokens',
  'token_budget',
  'tokens',
  'key',
  'dedupe_key',
  'author',
  'dsnx',
  'x'.repeat(10_000),
  'api',
  '',
];

t.test('recognizes a secret key in any case and with any separators', async (t) => {
  for (const key of SECRET) t.ok(isSecretName(key), key);
  for (const key of OPEN) t.notOk(isSecretName(key), key);
});

t.test('masks values of any type at any depth', async (t) => {
  t.strictSame(redact({ secret: { a: 1 }, list: [{ token: null, n: 1 }], password: 5 }), {
    secret: '***',
    list: [{ token: '***', n: 1 }],
    password: '***',
  });
});

t.test('fills a mask with the stored value at its path, or keeps or drops it', async (t) => {
  const stored = { a: { token: 'x' }, list: [{ token: 'y' }], plain: 'z', own: { token: '***' } };
  const given = { a: { token: '***' }, list: [{ token: '***' }], plain: '***', own: { token: '***' } };
  t.strictSame(fillMarkers(given, stored, { dropped: () => {} }), {
    a: { token: 'x' },
    list: [{ token: 'y' }],
    plain: '***',
    own: {},
  });
  t.strictSame(fillMarkers(given, undefined), given);
});

t.test('does not use inherited properties as stored values', async (t) => {
  const given = JSON.parse('{"__proto__":{"token":"***"},"constructor":{"token":"***"}}');
  t.equal(JSON.stringify(fillMarkers(given, {}, { dropped: () => {} })), '{"__proto__":{},"constructor":{}}');
  t.equal(JSON.stringify(redact(given)), '{"__proto__":{"token":"***"},"constructor":{"token":"***"}}');
});

const URLS: [url: string, seen: string][] = [
  ['https://h/a?x=1#f', 'https://h/a?x=1#f'],
  ['https://user:p@ss@h/a', 'https://***@h/a'],
  ['https://h/a@b?c=d@e', 'https://h/a@b?c=d@e'],
  ['https://h?token=a=b&api%5Fkey=c&flag&token=', 'https://h?token=***&api%5Fkey=***&flag&token=***'],
  ['https://h?my+password=x', 'https://h?my+password=***'],
  ['https://h?%zz_token=x', 'https://h?%zz_token=***'],
  ['https:\\\\u:p@h\\x', 'https:\\\\***@h\\x'],
  ['not a url?secret=x', 'not a url?secret=***'],
];
for (const [url, seen] of URLS) {
  t.test(`${url} is shown without its secrets, and filled in again`, async (t) => {
    t.equal(redactUrl(url), seen);
    t.equal(redactUrl(seen), seen);
    t.equal(fillUrl(seen, url, 'keep'), url);
    t.equal(urlHasMarker(seen), url !== seen);
    t.notOk(urlHasMarker(fillUrl(seen, undefined, 'drop')));
  });
}

t.test('masks all values of headers and environments', async (t) => {
  const given = {
    headers: { 'X-Any': 'a', n: 1 },
    extraHeaders: ['b'],
    env: { PLAIN: 'c' },
    default_headers: 'd: e',
    max_headers: 7,
  };
  const seen = {
    headers: { 'X-Any': '***', n: '***' },
    extraHeaders: ['***'],
    env: { PLAIN: '***' },
    default_headers: '***',
    max_headers: 7,
  };
  t.strictSame(redact(given), seen);
  t.strictSame(fillMarkers(seen, given), given);
  t.strictSame(findMarker(seen), ['headers', 'X-Any']);
});

t.test('recognizes a URL by its key or by its whole text', async (t) => {
  const given = {
    base_url: 'http://u:p@ bad',
    at: 'postgres://u:p@h/db?sslmode=on&password=x',
    list: ['https://u@h', 'mail me@h'],
    prompt: 'See https://u:p@h for more',
  };
  const seen = {
    base_url: 'http://***@ bad',
    at: 'postgres://***@h/db?sslmode=on&password=***',
    list: ['https://***@h', 'mail me@h'],
    prompt: 'See https://u:p@h for more',
  };
  t.strictSame(redact(given), seen);
  t.strictSame(fillMarkers(seen, given), given);
});

const ARGS: [args: string[], seen: string[]][] = [
  [
    ['--token=a', '--port=1', 'x'],
    ['--token=***', '--port=1', 'x'],
  ],
  [
    ['--api-key', 'a', '--verbose'],
    ['--api-key', '***', '--verbose'],
  ],
  [
    ['-e', 'API_TOKEN=a', '--env=PASSWORD=b'],
    ['-e', 'API_TOKEN=***', '--env=PASSWORD=***'],
  ],
  [
    ['--header', 'X-Any: a', '-H', 'b'],
    ['--header', 'X-Any: ***', '-H', '***'],
  ],
  [
    ['Authorization: Bearer a', 'Bearer a'],
    ['Authorization: ***', 'Bearer ***'],
  ],
  [
    ['--header=X-Any:a', '--headers', 'Y:b'],
    ['--header=X-Any:***', '--headers', 'Y:***'],
  ],
  [
    ['--db=postgres://u:p@h/x', 'https://h?key=1&a=b'],
    ['--db=postgres://***@h/x', 'https://h?key=***&a=b'],
  ],
  [
    ['{"api_key":"a"}', '{"a":1}'],
    ['***', '{"a":1}'],
  ],
  [
    ['password', 'a'],
    ['password', '***'],
  ],
];
for (const [args, seen] of ARGS) {
  t.test(`${args.join(' ')} is shown without its secrets, and filled in again`, async (t) => {
    t.strictSame(redactArgs(args), seen);
    t.strictSame(redactArgs(seen), seen);
    t.strictSame(fillArgs(seen, args, 'keep'), args);
    t.strictSame(redact({ args }), { args: seen });
    t.strictSame(fillMarkers({ args: seen }, { args }), { args });
    t.ok(findMarker({ args: seen }));
    t.notOk(findMarker({ args }));
  });
}

t.test('restores the secret of an argument at any position, and of no other argument', async (t) => {
  const stored = ['-v', '--token=a', '--key-file', 'k', '--secret', 'b'];
  t.strictSame(fillArgs(['--secret', '***', '--token=***', '--new'], stored, 'keep'), [
    '--secret',
    'b',
    '--token=a',
    '--new',
  ]);
  t.strictSame(fillArgs(['--password', '***', '--pwd=***'], stored, 'keep'), [
    '--password',
    '***',
    '--pwd=***',
  ]);
  t.strictSame(fillArgs(['a', '--pwd=***'], stored, 'drop'), ['a']);
});

t.test('masks secrets of URLs within a text', async (t) => {
  t.equal(
    redactUrlsIn('CannotConnectToTheProvider_https://u:p@h/'),
    'CannotConnectToTheProvider_https://***@h/',
  );
  t.equal(redactUrlsIn('https://u:p@h/https://u:p@h/'), 'https://***@h/https://***@h/');
  t.equal(
    redactUrlsIn('GET "https://u:p@h/x?token=1" failed: tcp://h:1 (see http://h?a=b)'),
    'GET "https://***@h/x?token=***" failed: tcp://h:1 (see http://h?a=b)',
  );
});

t.test('processes texts of any size in linear time', async (t) => {
  const size = 400_000;
  const began = process.cpuUsage();
  for (const text of ['a', '=', 'a=', '://', 'a.', 'a://', '&a=', ' -H', '@', '"k":']) {
    const long = text.repeat(size / text.length);
    redactUrlsIn(long);
    redactUrlsIn(`http://${long}`);
    const spec = { url: `http://h?${long}`, args: [long, '--token', long, `{${long}`, `--x=${long}`] };
    fillMarkers(redact(spec), spec);
  }
  const many = { url: `http://h?${'token=a&'.repeat(20_000)}`, args: Array(20_000).fill('--token=a') };
  t.strictSame(fillMarkers(redact(many), many), many);
  t.ok(process.cpuUsage(began).user < 10_000_000, 'the time is bounded');
});

t.test('keeps a new secret in a URL', async (t) => {
  t.equal(
    fillUrl('https://n@h?token=new&token=***', 'https://o@h?token=1&token=2', 'keep'),
    'https://n@h?token=new&token=2',
  );
});
