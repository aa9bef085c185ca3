import assert from 'node:assert/strict';
import t from 'tap';
import type { Json, JsonObject } from '../../../src/schema/endpoint.ts';
import { Invalid } from '../../../src/schema/outcome.ts';
import { isSecretName } from '../../../src/schema/redaction/names.ts';
import { fillMarkers, findMarker, redact } from '../../../src/schema/redaction/redact.ts';
import fc from '../../random.ts';
import { namespace, restore, write } from './write.ts';

/** Invariants for entries with any content. */

const SECRETS = ['api_key', 'refreshToken', 'password', 'my-secret', 'Bearer', 'Cookie', 'dsn'];

/** Every secret text has a prefix that the tests can search for. */
const secretText = fc.nat().map((n) => `hush-${n}`);

const anyJson: fc.Arbitrary<Json> = fc.letrec<{ json: Json; object: JsonObject }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 0, 'open', ''),
    fc.array(tie('json'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc
    .tuple(
      fc.dictionary(fc.constantFrom('a', 'max_tokens', 'options', 'x'), tie('json'), { maxKeys: 3 }),
      fc.dictionary(fc.constantFrom(...SECRETS), secretText, { maxKeys: 2 }),
    )
    .map(([open, secret]) => ({ ...open, ...secret })),
})).json;

const anyObject = fc.dictionary(fc.constantFrom('a', 'b', 'token', 'options'), anyJson, { maxKeys: 4 });

const clean = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value));

/** A secret of an entry with other options is refused. */
const filledOrRefused = (...given: Parameters<typeof fillMarkers>): JsonObject => {
  try {
    return fillMarkers(...given);
  } catch (error) {
    if (error instanceof Invalid) return {};
    throw error;
  }
};

t.test('masks every value under a secret key, and keeps all keys', async () => {
  fc.assert(
    fc.property(anyObject, (given) => {
      const seen = redact(given);
      assert.ok(!JSON.stringify(seen).includes('hush-'));
      assert.deepEqual(Object.keys(seen), Object.keys(given));
      for (const [key, value] of Object.entries(seen)) if (isSecretName(key)) assert.equal(value, '***');
    }),
  );
});

t.test('masks idempotently, and restores the entry when masks are filled', async () => {
  fc.assert(
    fc.property(anyObject, anyObject, (given, other) => {
      const seen = redact(given);
      assert.deepEqual(redact(seen), seen);
      assert.deepEqual(clean(fillMarkers(seen, given)), clean(given));
      assert.equal(findMarker(fillMarkers(seen, other, { dropped: () => {} })), undefined);
      assert.deepEqual(clean(fillMarkers(given, other)), clean(given), 'a new secret stays');
      assert.ok(!JSON.stringify(redact(filledOrRefused(seen, other))).includes('hush-'));
    }),
  );
});

const anyUrl = fc
  .tuple(fc.option(secretText), fc.array(fc.tuple(fc.constantFrom('x', 'api_key', 'token'), secretText)))
  .map(
    ([user, query]) =>
      `https://${user === null ? '' : `u:${user}@`}h/p${query.map(([key, value], at) => `${at === 0 ? '?' : '&'}${key}=${key === 'x' ? 'open' : value}`).join('')}`,
  );

const anyArgs = fc
  .array(
    fc.oneof(
      fc.constantFrom(['-v'], ['x']),
      secretText.map((text) => [`--token=${text}`]),
      secretText.map((text) => ['--password', text]),
      secretText.map((text) => ['-H', `X-Any: ${text}`]),
      anyUrl.map((url) => [`--at=${url}`]),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.flat());

const texts = fc.dictionary(fc.constantFrom('A', 'B', 'TOKEN'), secretText);

const ENTRIES = {
  agents: fc
    .record({
      sections: fc.dictionary(fc.constantFrom('x', 'y'), anyJson),
      token: secretText,
      remote: fc.boolean(),
    })
    .map(({ sections, token, remote }) => ({
      id: 'e',
      sections,
      ...(remote && { endpoint: { base_url: 'https://h', auth: { type: 'bearer', token } } }),
    })),
  providers: fc
    .record({
      api_key: secretText,
      options: fc.dictionary(fc.constantFrom('a', 'b'), anyJson),
      headers: fc.dictionary(fc.constantFrom('Authorization', 'X-Any'), secretText),
    })
    .map(({ api_key, options, headers }) => ({
      id: 'e',
      adapter: 'openai',
      api_key,
      base_url: 'https://h/v1',
      adapter_options: { ...options, headers, allow_env_credentials: true },
    })),
  'mcp-servers': fc
    .record({ url: anyUrl, args: anyArgs, env: texts, headers: texts, future: anyJson })
    .map(({ headers, ...fields }) => ({ id: 'e', transport: 'http', config: { headers }, ...fields })),
  'a2a-servers': fc
    .record({ token: secretText, options: fc.dictionary(fc.constant('a'), anyJson) })
    .map(({ token, options }) => ({
      id: 'e',
      base_url: 'https://h',
      auth: { type: 'bearer', token },
      options,
    })),
} satisfies Record<string, fc.Arbitrary<JsonObject>>;

for (const [name, entries] of Object.entries(ENTRIES)) {
  const of = namespace(name as keyof typeof ENTRIES);
  t.test(`${name}: a masked entry can be written back and keeps its secrets`, async () => {
    fc.assert(
      fc.property<[JsonObject]>(entries, (given) => {
        const stored = write(of, given);
        const seen = of.redact(stored);
        assert.ok(!JSON.stringify(seen).includes('hush-'));
        assert.deepEqual(clean(write(of, clean(seen), stored)), clean(stored));
      }),
    );
  });
  t.test(`${name}: an audited entry can be restored with the current secrets or none`, async () => {
    fc.assert(
      fc.property<[JsonObject]>(entries, (given) => {
        const stored = write(of, given);
        const payload = of.audit(stored);
        assert.ok(!JSON.stringify(payload).includes('hush-'));
        const again = restore(of, payload, stored);
        assert.deepEqual(clean(again.spec), clean(stored));
        assert.deepEqual(again.dropped, []);
        const bare = restore(of, payload);
        assert.ok(!JSON.stringify(bare.spec).includes('***'));
        assert.equal(bare.dropped.length > 0, JSON.stringify(payload).includes('***'));
      }),
    );
  });
}
