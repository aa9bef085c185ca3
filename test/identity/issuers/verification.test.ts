import { createHmac } from 'node:crypto';
import { exportSPKI, importJWK } from 'jose';
import t from 'tap';
import { AUDIENCE, createKey, NOW, outcomeOf, startProvider, verifying } from './provider.ts';

/** identity.md 2.3, checks 24 and 25. */

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

t.test('accepts tokens that are signed with RS256, PS256, ES256 and EdDSA', async (t) => {
  const { issuer, state, sign } = await startProvider(t);
  const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];
  state.keys = await Promise.all(algorithms.map((alg) => createKey(alg, alg)));
  const { issuers } = verifying([{ id: 'acme', issuer, audiences: [AUDIENCE], scope: 'acme' }]);
  for (const key of state.keys) {
    const verified = await issuers.verify(await sign({}, { key }));
    t.match(verified, { issuer, subject: '00u1', user: '00u1', scope: 'acme', iat: NOW }, key.alg);
  }
});

t.test('answers a remembered token synchronously, with the same object', async (t) => {
  const { issuer, sign } = await startProvider(t);
  const { issuers, clock } = verifying([{ id: 'acme', issuer, audiences: [AUDIENCE] }]);
  const token = await sign();
  t.equal(issuers.recall(token), undefined);
  const first = issuers.verify(token);
  t.ok(first instanceof Promise);
  const verified = await first;
  t.equal(issuers.verify(token), verified);
  t.equal(issuers.recall(token), verified);
  clock.seconds += 3600 + 59;
  t.equal(issuers.recall(token), verified, 'accepted within the clock skew');
  clock.seconds += 1;
  t.equal(issuers.recall(token), undefined);
  t.equal(await outcomeOf(issuers, token), 'expired');
});

t.test('rejects a token with the reason, in the order of the checks', async (t) => {
  const { issuer, state, sign } = await startProvider(t);
  const [key = await createKey('k1')] = state.keys;
  const { issuers } = verifying([{ id: 'acme', issuer, audiences: [AUDIENCE, 'other'] }]);
  const claims = { iss: issuer, sub: '00u1', aud: AUDIENCE, iat: NOW, exp: NOW + 3600 };
  const spki = await exportSPKI(Object(await importJWK({ ...key.jwk }, 'ES256', { extractable: true })));
  const symmetric = `${part({ alg: 'HS256', kid: 'k1' })}.${part(claims)}`;
  const foreign = await createKey('k1');
  const signed = await sign();
  const [head = '', body = '', signature = ''] = signed.split('.');
  const cases: readonly (readonly [name: string, token: string, expected: string])[] = [
    ['9 KiB', await sign({ padding: 'x'.repeat(9000) }), 'form'],
    ['two parts', `${head}.${body}`, 'form'],
    ['five parts', `${signed}.x.y`, 'form'],
    ['no JSON', `${head}.eA.${signature}`, 'form'],
    ['an array as claims', `${head}.${part([])}.${signature}`, 'form'],
    ['a foreign type', await sign({}, { typ: 'logout+jwt' }), 'type'],
    ['a critical extension', `${part({ alg: 'ES256', crit: ['x'], x: 1 })}.${body}.${signature}`, 'crit'],
    ['another issuer', await sign({ iss: 'https://evil.example' }), 'issuer'],
    ['a similar issuer', await sign({ iss: `${issuer}/` }), 'issuer'],
    ['no issuer', await sign({ iss: undefined }), 'issuer'],
    ['alg none', `${part({ alg: 'none' })}.${part(claims)}.`, 'algorithm'],
    [
      'HS256 with the public key',
      `${symmetric}.${createHmac('sha256', spki).update(symmetric).digest('base64url')}`,
      'algorithm',
    ],
    [
      'an algorithm of another key type',
      `${part({ alg: 'RS256', kid: 'k1' })}.${body}.${signature}`,
      'algorithm',
    ],
    [
      'an algorithm that the issuer does not allow',
      `${part({ alg: 'ES384' })}.${body}.${signature}`,
      'algorithm',
    ],
    ['an unknown key', await sign({}, { key: await createKey('k2') }), 'signature'],
    ['a foreign key with a known id', await sign({}, { key: foreign }), 'signature'],
    [
      'a key in the header',
      await sign({}, { key: foreign, jwk: foreign.jwk, jku: 'http://x.example' }),
      'signature',
    ],
    ['changed claims', `${head}.${part({ ...claims, sub: 'root' })}.${signature}`, 'signature'],
    ['no exp', await sign({ exp: undefined }), 'time'],
    ['no iat', await sign({ iat: undefined }), 'time'],
    ['exp as text', await sign({ exp: String(NOW + 60) as unknown as number }), 'time'],
    ['expired by 61 s', await sign({ exp: NOW - 61 }), 'expired'],
    ['expired by 60 s', await sign({ exp: NOW - 60 }), 'expired'],
    ['expired by 59 s', await sign({ exp: NOW - 59 }), 'accepted'],
    ['valid in 61 s', await sign({ nbf: NOW + 61 }), 'time'],
    ['valid in 60 s', await sign({ nbf: NOW + 60 }), 'accepted'],
    ['issued in 61 s', await sign({ iat: NOW + 61 }), 'time'],
    ['issued a day and 61 s ago', await sign({ iat: NOW - 86_461 }), 'expired'],
    ['expired, of another audience', await sign({ exp: NOW - 61, aud: 'x' }), 'expired'],
    ['another audience', await sign({ aud: 'https://x.example' }), 'audience'],
    ['no audience', await sign({ aud: undefined }), 'audience'],
    ['one of several audiences', await sign({ aud: ['x', 'other'] }), 'accepted'],
    ['no subject', await sign({ sub: undefined }), 'claims'],
    ['type at+jwt', await sign({}, { typ: 'at+JWT' }), 'accepted'],
    ['type JWT', await sign({}, { typ: 'JWT' }), 'accepted'],
    ['no key id, one key that fits', await sign({}, { kid: undefined }), 'accepted'],
  ];
  for (const [name, token, expected] of cases) t.equal(await outcomeOf(issuers, token), expected, name);
});

t.test('rejects a token without a key id if several keys fit', async (t) => {
  const { issuer, state, sign } = await startProvider(t);
  state.keys.push(await createKey('k2'));
  const { issuers } = verifying([{ id: 'acme', issuer, audiences: [AUDIENCE] }]);
  t.equal(await outcomeOf(issuers, await sign({}, { kid: undefined })), 'signature');
});

t.test('verifies with the keys of the settings, without a request', async (t) => {
  const { issuer, state, sign, fetches } = await startProvider(t);
  const jwks = { keys: state.keys.map(({ jwk }) => ({ ...jwk, kty: 'EC' as const })) };
  const { issuers } = verifying([{ id: 'acme', issuer, audiences: [AUDIENCE], jwks }]);
  t.equal(await outcomeOf(issuers, await sign()), 'accepted');
  t.equal(await outcomeOf(issuers, await sign({}, { key: await createKey('k2') })), 'signature');
  t.equal(fetches(), 0);
});

t.test('verifies a token with the limits of its issuer', async (t) => {
  const { issuer, sign } = await startProvider(t);
  const fields = { clock_skew_secs: 0, max_age_secs: 300, algorithms: ['ES256' as const] };
  const { issuers, clock } = verifying([{ id: 'acme', issuer, audiences: [AUDIENCE], ...fields }]);
  const token = await sign();
  t.equal(await outcomeOf(issuers, token), 'accepted');
  t.equal(await outcomeOf(issuers, await sign({ exp: NOW })), 'expired');
  clock.seconds += 300;
  t.equal(issuers.recall(token), undefined);
  t.equal(await outcomeOf(issuers, token), 'expired');
});

t.test('forgets tokens that were not used recently', async (t) => {
  const { createRecent } = await import('../../../src/identity/recent.ts');
  const remembered = createRecent<number>(4);
  remembered.set('a', 1);
  remembered.set('b', 2);
  t.equal(remembered.get('a'), 1);
  remembered.set('c', 3);
  remembered.set('d', 4);
  t.strictSame([remembered.get('a'), remembered.get('b'), remembered.get('d')], [1, undefined, 4]);
  remembered.remove('d');
  t.equal(remembered.get('d'), undefined);
});
