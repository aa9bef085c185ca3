// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders in the instructions of skills
import { realpathSync } from 'node:fs';
import t, { type Test } from 'tap';
import { permissionOverrides } from '../../../src/plugins/permission/state.ts';
import { fileSkill } from '../../../src/plugins/skills/skill.ts';
import { skillsState } from '../../../src/plugins/skills/state.ts';
import { createSkillTools } from '../../../src/plugins/skills/tools.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import type { Json, ToolOutput } from '../../../src/tools/tool.ts';
import { quietContext } from '../../tools/call.ts';
import { stateStore } from '../context.ts';
import { failureOf, greeting, skillWith, sourceOf, toolNamed } from './skills.ts';

const descriptor = (id: string): ToolDescriptor => ({
  id,
  name: id,
  description: '',
  parameters: {},
  category: null,
});

const TOOLS = ['get_weather', 'get_stock_price', 'finish', 'Bash'].map(descriptor);

const withFiles = (t: Test) => {
  const root = realpathSync(
    t.testdir({
      references: { 'guide.md': 'The guide.' },
      scripts: { 'echo.js': 'console.log(process.argv[2])', 'endless.js': 'setInterval(() => {}, 1000)' },
    }),
  );
  return fileSkill({ ...greeting, id: 'files', name: 'files' }, { root, resources: true, scripts: true });
};

/** The tools of an agent with these skills; each call sees the state that earlier calls have left. */
const setUp = (skills: Parameters<typeof sourceOf>, plugin_ids: string[] = [], scriptTimeoutMs = 60_000) => {
  const tools = createSkillTools({
    skills: sourceOf(...skills),
    agent: AgentSpec.parse({ id: 'a1', plugin_ids }),
    tools: TOOLS,
    scriptTimeoutMs,
  });
  const store = stateStore();
  const call = async (id: string, args: Json): Promise<ToolOutput> => {
    const output = await toolNamed(tools, id).execute(args, quietContext({ state: store.view }));
    if ('suspend' in output) throw new Error('skill tools do not suspend');
    store.apply(output.state);
    return output;
  };
  return { call, state: store.view };
};

t.test('responds to an activation, and stores the filled instructions in the thread', async (t) => {
  const skill = skillWith({ instructions_md: 'Greet ${who}.' });
  const { call, state } = setUp([[skill]]);
  const output = await call('skill', {
    skill: 'greeting',
    args: { who: 'no one' },
    arguments: { who: 'all' },
  });
  t.match(output, { data: { activated: true, skill_id: 'greeting' }, message: 'Launching skill: greeting' });
  t.strictSame(output.actions, []);
  t.strictSame(state.get(skillsState), {
    active: ['greeting'],
    activations: [{ skill_id: 'greeting', instructions: 'Greet all.', revision: skill.revision }],
  });
});

t.test('accepts args instead of arguments', async (t) => {
  const { call, state } = setUp([[skillWith({ instructions_md: 'Greet ${who}.' })]]);
  await call('skill', { skill: 'greeting', args: { who: 'all' }, arguments: null });
  t.match(state.get(skillsState), { activations: [{ instructions: 'Greet all.' }] });
});

t.test('replaces an earlier activation of a skill at its position', async (t) => {
  const { call, state } = setUp([[skillWith({ instructions_md: 'Greet ${who}.' }), skillWith({ id: 'b' })]]);
  await call('skill', { skill: 'greeting', arguments: { who: 'one' } });
  await call('skill', { skill: 'b' });
  await call('skill', { skill: 'greeting', arguments: { who: 'two' } });
  t.match(state.get(skillsState), {
    active: ['greeting', 'b'],
    activations: [{ instructions: 'Greet two.' }, { instructions: greeting.instructions_md }],
  });
});

t.test('adds an allow rule of the run for each allowed tool', async (t) => {
  const skills = [
    skillWith({ allowed_tools: ['get_*', 'finish', 'get_*'] }),
    skillWith({ id: 'b', allowed_tools: ['finish', 'Bash'] }),
  ];
  const { call, state } = setUp([skills], ['permission']);
  await call('skill', { skill: 'greeting' });
  await call('skill', { skill: 'b' });
  t.strictSame(state.get(permissionOverrides), {
    rules: ['get_*', 'finish', 'Bash'].map((tool) => ({ tool, behavior: 'allow' })),
  });
});

t.test('grants no rules without the permission plugin', async (t) => {
  const { call, state } = setUp([[skillWith({ allowed_tools: ['get_*'] })]]);
  await call('skill', { skill: 'greeting' });
  t.equal(state.get(permissionOverrides), undefined);
});

t.test('promotes the allowed tools of a skill for agents with deferred tools', async (t) => {
  const skill = fileSkill(
    { ...greeting, allowed_tools: ['get_*', '/^fin/', 'Bash(git *)', 'nope'] },
    { root: '/nowhere', resources: false, scripts: false },
  );
  const { actions } = await setUp([[skill]], ['ext-deferred-tools']).call('skill', { skill: 'greeting' });
  t.strictSame(actions, [
    { key: 'ext-deferred-tools:promote', payload: ['get_weather', 'get_stock_price', 'finish', 'Bash'] },
  ]);
  const none = await setUp([[skillWith()]], ['ext-deferred-tools']).call('skill', { skill: 'greeting' });
  t.strictSame(none.actions, []);
});

t.test('loads a resource of a file skill', async (t) => {
  const { call } = setUp([[withFiles(t)]]);
  const { data } = await call('load_skill_resource', { skill: 'files', path: 'references/guide.md' });
  t.match(data, { loaded: true, skill_id: 'files', kind: 'reference', content: 'The guide.' });
});

t.test('runs a script of a file skill', async (t) => {
  const { call } = setUp([[withFiles(t)]]);
  const { data } = await call('skill_script', { skill: 'files', script: 'scripts/echo.js', args: ['hi'] });
  t.match(data, { ok: true, skill_id: 'files', exit_code: 0, stdout: 'hi\n' });
});

t.test('kills a script after the configured timeout', async (t) => {
  const { call } = setUp([[withFiles(t)]], [], 100);
  const failure = await failureOf(() =>
    call('skill_script', { skill: 'files', script: 'scripts/endless.js' }),
  );
  t.equal(failure[0], 'script_timeout');
});

const failures: [tool: string, args: Json, code: string, message: string | RegExp][] = [
  ['skill', { skill: 'nope' }, 'unknown_skill', 'Unknown skill: nope'],
  ['skill', {}, 'invalid_arguments', "missing 'skill'"],
  ['skill', null, 'invalid_arguments', "missing 'skill'"],
  ['skill', ['greeting'], 'invalid_arguments', "missing 'skill'"],
  ['skill', { skill: 7 }, 'invalid_arguments', "missing 'skill'"],
  ['skill', { skill: 'hidden' }, 'model_invocation_disabled', /'hidden'/],
  ['skill', { skill: 'broken' }, 'invalid_skill_md', "SKILL.md of 'broken': no front matter"],
  ['skill', { skill: 'strict' }, 'invalid_arguments', "missing required argument 'x' for skill 'strict'"],
  [
    'skill',
    { skill: 'strict', args: 'y' },
    'invalid_arguments',
    "skill 'strict' requires named arguments: x",
  ],
  ['load_skill_resource', { path: 'references/a.md' }, 'invalid_arguments', "missing 'skill'"],
  ['load_skill_resource', { skill: 'files' }, 'invalid_arguments', "missing 'path'"],
  ['load_skill_resource', { skill: 'files', path: 'a', kind: 'x' }, 'invalid_arguments', /'kind'/],
  ['load_skill_resource', { skill: 'files', path: '../a' }, 'path_escapes_root', /leads out/],
  ['load_skill_resource', { skill: 'hidden', path: 'references/a' }, 'model_invocation_disabled', /'hidden'/],
  [
    'load_skill_resource',
    { skill: 'greeting', path: 'references/a' },
    'unsupported_operation',
    /no resources/,
  ],
  ['skill_script', { skill: 'files' }, 'invalid_arguments', "missing 'script'"],
  ['skill_script', { skill: 'greeting', script: 'scripts/a.sh' }, 'unsupported_operation', /no scripts/],
  ['skill_script', { skill: 'hidden', script: 'scripts/a.sh' }, 'model_invocation_disabled', /'hidden'/],
  ['skill_script', { skill: 'files', script: 'scripts/echo.js', args: 'x' }, 'invalid_arguments', /array/],
  ['skill_script', { skill: 'files', script: 'scripts/echo.js', args: [1] }, 'invalid_arguments', /array/],
  ['skill_script', { skill: 'files', script: 'scripts/echo.js', args: ['\0'] }, 'invalid_arguments', /NUL/],
  [
    'skill_script',
    { skill: 'files', script: 'scripts/echo.js', args: Array(65).fill('x') },
    'invalid_arguments',
    "'args' must have at most 64 entries, got 65",
  ],
];
for (const [tool, args, code, message] of failures) {
  t.test(`${tool} ${JSON.stringify(args).slice(0, 70)} fails with ${code}`, async (t) => {
    const skills = [
      skillWith(),
      withFiles(t),
      skillWith({ id: 'hidden', model_invocable: false }),
      skillWith({ id: 'strict', arguments: [{ name: 'x', required: true }] }),
    ];
    const { call, state } = setUp([skills, [{ id: 'broken', problem: 'no front matter' }]]);
    t.match(await failureOf(() => call(tool, args)), [code, message]);
    t.equal(state.get(skillsState), undefined, 'nothing is activated');
  });
}

t.test('accepts 64 arguments', async (t) => {
  const { call } = setUp([[withFiles(t)]]);
  const args = Array<string>(64).fill('x');
  t.match(await call('skill_script', { skill: 'files', script: 'scripts/echo.js', args }), {
    data: { ok: true },
  });
});
