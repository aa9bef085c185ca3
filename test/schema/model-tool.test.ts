import t from 'tap';
import type { JsonObject } from '../../src/schema/json.ts';
import { nameForModel, schemaForModel } from '../../src/schema/model-tool.ts';

const fitted = (schema: JsonObject): JsonObject => {
  const result = schemaForModel(schema);
  if ('problem' in result) throw new Error(result.problem);
  return result.schema;
};

t.test('assigns a tool a stable name that every provider accepts', async (t) => {
  const ids = [
    'get_weather',
    'agent_run_sales bot',
    'agent_run_équipe',
    'agent_run_team.lead',
    '1st',
    '',
    'x'.repeat(70),
    `${'x'.repeat(69)}y`,
  ];
  const names = ids.map(nameForModel);
  t.equal(names[0], 'get_weather');
  for (const name of names) t.match(name, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
  t.equal(new Set(names).size, ids.length);
  t.strictSame(ids.map(nameForModel), names);
});

t.test('merges all alternatives into one object', async (t) => {
  const a = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const b = { type: 'object', properties: { a: { type: 'number' }, b: {} }, required: ['a', 'b'] };
  t.strictSame(fitted({ anyOf: [a, b] }), {
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }, { type: 'number' }] }, b: {} },
    required: ['a'],
  });
  t.strictSame(fitted({ allOf: [a, b] }).required, ['a', 'b']);
  t.strictSame(fitted({}), { type: 'object', properties: {} });
  t.strictSame(fitted({ type: ['object', 'null'] }), { type: 'object', properties: {} });
});

t.test('omits definitions after resolving references', async (t) => {
  const a = {
    definitions: { b: { type: 'string' } },
    type: 'object',
    properties: { b: { $ref: '#/properties/a/definitions/b' } },
  };
  t.strictSame(fitted({ type: 'object', properties: { a } }), {
    type: 'object',
    properties: { a: { type: 'object', properties: { b: { type: 'string' } } } },
  });
});

t.test('resolves references within the schema, and cuts recursive ones', async (t) => {
  const node = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      next: { $ref: '#/$defs/node' },
      far: { $ref: 'https://x.test/schema' },
    },
  };
  t.strictSame(fitted({ $ref: '#/$defs/node', $defs: { node } }), {
    type: 'object',
    properties: {
      name: { type: 'string' },
      next: { type: 'object', properties: { name: { type: 'string' }, next: {}, far: {} } },
      far: {},
    },
  });
});

t.test('assigns one type to each value', async (t) => {
  t.strictSame(
    fitted({
      properties: {
        a: { type: ['string', 'null'], description: 'A', maxLength: 3 },
        b: { type: ['string'] },
        c: { type: 'array' },
        d: { type: 'object' },
      },
    }).properties,
    {
      a: { description: 'A', anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] },
      b: { type: 'string' },
      c: { type: 'array', items: {} },
      d: { type: 'object', properties: {} },
    },
  );
});

t.test('explains why a schema cannot be sent', async (t) => {
  t.match(schemaForModel({ type: 'string' }), { problem: /of type string/ });
  t.match(schemaForModel({ $ref: '#' }), { problem: /leads nowhere/ });
  t.match(schemaForModel({ anyOf: [{ type: 'string' }] }), { problem: /no alternative/ });
  const wide = (depth: number): JsonObject => ({
    type: 'object',
    properties:
      depth === 0
        ? {}
        : Object.fromEntries(
            ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => [name, wide(depth - 1)]),
          ),
  });
  t.match(schemaForModel(wide(4)), { problem: /more than 5000 values/ });
});

t.test('limits the time that alternatives and patterns take', async (t) => {
  // Each level refers to the next one twice: without a limit, there would be 2^1000 alternatives.
  const $defs = Object.fromEntries(
    Array.from({ length: 1000 }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` };
      return [`d${level}`, { allOf: [next, next] }];
    }),
  );
  const endless = { type: 'object', $ref: '#/$defs/d0', $defs: { ...$defs, d1000: { type: 'object' } } };
  t.match(schemaForModel(endless), { problem: 'the schema has more than 5000 values' });

  const small = { type: 'string', pattern: '^[a-z]+$' };
  const large = (of: number) => ({ type: 'string', pattern: `(?i)${'[\\p{L}]'.repeat(100)}${of}` });
  const properties = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`p${n}`, large(n)]));
  const sent = fitted({ type: 'object', properties: { small, ...properties, again: small } }).properties;
  t.strictSame(sent, {
    small,
    p0: large(0),
    p1: large(1),
    ...Object.fromEntries(Array.from({ length: 48 }, (_, n) => [`p${n + 2}`, { type: 'string' }])),
    again: small,
  });
});

t.test('truncates a deeply nested schema', async (t) => {
  let deep: JsonObject = { type: 'string' };
  for (let level = 0; level < 100; level += 1) deep = { type: 'object', properties: { a: deep } };
  t.ok(JSON.stringify(fitted(deep)).length < 1000);
});
