import t from 'tap';
import { z } from 'zod';
import { withAliases } from '../../src/schema/aliases.ts';
import { Json, JsonObject } from '../../src/schema/json.ts';
import { describeIssues, phrases } from '../../src/schema/phrases.ts';
import { parseEntry } from '../../src/schema/problems.ts';

const Body = withAliases(
  { agentId: 'agent_id', threadId: 'thread_id' },
  {
    agentId: z.string(),
    threadId: z.string().nullish(),
    mode: z.enum(['queue', 'steer']).default('queue'),
    count: z.int().min(1).max(9).optional(),
    share: z.number().optional(),
    name: z.string().min(2).max(3).optional(),
    messages: z
      .array(z.object({ role: z.string(), content: z.string() }))
      .max(2)
      .optional(),
    custom: JsonObject.optional(),
    payload: Json.optional(),
    at: z.iso.datetime().optional(),
    either: z.union([z.string(), z.object({ budget: z.int() })]).optional(),
  },
);

const told = (given: unknown): string => {
  const { error } = Body.safeParse(given, phrases);
  return error ? describeIssues(error) : '';
};

t.test('names the position of a problem and the allowed values, in terms of JSON', (t) => {
  const table: [unknown, string][] = [
    [{ agentId: 'a', payload: [1] }, ''],
    [{}, "missing field 'agentId'"],
    [{ agent_id: 5 }, 'agent_id: must be a string, not a number'],
    [{ agentId: 'a', agent_id: 'b' }, "agent_id: duplicate of 'agentId': give one of the two"],
    [{ agentId: 'a', mode: 'x' }, "mode: must be one of 'queue', 'steer'"],
    [{ agentId: 'a', mode: null }, "mode: must be one of 'queue', 'steer'"],
    [{ agentId: 'a', count: 0 }, 'count: must be at least 1'],
    [{ agentId: 'a', count: 10 }, 'count: must be at most 9'],
    [{ agentId: 'a', count: 1.5 }, 'count: must be an integer, not a fraction'],
    [{ agentId: 'a', count: '1' }, 'count: must be a number, not a string'],
    [{ agentId: 'a', name: 'x' }, 'name: must have at least 2 characters'],
    [{ agentId: 'a', name: 'xxxx' }, 'name: must have at most 3 characters'],
    [{ agentId: 'a', messages: {} }, 'messages: must be an array, not an object'],
    [{ agentId: 'a', messages: [1, 2, 3] }, 'messages: must have at most 2 items, not 3'],
    [
      { agentId: 'a', messages: [{}] },
      "missing field 'messages[0].role'; missing field 'messages[0].content'",
    ],
    [
      { agentId: 'a', messages: [{ role: 'user', content: [] }] },
      'messages[0].content: must be a string, not an array',
    ],
    [{ agentId: 'a', custom: 5 }, 'custom: must be an object, not a number'],
    [{ agentId: 'a', custom: [] }, 'custom: must be an object, not an array'],
    [{ agentId: 'a', at: 'yesterday' }, 'at: must be a time such as 2026-01-31T12:00:00Z'],
    [{ agentId: 'a', either: { budget: true } }, 'either.budget: must be a number, not true'],
    [{ messages: 'hi' }, "messages: must be an array, not a string; missing field 'agentId'"],
    [null, 'must be an object, not null'],
    [7, 'must be an object, not a number'],
  ];
  for (const [given, expected] of table) t.equal(told(given), expected);
  t.end();
});

t.test('reports the first few of many problems, and the number of others', (t) => {
  const Wide = z.strictObject(
    Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`k${index}`, z.string()])),
  );
  const { error } = Wide.safeParse({}, phrases);
  t.match(error && describeIssues(error), /^missing field 'k0'; .* missing field 'k4'; and 4 more$/);
  const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`x${index}`, 1]));
  t.throws(
    () => parseEntry('entry', z.strictObject({}), unknown),
    /^invalid entry: unknown field 'x0'; .* and 49995 more$/,
  );
  t.throws(
    () => parseEntry('entry', z.strictObject({ a: z.string() }), {}),
    /^invalid entry: missing field 'a'$/,
  );
  t.throws(
    () => parseEntry('entry', z.strictObject({ a: JsonObject }), { a: 5 }),
    /^invalid entry: field 'a': must be an object, not a number$/,
  );
  t.end();
});

t.test('describes open bounds, sizes, patterns and single values', (t) => {
  const said = (schema: z.ZodType, given: unknown): string | undefined =>
    schema.safeParse(given, phrases).error?.issues[0]?.message;
  const table: [z.ZodType, unknown, string][] = [
    [z.number().gt(0), 0, 'must be more than 0'],
    [z.number().lt(1), 1, 'must be less than 1'],
    [z.int(), 0.5, 'must be an integer, not a fraction'],
    [z.number(), false, 'must be a number, not false'],
    [z.literal('x'), 'y', "must be 'x'"],
    [z.literal(7), 8, 'must be 7'],
    [z.number().multipleOf(5), 7, 'must be a multiple of 5'],
    [z.array(z.string()).min(2), ['a'], 'must have at least 2 items'],
    [z.string().regex(/^a$/), 'b', 'must be of the form /^a$/'],
    [z.record(z.string().max(1), z.string()), { ab: 'x' }, 'has a key that is not allowed'],
    [z.string(), undefined, 'is missing'],
  ];
  for (const [schema, given, expected] of table) t.equal(said(schema, given), expected);
  t.end();
});

t.test('reports the union member that got furthest, or the first of several', (t) => {
  const Union = z.object({ either: z.union([z.string(), z.int(), z.object({ a: z.string() })]) });
  const of = (either: unknown): string | undefined => {
    const { error } = Union.safeParse({ either }, phrases);
    return error && describeIssues(error);
  };
  t.equal(of(true), 'either: must be a string, not true');
  t.equal(of({ a: 1 }), 'either.a: must be a string, not a number');
  t.end();
});

t.test('reports five problems completely', (t) => {
  const Five = z.strictObject(Object.fromEntries([...'abcde'].map((name) => [name, z.string()])));
  const { error } = Five.safeParse({}, phrases);
  t.equal(error && describeIssues(error), [...'abcde'].map((name) => `missing field '${name}'`).join('; '));
  t.end();
});

t.test('does not inspect values of arbitrary JSON', (t) => {
  let looks = 0;
  const watched = new Proxy<Record<string, unknown>>(
    {},
    {
      get: () => {
        looks += 1;
      },
      ownKeys: () => {
        looks += 1;
        return [];
      },
    },
  );
  t.equal(Json.safeParse(watched).success, true);
  t.equal(JsonObject.safeParse(watched).success, true);
  t.equal(looks, 0);
  t.equal(Json.safeParse(undefined).success, false);
  t.end();
});
