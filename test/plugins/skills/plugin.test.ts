// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders in the instructions of skills
import t from 'tap';
import { z } from 'zod';
import type { ScheduledAction } from '../../../src/plugins/plugin.ts';
import { skillsState } from '../../../src/plugins/skills/state.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { Invalid } from '../../../src/schema/outcome.ts';
import { quietContext } from '../../tools/call.ts';
import { aboutAgent, hookContext, stateStore } from '../context.ts';
import { failureOf, greeting, pluginsOf, skillWith, sourceOf, toolNamed } from './skills.ts';

/** An agent with both plugins, used step by step like in the loop. */
const agentOf = (
  source: ReturnType<typeof sourceOf>,
  store = stateStore(),
  section?: { allowlist: string[] },
) => {
  const about = aboutAgent(section && { skills: section });
  const { discovery, active } = pluginsOf(source);
  const [discover, inject] = [discovery.parts(about), active.parts(about)];
  const context = hookContext({ state: store.view });
  return {
    activate: async (skill: string, args: object = {}) => {
      const output = await toolNamed(discover.tools, 'skill').execute(
        { skill, arguments: { ...args } },
        quietContext({ state: store.view }),
      );
      if (!('suspend' in output)) store.apply(output.state);
    },
    catalog: async () => messageOf(await discover.hooks?.before_inference?.(context)),
    step: async () => {
      const outcome = await inject.hooks?.before_inference?.(context);
      store.apply(outcome?.state);
      return messageOf(outcome);
    },
  };
};

const messageOf = (outcome: { actions?: readonly ScheduledAction[] } | undefined) => {
  const [action] = outcome?.actions ?? [];
  return action?.key === 'runtime.add_context_message' ? action.payload : undefined;
};

t.test('adds the current catalog at every step', async (t) => {
  const source = sourceOf([skillWith()]);
  const { catalog } = agentOf(source);
  t.match(await catalog(), { key: 'skill_catalog', target: 'system', content: '<name>greeting</name>' });
  source.replace([skillWith({ id: 'later' })]);
  t.match(await catalog(), { content: '<name>later</name>' });
  source.replace([]);
  t.equal(await catalog(), undefined);
});

t.test('injects instructions in every step after their activation', async (t) => {
  const agent = agentOf(sourceOf([skillWith(), skillWith({ id: 'b', instructions_md: 'Be ${how}.' })]));
  t.equal(await agent.step(), undefined);
  await agent.activate('greeting');
  await agent.activate('b', { how: 'brief' });
  const message = {
    key: 'active_skill_instructions',
    target: 'suffix_system',
    content: [
      '<active_skill_instructions>',
      '<skill_instruction skill="greeting">',
      greeting.instructions_md,
      '</skill_instruction>',
      '<skill_instruction skill="b">',
      'Be brief.',
      '</skill_instruction>',
      '</active_skill_instructions>',
    ].join('\n'),
  };
  t.strictSame(await agent.step(), message);
  t.strictSame(await agent.step(), message);
});

t.test('drops an activation whose skill was edited or deleted', async (t) => {
  const source = sourceOf([skillWith(), skillWith({ id: 'b' }), skillWith({ id: 'c' })]);
  const store = stateStore();
  const agent = agentOf(source, store);
  for (const id of ['greeting', 'b', 'c']) await agent.activate(id);
  source.replace([skillWith({ instructions_md: 'Edited.' }), skillWith({ id: 'c' })]);
  const content = (await agent.step())?.content;
  t.match(content, 'skill="c"');
  t.notMatch(content, /skill="(greeting|b)"/);
  t.match(store.view.get(skillsState), { active: ['c'], activations: [{ skill_id: 'c' }] });
  source.replace([]);
  t.equal(await agent.step(), undefined);
  t.strictSame(store.view.get(skillsState), { active: [], activations: [] });
});

t.test('writes state only when an activation is dropped', async (t) => {
  const store = stateStore();
  const source = sourceOf([skillWith()]);
  await agentOf(source, store).activate('greeting');
  const parts = pluginsOf(source).active.parts(aboutAgent());
  const outcome = await parts.hooks?.before_inference?.(hookContext({ state: store.view }));
  t.notOk(outcome?.state);
});

t.test('offers only the skills of the allowlist', async (t) => {
  const source = sourceOf([skillWith(), skillWith({ id: 'b' })]);
  const agent = agentOf(source, stateStore(), { allowlist: ['b'] });
  t.notMatch((await agent.catalog())?.content, 'greeting</name>');
  t.same(await failureOf(() => agent.activate('greeting')), ['unknown_skill', 'Unknown skill: greeting']);
  t.equal(await agentOf(source, stateStore(), { allowlist: [] }).catalog(), undefined);
});

t.test('hides instructions outside the allowlist without dropping them', async (t) => {
  const source = sourceOf([skillWith()]);
  const store = stateStore();
  await agentOf(source, store).activate('greeting');
  t.equal(await agentOf(source, store, { allowlist: [] }).step(), undefined);
  t.match(await agentOf(source, store).step(), { content: 'skill="greeting"' });
});

const sections: [section: object, shown: boolean][] = [
  [{}, true],
  [{ allowlist: null }, true],
  [{ ids: ['greeting'] }, true],
  [{ ids: [] }, false],
];
for (const [section, shown] of sections) {
  t.test(
    `with the section ${JSON.stringify(section)} a skill is ${shown ? 'shown' : 'hidden'}`,
    async (t) => {
      const agent = AgentSpec.parse({ id: 'a1', sections: { skills: section } });
      const parts = pluginsOf(sourceOf([skillWith()])).discovery.parts({ agent, tools: [] });
      t.equal((await parts.hooks?.before_inference?.(hookContext())) !== undefined, shown);
    },
  );
}

t.test('names an invalid section when rejecting it', async (t) => {
  const { discovery } = pluginsOf(sourceOf([]));
  const refuse = (section: object) => () =>
    discovery.parts(aboutAgent({ skills: JSON.parse(JSON.stringify(section)) }));
  const prefix = 'invalid config for plugin skills-discovery: section "skills" — ';
  t.throws(refuse({ allowlist: 'x' }), new Invalid(`${prefix}allowlist: must be an array, not a string`));
  t.throws(
    refuse({ allowlist: [], ids: [] }),
    new Invalid(`${prefix}'ids' is another name of 'allowlist': give one of them`),
  );
});

t.test('describes one section and three tools to consoles', async (t) => {
  const { discovery, active } = pluginsOf(sourceOf([]));
  t.match([discovery.id, active.id], ['skills-discovery', 'skills-active-instructions']);
  t.match(discovery.sections, [
    { key: 'skills', display_name: 'Skills', category: 'context', default_value: {} },
  ]);
  t.notOk(discovery.sections[0]?.editor);
  t.match(
    discovery.sections.map(({ schema }) => z.toJSONSchema(schema, { io: 'input' })),
    [{ type: 'object', properties: { allowlist: {} }, additionalProperties: false }],
  );
  t.same(active.sections, []);
  t.same(
    discovery.parts(aboutAgent()).tools?.map(({ descriptor }) => descriptor.id),
    ['skill', 'load_skill_resource', 'skill_script'],
  );
});

t.test('serializes activations, because the tool is exclusive', async (t) => {
  const { tools } = pluginsOf(sourceOf([])).discovery.parts(aboutAgent());
  t.ok(toolNamed(tools, 'skill').exclusive);
  t.ok(toolNamed(tools, 'skill_script').exclusive);
  t.notOk(toolNamed(tools, 'skill_script').idempotent);
});
