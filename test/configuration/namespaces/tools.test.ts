import t from 'tap';
import type { JsonObject } from '../../../src/schema/endpoint.ts';
import { namespace } from './write.ts';

const tools = namespace('tools');
const base = { id: 't', name: 'T', description: 'base', parameters_schema: null };
const merge = (body: unknown, stored: JsonObject = {}) => tools.overrides?.merge(base, stored, body) ?? {};

t.test('replaces a description, including blanks, and restores the base on null', async (t) => {
  for (const description of ['x', ' ', 'é'.repeat(2048)]) {
    const overrides = merge({ description }, { description: 'old' });
    t.strictSame(overrides, { description });
    t.strictSame(tools.effective(base, overrides), { ...base, description });
  }
  t.strictSame(merge({ description: null }, { description: 'old' }), {});
  t.strictSame(merge({}, { description: 'old' }), { description: 'old' });
  t.strictSame(tools.effective(base, {}), base);
});

const REFUSED: [body: unknown, problem: string][] = [
  [{ description: '' }, 'description must be non-empty'],
  [{ description: 'x'.repeat(4097) }, 'description exceeds 4096-byte limit'],
  [{ description: 'é'.repeat(2049) }, 'description exceeds 4096-byte limit'],
  [{ description: 5 }, "invalid tool spec patch: field 'description' must be a string or null"],
  [{ name: 'x' }, "invalid tool spec patch: unknown field 'name'"],
  [[], 'invalid tool spec patch: expected an object'],
];
for (const [body, message] of REFUSED) {
  t.test(`rejects: ${JSON.stringify(body).slice(0, 40)}`, async (t) => {
    t.throws(() => merge(body), { message });
  });
}

t.test('removes a single override by name', async (t) => {
  t.strictSame(tools.overrides?.without(base, { description: 'x' }, 'description'), {});
  t.throws(() => tools.overrides?.without(base, {}, 'name'), { message: 'unknown override field: name' });
});

t.test('requires a name and a description of a built-in tool', async (t) => {
  t.strictSame(tools.check(base), base);
  t.throws(() => tools.check({ id: 't', name: 'T' }), { message: /missing field 'description'/ });
});
