import t from 'tap';
import { applyAgentPatch, mergeOverrides } from '../../src/configuration/agent-patch.ts';
import { parseAgent } from '../../src/schema/agent-json.ts';

const base = parseAgent({
  id: 'a',
  description: 'd',
  model_id: 'm',
  system_prompt: 's',
  max_rounds: 5,
  reasoning_effort: 'low',
  sections: { permission: { default_behavior: 'allow' }, other: 1 },
});
const remote = parseAgent({ id: 'a', endpoint: { base_url: 'https://h' } });

t.test('replaces values, and clears or resets fields on null', async (t) => {
  const patched = applyAgentPatch(base, {
    description: null,
    reasoning_effort: null,
    max_rounds: null,
    system_prompt: 'new',
    delegates: ['b'],
  });
  t.match(patched, { id: 'a', system_prompt: 'new', max_rounds: 5, delegates: ['b'] });
  t.notOk('description' in patched);
  t.notOk('reasoning_effort' in patched);
  t.strictSame(applyAgentPatch(base, {}), base);
});

t.test('merges sections by key, and deletes single sections on null', async (t) => {
  t.strictSame(applyAgentPatch(base, { sections: { permission: null } }).sections, { other: 1 });
  t.strictSame(applyAgentPatch(base, { sections: { other: { x: 1 }, third: 3 } }).sections, {
    permission: { default_behavior: 'allow' },
    other: { x: 1 },
    third: 3,
  });
});

t.test('leaves no tools when both allow fields are cleared', async (t) => {
  const none = { allowed_tools: [], allowed_tool_patterns: [] };
  t.match(applyAgentPatch(base, { allowed_tools: null, allowed_tool_patterns: null }), none);
  t.match(applyAgentPatch(base, { allowed_tool_patterns: null }), none);
  t.match(applyAgentPatch(base, { allowed_tools: null }), { allowed_tool_patterns: ['*'] });
  t.match(applyAgentPatch(base, { allowed_tools: ['x'] }), {
    allowed_tools: ['x'],
    allowed_tool_patterns: ['*'],
  });
});

t.test('moves an agent between backends', async (t) => {
  const config = { model_id: 'n' };
  t.match(applyAgentPatch(remote, { backend: { kind: 'local', config } }), {
    model_id: 'n',
    endpoint: undefined,
  });
  t.match(applyAgentPatch(base, { backend: { kind: 'builtin', config } }, { localKind: 'builtin' }), {
    model_id: 'n',
    system_prompt: 's',
    max_rounds: 5,
  });
  t.equal(applyAgentPatch(base, { backend: { kind: 'local', config }, model_id: 'top' }).model_id, 'top');
  t.equal(applyAgentPatch(remote, { endpoint: null }).endpoint, undefined);
  t.match(applyAgentPatch(base, { endpoint: { base_url: 'http://h' } }).endpoint, { base_url: 'http://h' });
  const other = { kind: 'a2a', config: { base_url: 'http://other' } };
  t.match(applyAgentPatch(remote, { backend: other }).endpoint, { base_url: 'http://other' });
});

const REFUSED: [patch: unknown, message: RegExp][] = [
  [[], /expected an object$/],
  [{ id: 'b' }, /unknown field 'id'$/],
  [{ registry: 'r' }, /unknown field 'registry'$/],
  [
    { backend: { kind: 'local' }, endpoint: null },
    /backend and endpoint cannot be patched in the same request$/,
  ],
  [{ max_rounds: 'x' }, /field 'max_rounds': /],
  [
    { stop_conditions: [{ type: 'timeout', seconds: 90_000 }] },
    /timeout\.seconds must be <= 86400, got 90000$/,
  ],
  [{ sections: 1 }, /'sections'/],
];
for (const [patch, message] of REFUSED) {
  t.test(`rejects: ${JSON.stringify(patch)}`, async (t) => {
    t.throws(() => applyAgentPatch(base, patch), { message });
    t.throws(() => applyAgentPatch(base, patch), { message: /^invalid agent spec patch: / });
  });
}

t.test('rejects an invalid pattern with the message of a full spec', async (t) => {
  t.throws(() => applyAgentPatch(base, { excluded_tool_patterns: [''] }), {
    message:
      "agent spec 'a' has invalid tool catalog: excluded_tool_patterns[] is not a valid pattern: pattern is empty",
  });
});

t.test('accumulates overrides across requests', async (t) => {
  const first = mergeOverrides(
    base,
    {},
    { max_rounds: 1, description: null, sections: { permission: null, x: 1 } },
  );
  t.strictSame(first, { max_rounds: 1, description: null, sections: { permission: null, x: 1 } });
  const second = mergeOverrides(base, first, { max_rounds: null, sections: { x: null } });
  t.strictSame(second, { description: null, sections: { permission: null } });
  t.strictSame(mergeOverrides(base, second, { _clear: ['sections', 'description'] }), {});
  t.strictSame(mergeOverrides(base, { sections: { x: 1 } }, { sections: { x: null } }), {});
});

t.test('rejects backend and endpoint together unless _clear removes one of them', async (t) => {
  const stored = { backend: { kind: 'local' } };
  const endpoint = { base_url: 'http://h' };
  t.throws(() => mergeOverrides(base, stored, { endpoint }), {
    message: /backend and endpoint cannot be patched in the same request$/,
  });
  t.strictSame(mergeOverrides(base, stored, { endpoint, _clear: ['backend'] }), { endpoint });
});

t.test('validates the names in _clear', async (t) => {
  const clear = (body: object) => () => mergeOverrides(base, {}, body);
  t.throws(clear({ _clear: 'x' }), { message: /_clear must be an array of field-name strings$/ });
  t.throws(clear({ _clear: ['id'] }), { message: /_clear contains unknown agent-spec field `id`$/ });
  t.throws(clear({ _clear: ['max_rounds'], max_rounds: 1 }), {
    message: /field `max_rounds` appears in both the upsert body and `_clear`$/,
  });
});
