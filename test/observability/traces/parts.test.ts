import t from 'tap';
import { promptId, toolId } from '../../../src/observability/traces/ids.ts';
import { shownPayload } from '../../../src/observability/traces/payload.ts';
import { fnv1a, isSampled } from '../../../src/observability/traces/sampling.ts';

/** The components of traces: evals-and-traces.md 9.6 to 9.8. */

t.test('the sampling hash is 64-bit FNV-1a', async (t) => {
  t.strictSame(fnv1a(''), { high: 0xcbf29ce4, low: 0x84222325 });
  t.strictSame(fnv1a('a'), { high: 0xaf63dc4c, low: 0x8601ec8c });
  t.strictSame(fnv1a('foobar'), { high: 0x85944171, low: 0xf73967e8 });
});

t.test('a run without errors is kept by its hash, and one with an error or a low score always', async (t) => {
  const dull = { hasFailed: false, judgeScore: undefined };
  // The hashes of `foobar` and `a` are 0.52 and 0.69 of the range.
  t.equal(isSampled('foobar', dull, 0.6), true);
  t.equal(isSampled('a', dull, 0.6), false);
  t.equal(isSampled('a', dull, 0), false);
  t.equal(isSampled('a', dull, 1), true);
  t.equal(isSampled('a', { ...dull, hasFailed: true }, 0), true);
  t.equal(isSampled('a', { ...dull, judgeScore: 0.49 }, 0), true);
  t.equal(isSampled('a', { ...dull, judgeScore: 0.5 }, 0), false);
});

t.test('ids of prompts and tools are derived from their contents', async (t) => {
  const id = promptId({ id: 'a', system_prompt: 'p' });
  t.match(id, /^[0-9a-f]{12}$/);
  t.equal(id, promptId({ id: 'a', system_prompt: 'p' }));
  t.not(id, promptId({ id: 'b', system_prompt: 'p' }));
  const tool = { id: 'x', name: 'x', description: 'd', category: null, parameters: { type: 'object' } };
  t.equal(toolId(tool), toolId({ ...tool }));
  t.not(toolId(tool), toolId({ ...tool, parameters: {} }));
});

const policy = { fields: undefined, maxBytes: 8192 };

t.test('hides a secret regardless of the spelling and depth of its name', async (t) => {
  const names = [
    'api_key',
    'API-KEY',
    'apiKey',
    'x-api-key',
    'Authorization',
    'authToken',
    'access-token',
    'accessKey',
    'privateKey',
    'PRIVATE-KEY',
    'client_secret',
    'Password',
    'credentials',
    'bearer',
    'Set-Cookie',
    'session_id',
    'JWT',
    'max_tokens',
  ];
  for (const name of names) {
    t.strictSame(
      shownPayload([{ deep: { [name]: { any: 'thing' }, rest: 1 } }], 'result', policy),
      [{ deep: { [name]: '***', rest: 1 } }],
      name,
    );
  }
  t.notMatch(JSON.stringify(shownPayload('https://u:hunter2@example.org/', 'result', policy)), 'hunter2');
  t.equal(shownPayload('plain', 'result', policy), 'plain');
  t.equal(shownPayload(null, 'result', policy), null);
});

t.test('shows only allowed fields, and then calls the redactor', async (t) => {
  const given = { a: 1, b: { a: 2, c: 3 }, c: [{ a: 4, d: 5 }] };
  t.strictSame(shownPayload(given, 'result', { ...policy, fields: ['a', 'c'] }), { a: 1, c: [{ a: 4 }] });
  const redact = () => ({ token: 'x', seen: true });
  t.strictSame(shownPayload(given, 'result', { ...policy, redact }), { token: '***', seen: true });
});

t.test('replaces a payload that is too large with its size', async (t) => {
  t.strictSame(shownPayload('x'.repeat(8190), 'result', policy), 'x'.repeat(8190));
  t.strictSame(shownPayload('é'.repeat(8190), 'result', policy), {
    __payload_truncated: true,
    original_size_bytes: 16382,
    max_payload_bytes: 8192,
  });
});
