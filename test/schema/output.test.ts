import t from 'tap';
import type { JsonObject } from '../../src/schema/json.ts';
import {
  asObject,
  asObjectSchema,
  checkedOutputSchema,
  fromObject,
  outputSchemaProblem,
} from '../../src/schema/output.ts';
import { outputProblems } from '../../src/tools/output-check.ts';

const nested = (levels: number): JsonObject => (levels === 1 ? {} : { items: nested(levels - 1) });

const REFUSED: [what: string, schema: unknown, problem: RegExp][] = [
  ['a text', 'string', /must be a JSON Schema/],
  ['a list', [], /must be a JSON Schema/],
  ['65 levels', nested(65), /nests deeper than 64 levels/],
  ['65 KiB', { description: 'a'.repeat(65 * 1024) }, /has \d+ bytes, more than 65536/],
  ['an unknown type', { type: 'text' }, /^\/type: must be one of null, boolean/],
  ['no type', { type: [] }, /^\/type: must be/],
  ['properties that are not schemas', { properties: { a: 3 } }, /^\/properties\/a: must be a schema/],
  ['an empty list of schemas', { anyOf: [] }, /^\/anyOf: must be a list of schemas/],
  ['a list of other values', { anyOf: ['a'] }, /^\/anyOf\/0: must be a schema/],
  ['no value to choose from', { enum: [] }, /^\/enum: must be a list that is not empty/],
  ['an anchor with a blank', { items: { $anchor: 'a b' } }, /^\/items\/\$anchor: must be a name of letters/],
  [
    'two schemas with one anchor',
    { properties: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } },
    /^\/properties\/b: \$anchor 'x' is used twice/,
  ],
  ['a list of items', { items: [{}] }, /^\/items: must be a schema/],
  ['names that are not strings', { required: [1] }, /^\/required: must be a list of strings/],
  ['a negative length', { minLength: -1 }, /^\/minLength: must be an integer that is not negative/],
  ['a divisor of 0', { multipleOf: 0 }, /^\/multipleOf: must be a number greater than 0/],
  [
    'a remote reference',
    { items: { $ref: 'https://a.example/s' } },
    /^\/items: remote \$ref .* is not supported/,
  ],
  ['a reference to a file', { $ref: 'other.json#/a' }, /remote \$ref 'other.json#\/a' is not supported/],
  ['a dangling reference', { $ref: '#/$defs/a' }, /\$ref '#\/\$defs\/a' leads to no schema/],
  ['a reference to a value', { enum: [{}], items: { $ref: '#/enum/0' } }, /leads to no schema/],
  ['a reference to itself', { $ref: '#' }, /leads back here/],
  [
    'references in a cycle',
    { $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { anyOf: [{ $ref: '#/$defs/a' }] } } },
    /leads back here without a property or an item in between/,
  ],
  ['a dynamic reference', { $dynamicRef: '#a' }, /\$dynamicRef is not supported/],
  [
    'a pattern with a back reference',
    { pattern: '(a+)+\\1$' },
    /^\/pattern: the pattern '.*' cannot be used/,
  ],
  [
    'patterns that are too large together',
    { items: { anyOf: Array.from({ length: 10 }, (_, n) => ({ pattern: `a{1000}${n}` })) } },
    /^\/items\/anyOf\/9\/pattern: the pattern 'a\{1000\}9' cannot be used: the patterns are too large together/,
  ],
  [
    'a pattern of names with look-ahead',
    { patternProperties: { '(?=a)': {} } },
    /^\/patternProperties: the pattern/,
  ],
  [
    'more than 2000 schemas',
    { properties: Object.fromEntries(Array.from({ length: 2001 }, (_, n) => [`p${n}`, {}])) },
    /has more than 2000 schemas/,
  ],
];

for (const [what, schema, problem] of REFUSED) {
  t.test(`rejects ${what} as the schema of a result`, async (t) => {
    t.match(outputSchemaProblem(schema), problem);
    t.throws(() => checkedOutputSchema(schema as JsonObject), { message: /^output_schema: / });
  });
}

t.test('accepts a schema of 64 levels, and null, which disables a schema', async (t) => {
  t.equal(outputSchemaProblem(nested(64)), undefined);
  t.equal(checkedOutputSchema(null), null);
  t.equal(checkedOutputSchema(undefined), undefined);
});

const TREE: JsonObject = {
  type: 'object',
  properties: { children: { type: 'array', items: { $ref: '#' } }, name: { $ref: '#name' } },
  required: ['name'],
  $defs: { name: { $anchor: 'name', type: 'string', minLength: 1 } },
};

t.test('validates a recursive value and names the positions of its problems', async (t) => {
  t.equal(outputSchemaProblem(TREE), undefined);
  t.strictSame(await outputProblems(TREE, { name: 'a', children: [{ name: 'b' }] }), []);
  t.strictSame(await outputProblems(TREE, { name: 'a', children: [{ children: [{ name: 3 }] }] }), [
    '/children/0/name: is missing',
    '/children/0/children/0/name: must be a string',
  ]);
});

t.test('names the allowed values', async (t) => {
  const schema = {
    type: 'object',
    properties: { 'a/b': { enum: ['x', 'y'] }, c: { type: ['integer', 'null'] }, d: { const: 1 }, e: false },
    additionalProperties: false,
  };
  t.strictSame(await outputProblems(schema, { 'a/b': 1, c: 'x', d: 2, e: 1, f: 1 }), [
    '/f: must not be given',
    '/a~1b: must be one of ["x","y"]',
    '/c: must be an integer or null',
    '/d: must be 1',
    '/e: must not be given',
  ]);
  t.strictSame(await outputProblems(schema, []), ['must be an object']);
});

t.test('reports at most ten distinct problems', async (t) => {
  const schema = { type: 'array', items: { type: 'number', enum: [1] } };
  const problems = await outputProblems(
    schema,
    Array.from({ length: 20 }, () => 'x'),
  );
  t.equal(problems.length, 10);
  t.equal(new Set(problems).size, 10);
});

t.test('ignores unknown formats and keywords', async (t) => {
  const schema = { type: 'string', format: 'email', nullable: true, 'x-order': 1, troupeWork: { a: 1 } };
  t.equal(outputSchemaProblem(schema), undefined);
  t.strictSame(await outputProblems(schema, 'no address'), []);
});

/** Validation is limited by a budget of steps rather than time, so that no test depends on the speed of the host. */
t.test('stops an endless validation', async (t) => {
  const endless = ['takes too long to check: it is too large'];
  let deep: JsonObject[string] = [];
  for (let n = 0; n < 100; n += 1) deep = [deep];
  t.strictSame(
    await outputProblems({ items: { anyOf: [{ $ref: '#' }, { $ref: '#' }] } }, deep),
    [],
    'the first matching alternative ends the validation',
  );
  t.strictSame(
    await outputProblems({ items: { allOf: [{ $ref: '#' }, { $ref: '#' }] } }, deep),
    endless,
    'subschemas that double at each level are stopped',
  );
  const doubled = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => {
      const $ref = `#/$defs/d${n + 1}`;
      return [`d${n}`, { allOf: [{ $ref }, { $ref }] }];
    }),
  );
  const chain = { $ref: '#/$defs/d0', $defs: { ...doubled, d40: { type: 'string' } } };
  t.equal(outputSchemaProblem(chain), undefined);
  t.strictSame(await outputProblems(chain, 'x'), endless);
  const many = Array.from({ length: 50_000 }, (_, n) => n);
  t.strictSame(await outputProblems({ uniqueItems: true }, many), endless);
  t.strictSame(await outputProblems({ items: { enum: many.slice(0, 9000) } }, many), endless);
});

t.test('matches a catastrophic pattern in a value of one mebibyte', async (t) => {
  const schema = { type: 'string', pattern: '(a+)+$' };
  t.equal(outputSchemaProblem(schema), undefined);
  const long = 'a'.repeat(2 ** 20 - 10);
  t.strictSame(await outputProblems(schema, `${long}!`), ['must match pattern "(a+)+$"']);
  t.strictSame(await outputProblems(schema, long), []);
});

t.test('rejects a value of more than a mebibyte, or one that nests too deep', async (t) => {
  t.match(await outputProblems({}, 'a'.repeat(2 ** 20)), [/must not have more than 1048576 bytes/]);
  t.strictSame(await outputProblems({}, 'a'.repeat(2 ** 20 - 2)), []);
  let deep: JsonObject[string] = 1;
  for (let n = 0; n < 129; n += 1) deep = [deep];
  t.match(await outputProblems({}, deep), [/must not nest deeper than 128 levels/]);
});

t.test('wraps a non-object result, and keeps the targets of references', async (t) => {
  t.equal(asObjectSchema(TREE), TREE);
  const list: JsonObject = {
    type: 'array',
    items: { anyOf: [{ $ref: '#/$defs/n' }, { $ref: '#' }] },
    $defs: { n: { type: 'number' } },
  };
  const wrapped = asObjectSchema(list);
  t.equal(outputSchemaProblem(wrapped), undefined);
  t.strictSame(await outputProblems(wrapped, { result: [1, [2]] }), []);
  t.strictSame(await outputProblems(wrapped, { result: [['x']] }).then(({ length }) => length > 0), true);
  for (const value of [[1], 'a', null, 3]) {
    t.strictSame(asObject(list, value), { result: value });
    t.strictSame(fromObject(list, { result: value }), value);
  }
  t.equal(fromObject(list, {}), undefined);
  t.equal(fromObject(list, 'a'), undefined);
  t.strictSame(fromObject(TREE, { name: 'a' }), { name: 'a' });
});
