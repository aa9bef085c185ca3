import t from 'tap';
import { fillMarkers, isSecretKey, redact } from '../../src/registry/redact.ts';
import { fillUrl, redactUrl, urlHasMarker } from '../../src/registry/redact-url.ts';

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
];
const OPEN = [
  'max_context_tokens',
  'input_tokens',
  'token_budget',
  'tokens',
  'key',
  'authorization',
  'api',
  '',
];

t.test('a key tells a secret whatever its case and separators', async (t) => {
  for (const key of SECRET) t.ok(isSecretKey(key), key);
  for (const key of OPEN) t.notOk(isSecretKey(key), key);
});

t.test('values of any type are hidden, at any depth', async (t) => {
  t.strictSame(redact({ secret: { a: 1 }, list: [{ token: null, n: 1 }], password: 5 }), {
    secret: '***',
    list: [{ token: '***', n: 1 }],
    password: '***',
  });
});

t.test('a marker takes what is stored at its path, or stays, or its key goes', async (t) => {
  const stored = { a: { token: 'x' }, list: [{ token: 'y' }], plain: 'z', own: { token: '***' } };
  const given = { a: { token: '***' }, list: [{ token: '***' }], plain: '***', own: { token: '***' } };
  t.strictSame(fillMarkers(given, stored, 'drop'), {
    a: { token: 'x' },
    list: [{ token: 'y' }],
    plain: '***',
    own: {},
  });
  t.strictSame(fillMarkers(given, undefined, 'keep'), given);
});

t.test('a key of the prototype is no stored value', async (t) => {
  const given = JSON.parse('{"__proto__":{"token":"***"},"constructor":{"token":"***"}}');
  t.equal(JSON.stringify(fillMarkers(given, {}, 'drop')), '{"__proto__":{},"constructor":{}}');
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

t.test('a secret that is new in an address stays', async (t) => {
  t.equal(
    fillUrl('https://n@h?token=new&token=***', 'https://o@h?token=1&token=2', 'keep'),
    'https://n@h?token=new&token=2',
  );
});
