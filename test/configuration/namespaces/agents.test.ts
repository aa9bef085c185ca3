import t from 'tap';
import { createNamespaces } from '../../../src/configuration/namespaces/namespaces.ts';
import type { JsonObject } from '../../../src/schema/endpoint.ts';
import { namespace, refuses, restore, write } from './write.ts';

const agents = namespace('agents');
const whole = { id: 'a', model_id: 'm', system_prompt: 's' };
const endpoint = { base_url: 'https://r.example/a2a', auth: { type: 'bearer', token: 'shhh' } };
const at = (more: JsonObject): JsonObject => ({ endpoint: { ...endpoint, ...more } });
const auth = (more: JsonObject): JsonObject => at({ auth: { ...endpoint.auth, ...more } });

const remote = write(agents, { id: 'a', endpoint });

t.test('stores an agent in canonical form', async (t) => {
  const stored = write(agents, { ...whole, max_rounds: 4 });
  t.strictSame(agents.redact(stored), {
    id: 'a',
    backend: {
      kind: 'local',
      version: 1,
      config: { model_id: 'm', system_prompt: 's', max_rounds: 4 },
    },
    model_id: 'm',
    system_prompt: 's',
    max_rounds: 4,
    max_continuation_retries: 2,
    plugin_ids: [],
    allowed_tools: null,
    allowed_tool_patterns: ['*'],
  });
  t.strictSame(write(agents, stored), stored, 'the canonical form is stable');
});

t.test('allows all tools only if both allow fields are absent', async (t) => {
  t.match(write(agents, { ...whole, allowed_tools: ['A'] }), { allowed_tool_patterns: null });
  t.match(write(agents, { ...whole, allowed_tools: null }), { allowed_tool_patterns: null });
  t.match(write(agents, { ...whole, allowed_tools: ['*'] }), { allowed_tools: ['*'] });
});

const patterns = (field: string, entry: string, why: string) =>
  `agent spec 'a' has invalid tool catalog: ${field}[${entry}] is not a valid pattern: ${why}`;

refuses(t, agents, whole, [
  [
    { endpoint: { base_url: 'https://h', auth: { type: 'bearer', token: 'hush\nhush' } } },
    'remote endpoint auth token must not contain line breaks or other control characters',
  ],
  [{ foo: 1 }, "invalid agent spec: unknown field 'foo'"],
  [
    { endpoint: { base_url: 'https://u:hush@h' } },
    "invalid remote endpoint config: base_url must not contain user info: give a token in 'auth'",
  ],
  [
    { allowed_tool_patterns: ['foo\\'] },
    patterns('allowed_tool_patterns', 'foo\\', 'pattern ends with a dangling escape (`\\`)'),
  ],
  [{ excluded_tool_patterns: [''] }, patterns('excluded_tool_patterns', '', 'pattern is empty')],
  [
    { stop_conditions: [{ type: 'timeout', seconds: 86_401 }] },
    'invalid agent spec: timeout.seconds must be <= 86400, got 86401',
  ],
  [
    { stop_conditions: [{ type: 'loop_detection', window: 65 }] },
    'invalid agent spec: loop_detection.window must be <= 64, got 65',
  ],
  [
    { stop_conditions: [{ type: 'token_budget', max_total: 100_000_001 }] },
    'invalid agent spec: token_budget.max_total must be <= 100000000, got 100000001',
  ],
  [at({ base_url: ' ' }), 'invalid agent spec: remote endpoint base_url must not be empty'],
  [
    at({ base_url: 'https://h?x=1' }),
    'invalid agent spec: invalid remote endpoint config: base_url must not contain a query string',
  ],
  [at({ base_url: 'ftp://h' }), 'invalid agent spec: remote endpoint base_url must use http:// or https://'],
  [
    at({ bearer_token: 't' }),
    'invalid agent spec: cannot mix legacy A2A endpoint fields with canonical remote endpoint fields',
  ],
  [auth({ type: 'basic' }), "invalid agent spec: remote endpoint auth type 'basic' is unsupported"],
  [auth({ token: ' ' }), 'invalid agent spec: remote endpoint auth token must not be empty'],
  [auth({ token: '***' }), 'invalid agent spec: remote endpoint auth token cannot be a redacted placeholder'],
  [
    { sections: { x: { api_key: '***' } } },
    "invalid agent spec: field 'sections.x.api_key' cannot be a redacted placeholder",
  ],
  [{ backend: { kind: 'x' } }, "invalid agent spec: unsupported backend kind 'x'"],
  [
    { backend: { kind: 'local', version: 2 } },
    'invalid agent spec: backend version 2 is unsupported; expected 1',
  ],
  [{ backend: { kind: 'local', config: 1 } }, 'invalid agent spec: backend config must be a JSON object'],
  [{ backend: { kind: ' ' } }, 'invalid agent spec: backend kind must not be empty'],
]);

t.test('requires a u32 reasoning budget and a valid pattern in stop conditions', async (t) => {
  const refused = (fields: JsonObject, message: RegExp) =>
    t.throws(() => write(agents, { ...whole, ...fields }), { message });
  refused({ reasoning_effort: 2 ** 32 }, /^invalid payload: invalid agent spec: field 'reasoning_effort'/);
  refused(
    { stop_conditions: [{ type: 'content_match', pattern: '(' }] },
    /content_match\.pattern must be valid regex: /,
  );
  refused({ stop_conditions: [{ type: 'nope' }] }, /field 'stop_conditions\[0\]\.type'/);
  t.match(write(agents, { ...whole, reasoning_effort: 5 }), { reasoning_effort: { budget: 5 } });
});

t.test('masks a token in both views of a remote agent, and restores the stored one', async (t) => {
  const seen = agents.redact(remote);
  t.notMatch(JSON.stringify(seen), 'shhh');
  t.match(seen, {
    endpoint: { auth: { token: '***' } },
    backend: { config: { auth: { token: '***' } } },
  });
  t.strictSame(write(agents, seen, remote), remote);
});

t.test('restores values under secret keys in sections as well', async (t) => {
  const stored = write(agents, { ...whole, sections: { x: { apiKey: 'shhh', list: [{ token: 't' }] } } });
  const seen = agents.redact(stored);
  t.match(seen, { sections: { x: { apiKey: '***', list: [{ token: '***' }] } } });
  t.strictSame(write(agents, seen, stored), stored);
});

t.test('restores an agent with the stored token, or without one', async (t) => {
  const payload = agents.audit(remote);
  t.strictSame(restore(agents, payload, remote), { spec: remote, dropped: [] });
  const { auth: _, ...rest } = endpoint;
  t.strictSame(restore(agents, payload), {
    spec: write(agents, { id: 'a', endpoint: rest }),
    dropped: ['endpoint.auth.token'],
  });
});

t.test('uses the configured name of the local backend outside only', async (t) => {
  const renamed = createNamespaces({ localKind: 'builtin' }).of('agents');
  for (const kind of ['builtin', 'local']) {
    const stored = write(renamed, { ...whole, backend: { kind } });
    t.match(stored, { backend: { kind: 'local' } });
    t.match(renamed.redact(stored), { backend: { kind: 'builtin' } });
    t.match(renamed.audit(stored), { backend: { kind: 'builtin' } });
    t.strictSame(write(renamed, renamed.redact(stored), stored), stored);
  }
});

t.test('keeps all content of a section with any keys, and handles half a megabyte', async (t) => {
  const text =
    '{"id":"a","model_id":"m","sections":{"__proto__":{"x":1},"s":{"__proto__":{"token":"t"},"constructor":1}}}';
  const stored = write(agents, JSON.parse(text));
  t.equal(
    JSON.stringify(stored.sections),
    '{"__proto__":{"x":1},"s":{"__proto__":{"token":"t"},"constructor":1}}',
  );
  const seen = agents.redact(stored);
  t.match(JSON.stringify(seen.sections), '"__proto__":{"token":"***"}');
  t.strictSame(JSON.stringify(write(agents, seen, stored)), JSON.stringify(stored));
  const large = {
    id: 'a',
    model_id: 'm',
    sections: Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`key-${n}`, [n]])),
  };
  const began = process.cpuUsage();
  const big = write(agents, large);
  t.strictSame(Object.keys(write(agents, agents.redact(big), big).sections ?? {}).length, 30_000);
  t.ok(process.cpuUsage(began).user < 10_000_000);
});
