import t from 'tap';
import { AUDIENCE, createKey, outcomeOf, startProvider, verifying } from './provider.ts';

/** Keys of issuers: identity.md 2.3, checks 28, 29 and a part of 33. */

const NOT_NOW = "Unavailable: cannot verify tokens of 'acme' now";

const start = async (t: Parameters<typeof startProvider>[0], options: { staleSecs?: number } = {}) => {
  const provider = await startProvider(t);
  const issuers = [{ id: 'acme', issuer: provider.issuer, audiences: [AUDIENCE] }];
  return { ...provider, ...verifying(issuers, options) };
};

const DOWN = { status: 503, body: 'down' };

t.test('discovers and fetches keys with the first token, and once for many', async (t) => {
  const { issuers, state, sign, results } = await start(t);
  t.strictSame(state.requests, []);
  const tokens = await Promise.all([sign(), sign({ sub: 'b' }), sign({ sub: 'c' })]);
  for (const outcome of await Promise.all(tokens.map((token) => outcomeOf(issuers, token))))
    t.equal(outcome, 'accepted');
  t.strictSame(state.requests, ['/.well-known/openid-configuration', '/jwks']);
  t.strictSame(results, ['acme ok']);
});

t.test('fetches a new key once, and remembers the address of the keys', async (t) => {
  const { issuers, state, sign, clock, fetches } = await start(t);
  await issuers.verify(await sign());
  const added = await createKey('k2');
  state.keys.push(added);
  clock.seconds += 30;
  t.equal(await outcomeOf(issuers, await sign({}, { key: added })), 'accepted');
  t.equal(fetches(), 2);
  t.strictSame(state.requests.length, 3);
});

t.test('fetches at most once in 30 s for unknown key ids', async (t) => {
  const { issuers, sign, clock, fetches } = await start(t);
  await issuers.verify(await sign());
  const { privateKey, jwk, alg } = await createKey('x');
  const attack = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      const key = { kid: `random-${index}`, privateKey, jwk, alg };
      t.equal(await outcomeOf(issuers, await sign({}, { key })), 'signature');
    }
  };
  clock.seconds += 29;
  await attack(20);
  t.equal(fetches(), 1);
  clock.seconds += 1;
  await attack(100);
  t.equal(fetches(), 2);
});

t.test('fetches again after 10 minutes, without delaying a token', async (t) => {
  const { issuers, sign, clock, fetches, results } = await start(t);
  const token = await sign();
  const verified = await issuers.verify(token);
  clock.seconds += 599;
  t.equal(issuers.verify(token), verified);
  t.equal(fetches(), 1);
  clock.seconds += 1;
  t.equal(issuers.verify(token), verified);
  while (results.length < 2) await new Promise(setImmediate);
  t.equal(fetches(), 2);
  t.equal(issuers.verify(token), verified, 'unchanged keys keep remembered tokens');
});

t.test('uses known keys during an outage, until they are too old', async (t) => {
  const { issuers, state, sign, clock, fetches, log } = await start(t, { staleSecs: 3600 });
  const token = await sign({ exp: 1_900_000_000 });
  const unknown = await sign({}, { key: await createKey('k2') });
  await issuers.verify(token);
  state.answer = DOWN;
  clock.seconds += 60;
  t.equal(await outcomeOf(issuers, unknown), NOT_NOW);
  t.equal(await outcomeOf(issuers, unknown), NOT_NOW, 'the answer is the same while no fetch is due');
  t.equal(fetches(), 2);
  t.match(log, [['identity.keys_unavailable', { issuer: 'acme', error: 'status 503' }]]);
  const error: unknown = await Promise.resolve(issuers.verify(unknown)).catch((thrown: unknown) => thrown);
  t.match(error, { retryAfterSecs: 30 });
  t.ok(issuers.recall(token));
  t.equal(await outcomeOf(issuers, await sign({ sub: 'b' })), 'accepted');
  clock.seconds += 3541;
  t.equal(issuers.recall(token), undefined);
  t.equal(await outcomeOf(issuers, token), NOT_NOW);
  state.answer = undefined;
  t.equal(await outcomeOf(issuers, token), NOT_NOW);
  clock.seconds += 30;
  t.equal(await outcomeOf(issuers, token), 'accepted');
});

t.test('answers 503 while no key was ever fetched', async (t) => {
  const { issuers, state, sign, clock, results } = await start(t);
  state.answer = DOWN;
  t.equal(await outcomeOf(issuers, await sign()), NOT_NOW);
  state.answer = undefined;
  clock.seconds += 29;
  t.equal(await outcomeOf(issuers, await sign()), NOT_NOW);
  clock.seconds += 1;
  t.equal(await outcomeOf(issuers, await sign()), 'accepted');
  t.strictSame(results, ['acme failed', 'acme ok']);
});

t.test('rejects tokens of a removed key after the next fetch, remembered ones too', async (t) => {
  const { issuers, state, sign, clock, results } = await start(t);
  const token = await sign();
  const other = await createKey('k2');
  state.keys.push(other);
  const kept = await sign({ sub: 'b' }, { key: other });
  t.equal(await outcomeOf(issuers, token), 'accepted');
  t.equal(await outcomeOf(issuers, kept), 'accepted');
  state.keys = [other];
  clock.seconds += 600;
  t.ok(issuers.recall(token), 'the fetch is in progress');
  while (results.length < 2) await new Promise(setImmediate);
  t.equal(issuers.recall(token), undefined);
  t.equal(await outcomeOf(issuers, token), 'signature');
  t.equal(await outcomeOf(issuers, kept), 'accepted');
});

t.test('a response that is no key set changes nothing', async (t) => {
  const { issuers, state, sign, clock, log } = await start(t);
  const token = await sign({ exp: 1_900_000_000 });
  await issuers.verify(token);
  const { jwk } = await createKey('k2');
  const answers = [
    { status: 200, body: '<html>', expected: /JSON/ },
    { status: 200, body: '{}', expected: /not a key set/ },
    { status: 200, body: JSON.stringify({ keys: Array(101).fill(jwk) }), expected: /more than 100 keys/ },
    { status: 200, body: 'x'.repeat(262_145), expected: /more than 262144 bytes/ },
    { status: 302, body: '', headers: { location: '/jwks' }, expected: /status 302/ },
  ];
  for (const { expected, ...answer } of answers) {
    state.answer = answer;
    clock.seconds += 30;
    log.length = 0;
    t.equal(await outcomeOf(issuers, await sign({}, { key: await createKey('k3') })), NOT_NOW);
    t.match(log, [['identity.keys_unavailable', { error: expected }]]);
    t.ok(issuers.recall(token));
  }
});

t.test('a key set may contain keys that verify nothing', async (t) => {
  const { issuers, state, sign } = await start(t);
  const [key] = state.keys;
  const keys = [{ kty: 'oct', k: 'AAAA', kid: 'k1' }, null, { kty: 'new' }, { ...key?.jwk, x5c: ['x'] }];
  state.answer = { status: 200, body: JSON.stringify({ keys }) };
  t.equal(await outcomeOf(issuers, await sign()), 'accepted');
});

t.test('rejects metadata of another issuer, and addresses of keys without TLS', async (t) => {
  const { issuers, state, sign, clock, log, fetches } = await start(t);
  for (const [metadata, expected] of [
    [{ issuer: 'https://evil.example' }, /metadata of another issuer/],
    [{ jwks_uri: 'http://10.0.0.1/jwks' }, /jwks_uri of .* is not an https URL/],
    [{ jwks_uri: 'file:///etc/passwd' }, /is not an https URL/],
    [{ jwks_uri: 7 }, /is not an https URL/],
  ] as const) {
    state.metadata = metadata;
    log.length = 0;
    clock.seconds += 30;
    t.equal(await outcomeOf(issuers, await sign()), NOT_NOW);
    t.match(log, [['identity.keys_unavailable', { error: expected }]]);
  }
  t.equal(fetches(), 0);
});

t.test('fetches from a fixed address without discovery', async (t) => {
  const { issuer, state, sign } = await startProvider(t);
  const jwks_uri = `${issuer}/jwks?version=1`;
  const { issuers } = verifying([{ id: 'acme', issuer, audiences: [AUDIENCE], jwks_uri }]);
  t.equal(await outcomeOf(issuers, await sign()), 'accepted');
  t.strictSame(state.requests, ['/jwks?version=1']);
});
