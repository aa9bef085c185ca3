import t from 'tap';
import { errorState, messageOf, RequestError } from '../../src/console/data/error.ts';
import {
  list,
  number,
  object,
  optional,
  ShapeError,
  text,
  withDefault,
} from '../../src/console/data/guard.ts';
import { MASK, mayHideMore, redactText } from '../../src/console/data/redact-text.ts';
import {
  fromEditable,
  isSecretKey,
  MovedSecret,
  redact,
  toEditable,
} from '../../src/console/data/redaction.ts';
import { visibleText } from '../../src/console/data/visible-text.ts';

/** Checking and masking of responses before they are shown. */

t.test('recognizes keys of secrets in every spelling, but not counters', async (t) => {
  for (const key of [
    'token',
    'api_key',
    'x-api-key',
    'OPENAI_API_KEY',
    'private key',
    'client_secret',
    'Password',
    'accessToken',
    'session_token',
    'set-cookie',
    'credentials',
  ])
    t.ok(isSecretKey(key), key);
  for (const key of [
    'max_tokens',
    'input_tokens',
    'session_duration_ms',
    'sessions',
    'key',
    'author',
    'has_env',
  ])
    t.notOk(isSecretKey(key), key);
});

t.test('masks secrets in any text', async (t) => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
  for (const [said, shown] of [
    ['Authorization: Basic dXNlcjpwYXNz', `Authorization: ${MASK}`],
    ['sent Bearer abcdefgh12 to it', `sent Bearer ${MASK} to it`],
    ['?api_key=abc&x=1', `?api_key=${MASK}&x=1`],
    ['password="two words" next', `password=${MASK} next`],
    [`a ${jwt} b`, `a ${MASK} b`],
    ['sk-proj-abcdefgh', MASK],
    ['sk_live_abcdefgh1', MASK],
    [`ghp_${'a'.repeat(36)}`, MASK],
    ['xoxb-12345678-abc', MASK],
    ['AKIAABCDEFGHIJKLMNOP', MASK],
    ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----', MASK],
    ['max_tokens=12, Bearer of news', 'max_tokens=12, Bearer of news'],
  ] as const)
    t.equal(redactText(said), shown);
});

t.test('masks secrets after an unclosed quotation', async (t) => {
  t.equal(redactText('token="abc, then password=hunter2'), `token="abc, then password=${MASK}`);
  t.ok(mayHideMore('token="abc'));
  t.ok(mayHideMore('Authorization: '));
  t.notOk(mayHideMore('a plain line'));
});

t.test('shows invisible and imitating characters as escapes', async (t) => {
  for (const [text, shown] of [
    ['rm\u200b -rf', String.raw`rm\u200b -rf`],
    ['a\u202eb', String.raw`a\u202eb`],
    ['\uff25\uff36', String.raw`\uff25\uff36`],
    ['a\u00a0b', String.raw`a\u00a0b`],
    ['\ud83d', String.raw`\ud83d`],
    ['\u{e0041}', String.raw`\udb40\udc41`],
    ['café 日本 🚀 a\nb', 'café 日本 🚀 a\nb'],
  ] as const)
    t.equal(visibleText(text), shown);
});

t.test('masks secrets anywhere in a value', async (t) => {
  t.strictSame(
    redact({
      auth: { type: 'bearer', value: 'x' },
      headers: { 'X-Auth-Token': 'y', accept: 'json' },
      deep: [{ api_key: 'z' }, 'Bearer 123456789'],
      has_api_key: true,
      input_tokens: 7,
      api_key: null,
    }),
    {
      auth: { type: 'bearer', value: MASK },
      headers: { 'X-Auth-Token': MASK, accept: 'json' },
      deep: [{ api_key: MASK }, `Bearer ${MASK}`],
      has_api_key: true,
      input_tokens: 7,
      api_key: null,
    },
  );
});

t.test('restores unchanged secrets of an editor and rejects moved ones', async (t) => {
  const original = { env: { TOKEN: 'abc', HOME: '/' }, list: [{ password: 'p' }] };
  const { value, secrets } = toEditable(original);
  t.notMatch(JSON.stringify(value), /abc|"p"/);
  t.match(JSON.stringify(value), /__TROUPE_REDACTED_SECRET_[0-9a-f]{8}__/);
  t.strictSame(fromEditable(value, secrets), original);
  const edited = structuredClone(value) as { env: Record<string, string>; list: unknown };
  const { TOKEN = '' } = edited.env;
  t.throws(() => fromEditable({ ...edited, env: { HOME: TOKEN } }, secrets), MovedSecret);
  t.throws(() => fromEditable({ ...edited, env: { TOKEN: `${TOKEN}x` } }, secrets), /\/env\/TOKEN/);
  t.strictSame(fromEditable({ env: { TOKEN: 'new' } }, secrets), { env: { TOKEN: 'new' } });
});

t.test('names the path of an unexpected value', async (t) => {
  const guard = object({
    items: list(object({ id: text, size: optional(number) })),
    more: withDefault(text, 'no'),
  });
  t.strictSame(guard({ items: [{ id: 'a', extra: 1 }], more: null }, ''), {
    items: [{ id: 'a', extra: 1, size: undefined }],
    more: 'no',
  });
  t.throws(() => guard({ items: [{ id: 'a' }, { id: 2 }] }, ''), new ShapeError('items[1].id', 'a text'));
  t.throws(() => guard({}, ''), { message: 'items is not a list' });
  t.throws(() => guard('no', ''), { message: 'the answer is not an object' });
});

t.test('extracts the message of a failure and classifies it', async (t) => {
  t.equal(messageOf({ error: 'no such agent' }, 404), 'no such agent');
  t.equal(messageOf({ message: 'too much' }, 413), 'too much');
  t.equal(messageOf('plain', 500), 'plain');
  t.equal(messageOf({}, 502), 'Request failed with status 502');
  const refused = (status: number, message = '') =>
    new RequestError(message, 'GET /x', { kind: 'http', status, body: undefined, requestId: undefined });
  t.equal(errorState(refused(401)), 'unauthorised');
  t.equal(errorState(refused(503), [503]), 'off');
  t.equal(errorState(refused(503)), 'failed');
  t.equal(errorState(refused(400, 'config management API not enabled')), 'off');
  t.equal(errorState(new RequestError('', 'GET /x', { kind: 'network', backend: 'http://x' })), 'network');
  t.equal(errorState(new Error('anything')), 'failed');
});
