import t from 'tap';
import type { ToolDescriptor } from '../../src/schema/tool-descriptor.ts';
import { type Json, type Tool, ToolError } from '../../src/tools/tool.ts';
import { checkedArguments } from '../../src/tools/validate.ts';

/** agent-loop.md 6.1. */

type Schema = ToolDescriptor['parameters'];

const toolWith = (parameters: Schema, checksOwnArguments = false): Tool => ({
  descriptor: { id: 'x', name: 'x', description: '', parameters, category: null },
  idempotent: true,
  exclusive: false,
  checksOwnArguments,
  execute: async (data) => ({ data }),
});

const neverReported = (problem: string): never => {
  throw new Error(problem);
};

const checked = (parameters: Schema, args: Json) =>
  checkedArguments(toolWith(parameters), args, neverReported);

/** The problem as the model receives it. */
const problemOf = async (parameters: Schema, args: Json): Promise<string> => {
  const error = await checked(parameters, args).then(
    () => new Error('was accepted'),
    (failure: unknown) => failure,
  );
  if (error instanceof ToolError && error.kind === 'invalid_arguments') return error.message;
  throw error;
};

const TRIP: Schema = {
  type: 'object',
  required: ['to'],
  additionalProperties: false,
  properties: {
    to: { type: 'string', minLength: 2 },
    stops: { type: 'array', items: { type: 'object', required: ['city'] } },
    class: { enum: ['first', 'second'] },
    'a/b~c': { type: 'integer' },
  },
};

t.test('passes valid arguments to the tool unchanged', async (t) => {
  const args = { to: 'Rome', stops: [{ city: 'Bern' }], class: 'first', 'a/b~c': 1 };
  t.equal(await checked(TRIP, args), args);
});

const wrong: [args: Json, problem: string][] = [
  [{}, "Missing 'to'"],
  [[], 'must be object'],
  [{ to: 1 }, "'to': must be string"],
  [{ to: 'R' }, "'to': must NOT have fewer than 2 characters"],
  [{ to: 'Rome', stops: [{ city: 'Bern' }, {}] }, "Missing 'stops[1].city'"],
  [{ to: 'Rome', class: 'third' }, '\'class\': must be one of ["first","second"]'],
  [{ to: 'Rome', by: 'train' }, "'by': must not be given"],
  [{ to: 'Rome', 'a/b~c': 'x' }, '\'["a/b~c"]\': must be integer'],
  [{ stops: 1 }, "Missing 'to'; 'stops': must be array"],
];
for (const [args, problem] of wrong) {
  t.test(`rejects ${JSON.stringify(args)}: ${problem}`, async (t) => {
    t.equal(await problemOf(TRIP, args), problem);
  });
}

t.test('treats missing arguments as an empty object', async (t) => {
  for (const none of [null, '']) {
    t.strictSame(await checked({ type: 'object' }, none), {});
    t.equal(await problemOf(TRIP, none), "Missing 'to'");
  }
});

t.test('does not accept inherited properties as arguments', async (t) => {
  t.equal(await problemOf({ required: ['constructor'] }, {}), "Missing 'constructor'");
});

t.test('passes unvalidated arguments to a tool that validates its own', async (t) => {
  const tool = toolWith(TRIP, true);
  t.equal(await checkedArguments(tool, 'nonsense', neverReported), 'nonsense');
  t.equal(await checkedArguments(tool, null, neverReported), null);
});

t.test('reports at most eight problems at once', async (t) => {
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
  t.equal((await problemOf({ required: names }, {})).split('; ').length, 8);
});

t.test('uses the draft that a schema names, or else 2020-12', async (t) => {
  const pair = [{ type: 'string' }, { type: 'number' }];
  const args = { pair: ['x', 'y'] };
  const draft07 = 'http://json-schema.org/draft-07/schema#';
  const problem = "'pair[1]': must be number";
  t.equal(await problemOf({ properties: { pair: { prefixItems: pair } } }, args), problem);
  t.equal(await problemOf({ $schema: draft07, properties: { pair: { items: pair } } }, args), problem);
});

t.test('follows a recursive schema', async (t) => {
  const tree: Schema = {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        required: ['name'],
        properties: { children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      },
    },
  };
  const args = { name: 'a', children: [{ name: 'b', children: [{}] }] };
  t.equal(await problemOf(tree, args), "Missing 'children[0].children[0].name'");
});

t.test('accepts two schemas with one $id', async (t) => {
  t.equal(await problemOf({ $id: 'https://x.test/a', required: ['a'] }, {}), "Missing 'a'");
  t.equal(await problemOf({ $id: 'https://x.test/a', required: ['b'] }, {}), "Missing 'b'");
});

t.test('distinguishes several patterns', async (t) => {
  const schema: Schema = { properties: { a: { pattern: '^a+$' }, b: { pattern: '^b+$' } } };
  t.strictSame(await checked(schema, { a: 'aa', b: 'b' }), { a: 'aa', b: 'b' });
  t.match(await problemOf(schema, { a: 'aa', b: 'a' }), /^'b': must match pattern/);
});

const unusable: [why: string, parameters: Schema][] = [
  ['an unknown type', { type: 'strnig' }],
  ['a keyword with a wrong value', { required: 'a' }],
  ['an external reference', { $ref: 'https://x.test/other' }],
  ['an expression that needs backtracking', { properties: { a: { pattern: '(a+)\\1' } } }],
  ['an expression that is too large', { properties: { a: { pattern: '((a{30}){30}){30}' } } }],
  ['an asynchronous schema', { $async: true, required: ['a'] }],
];
for (const [why, parameters] of unusable) {
  t.test(`executes calls of a tool with an unusable schema unvalidated: ${why}`, async (t) => {
    const reported: string[] = [];
    const tool = toolWith(parameters);
    const report = (problem: string): void => {
      reported.push(problem);
    };
    const both = [checkedArguments(tool, { any: 1 }, report), checkedArguments(tool, [], report)];
    t.strictSame(await Promise.all(both), [{ any: 1 }, []]);
    t.strictSame(await checkedArguments(tool, {}, report), {});
    t.equal(reported.length, 1, 'the problem is reported once');
  });
}
