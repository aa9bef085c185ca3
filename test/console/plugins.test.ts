import t from 'tap';
import { Meta } from '../../src/console/data/meta.ts';
import { capabilities } from '../../src/console/data/resources.ts';
import { isDirty, saidOf } from '../../src/console/entry/entry.ts';
import { isBlank, problemsIn, variantOf } from '../../src/console/schema-form/check.ts';
import { unreadAt, withUnread } from '../../src/console/schema-form/context.ts';
import { expressionEngine, loadExpressions } from '../../src/console/schema-form/expressions.ts';
import { nameOf, resolved, type Schema, seen } from '../../src/console/schema-form/schema.ts';
import { asEdited, startOf } from '../../src/console/schema-form/start.ts';
import { variantKey, variantsOf } from '../../src/console/schema-form/variants.ts';
import { overridePatch } from '../../src/console/screens/agent-editor/editing.ts';
import {
  hookFilterOf,
  sectionFields,
  settingsOf,
  stateOf,
  switched,
} from '../../src/console/screens/agent-editor/plugins/plugin-settings.ts';
import { agentProblems } from '../../src/console/screens/agent-editor/problems.ts';
import { ruleRows } from '../../src/console/screens/agent-editor/tools/permission.ts';
import {
  activeText,
  callerOf,
  isCalledBy,
  listedText,
  usersOf,
} from '../../src/console/screens/skills/skill.ts';

/** Schema forms, settings of plugins, and skills. */

const at = (schema: Schema, value: unknown): string[] =>
  problemsIn(schema, value).map(({ path, key }) => `${path}: ${key.replace('problem.', '')}`);

t.test('maps schemas to kinds of fields', async (t) => {
  const kind = (schema: Schema): string => {
    const { view, isNullable } = seen(schema, schema);
    return isNullable ? `${view.kind}?` : view.kind;
  };
  const cases: [Schema, string][] = [
    [{ type: 'string' }, 'text'],
    [{ type: ['string', 'null'] }, 'text?'],
    [{ anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] }, 'list?'],
    [{ oneOf: [{ const: 'a' }, { const: 'b' }] }, 'enum'],
    [{ enum: ['a', null] }, 'enum?'],
    [{ enum: [{}] }, 'json'],
    [{ type: ['string', 'number'] }, 'choice'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'object'],
    [{ type: 'object' }, 'json'],
    [{ properties: { a: {} } }, 'object'],
    [{ type: 'array' }, 'json'],
    [{ const: 1 }, 'const'],
    [{ not: {} }, 'json'],
    [{ $ref: '#/$defs/n', $defs: { n: { type: 'integer' } } }, 'number'],
    [{ $ref: '#/$defs/gone' }, 'json'],
  ];
  for (const [schema, expected] of cases) t.equal(kind(schema), expected, JSON.stringify(schema));
  const endless: Schema = { $ref: '#' };
  t.equal(seen(endless, endless).view.kind, 'json');
  t.strictSame(resolved({ allOf: [{ properties: { a: {} }, required: ['a'] }], properties: { b: {} } }, {}), {
    properties: { a: {}, b: {} },
    required: ['a'],
  });
  t.equal(nameOf({}, 'default_mode'), 'Default mode');
  t.equal(nameOf({ title: 'Mode' }, 'default_mode'), 'Mode');
});

t.test('leaves patterns to the service until the engine of expressions is loaded', async (t) => {
  const schema: Schema = { type: 'string', pattern: '^a' };
  await loadExpressions();
  const engine = expressionEngine.get();
  expressionEngine.set(undefined);
  t.strictSame(at(schema, 'b'), []);
  expressionEngine.set(() => engine);
  t.strictSame(at(schema, 'b'), [': pattern']);
});

t.test('validates a value against the supported keywords', async (t) => {
  await loadExpressions();
  const schema: Schema = {
    type: 'object',
    required: ['level'],
    additionalProperties: false,
    properties: {
      level: { enum: ['low', 'high'] },
      share: { type: 'number', minimum: 0, maximum: 1 },
      size: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 9, multipleOf: 2 },
      name: { type: 'string', minLength: 2, maxLength: 3, pattern: '^a' },
      home: { type: 'string', format: 'uri' },
      note: { type: ['string', 'null'] },
      isOn: { type: 'boolean' },
      rows: { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true, items: { type: 'integer' } },
      weights: { type: 'object', additionalProperties: { type: 'number' } },
      future: { not: { const: 1 } },
    },
  };
  t.strictSame(at(schema, {}), ['level: required']);
  t.ok(problemsIn(schema, {}).every(isBlank));
  t.strictSame(
    at(schema, {
      level: 'low',
      share: 0.1 + 0.2,
      size: 4,
      name: 'abc',
      home: 'https://a.b',
      note: null,
      isOn: false,
      rows: [1],
      weights: { a: 1 },
      future: 1,
    }),
    [],
  );
  const wrong: [object, string][] = [
    [{ level: 'mid' }, 'level: enum'],
    [{ share: 2 }, 'share: most'],
    [{ share: -1 }, 'share: least'],
    [{ share: 'x' }, 'share: number'],
    [{ share: '' }, 'share: required'],
    [{ size: 0 }, 'size: above'],
    [{ size: 9 }, 'size: below'],
    [{ size: 3 }, 'size: multiple'],
    [{ size: 1.5 }, 'size: integer'],
    [{ name: '' }, 'name: required'],
    [{ name: 'a' }, 'name: short'],
    [{ name: 'abcd' }, 'name: long'],
    [{ name: 'bb' }, 'name: pattern'],
    [{ name: 7 }, 'name: text'],
    [{ home: 'here' }, 'home: uri'],
    [{ isOn: 'yes' }, 'isOn: flag'],
    [{ rows: [] }, 'rows: required'],
    [{ rows: [1, 2, 3] }, 'rows: many'],
    [{ rows: [1, 1] }, 'rows: twice'],
    [{ rows: ['x'] }, 'rows.0: number'],
    [{ rows: {} }, 'rows: list'],
    [{ weights: { a: 'x' } }, 'weights.a: number'],
    [{ weights: [] }, 'weights: object'],
    [{ other: 1 }, ': unknown'],
  ];
  for (const [value, expected] of wrong)
    t.strictSame(at(schema, { level: 'low', ...value }), [expected], JSON.stringify(value));
  t.strictSame(at({ type: 'string', pattern: '(' }, 'x'), [], 'an invalid expression accepts every value');
});

t.test('selects a variant by validity, then by its constants', async (t) => {
  const mail: Schema = {
    properties: { kind: { const: 'mail' }, to: { type: 'string', minLength: 1 } },
    required: ['kind', 'to'],
  };
  const call: Schema = {
    properties: { kind: { const: 'call' }, number: { type: 'integer' } },
    required: ['kind'],
  };
  const schema: Schema = { oneOf: [mail, call, { type: 'string' }] };
  const variants = [mail, call, { type: 'string' }];
  t.equal(variantOf(variants, { kind: 'call' }, schema), 1);
  t.equal(variantOf(variants, { kind: 'mail' }, schema), 0);
  t.equal(variantOf(variants, 'x', schema), 2);
  t.equal(variantOf(variants, 7, schema), -1);
  t.strictSame(at(schema, { kind: 'mail' }), ['to: required']);
  t.strictSame(at(schema, { kind: 'call', number: 1.5 }), ['number: integer']);
  t.strictSame(at(schema, 7), [': variant']);
  const names = variants.map((variant) => variantKey(variant, schema));
  t.strictSame(names, ['mail', 'call', 'text']);
  const effort: Schema = {
    anyOf: [{ anyOf: [{ enum: ['low', 'high'] }, { type: 'object', properties: { budget: {} } }] }, mail],
  };
  t.strictSame(
    variantsOf(effort, effort).map((variant) => variantKey(variant.schema, effort)),
    ['low', 'high', 'budget', 'mail'],
    'a nested choice and its options become options of the whole',
  );
  t.strictSame(variantsOf(mail, mail), []);
});

t.test('starts values with the minimum that the schema requires', async (t) => {
  const token: Schema = {
    anyOf: [
      { type: 'null' },
      {
        type: 'object',
        properties: { type: { const: 'bearer' }, token: { type: 'string' } },
        required: ['type', 'token'],
      },
    ],
  };
  const schema: Schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      mode: { enum: ['a', 'b'] },
      size: { type: 'integer', minimum: 3 },
      rows: { type: 'array', items: {} },
      usual: { type: 'number', default: 5 },
      token,
      extra: { type: 'string' },
    },
    required: ['name', 'mode', 'size', 'rows', 'usual', 'token'],
  };
  t.strictSame(startOf(schema, schema), { name: '', mode: 'a', size: 3, rows: [], usual: 5, token: null });
  const own = seen(token, token);
  t.strictSame(asEdited(own, token, null, { token: 'x' }), { type: 'bearer', token: 'x' });
  t.equal(asEdited(own, token, { type: 'bearer', token: 'x' }, { type: 'bearer', token: '' }), null);
});

const permission = {
  id: 'permission',
  description: '',
  config_schemas: [
    {
      key: 'permission',
      schema: { type: 'object', properties: { rules: { type: 'array', items: {} } } },
      display_name: 'Permissions',
      description: '',
      editor: 'permission',
      default_value: { rules: [] },
      ui_schema: {},
    },
  ],
};

t.test('adds default settings with a plugin and keeps edited ones when it is disabled', async (t) => {
  const [settings] = settingsOf([permission]);
  if (!settings) return t.fail('no settings exist');
  const on = {
    id: 'a',
    ...switched({ plugin_ids: ['other'] }, { plugin: permission, isOn: true, start: {} }),
  };
  t.strictSame(on, { id: 'a', plugin_ids: ['other', 'permission'], sections: { permission: { rules: [] } } });
  t.equal(stateOf(on, settings), 'on');
  const kept = { ...on, sections: { permission: { rules: [1] } } };
  t.strictSame(switched(kept, { plugin: permission, isOn: true, start: {} }).sections, kept.sections);
  const off = { ...kept, ...switched(kept, { plugin: permission, isOn: false, start: {} }) };
  t.strictSame(switched(kept, { plugin: permission, isOn: false, start: {} }), { plugin_ids: ['other'] });
  t.strictSame(off.sections, kept.sections);
  t.equal(stateOf(off, settings), 'kept');
  t.strictSame(sectionFields(off, 'permission', {}), { sections: {} });
  t.equal(stateOf({}, settings), 'off');
  t.strictSame(
    switched(
      { ...on, sections: { permission: { rules: [] }, more: {} } },
      { plugin: permission, isOn: false, start: {} },
    ),
    { plugin_ids: ['other'], sections: { more: {} } },
    'unedited default settings are removed with their plugin',
  );
  t.strictSame(
    switched(on, { plugin: permission, isOn: false, start: on }),
    { plugin_ids: ['other'] },
    'stored settings are kept',
  );
  const bare = {
    ...permission,
    config_schemas: permission.config_schemas.map((one) => ({ ...one, default_value: {} })),
  };
  t.strictSame(switched({}, { plugin: bare, isOn: true, start: {} }), {
    plugin_ids: ['permission'],
    sections: {},
  });
  t.strictSame(hookFilterOf({ plugin_ids: ['a'], active_hook_filter: ['a', 'b'] }), {
    chosen: ['a'],
    stale: ['b'],
  });
});

t.test('finds the tools of each rule and the overruling rule', async (t) => {
  const rules = [
    { tool: 'get_weather', behavior: 'ask' },
    { tool: 'get_*', behavior: 'allow' },
    { tool: 'get_*(city = "x")', behavior: 'deny' },
    { tool: 'shell', behavior: 'deny' },
    { tool: 'shell', behavior: 'allow' },
  ];
  const rows = ruleRows({ rules }, ['get_weather', 'get_stock', 'shell']);
  t.strictSame(
    rows.map(({ matches, overruledBy }) => [matches.length, overruledBy]),
    [
      [1, 1],
      [2, undefined],
      [2, undefined],
      [1, undefined],
      [1, 3],
    ],
  );
  t.strictSame(ruleRows({}, []), []);
});

t.test('validates the settings of enabled plugins and remote backends only', async (t) => {
  const remote = { type: 'object', required: ['base_url'], properties: { base_url: { type: 'string' } } };
  const known = capabilities.guard(
    { plugins: [permission], backends: [{ kind: 'local' }, { kind: 'a2a', schema: remote }] },
    '',
  );
  const paths = (fields: object) =>
    agentProblems(
      { id: 'a', model_id: 'm', backend: { kind: 'local' }, ...fields },
      { capabilities: known, localKind: 'local', taken: undefined },
    ).map(({ path }) => path);
  const sections = { permission: { rules: 'none' } };
  t.strictSame(paths({ plugin_ids: ['permission'], sections }), ['sections.permission.rules']);
  t.strictSame(paths({ plugin_ids: [], sections }), []);
  t.strictSame(paths({ backend: { kind: 'a2a', config: {} } }), ['backend.config.base_url']);
  t.strictSame(paths({ backend: { kind: 'new' } }), []);
});

t.test('treats invalid JSON as unsaved until it is fixed or replaced', async (t) => {
  const start = { id: 'a', active_hook_filter: ['x'] };
  const opened = { isNew: false, start, meta: Meta({ source: { kind: 'builtin' } }, '') };
  const half = withUnread({}, 'sections.a.b', '{');
  t.ok(isDirty(opened, start, half));
  t.notOk(isDirty(opened, start, withUnread(half, 'sections.a.b', undefined)));
  t.strictSame(unreadAt(withUnread(half, 'sections.ab', '['), 'sections.a'), ['sections.a.b']);
  t.strictSame(overridePatch(opened, { id: 'a', active_hook_filter: [] }, 'local'), {
    active_hook_filter: [],
  });
});

t.test('derives callers, users and field problems of a skill', async (t) => {
  const skill = {
    id: 'brief',
    name: 'Brief',
    description: '',
    when_to_use: '',
    allowed_tools: [],
    paths: [],
    user_invocable: true,
    model_invocable: false,
    context: 'inline',
  };
  const calledBy = (user: boolean, model: boolean) =>
    callerOf({ ...skill, user_invocable: user, model_invocable: model });
  t.strictSame(
    [calledBy(true, true), calledBy(false, true), calledBy(false, false)],
    ['both', 'model', 'internal'],
  );
  t.strictSame(
    ['user', 'model', 'internal'].map((one) => isCalledBy(skill, one)),
    [true, false, false],
  );
  const agent = (id: string, section?: object) => ({
    id,
    plugin_ids: ['skills-discovery'],
    sections: section && { skills: section },
  });
  const agents = [
    agent('all'),
    agent('chosen', { allowlist: ['brief'] }),
    agent('other', { allowlist: ['x'] }),
    { id: 'without', plugin_ids: [], sections: undefined },
  ];
  t.strictSame(usersOf(agents, 'brief'), ['all', 'chosen']);
  const said = saidOf(
    "invalid payload: invalid skill spec: field 'id' must be lowercase; scoped allowed_tools entry 'a(b)' is not supported; nothing known",
    ['id', 'allowed_tools'],
  );
  t.strictSame([...said.keys()], ['id', 'allowed_tools', '']);
});

t.test('shows the exact texts that a model receives for a skill', async (t) => {
  const skill = {
    id: 'a',
    name: 'A <b>',
    description: 'Says "x"',
    when_to_use: 'Always',
    instructions_md: 'Be {tone}',
  };
  t.equal(
    listedText(skill),
    '<skill>\n<name>a</name>\n<description>A &lt;b&gt;: Says &quot;x&quot; — When: Always</description>\n</skill>',
  );
  t.match(
    listedText({ ...skill, name: 'a', when_to_use: null }),
    '<description>Says &quot;x&quot;</description>',
  );
  t.equal(listedText({ ...skill, model_invocable: false }), undefined);
  t.equal(
    activeText(skill),
    '<active_skill_instructions>\n<skill_instruction skill="a">\nBe {tone}\n</skill_instruction>\n</active_skill_instructions>',
  );
});
