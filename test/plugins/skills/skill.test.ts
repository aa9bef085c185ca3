import t from 'tap';
import { z } from 'zod';
import {
  fileSkill,
  ManagedSkill,
  managedSkill,
  unknownToolProblems,
} from '../../../src/plugins/skills/skill.ts';
import { Invalid } from '../../../src/schema/outcome.ts';
import { greeting, skillWith } from './skills.ts';

const folder = { root: '/nowhere', resources: false, scripts: false };

t.test('fills the defaults of a minimal spec', async (t) => {
  t.strictSame(managedSkill(greeting).spec, {
    ...greeting,
    user_invocable: true,
    model_invocable: true,
    context: 'inline',
  });
});

t.test('treats null and empty values as absent', async (t) => {
  const given = {
    ...greeting,
    allowed_tools: [],
    when_to_use: null,
    arguments: [],
    argument_hint: null,
    user_invocable: null,
    model_invocable: null,
    model_override: null,
    context: null,
    paths: [],
  };
  t.strictSame(managedSkill(given).spec, managedSkill(greeting).spec);
});

t.test('keeps a canonical spec and its revision', async (t) => {
  const skill = skillWith({
    allowed_tools: ['get_*', '/^search/', 'finish'],
    when_to_use: 'always',
    arguments: [{ name: 'topic' }, { name: 'tone', description: 'how', required: true }],
    argument_hint: '[topic]',
    user_invocable: false,
    model_override: 'm',
    context: 'fork',
  });
  t.strictSame(skill.spec.arguments, [
    { name: 'topic', required: false },
    { name: 'tone', description: 'how', required: true },
  ]);
  t.strictSame(managedSkill(JSON.parse(JSON.stringify(skill.spec))), skill);
});

t.test('changes the revision on every edit', async (t) => {
  const edits = [{}, { instructions_md: 'x' }, { description: 'x' }, { allowed_tools: ['finish'] }];
  t.equal(new Set(edits.map((edit) => skillWith(edit).revision)).size, edits.length);
});

const refusals: [fields: object, problem: string][] = [
  [{ id: 'DB' }, "field 'id' must be lowercase"],
  [{ id: 'a--b' }, "field 'id' must not contain '--'"],
  [{ id: 'a'.repeat(65) }, "field 'id' must be at most 64 characters"],
  [{ id: '-a' }, "field 'id' must not start or end with '-'"],
  [{ id: 'a-' }, "field 'id' must not start or end with '-'"],
  [{ id: 'a_b' }, "field 'id' may contain only letters a-z, digits and '-'"],
  [{ id: ' a' }, "field 'id' must not contain surrounding whitespace"],
  [{ id: ' ' }, "field 'id' cannot be empty"],
  [{ name: ' ' }, "field 'name' cannot be empty"],
  [{ name: 'x'.repeat(129) }, "field 'name' must be at most 128 characters"],
  [{ description: '' }, "field 'description' cannot be empty"],
  [{ description: 'x'.repeat(1025) }, "field 'description' must be at most 1024 characters"],
  [{ instructions_md: '\n' }, "field 'instructions_md' cannot be empty"],
  [{ instructions_md: undefined }, "missing field 'instructions_md'"],
  [{ when_to_use: '' }, "field 'when_to_use' cannot be empty"],
  [{ argument_hint: ' ' }, "field 'argument_hint' cannot be empty"],
  [{ model_override: ' ' }, "field 'model_override' cannot be empty"],
  [{ foo: 1 }, "unknown field 'foo'"],
  [{ arguments: [{ name: 'x' }, { name: 'x' }] }, "duplicate argument name 'x'"],
  [{ arguments: [{ name: ' ' }] }, 'argument name cannot be empty'],
  [{ arguments: [{ name: ' x' }] }, "argument name ' x' must not contain surrounding whitespace"],
  [{ arguments: [{ name: 'x', type: 'string' }] }, "unknown field 'type'"],
  [{ paths: ['src'] }, 'paths are not supported for DB-managed skills until resources are persisted'],
  [
    { allowed_tools: ['Bash(git *)'] },
    "scoped allowed_tools entry 'Bash(git *)' is not supported for DB-managed skills",
  ],
  [{ allowed_tools: ['a b'] }, "allowed_tools entry 'a b' must be one token"],
  [{ allowed_tools: [' a'] }, "allowed_tools entry ' a' must not contain surrounding whitespace"],
  [{ allowed_tools: [''] }, 'allowed_tools entry cannot be empty'],
  [
    { allowed_tools: ['get_*\\'] },
    "invalid allowed-tools pattern 'get_*\\': pattern ends with a dangling escape (`\\`)",
  ],
  [{ allowed_tools: ['/get_'] }, "invalid allowed-tools pattern '/get_': a regular expression ends with `/`"],
];
for (const [fields, problem] of refusals) {
  t.test(`rejects: ${JSON.stringify(fields).slice(0, 60)}`, async (t) => {
    t.throws(() => skillWith(fields), new Invalid(`invalid skill spec: ${problem}`));
  });
}

t.test('counts characters rather than code units', async (t) => {
  t.equal(skillWith({ name: '😀'.repeat(128) }).spec.name.length, 256);
});

t.test('rejects an invalid regular expression', async (t) => {
  t.throws(() => skillWith({ allowed_tools: ['/(/'] }), /invalid allowed-tools pattern '\/\(\/': /);
});

t.test('accepts an escaped backslash at the end of a pattern', async (t) => {
  t.strictSame(skillWith({ allowed_tools: ['get_*\\\\'] }).spec.allowed_tools, ['get_*\\\\']);
});

t.test('accepts paths and scoped tools in a file skill', async (t) => {
  const { spec } = fileSkill({ ...greeting, paths: ['src'], allowed_tools: ['Bash(git *)'] }, folder);
  t.strictSame(spec.paths, ['src']);
  t.strictSame(spec.allowed_tools, ['Bash(git *)']);
});

t.test('requires a plain name to be a known tool', async (t) => {
  const { spec } = skillWith({ allowed_tools: ['finish', 'nope', 'x_*', '/^y/'] });
  t.strictSame(
    unknownToolProblems(spec, (tool) => tool === 'finish'),
    ["skill 'greeting' allowed_tools references unknown tool 'nope'"],
  );
});

t.test('requires the same fields in the JSON Schema as the parser, and closes the object', async (t) => {
  t.match(z.toJSONSchema(ManagedSkill, { io: 'input' }), {
    type: 'object',
    required: ['id', 'name', 'description', 'instructions_md'],
    additionalProperties: false,
    properties: { name: { type: 'string', maxLength: 128 } },
  });
});
