import t from 'tap';
import { fileSkill } from '../../../src/plugins/skills/skill.ts';
import type { EntriesInput } from '../../../src/settings/index.ts';
import { BASE, CALLER, greeting, startPlane, toolOf } from './plane.ts';

/** Seeding: config.md 14 and check 67. */

const withAgents = (...agents: NonNullable<EntriesInput['agents']>): EntriesInput => ({ ...BASE, agents });
const base = (system_prompt: string) => ({ id: 'a', model_id: 'm', system_prompt });

t.test('creates built-in entries for those of the program, counted by bucket in the audit log', async (t) => {
  const { service, events, live } = await startPlane(t, { entries: withAgents(base('one')) });
  t.match(service.meta('agents', 'a'), {
    source: { kind: 'builtin', binary_version: '1.0.0' },
    revision: 1,
    hidden: false,
    actor: 'system:seed',
  });
  t.match(service.get('tools', 'look'), {
    id: 'look',
    name: 'look',
    description: 'Does look.',
    parameters_schema: { type: 'object' },
  });
  t.match(service.get('skills', 'greeting'), { instructions_md: 'Say hello.' });
  t.match(events(), [
    {
      action: 'seed_apply',
      resource: 'seed:created',
      actor: 'system:seed',
      request_id: null,
      after: {
        bucket: 'created',
        count: 6,
        truncated: false,
        sample: ['providers/p', 'models/m', 'agents/a', 'tools/look', 'tools/write', 'skills/greeting'],
      },
    },
  ]);
  t.equal(live.resolve('a').resolution_id, '1');
});

t.test('changes nothing on a second start of the same program', async (t) => {
  const plane = await startPlane(t, { entries: withAgents(base('one')) });
  const state = () => [
    plane.service.metas('agents', {}),
    plane.service.metas('tools', {}),
    plane.events(),
    plane.store.publications.latest('default')?.snapshot_version,
  ];
  const before = state();
  await plane.restart();
  t.strictSame(state(), before);
  t.equal(plane.live.resolve('a').resolution_id, '1');
});

t.test('replaces the base with a new version, and keeps overrides and the creation time', async (t) => {
  const plane = await startPlane(t, { entries: withAgents(base('one')) });
  await plane.service.overrides.patch('agents', 'a', { max_rounds: 3 }, CALLER);
  const { created_at } = plane.service.meta('agents', 'a');
  await plane.restart({ entries: withAgents(base('two')), version: '2.0.0' });
  t.match(plane.service.get('agents', 'a'), { system_prompt: 'two', max_rounds: 3 });
  t.match(plane.live.resolve('a').spec, { system_prompt: 'two', max_rounds: 3 });
  t.match(plane.service.meta('agents', 'a'), {
    source: { binary_version: '2.0.0' },
    created_at,
    revision: 3,
    user_overrides: { max_rounds: 3 },
    actor: 'system:seed',
  });
  t.match(plane.events().at(-1), { resource: 'seed:updated', after: { bucket: 'updated', count: 6 } });
});

t.test('keeps an entry that an operator has written', async (t) => {
  const plane = await startPlane(t, { entries: withAgents(base('one')) });
  await plane.put('agents', { ...base('mine') });
  await plane.restart({ entries: withAgents(base('two')), version: '2.0.0' });
  t.match(plane.service.get('agents', 'a'), { system_prompt: 'mine' });
  await plane.restart({ entries: withAgents() });
  t.match(plane.service.get('agents', 'a'), { system_prompt: 'mine' });
  t.equal(plane.live.resolve('a').spec.system_prompt, 'mine');
});

t.test('deletes an entry that the program no longer has, or hides it if it has overrides', async (t) => {
  const entries = withAgents(base('one'), { id: 'b', model_id: 'm' });
  const plane = await startPlane(t, { entries });
  await plane.service.overrides.patch('agents', 'a', { max_rounds: 3 }, CALLER);
  await plane.restart({ entries: withAgents() });
  t.throws(() => plane.service.get('agents', 'b'), { message: 'agents/b' });
  t.match(plane.service.meta('agents', 'a'), { hidden: true, user_overrides: { max_rounds: 3 } });
  t.match(plane.service.list('agents', {}).items, [{ id: 'a' }]);
  t.throws(() => plane.live.resolve('a'), { message: 'agent not found: a' });
  t.match(plane.events().at(-1), {
    resource: 'seed:deleted',
    after: { count: 2, sample: ['agents/a', 'agents/b'] },
  });
  const events = plane.events().length;
  await plane.restart({ entries: withAgents() });
  t.equal(plane.events().length, events, 'an entry that is already hidden is not written again');
  await plane.restart({ entries });
  t.match(plane.service.meta('agents', 'a'), { hidden: false });
  t.equal(plane.live.resolve('a').spec.max_rounds, 3);
});

t.test('changes and clears overrides of a hidden entry, which apply once it is visible', async (t) => {
  const entries = withAgents(base('one'));
  const plane = await startPlane(t, { entries });
  await plane.service.overrides.patch('agents', 'a', { max_rounds: 3 }, CALLER);
  await plane.restart({ entries: withAgents() });
  await plane.service.overrides.patch('agents', 'a', { max_rounds: 5 }, CALLER);
  t.match(plane.service.meta('agents', 'a'), { hidden: true, user_overrides: { max_rounds: 5 } });
  await plane.restart({ entries });
  t.equal(plane.live.resolve('a').spec.max_rounds, 5);
});

t.test('ignores the references of a hidden entry', async (t) => {
  const plane = await startPlane(t, { entries: withAgents(base('one')) });
  await plane.service.overrides.patch('agents', 'a', { max_rounds: 3 }, CALLER);
  await plane.restart({ entries: withAgents() });
  await plane.remove('models', 'm');
  t.strictSame(plane.service.diagnostics(), []);
});

t.test('stores nothing if the program has invalid entries', async (t) => {
  const plane = await startPlane(t);
  const before = plane.events();
  const broken: [EntriesInput, RegExp][] = [
    [withAgents({ id: 'x', model_id: 'gone' }), /^agent 'x' references missing model 'gone'$/],
    [
      withAgents({ id: 'x', model_id: 'm', allowed_tool_patterns: ['a\\'] }),
      /^x: agent spec 'x' has invalid tool catalog: .* dangling escape/,
    ],
    [withAgents({ id: 'x', model_id: 'm', plugin_ids: ['nope'] }), /^agent 'x' uses missing plugin 'nope'$/],
    [{ ...BASE, providers: [...BASE.providers, { id: 'q', adapter: 'nope' }] }, /^provider 'q': unsupported/],
  ];
  for (const [entries, message] of broken) {
    await t.rejects(plane.restart({ entries }), { name: 'Invalid', message });
  }
  await plane.restart();
  t.strictSame(plane.events(), before);
  t.throws(() => plane.service.get('agents', 'x'));
});

t.test('keeps stored entries when it starts without seeding', async (t) => {
  const plane = await startPlane(t, { entries: withAgents(base('one')) });
  await plane.restart({ entries: withAgents(base('two')), seeds: false });
  t.equal(plane.live.resolve('a').spec.system_prompt, 'one');
});

t.test('removes a missing tool even from an agent that may use all tools', async (t) => {
  const plane = await startPlane(t, { entries: withAgents(base('one')) });
  await plane.restart({ tools: [toolOf('look')] });
  t.strictSame([...plane.live.resolve('a').tools.keys()], ['look']);
  t.throws(() => plane.service.get('tools', 'write'));
});

const folderSkill = (id: string, more: object = {}) =>
  fileSkill(
    { id, name: id, description: 'd', instructions_md: 'i', ...more },
    { root: `/skills/${id}`, resources: true, scripts: false },
  );

t.test('creates an entry for a file skill, which keeps its files until it is changed', async (t) => {
  const skills = [
    folderSkill('plain', { allowed_tools: ['look'] }),
    folderSkill('scoped', { allowed_tools: ['look(x)'] }),
    folderSkill('strange', { allowed_tools: ['nowhere'] }),
    greeting,
  ];
  const sources: string[][] = [];
  const plane = await startPlane(t, {
    skills: { skills, broken: [{ id: 'bad', problem: 'no front matter' }] },
    plugins: (source) => {
      sources.push(source.list().map(({ spec, folder }) => `${spec.id}${folder ? ' with files' : ''}`));
      return [];
    },
  });
  t.strictSame(
    plane.service.list('skills', {}).items.map(({ id }) => id),
    ['greeting', 'plain'],
  );
  const all = ['greeting', 'plain with files', 'scoped with files', 'strange with files'];
  t.strictSame(sources.at(-1)?.sort(), all);
  t.match(plane.service.capabilities().skills, [
    { id: 'greeting' },
    { id: 'plain' },
    { id: 'scoped' },
    { id: 'strange' },
  ]);
  t.notMatch(JSON.stringify(plane.service.capabilities().skills), 'instructions_md');
  await plane.put('skills', { id: 'plain', name: 'n', description: 'mine', instructions_md: 'other' });
  t.strictSame(sources.at(-1)?.sort(), ['greeting', 'plain', 'scoped with files', 'strange with files']);
});
