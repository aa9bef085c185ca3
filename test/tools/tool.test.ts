import { pathToFileURL } from 'node:url';
import t from 'tap';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { type Json, ToolError, toToolResult } from '../../src/tools/tool.ts';
import { INDEX } from '../e2e/built.ts';
import { callTool, quietContext } from './call.ts';

const trip = defineTool({
  id: 'trip',
  description: 'Plans a trip.',
  input: z.object({
    city: z.string(),
    days: z.int().default(3),
    stops: z.array(z.object({ id: z.string() })).optional(),
  }),
  execute: (args) => ({ data: args }),
});

t.test('describes the input of the caller as JSON Schema', async (t) => {
  t.same(trip.descriptor, {
    id: 'trip',
    name: 'trip',
    description: 'Plans a trip.',
    category: null,
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: {
          type: 'integer',
          default: 3,
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        },
        stops: {
          type: 'array',
          items: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
        },
      },
      required: ['city'],
    },
  });
  t.match(trip, { idempotent: false, exclusive: false, checksOwnArguments: true });
});

t.test('passes parsed arguments with defaults to a tool', async (t) => {
  t.same((await callTool(trip, { city: 'Oslo' })).data, { city: 'Oslo', days: 3 });
});

const rejected: [name: string, args: Json, message: string][] = [
  ['a missing key is named', {}, "Invalid arguments: Missing 'city'"],
  ['null counts as {}', null, "Invalid arguments: Missing 'city'"],
  ['an empty string counts as {}', '', "Invalid arguments: Missing 'city'"],
  [
    'a wrong type names the path',
    { city: 5 },
    "Invalid arguments: 'city': Invalid input: expected string, received number",
  ],
  [
    'a path inside a list is complete',
    { city: 'Oslo', stops: [{ id: 'a' }, {}] },
    "Invalid arguments: Missing 'stops[1].id'",
  ],
  [
    'all issues are reported at once',
    { days: 1.5 },
    "Invalid arguments: Missing 'city'; 'days': Invalid input: expected int, received number",
  ],
  [
    'a value that is not an object is rejected',
    [1],
    'Invalid arguments: Invalid input: expected object, received array',
  ],
];
for (const [name, args, message] of rejected) {
  t.test(`arguments: ${name}`, async (t) => {
    t.same(await callTool(trip, args), { tool_name: 'trip', status: 'error', data: null, message });
  });
}

t.test('does not execute a tool with invalid arguments', async (t) => {
  let executed = false;
  const tool = defineTool({
    id: 'x',
    description: '',
    input: z.object({ a: z.string() }),
    execute: () => {
      executed = true;
      return { data: null };
    },
  });
  await t.rejects(tool.execute({ a: 1 }, quietContext()), {
    message: "'a': Invalid input: expected string, received number",
  });
  t.equal(executed, false);
});

t.test('prefixes every kind of failure', async (t) => {
  const kinds = {
    invalid_arguments: 'Invalid arguments: why',
    execution_failed: 'Execution failed: why',
    timeout: 'Timeout: why',
    cancelled: 'Cancelled: why',
    denied: 'Denied: why',
    not_found: 'Not found: why',
    internal: 'Internal error: why',
  } as const;
  // Object.entries widens keys to string; these are the keys above.
  for (const [kind, message] of Object.entries(kinds) as [keyof typeof kinds, string][]) {
    t.match(toToolResult('x', new ToolError(kind, 'why')), {
      tool_name: 'x',
      status: 'error',
      data: null,
      message,
    });
  }
  t.equal(toToolResult('x', new Error('boom')).message, 'Internal error: boom');
  t.equal(toToolResult('x', new DOMException('stop', 'AbortError')).message, 'Cancelled: stop');
});

t.test('marks only a timeout as timed out', async (t) => {
  t.same(toToolResult('x', new ToolError('timeout', 'after 5s')).metadata, { timed_out: true });
  t.notOk('metadata' in toToolResult('x', new ToolError('internal', '')));
});

t.test('names an unknown tool without a prefix', async (t) => {
  t.equal(toToolResult('nope', ToolError.unknownTool('nope')).message, "tool 'nope' not found");
});

t.test('keeps message and metadata of a success, and omits empty metadata', async (t) => {
  t.same(toToolResult('x', { data: 1 }), { tool_name: 'x', status: 'success', data: 1, message: null });
  t.same(toToolResult('x', { data: 1, message: 'one', metadata: { a: 2 } }), {
    tool_name: 'x',
    status: 'success',
    data: 1,
    message: 'one',
    metadata: { a: 2 },
  });
  t.notOk('metadata' in toToolResult('x', { data: 1, metadata: {} }));
});

t.test('recognizes the failure of a tool that uses its own copy of this package', async (t) => {
  const { ToolError: Other }: typeof import('../../src/index.ts') = await import(pathToFileURL(INDEX).href);
  t.not(Other, ToolError);
  const tool = defineTool({
    id: 'a',
    description: '',
    input: z.object({}),
    execute: () => {
      throw new Other('denied', 'not you', { code: 'E1' });
    },
  });
  t.match(await callTool(tool, {}), { status: 'error', message: '[E1] not you' });
  t.ok(new Other('denied', '') instanceof ToolError);
  t.notOk(new Error('x') instanceof ToolError);
});

const returned: [what: string, value: () => unknown, output: object][] = [
  ['a number', () => 5, { data: 5 }],
  ['nothing', () => undefined, { data: null }],
  ['an object', () => ({ sum: 5, note: undefined }), { data: { sum: 5 } }],
  ['a list with dates', () => [new Date(0)], { data: ['1970-01-01T00:00:00.000Z'] }],
  ['an output', () => ({ data: 5, message: 'five' }), { data: 5, message: 'five' }],
  ['an object that has data, and more', () => ({ data: [1], total: 9 }), { data: { data: [1], total: 9 } }],
  ['a suspension', () => ({ suspend: { id: 't' } }), { suspend: { id: 't' } }],
  ['an object that suspends, and more', () => ({ suspend: 1, at: 2 }), { data: { suspend: 1, at: 2 } }],
];

const returning = (value: () => unknown) =>
  defineTool({ id: 'r', description: 'r', input: z.object({}), execute: async () => value() as string });

for (const [what, value, output] of returned) {
  t.test(`a tool may return ${what}`, async (t) => {
    t.strictSame(await returning(value).execute({}, quietContext()), output);
  });
}

t.test('reports a result that is not JSON as a failure', async (t) => {
  const knot: Record<string, unknown> = {};
  knot.self = knot;
  for (const value of [5n, knot])
    await t.rejects(returning(() => value).execute({}, quietContext()), {
      kind: 'internal',
      message: /^the tool returned a value that is not JSON: /,
    });
});
