import fc from 'fast-check';
import t from 'tap';
import type { JsonObject } from '../../../src/schema/json.ts';
import { nameForModel } from '../../../src/schema/model-tool.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import '../../random.ts';
import { requestOf } from '../infer.ts';
import { encoded } from './every-format.ts';

/** One tool with a name or schema that a service rejects does not fail the request, in any format. */

const tool = (parameters: JsonObject, id = 'find', description = 'Finds.'): ToolDescriptor => ({
  id,
  name: id,
  description,
  category: null,
  parameters,
});

const GOOD = tool({ type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }, 'good');

/** Schemas by their defect. */
const SCHEMAS: Record<string, JsonObject> = {
  'no type': {},
  'no properties': { type: 'object' },
  'a type of an older service': {
    type: 'OBJECT',
    properties: { a: { type: 'STRING' }, b: { type: 'date' } },
  },
  'a property that is no schema': { type: 'object', properties: { a: null, b: 'text', c: [], d: true } },
  'an array without items': { type: 'object', properties: { a: { type: 'array' } } },
  'a tuple of draft 4': {
    type: 'object',
    properties: { a: { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'number' } } },
  },
  'a tuple of draft 2020-12': {
    type: 'object',
    properties: { a: { type: 'array', prefixItems: [{ type: 'string' }] } },
  },
  'anyOf at the top': { anyOf: [{ type: 'object', properties: { a: {} } }, { type: 'object' }] },
  'oneOf at the top': { type: 'object', oneOf: [{ required: ['a'] }, { properties: { b: {} } }] },
  'a type that is not an object': { type: 'string' },
  'required as a flag': { type: 'object', properties: { a: { type: 'string', required: true } } },
  'required twice': { type: 'object', properties: { a: {} }, required: ['a', 'a', 'missing', 7] },
  'a description that is null': { type: 'object', properties: { a: { type: 'string', description: null } } },
  'limits of draft 4': {
    type: 'object',
    properties: { a: { type: 'number', minimum: '1', exclusiveMinimum: true, multipleOf: 0 } },
  },
  'a pattern of another dialect': {
    type: 'object',
    properties: { a: { type: 'string', pattern: '^(?P<year>\\d+)$' } },
  },
  'an empty list of values': { type: 'object', properties: { a: { type: 'string', enum: [] } } },
  'values of other types': { type: 'object', properties: { a: { type: 'string', enum: ['x', 1, null] } } },
  'no alternative': { type: 'object', properties: { a: { anyOf: [] } } },
  'a format that Gemini does not have': {
    type: 'object',
    properties: { a: { type: 'string', format: 'uri' }, b: { type: 'integer', format: 'uint8' } },
  },
  'names of arguments with other characters': {
    type: 'object',
    properties: { 'filter[id]': { type: 'string' }, $top: {}, ok: {}, [`x${'y'.repeat(80)}`]: {} },
    required: ['filter[id]', 'ok'],
    additionalProperties: false,
  },
  'a lone surrogate': { type: 'object', properties: { a: { type: 'string', description: 'half \ud83d' } } },
  recursion: {
    type: 'object',
    properties: { child: { $ref: '#' } },
  },
  'references to anchors and ids': {
    $id: 'https://schemas.test/root.json',
    type: 'object',
    properties: {
      a: { $ref: '#name' },
      b: { $ref: 'https://schemas.test/root.json#/$defs/name' },
      c: { $ref: 'item.json' },
      d: { $dynamicRef: '#name' },
      e: { $ref: '#none' },
    },
    $defs: {
      name: { $anchor: 'name', type: 'string', maxLength: 9 },
      item: { $id: 'item.json', type: 'integer' },
    },
  },
};

for (const [what, parameters] of Object.entries(SCHEMAS)) {
  t.test(`sends a tool whose schema has ${what}`, async (t) => {
    for (const { format, sent, problem } of encoded(requestOf('x', { tools: [tool(parameters), GOOD] }))) {
      t.equal(problem, undefined, `${format}: ${JSON.stringify(sent.body.tools)}`);
    }
  });
}

t.test('replaces references with their targets', async (t) => {
  const parameters = SCHEMAS['references to anchors and ids'] ?? {};
  const [chat] = encoded(requestOf('x', { tools: [tool(parameters)] }));
  t.match(chat?.sent.body.tools, [
    {
      function: {
        parameters: {
          properties: {
            a: { type: 'string', maxLength: 9 },
            b: { type: 'string', maxLength: 9 },
            c: { type: 'integer' },
            d: { type: 'string', maxLength: 9 },
            e: {},
          },
        },
      },
    },
  ]);
});

t.test('describes arguments whose names Anthropic rejects', async (t) => {
  const parameters = SCHEMAS['names of arguments with other characters'] ?? {};
  const sent = encoded(requestOf('x', { tools: [tool(parameters)] })).find(
    ({ format }) => format === 'anthropic',
  )?.sent;
  t.match(sent?.body.tools, [
    {
      description:
        /^Finds\.\nRequired argument "filter\[id\]", by JSON Schema: \{"type":"string"\}\nOptional argument "\$top"/,
      input_schema: { type: 'object', properties: { ok: {} }, required: ['ok'] },
    },
  ]);
});

t.test('sends tools with any ids, and only the first of two with one id', async (t) => {
  const made = nameForModel('team.lead');
  const ids = [
    'team.lead',
    made,
    'agent_run_équipe',
    '1st',
    'x'.repeat(99),
    'a b',
    'a_b',
    'half \ud83d',
    'a b',
  ];
  const tools = ids.map((id) => tool({ type: 'object' }, id));
  for (const { format, problem } of encoded(requestOf('x', { tools }))) t.equal(problem, undefined, format);
  t.not(nameForModel(made), made, 'a conflicting id gets another name');
});

const KEYWORDS = [
  ...['type', 'properties', 'required', 'items', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', '$ref'],
  ...['pattern', 'format', 'minimum', 'multipleOf', 'maxLength', 'uniqueItems', 'description', 'title'],
  ...[
    'additionalProperties',
    'patternProperties',
    'dependentRequired',
    'dependencies',
    '$defs',
    '$anchor',
    'if',
  ],
  ...['prefixItems', 'additionalItems', 'default', 'examples', 'nullable', 'contains', 'propertyNames'],
];

const { schema } = fc.letrec<{ value: unknown; schema: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1.5,
      '',
      'object',
      'string',
      'ARRAY',
      'integer',
      '#',
      '#/$defs/a',
      '[',
    ),
    fc.constantFrom(['a', 'a'], ['string', 'null'], [], {}, ['object', 7]),
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b c', '$ref', 'type', '__proto__'), tie('schema'), { maxKeys: 2 }),
  ),
  schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie('value'), { maxKeys: 4 }),
}));

t.test('produces no request that a service rejects, for any schema', async () => {
  fc.assert(
    fc.property(schema, (given) => {
      // Serialized and parsed, like the schema of an MCP server.
      const parameters: JsonObject = JSON.parse(JSON.stringify(given));
      for (const { format, sent, problem } of encoded(requestOf('x', { tools: [tool(parameters), GOOD] }))) {
        if (problem !== undefined)
          throw new Error(`${format}: ${problem}: ${JSON.stringify(sent.body.tools)}`);
      }
    }),
    { numRuns: 1000 },
  );
});
