import t from 'tap';
import { maskSecrets, secretsOf } from '../../../src/schema/redaction/masking.ts';

t.test('a key, its parts when it is JSON, headers and telling options are masked', async (t) => {
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
  t.equal(maskSecrets('abc note-text', secrets), 'abc note-text', 'short texts and open options stay');
});

t.test('the longer of two secrets goes first', async (t) => {
  const secrets = secretsOf({ api_key: 'abcd', adapter_options: { token: 'abcdefgh' } });
  t.equal(maskSecrets('abcdefgh abcd', secrets), '*** ***');
});

t.test('what addresses, arguments and environments hold is masked too', async (t) => {
  const secrets = secretsOf({
    url: 'https://user:p%40ss@h?token=one-token',
    args: ['--api-key=two-key'],
    env: { NAME: 'three-value' },
  });
  t.equal(maskSecrets('user:p%40ss p@ss one-token two-key three-value', secrets), '*** *** *** *** ***');
});

t.test('a provider without secrets has none', async (t) => {
  t.strictSame(secretsOf({ id: 'p', adapter: 'openai' }), []);
  t.strictSame(secretsOf({ api_key: 'abc' }), [], 'too short to be told from other text');
  t.equal(maskSecrets('x', secretsOf({ api_key: '\ud800abc' })), 'x');
});
