import t from 'tap';
import type { JsonObject } from '../../../src/schema/endpoint.ts';
import { namespace, write } from './write.ts';

const agents = namespace('agents');
const base = write(agents, {
  id: 'a',
  model_id: 'm',
  max_rounds: 5,
  reasoning_effort: 'low',
  sections: { x: 1, y: { z: 2 } },
});
const endpoint = { base_url: 'https://h', auth: { type: 'bearer', token: 'shhh' } };

const merge = (body: unknown, stored: JsonObject = {}, of: JsonObject = base) =>
  agents.overrides?.merge(of, stored, body) ?? {};

t.test('removes an override on null, or keeps it where it clears the base', async (t) => {
  t.strictSame(merge({ max_rounds: null }, { max_rounds: 1 }), {});
  t.strictSame(merge({ endpoint: null }), { endpoint: null });
  const cleared = merge({ reasoning_effort: null });
  t.notOk('reasoning_effort' in agents.effective(base, cleared));
});

t.test('keeps earlier overrides on a second request', async (t) => {
  const stored = merge({ max_rounds: 2 }, merge({ description: 'd' }));
  t.match(agents.effective(base, stored), { description: 'd', max_rounds: 2, model_id: 'm' });
  t.match(agents.effective(base, stored), { backend: { config: { max_rounds: 2 } } });
});

t.test('records a deleted section of the base, but not another one', async (t) => {
  const stored = merge({ sections: { x: null } });
  t.strictSame(stored, { sections: { x: null } });
  t.strictSame(agents.effective(base, stored).sections, { y: { z: 2 } });
  t.strictSame(merge({ sections: { own: null } }, { sections: { own: 1 } }), {});
});

t.test('leaves no tools when both allow fields are cleared', async (t) => {
  const stored = merge({ allowed_tools: null, allowed_tool_patterns: null });
  t.match(agents.effective(base, stored), { allowed_tools: [], allowed_tool_patterns: [] });
});

t.test('returns an agent without overrides as it was stored, with any allow fields', async (t) => {
  const closed = write(agents, { id: 'a', allowed_tools: null });
  t.strictSame(agents.effective(closed, {}), closed);
  t.strictSame(agents.effective(closed), closed);
});

t.test('removes a single override by name', async (t) => {
  const stored = { max_rounds: 1, description: 'd' };
  t.strictSame(agents.overrides?.without(base, stored, 'max_rounds'), { description: 'd' });
  for (const field of ['id', 'registry', 'nope', 'toString']) {
    t.throws(() => agents.overrides?.without(base, stored, field), {
      message: `unknown override field: ${field}`,
    });
  }
});

t.test('replaces a mask in a request with the visible token of the agent', async (t) => {
  const remote = write(agents, { id: 'a', endpoint });
  const changed = { ...endpoint, timeout_ms: 5 };
  const body = { endpoint: { ...changed, auth: { type: 'bearer', token: '***' } } };
  t.strictSame(merge(body, {}, remote), { endpoint: changed });
  const moved = { endpoint: { ...body.endpoint, base_url: 'https://other' } };
  t.throws(() => merge(moved, {}, remote), {
    message:
      "field 'endpoint.auth.token' must be given again: the stored secret belongs to the stored 'endpoint.base_url' and is not sent elsewhere",
  });
  const stored = { endpoint: { ...endpoint, auth: { type: 'bearer', token: 'newer' } } };
  t.match(merge(body, stored, remote), { endpoint: { auth: { token: 'newer' } } });
  t.throws(() => merge(body), {
    message: 'invalid agent spec patch: remote endpoint auth token cannot be a redacted placeholder',
  });
  t.throws(() => merge({ sections: { s: { password: '***' } } }), {
    message: "invalid agent spec patch: field 'sections.s.password' cannot be a redacted placeholder",
  });
});

const REFUSED: [body: JsonObject, problem: string][] = [
  [{ _clear: ['nope'] }, '_clear contains unknown agent-spec field `nope`'],
  [{ _clear: 'max_rounds' }, '_clear must be an array of field-name strings'],
  [
    { _clear: ['max_rounds'], max_rounds: 1 },
    'field `max_rounds` appears in both the upsert body and `_clear`',
  ],
  [{ foo: 1 }, "unknown field 'foo'"],
  [{ id: 'b' }, "unknown field 'id'"],
  [{ backend: { kind: 'local' }, endpoint }, 'backend and endpoint cannot be patched in the same request'],
  [
    { stop_conditions: [{ type: 'timeout', seconds: 86_401 }] },
    'timeout.seconds must be <= 86400, got 86401',
  ],
];
for (const [body, problem] of REFUSED) {
  t.test(`rejects: ${JSON.stringify(body)}`, async (t) => {
    t.throws(() => merge(body), { message: `invalid agent spec patch: ${problem}` });
  });
}

t.test('clears and sets different fields in one request', async (t) => {
  t.strictSame(merge({ _clear: ['backend', 'stop_conditions'], endpoint }, { backend: { kind: 'local' } }), {
    endpoint,
  });
});
