import assert from 'node:assert/strict';
import t from 'tap';
import type { JsonObject } from '../../../src/schema/endpoint.ts';
import fc from '../../random.ts';
import { namespace, write } from './write.ts';

/** Invariants for any order of override changes. */

const agents = namespace('agents');

const section = fc.constantFrom('x', 'y', 'z');
const ids = fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 });
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null });

const bases = fc
  .record(
    {
      description: fc.constantFrom('d', 'e'),
      model_id: fc.constantFrom('m', 'n'),
      reasoning_effort: fc.constantFrom('low', 'high'),
      allowed_tools: orNull(ids),
      sections: fc.dictionary(section, fc.nat(3), { maxKeys: 2 }),
      endpoint: fc.constant({ base_url: 'https://h', auth: { type: 'bearer', token: 't' } }),
    },
    { requiredKeys: [] },
  )
  .map((fields) => write(agents, { id: 'a', ...fields }));

const PATCH = {
  description: orNull(fc.constantFrom('f', 'g')),
  model_id: orNull(fc.constantFrom('o', 'p')),
  max_rounds: orNull(fc.nat(9)),
  plugin_ids: orNull(ids),
  allowed_tools: orNull(ids),
  allowed_tool_patterns: orNull(ids),
  excluded_tools: orNull(ids),
  reasoning_effort: orNull(fc.constantFrom('none', 'max')),
  sections: orNull(fc.dictionary(section, orNull(fc.nat(3)), { maxKeys: 2 })),
  endpoint: orNull(fc.constant({ base_url: 'https://other' })),
};
const patches = fc.record(PATCH, { requiredKeys: [] });

const merge = (base: JsonObject, stored: JsonObject, body: unknown): JsonObject =>
  agents.overrides?.merge(base, stored, body) ?? {};

const played = (base: JsonObject, bodies: readonly object[]): JsonObject =>
  bodies.reduce<JsonObject>((stored, body) => merge(base, stored, body), {});

t.test('restores the original agent when all patches are cleared', async () => {
  fc.assert(
    fc.property(bases, fc.array(patches, { maxLength: 4 }), (base, bodies) => {
      const stored = played(base, bodies);
      const cleared = merge(base, stored, { _clear: Object.keys(PATCH) });
      assert.deepEqual(cleared, {});
      assert.deepEqual(agents.effective(base, cleared), base);
      const byName = Object.keys(stored).reduce(
        (left, field) => agents.overrides?.without(base, left, field) ?? left,
        stored,
      );
      assert.deepEqual(byName, {});
    }),
  );
});

t.test('is idempotent, and produces a canonical agent', async () => {
  fc.assert(
    fc.property(bases, fc.array(patches, { maxLength: 2 }), patches, (base, bodies, body) => {
      const once = merge(base, played(base, bodies), body);
      assert.deepEqual(merge(base, once, body), once);
      const agent = agents.effective(base, once);
      assert.deepEqual(agents.check(agent), agent);
      assert.equal(agent.id, 'a');
    }),
  );
});
