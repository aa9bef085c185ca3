import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readAgentsFile } from '../../src/configuration/agents-file.ts';
import { builtInPlugins } from '../../src/configuration/built-in-plugins.ts';
import { createRegistry } from '../../src/configuration/registry.ts';
import { seedRecords } from '../../src/configuration/seed.ts';
import { seedSkills } from '../../src/configuration/seed-skills.ts';
import { createSkillSource } from '../../src/plugins/skills/source.ts';
import { agentJson } from '../../src/schema/agent-json.ts';
import { TEST_AGENTS } from '../../src/schema/test-agents.ts';
import { type SettingsInput, settingsFrom } from '../../src/settings/index.ts';
import { createCatalogue } from '../../src/tools/catalogue.ts';
import { createDemoTools } from '../../src/tools/demo.ts';
import { NO_TRANSPORT } from '../models/create-provider.ts';
import { NO_SUB_AGENTS } from '../tools/sub-agents.ts';
import { plainRoutes } from './routes.ts';

const seedOf = (settings: SettingsInput = {}, changes = {}) => seedRecords(settingsFrom(settings), changes);
const demo = (settings: SettingsInput['seed'] = {}) => seedOf({ seed: { profile: 'demo', ...settings } });

t.test('seeds one agent and a scripted model in the profile minimal', async (t) => {
  const { agents, models, providers } = seedOf({ seed: { system_prompt: 'Help.' } });
  t.strictSame(
    agents.map((agent) => agentJson(agent)),
    [
      {
        id: 'default',
        backend: {
          kind: 'local',
          version: 1,
          config: { model_id: 'default', system_prompt: 'Help.', max_rounds: 3 },
        },
        model_id: 'default',
        system_prompt: 'Help.',
        max_rounds: 3,
        max_continuation_retries: 2,
        plugin_ids: ['observability'],
        allowed_tools: null,
        allowed_tool_patterns: ['*'],
      },
    ],
  );
  t.strictSame(models, [{ id: 'default', provider_id: 'default', upstream_model: 'scripted' }]);
  t.strictSame(providers, [{ id: 'default', adapter: 'scripted' }]);
});

/** agent-loop.md 18.3; 8 is the value of `seed.max_rounds`. */
const DEMO: [id: string, rounds: number, plugins: string[], more?: object][] = [
  ['default', 3, ['frontend_tools', 'observability']],
  ['permission', 8, ['permission', 'frontend_tools']],
  ['travel', 3, ['permission']],
  ['research', 3, ['permission']],
  ['skills', 8, ['skills-discovery', 'skills-active-instructions', 'frontend_tools']],
  ['limited', 1, ['permission']],
  ['stopper', 1, []],
  ['thinking', 1, []],
  ['a2a', 8, ['frontend_tools']],
  ['phases', 2, ['permission', 'phase_logger']],
  ['genui', 2, ['permission']],
  ['a2ui', 8, ['generative-ui'], { allowed_tools: ['render_a2ui'], allowed_tool_patterns: null }],
  ['json-render', 4, [], { allowed_tools: ['render_json_ui'], allowed_tool_patterns: null }],
  ['openui', 4, [], { allowed_tools: ['render_openui_ui'], allowed_tool_patterns: null }],
  ['json-render-ui', 1, [], { allowed_tools: [], allowed_tool_patterns: null }],
  ['openui-ui', 1, [], { allowed_tools: [], system_prompt: /OpenUI Lang/ }],
  ['profile', 3, ['permission']],
  [
    'creative',
    3,
    ['permission'],
    {
      context_policy: {
        max_context_tokens: 128_000,
        max_output_tokens: 4096,
        min_recent_messages: 6,
        enable_prompt_cache: false,
      },
    },
  ],
  [
    'compact',
    3,
    ['permission'],
    { context_policy: { max_context_tokens: 4096, autocompact_threshold: 3072, min_recent_messages: 4 } },
  ],
  ['budget', 3, ['permission', 'budget-stop']],
  ['config-assistant', 6, ['permission']],
];

t.test('seeds the agents of the contract in the profile demo', async (t) => {
  const { agents } = demo();
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  for (const [id, max_rounds, plugin_ids, more = {}] of DEMO) {
    t.match(byId.get(id), { model_id: 'default', max_rounds, ...more }, id);
    t.strictSame(byId.get(id)?.plugin_ids, plugin_ids, id);
  }
  t.equal(agents.length, DEMO.length + 2, 'the benchmarks add two agents');
  const rounds = demo({ max_rounds: 5 }).agents.filter(({ max_rounds }) => max_rounds === 5);
  t.strictSame(
    rounds.map(({ id }) => id),
    ['permission', 'skills', 'a2a'],
  );
});

t.test('resolves every seeded agent with the built-in plugins', async (t) => {
  const skills = createSkillSource(() => ({ skills: [], broken: [] }));
  for (const profile of ['minimal', 'demo'] as const) {
    const registry = createRegistry({
      records: seedOf({ seed: { profile } }),
      catalogue: createCatalogue(createDemoTools()),
      plugins: builtInPlugins({ log: { info() {} }, skills }),
      providers: [],
      routes: plainRoutes,
      subAgents: NO_SUB_AGENTS,
      env: {},
      transport: NO_TRANSPORT,
      resolution_id: '1',
    });
    t.strictSame(registry.problems(), []);
  }
});

t.test('describes every demo agent, and seeds test agents after the others', async (t) => {
  const { agents } = demo();
  t.strictSame(
    agents.filter(({ description = '' }) => description === ''),
    [],
  );
  const ids = agents.map(({ id }) => id);
  t.equal(ids[0], 'default');
  t.strictSame(ids.slice(-TEST_AGENTS.length).sort(), [...TEST_AGENTS].sort());
});

t.test('replaces the demo agent with the id of the default agent', async (t) => {
  const { agents } = seedOf({ default_agent_id: 'limited', seed: { profile: 'demo' } });
  const limited = agents.filter(({ id }) => id === 'limited');
  t.match(limited, [{ max_rounds: 3, plugin_ids: ['frontend_tools', 'observability'] }]);
  t.notOk(agents.some(({ id }) => id === 'default'));
});

t.test('applies the reasoning effort to default and thinking', async (t) => {
  const { agents } = demo({ reasoning_effort: 'high' });
  t.strictSame(
    agents.filter(({ reasoning_effort }) => reasoning_effort === 'high').map(({ id }) => id),
    ['default', 'thinking'],
  );
});

t.test('changes prompts and the catalog of seeded agents from a file', async (t) => {
  const file = join(t.testdir(), 'agents.json');
  const write = (agents: object) => writeFileSync(file, JSON.stringify({ agents }));
  const seeded = () => seedOf({ seed: { profile: 'demo' } }, readAgentsFile(file));
  write({ travel: { system_prompt: 'Only trains.' }, a2ui: { catalog: 'https://c' } });
  const byId = new Map(seeded().agents.map((agent) => [agent.id, agent]));
  t.equal(byId.get('travel')?.system_prompt, 'Only trains.');
  t.strictSame(byId.get('a2ui')?.sections, { 'generative-ui': { catalog_id: 'https://c' } });
  write({ nope: {} });
  t.throws(seeded, { message: /no seeded agent 'nope'; there are default, / });
  write({ travel: { catalog: 'https://c' } });
  t.throws(seeded, { message: /'travel' does not have the plugin generative-ui/ });
  write({ travel: { prompt: 'x' } });
  t.throws(seeded, { message: /seed\.agents_file .*agents\.json: unknown field 'prompt'$/ });
  writeFileSync(file, '{');
  t.throws(seeded, { message: /seed\.agents_file .* cannot be read: / });
});

t.test('seeds the skills of the folder, and greeting unless the folder has one', async (t) => {
  const folder = t.testdir();
  const ids = async () => (await seedSkills(folder)).skills.map(({ spec }) => spec.id);
  t.strictSame(await ids(), ['greeting']);
  mkdirSync(join(folder, 'poems'));
  writeFileSync(join(folder, 'poems', 'SKILL.md'), '---\ndescription: Writes poems\n---\nRhyme.\n');
  t.strictSame(await ids(), ['poems', 'greeting']);
  const { skills } = await seedSkills(join(folder, 'nowhere'));
  t.match(skills, [
    { spec: { id: 'greeting', name: 'greeting', description: 'Adds friendly greeting behavior' } },
  ]);
});
