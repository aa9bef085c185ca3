import t from 'tap';
import { DEMO_REMINDERS } from '../../../src/plugins/reminder/demo-rules.ts';
import { createReminderPlugin } from '../../../src/plugins/reminder/plugin.ts';
import type { ToolResult } from '../../../src/schema/run-event.ts';
import type { Json } from '../../../src/tools/tool.ts';
import { aboutAgent, hookContext } from '../context.ts';

const plugin = createReminderPlugin({ builtIn: DEMO_REMINDERS });

const result = (overrides: Partial<ToolResult> = {}): ToolResult => ({
  tool_name: 'get_weather',
  status: 'success',
  data: { condition: 'Sunny', days: [{ high: 70 }, { high: 64 }] },
  message: null,
  ...overrides,
});

/** The messages after a call with this result, under these sections. */
const remindersOf = async (
  sections: Record<string, Json>,
  name: string,
  given: ToolResult,
  args: Json = {},
) => {
  const outcome = await plugin.parts(aboutAgent(sections)).hooks?.after_tool_execute?.({
    ...hookContext(),
    call: { id: 'c1', name, arguments: args },
    result: given,
  });
  return (outcome?.actions ?? []).map(({ payload }) => payload);
};

const oneRule = (output: Json | undefined, tool = 'get_weather'): Record<string, Json> => ({
  reminder: {
    rules: [
      {
        name: 'r',
        tool,
        ...(output !== undefined && { output }),
        message: { target: 'session', content: 'Hm.' },
      },
    ],
  },
});
const REMINDED = [{ key: 'reminder.r', target: 'session', content: 'Hm.', cooldown_turns: 0 }];

t.test('identifies a rule without a name by its index and its tool', async (t) => {
  const reminder: Json = {
    rules: [
      { tool: 'x', message: { target: 'system', content: 'a' } },
      { tool: 'get_*', message: { target: 'suffix_system', content: 'b', cooldown_turns: 2 } },
    ],
  };
  t.same(await remindersOf({ reminder }, 'get_weather', result()), [
    { key: 'reminder.rule-1-get_*', target: 'suffix_system', content: 'b', cooldown_turns: 2 },
  ]);
});

t.test('matches tools like permission rules', async (t) => {
  const rules = oneRule('any', 'get_weather(location = "Tokyo")');
  t.same(await remindersOf(rules, 'get_weather', result(), { location: 'Tokyo' }), REMINDED);
  t.same(await remindersOf(rules, 'get_weather', result(), { location: 'Paris' }), []);
});

const fields = (...fields: Json[]): Json => ({ content: { fields } });
const outputs: [what: string, output: Json | undefined, given: Partial<ToolResult>, matches: boolean][] = [
  ['no output condition', undefined, { status: 'error' }, true],
  ['any', 'any', { status: 'pending' }, true],
  ['an empty condition', {}, { status: 'error' }, true],
  ['the same status', { status: 'error' }, { status: 'error' }, true],
  ['another status', { status: 'error' }, {}, false],
  ['any status', { status: 'any' }, { status: 'pending' }, true],
  ['a glob on the JSON of the data', { content: '*"condition":"Sunny"*' }, {}, true],
  ['a glob that covers only a part', { content: 'Sunny' }, {}, false],
  ['a glob on the message, which represents the data', { content: '*Sunny*' }, { message: 'Rain' }, false],
  ['status and content, one of them wrong', { status: 'error', content: '*Sunny*' }, {}, false],
  ['a field by glob, which is the default', fields({ path: 'condition', value: 'S*' }), {}, true],
  ['a field exactly', fields({ path: 'condition', op: 'exact', value: 'Sun' }), {}, false],
  ['a field by expression', fields({ path: 'condition', op: 'regex', value: '^Su+n' }), {}, true],
  ['a number', fields({ path: 'days[1].high', op: 'exact', value: '64' }), {}, true],
  ['a wildcard', fields({ path: 'days[*].high', op: 'exact', value: '64' }), {}, true],
  ['not_glob', fields({ path: 'condition', op: 'not_glob', value: 'S*' }), {}, false],
  ['not_exact', fields({ path: 'condition', op: 'not_exact', value: 'Rain' }), {}, true],
  ['not_regex', fields({ path: 'condition', op: 'not_regex', value: 'un' }), {}, false],
  ['a missing field', fields({ path: 'place', op: 'not_exact', value: 'Rain' }), {}, false],
  ['two fields, one wrong', fields({ path: 'condition', value: '*' }, { path: 'x', value: '*' }), {}, false],
];
for (const [what, output, given, matches] of outputs) {
  t.test(`an output of ${what} ${matches ? 'matches' : 'does not match'}`, async (t) => {
    t.same(await remindersOf(oneRule(output), 'get_weather', result(given)), matches ? REMINDED : []);
  });
}

const illegal: [section: Json, reason: string][] = [
  [oneRule('some').reminder ?? null, "rules[0].output: must be 'any'"],
  [oneRule({ status: 'done' }).reminder ?? null, "rules[0].output.status: must be one of 'success'"],
  [oneRule({ content: 5 }).reminder ?? null, 'rules[0].output.content: must be a string, not a number'],
  [
    oneRule(fields({ path: 'a', op: 'like', value: 'b' })).reminder ?? null,
    "fields[0].op: must be one of 'glob'",
  ],
  [oneRule(fields({ path: 'a', op: 'regex', value: '(' })).reminder ?? null, 'regex "(" is not valid'],
  [oneRule(fields({ path: 'a = "b", c', value: '' })).reminder ?? null, 'path "a = \\"b\\", c" is not valid'],
  [oneRule('any', '/(/').reminder ?? null, 'rules[0].tool: regex "(" is not valid'],
  [
    { rules: [{ tool: 'x', message: { target: 'user', content: 'a' } }] },
    "rules[0].message.target: must be one of 'system'",
  ],
  [{ rules: [], more: true }, "unknown field 'more'"],
];
for (const [section, reason] of illegal) {
  t.test(`rejects the section ${JSON.stringify(section)}`, async (t) => {
    t.throws(() => plugin.parts(aboutAgent({ reminder: section })), {
      name: 'Invalid',
      message: new RegExp(
        `^invalid config for plugin reminder: section "reminder" — .*${reason.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`,
      ),
    });
  });
}

t.test('uses the built-in rules for an agent without a section', async (t) => {
  t.match(await remindersOf({}, 'get_weather', result()), [
    { key: 'reminder.rule-0-get_weather', target: 'system', cooldown_turns: 5 },
    { key: 'reminder.rule-2-get_weather', target: 'suffix_system', cooldown_turns: 3 },
  ]);
  t.match(await remindersOf({}, 'get_stock_price', result()), [
    { target: 'suffix_system', cooldown_turns: 3 },
  ]);
  t.match(await remindersOf({}, 'append_note', result({ data: { status: 'ok' } })), [{ cooldown_turns: 2 }]);
  t.same(await remindersOf({}, 'append_note', result({ data: { added: 'x' } })), []);
});

t.test('uses only the rules of the section if there is one', async (t) => {
  t.same(await remindersOf({ reminder: { rules: [] } }, 'get_weather', result()), []);
});
