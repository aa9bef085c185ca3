import t from 'tap';
import { AgentSpec } from '../../src/schema/agent.ts';
import { agentJson, parseAgent } from '../../src/schema/agent-json.ts';

const stored = (given: object, localKind?: string) =>
  agentJson(parseAgent(given, localKind === undefined ? {} : { localKind }), localKind);

const refusal = (given: unknown): string => {
  try {
    parseAgent(given);
    return 'accepted';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

t.test('stores a minimal spec with its defaults, in the order of the contract', async (t) => {
  t.equal(
    JSON.stringify(stored({ id: 'helper', model_id: 'm1', system_prompt: 'Be brief.' })),
    '{"id":"helper","backend":{"kind":"local","version":1,"config":{"model_id":"m1","system_prompt":"Be brief.","max_rounds":16}},' +
      '"model_id":"m1","system_prompt":"Be brief.","max_rounds":16,"max_continuation_retries":2,' +
      '"plugin_ids":[],"allowed_tools":null,"allowed_tool_patterns":["*"]}',
  );
});

t.test('rejects non-object specs', async (t) => {
  for (const given of [null, 'agent', 5, ['id']]) t.match(refusal(given), /must be an object/);
});

t.test('reads a stored agent back unchanged', async (t) => {
  const specs: object[] = [
    { id: 'a' },
    { id: 'a', allowed_tools: null },
    {
      id: 'a',
      description: 'd',
      model_id: 'm',
      max_rounds: 0,
      stop_conditions: [{ type: 'max_rounds', rounds: 1 }],
      context_policy: {
        max_context_tokens: 1,
        max_output_tokens: 1,
        min_recent_messages: 1,
        enable_prompt_cache: true,
      },
      reasoning_effort: 12,
      plugin_ids: ['p'],
      active_plugins: ['p', 'p'],
      excluded_tools: ['x'],
      excluded_tool_patterns: ['y*'],
      delegates: ['b'],
      sections: { p: { deep: [1, null] } },
      registry: 'r',
    },
    {
      id: 'a',
      endpoint: { base_url: ' https://h/x ', bearer_token: 't', agent_id: 'b', poll_interval_ms: 5 },
    },
  ];
  for (const given of specs) {
    const spec = parseAgent(given);
    t.strictSame(parseAgent(agentJson(spec)), spec);
    t.strictSame(AgentSpec.parse(spec), spec);
  }
});

t.test('treats null as absent, except in the allow fields', async (t) => {
  const spec = parseAgent({ id: 'a', description: null, max_rounds: null, endpoint: null, sections: null });
  t.strictSame(spec, parseAgent({ id: 'a' }));
  t.match(parseAgent({ id: 'a', allowed_tools: null }), { allowed_tools: null, allowed_tool_patterns: null });
  t.match(parseAgent({ id: 'a', allowed_tools: [] }), { allowed_tools: [], allowed_tool_patterns: null });
});

t.test('reads an integer as a reasoning budget, and accepts the old name of the hook filter', async (t) => {
  t.match(parseAgent({ id: 'a', reasoning_effort: 4096, active_plugins: ['p', 'p'] }), {
    reasoning_effort: { budget: 4096 },
    active_hook_filter: ['p'],
  });
  t.match(refusal({ id: 'a', active_plugins: [], active_hook_filter: [] }), "unknown field 'active_plugins'");
});

t.test('fills missing fields from a local backend, and prefers given fields', async (t) => {
  const backend = { kind: 'local', config: { model_id: 'm', system_prompt: 's', max_rounds: 4 } };
  t.match(stored({ id: 'a', backend, max_rounds: 2 }), {
    backend: { kind: 'local', version: 1, config: { model_id: 'm', system_prompt: 's', max_rounds: 2 } },
    model_id: 'm',
    system_prompt: 's',
    max_rounds: 2,
  });
});

t.test('accepts another public name of the local backend', async (t) => {
  for (const kind of ['builtin', 'local']) {
    t.match(stored({ id: 'a', backend: { kind, config: { max_rounds: 3 } } }, 'builtin'), {
      backend: { kind: 'builtin' },
      max_rounds: 3,
    });
  }
});

t.test('accepts backend or endpoint for a remote agent', async (t) => {
  const config = { base_url: 'https://h/a', timeout_ms: 300_000 };
  const whole = {
    backend: { kind: 'a2a', version: 1, config },
    endpoint: { backend: 'a2a', ...config },
  };
  t.match(stored({ id: 'a', endpoint: { base_url: 'https://h/a' } }), whole);
  t.match(stored({ id: 'a', backend: { kind: 'a2a', config: { base_url: 'https://h/a' } } }), whole);
  t.match(stored({ id: 'a', ...whole }), whole);
  const mixed = /cannot mix canonical backend and legacy endpoint fields/;
  t.match(refusal({ id: 'a', ...whole, endpoint: { base_url: 'https://h/b' } }), mixed);
  t.match(refusal({ id: 'a', backend: { kind: 'local' }, endpoint: { base_url: 'https://h/b' } }), mixed);
});

t.test('treats null as absent in nested objects', async (t) => {
  const policy = {
    max_context_tokens: 1000,
    max_output_tokens: 10,
    min_recent_messages: 1,
    enable_prompt_cache: true,
  };
  const nulls = { autocompact_threshold: null, compaction_mode: null, compaction_raw_suffix_messages: null };
  t.strictSame(
    parseAgent({ id: 'a', context_policy: { ...policy, ...nulls } }).context_policy,
    parseAgent({ id: 'a', context_policy: policy }).context_policy,
  );
  const backend = { kind: 'local', config: { model_id: 'm' } };
  t.match(parseAgent({ id: 'a', backend: { ...backend, version: null } }), { model_id: 'm' });
});

t.test('reports invalid backend and reasoning_effort values', async (t) => {
  const options = { history_length: 2 ** 32 };
  t.match(refusal({ id: 'a', endpoint: { base_url: 'https://h', options } }), /`history_length` must be/);
  t.match(refusal({ id: 'a', reasoning_effort: { budget: 5, x: 1 } }), /unknown field 'x'/);
  t.match(
    refusal({ id: 'a', backend: { kind: 'local', config: { model_id: 5 } } }),
    /must be a string, not a number/,
  );
});

t.test('reads old flat endpoints', async (t) => {
  const endpoint = { base_url: 'http://h', bearer_token: 't', agent_id: 'x', poll_interval_ms: 9 };
  t.match(parseAgent({ id: 'a', endpoint }).endpoint, {
    auth: { type: 'bearer', token: 't' },
    target: 'x',
    options: { poll_interval_ms: 9 },
  });
  t.match(
    refusal({ id: 'a', endpoint: { ...endpoint, target: 'y' } }),
    'cannot mix legacy A2A endpoint fields with canonical remote endpoint fields',
  );
});

const at = (base_url: string, more: object = {}) => ({ id: 'a', endpoint: { base_url, ...more } });
const kind = (backend: object) => ({ id: 'a', backend });

const REFUSED: [given: unknown, problem: string][] = [
  [{ id: 'a', foo: 1 }, "unknown field 'foo'"],
  [{}, "missing field 'id'"],
  [{ id: ' ' }, "field 'id' cannot be empty"],
  [{ id: 'a', max_rounds: -1 }, "field 'max_rounds': "],
  [
    { id: 'a', context_policy: { max_context_tokens: 1 } },
    "missing field 'context_policy.enable_prompt_cache'",
  ],
  [{ id: 'a', stop_conditions: [{ type: 'timeout', seconds: 1, foo: 1 }] }, "unknown field 'foo'"],
  [kind({ kind: ' ' }), 'backend kind must not be empty'],
  [kind({ kind: 'x' }), "unsupported backend kind 'x'"],
  [kind({ kind: 'local', version: 2 }), 'backend version 2 is unsupported; expected 1'],
  [kind({ kind: 'local', config: [] }), 'backend config must be a JSON object'],
  [kind({ kind: 'local', config: { rounds: 1 } }), "unknown field 'rounds'"],
  [
    kind({ kind: 'a2a', config: { backend: 'b', base_url: 'http://h' } }),
    "backend config backend 'b' does not match kind 'a2a'",
  ],
  [kind({ kind: 'a2a' }), "missing field 'backend.config.base_url'"],
  [at('http://h', { backend: 'grpc' }), "unsupported backend kind 'grpc'"],
  [at(' '), 'remote endpoint base_url must not be empty'],
  [at('ftp://h'), 'remote endpoint base_url must use http:// or https://'],
  [at('http://'), 'invalid remote endpoint config: '],
  [at('http://h/?q=1'), 'base_url must not contain a query string'],
  [at('http://h/#f'), 'base_url must not contain a fragment'],
  [at('http://h', { auth: { type: 'basic' } }), "remote endpoint auth type 'basic' is unsupported"],
  [at('http://h', { auth: { type: 'bearer', token: ' ' } }), 'remote endpoint auth token must not be empty'],
  [
    at('http://h', { auth: { type: 'bearer', token: '***' } }),
    'remote endpoint auth token cannot be a redacted placeholder',
  ],
  [
    at('http://h', { options: { poll_interval_ms: -1 } }),
    'A2A option `poll_interval_ms` must be an unsigned integer',
  ],
  [
    at('http://h', { options: { return_immediately: 'x' } }),
    'A2A option `return_immediately` must be a boolean',
  ],
];
for (const [given, problem] of REFUSED) {
  t.test(`rejects: ${JSON.stringify(given)}`, async (t) => {
    const message = refusal(given);
    t.ok(message.startsWith('invalid agent spec: '), message);
    t.ok(message.includes(problem), message);
  });
}

t.test('never includes the token in a message', async (t) => {
  const auth = { type: 'bearer', token: 'hush' };
  t.notMatch(refusal(at('ftp://h', { auth, timeout_ms: 0, options: { poll_interval_ms: 'x' } })), /hush/);
  t.notMatch(refusal(at('ftp://h', { bearer_token: 'hush', target: 'x' })), /hush/);
});
