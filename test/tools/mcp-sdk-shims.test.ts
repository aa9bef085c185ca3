import t from 'tap';
import { DefaultJsonSchemaValidator } from '../../src/tools/mcp-sdk-shims.ts';

/** The validator that the bundled MCP SDK uses. */

const check = (schema: object, input: unknown) =>
  new DefaultJsonSchemaValidator().getValidator(schema)(input);

t.test('validates by the dialect that the schema names', (t) => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  t.strictSame(check(schema, { n: 1 }), { valid: true, data: { n: 1 }, errorMessage: undefined });
  t.match(check(schema, { n: 'x' }), { valid: false, data: undefined, errorMessage: /n must be integer/ });
  const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] };
  t.match(check(draft7, [1]), { valid: false });
  t.end();
});

t.test('searches patterns in linear time', (t) => {
  t.match(check({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(50)}!`), { valid: false });
  t.end();
});

t.test('compiles schemas with the same $id separately', (t) => {
  t.match(check({ $id: 'https://x.test/y', type: 'string' }, 'text'), { valid: true });
  t.match(check({ $id: 'https://x.test/y', type: 'number' }, 1), { valid: true });
  t.end();
});
