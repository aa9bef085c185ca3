import t from 'tap';
import { maskSecrets, secretsOf } from '../../../src/schema/redaction/masking.ts';

t.test('masks a key, its parts if it is JSON, headers and secret options', async (t) => {
  const pem = '-----BEGIN\nabcd';
  const secrets = secretsOf({
    id: 'p',
    api_key: JSON.stringify({ private_key: pem, client_email: 'a@b.example' }),
    adapter_options: {
      headers: { 'X-Auth': 'header-value', Y: 'abc' },
      deep: { my_token: ['one-token'], note: 'note-text' },
      password: 'p&ss',
    },
  });
  const said = [pem, 'a-----BEGIN\\nabcd', 'a@b.example', 'X-Auth: header-value', 'one-token', 'p%26ss'];
  t.equal(maskSecrets(said.join('|'), secrets), '***|a***|***|***: ***|***|***');
  t.equal(maskSecrets('abc note-text', secrets), 'abc note-text', 'short texts and other options are kept');
});

t.test('masks the longer of two secrets first', async (t) => {
  const secrets = secretsOf({ api_key: 'abcd', adapter_options: { token: 'abcdefgh' } });
  t.equal(maskSecrets('abcdefgh abcd', secrets), '*** ***');
});

t.test('masks secrets in URLs, arguments and environments', async (t) => {
  const secrets = secretsOf({
    url: 'https://user:p%40ss@h?token=one-token',
    args: ['--api-key=two-key'],
    env: { NAME: 'three-value' },
  });
  t.equal(maskSecrets('user:p%40ss p@ss one-token two-key three-value', secrets), '*** *** *** *** ***');
});

t.test('finds no secrets in a provider without any', async (t) => {
  t.strictSame(secretsOf({ id: 'p', adapter: 'openai' }), []);
  t.strictSame(secretsOf({ api_key: 'abc' }), [], 'a value this short is not masked');
  t.equal(maskSecrets('x', secretsOf({ api_key: '\ud800abc' })), 'x');
});
