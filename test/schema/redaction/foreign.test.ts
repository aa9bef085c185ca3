import assert from 'node:assert/strict';
import t from 'tap';
import { maskForeign, maskKnown } from '../../../src/schema/redaction/foreign.ts';
import { keepSecrets } from '../../../src/schema/redaction/known-secrets.ts';
import fc from '../../random.ts';

/** Texts of a peer, without the keys that it received. */

const KEY = 'canary-0123456789-abcdefghij-ABCDEFGHIJ';

const keeper = keepSecrets();
t.teardown(() => keeper.close());
keeper.note({
  id: 'p',
  api_key: KEY,
  adapter_options: { headers: { Authorization: 'Bearer canary-of-a-header-1', 'X-Mode': 'production' } },
});
keeper.add(['canary"with\\quotes', undefined, 'short']);

t.test('masks a known secret that is whole, embedded, truncated, or escaped for JSON or a URL', async (t) => {
  for (const said of [
    `bad key ${KEY}`,
    `x${KEY}y`,
    `Bearer ${KEY}.`,
    `{"key":${JSON.stringify('canary"with\\quotes')}}`,
    `?q=${encodeURIComponent('canary"with\\quotes')}`,
    'token canary-of-a-header-1 is wrong',
  ]) {
    const masked = maskForeign(said);
    t.notMatch(masked, /canary/, masked);
    t.match(masked, '***');
  }
  t.notMatch(maskForeign(`Incorrect key: ${KEY.slice(0, 30)}…`), KEY.slice(4, 20));
  t.notMatch(maskForeign(`ends in ${KEY.slice(-24)}`), KEY.slice(-16));
  t.equal(maskForeign('short words in production stay'), 'short words in production stay');
});

const SHAPED = [
  'sk-proj-abcdefABCDEF0123456789',
  'AIzaSyA1234567890abcdefghijklmnopqrstu',
  'ghp_0123456789abcdefABCDEF0123456789abcd',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'xoxb-123456789012-abcdefABCDEF',
  'AKIAIOSFODNN7EXAMPLE',
];

t.test('masks words in the form of a key, including unknown ones', async (t) => {
  for (const word of SHAPED) t.notMatch(maskForeign(`The word ${word} is wrong`), word, word);
  const unknown = 'a1B2c3D4e5F6g7H8';
  for (const said of [
    `Authorization: Bearer ${unknown}`,
    `api key: ${unknown}`,
    `Invalid token "${unknown}"`,
    `your secret is ${unknown}`,
    `{"api_key":"${unknown}"}`,
    `https://h/v1?api_key=${unknown}`,
    `-----BEGIN PRIVATE KEY-----\n${unknown}\n-----END PRIVATE KEY-----`,
  ]) {
    t.notMatch(maskForeign(said), unknown, said);
  }
});

t.test('keeps text that is not a key', async (t) => {
  for (const said of [
    'Incorrect API key provided: sk-ab***wxyz. You can find your key at https://example.com/keys',
    'model claude-sonnet-4-5-20250929 not found for key claude-sonnet-4-5-20250929',
    "This model's maximum context length is 128000 tokens",
    'Basic authentication is required, Bearer authentication is not supported',
    'request_id 0f8fad5b-d9cb-469f-a165-70867728950e',
    'token limit exceeded: max_completion_tokens must be at most 4096',
    'credentials_kind must be a string',
  ]) {
    t.equal(maskForeign(said), said);
  }
});

t.test('truncates a long text without cutting through a secret', async (t) => {
  for (let before = 16_300; before < 16_500; before += 7) {
    const masked = maskForeign(`${'x '.repeat(before / 2)}${KEY} ${'y '.repeat(100_000)}`);
    t.ok(masked.length < 17_000);
    t.notMatch(masked, /canary/);
  }
  t.notMatch(maskForeign(KEY.repeat(5000)), /canary/);
});

t.test('is idempotent and takes linear time', async () => {
  const piece = fc.constantFrom(KEY, ...SHAPED, 'Bearer ', 'key: ', 'a', ' ', '-', 'https://u:p@h/', '\n');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const once = maskForeign(pieces.join(''));
      assert.equal(maskForeign(once), once);
      assert.ok(!once.includes(KEY));
    }),
  );
  for (const unit of [
    'sk-',
    'eyJ',
    'key ',
    'Bearer ',
    '-----BEGIN PRIVATE KEY-----',
    'a-',
    '://',
    'key is is ',
  ]) {
    const text = unit.repeat(16_000 / unit.length);
    const startedAt = process.cpuUsage().user;
    maskForeign(text);
    // A quadratic search of 16,000 characters takes seconds.
    assert.ok(process.cpuUsage().user - startedAt < 1_000_000, unit);
  }
});

t.test('masks the texts of a value at any depth, and keeps other texts unchanged', async (t) => {
  const long = 'z'.repeat(100_000);
  t.strictSame(maskKnown({ a: [{ b: `x ${KEY}`, c: 5, d: null }], long }), {
    a: [{ b: 'x ***', c: 5, d: null }],
    long,
  });
});

t.test('forgets the secrets of a closed service', async (t) => {
  const other = keepSecrets();
  other.add(['secret-of-the-other']);
  t.equal(maskForeign('secret-of-the-other'), '***');
  other.close();
  t.equal(maskForeign('secret-of-the-other'), 'secret-of-the-other');
});
