import t from 'tap';
import { AgentSpec } from '../../../src/schema/agent.ts';
import type { Store } from '../../../src/store/index.ts';
import { collect } from '../../collect.ts';
import { BASE, CALLER, greeting, startPlane, toolOf } from './plane.ts';

/** Publications, and access to earlier ones: config.md 7 and check 66. */

t.test('resolves a resumed run with its original publication, also after a restart', async (t) => {
  const plane = await startPlane(t, { entries: { ...BASE, agents: [{ id: 'helper', model_id: 'm' }] } });
  const agent = (system_prompt: string) => plane.agent('a', { system_prompt, delegates: ['helper'] });
  await plane.create('agents', agent('one'));
  const { resolution_id } = plane.live.resolve('a');
  await plane.put('agents', agent('two'));
  await plane.put('models', { id: 'm', provider_id: 'p', upstream_model: 'other' });
  const isOne = (): void => {
    const then = plane.live.resolve('a', resolution_id);
    t.match(then, { spec: { system_prompt: 'one' }, model: { upstream: 'up' }, resolution_id });
    t.match(plane.live.resolve('a'), { spec: { system_prompt: 'two' }, model: { upstream: 'other' } });
  };
  isOne();
  t.equal(
    plane.live.resolve('a', resolution_id),
    plane.live.resolve('a', resolution_id),
    'the resolved agent is cached',
  );
  await plane.remove('agents', 'a');
  t.throws(() => plane.live.resolve('a'), { message: 'agent not found: a' });
  t.match(plane.live.resolve('a', resolution_id), { spec: { system_prompt: 'one' } });
  await plane.restart();
  t.match(plane.live.resolve('a', resolution_id), { spec: { system_prompt: 'one' } });
  await plane.create('agents', agent('two'));
  isOne();
});

t.test('releases unused publications, however often the configuration changes', async (t) => {
  const plane = await startPlane(t);
  await plane.create('agents', plane.agent('a'));
  const earlier: WeakRef<object>[] = [];
  for (let change = 0; change < 80; change += 1) {
    await plane.put('agents', plane.agent('a', { system_prompt: `of change ${change}` }));
    const { resolution_id } = plane.live.resolve('a');
    earlier.push(new WeakRef(plane.live.resolve('a')));
    t.equal(plane.live.resolve('a', resolution_id), plane.live.resolve('a'));
  }
  const [first, last] = [earlier[0], earlier.at(-1)];
  // A dereferenced weak reference stays alive until the end of the tick.
  await new Promise(setImmediate);
  collect();
  t.ok(last?.deref(), 'the live publication is retained');
  t.equal(first?.deref(), undefined);
  const held = earlier.filter((each) => each.deref()).length;
  t.ok(held <= 2, `${held} of ${earlier.length} are held`);
});

t.test('creates a new version of a resource only if it has changed', async (t) => {
  const plane = await startPlane(t);
  const versions = () => {
    const { entries } = plane.store.publications.latest('default') ?? { entries: [] };
    return entries.map(({ kind, id, version }) => `${kind} ${id} ${version}`);
  };
  await plane.create('agents', plane.agent('a', { system_prompt: 'one' }));
  await plane.put('agents', plane.agent('a', { system_prompt: 'two' }));
  const now = ['agent a 2', 'model m 1', 'provider p 1', 'skill greeting 1', 'tool look 1', 'tool write 1'];
  t.strictSame(versions(), now);
  await plane.put('agents', plane.agent('a', { system_prompt: 'two' }));
  t.strictSame(versions(), now, 'equal content does not create a version');
  t.equal(plane.store.publications.latest('default')?.snapshot_version, 4);
  await plane.remove('agents', 'a');
  await plane.create('agents', plane.agent('a', { system_prompt: 'two' }));
  t.strictSame(versions(), now, 'equal content after a deletion does not create a version');
  await plane.put('agents', plane.agent('a', { system_prompt: 'one' }));
  t.match(versions()[0], 'agent a 3', 'content that equals an older version creates a version');
  t.match(plane.store.publications.latest('default'), {
    scope_id: 'default',
    created_by: 'tester',
    metadata: {},
    source_config_revisions: [{ namespace: 'agents', id: 'a', revision: 2 }],
  });
});

t.test('stores no provider key in a publication, and uses the stored key', async (t) => {
  const plane = await startPlane(t);
  const provider = (api_key: string) => ({ id: 'real', adapter: 'groq', api_key });
  await plane.create('providers', provider('sk-one'));
  await plane.create('models', { id: 'm2', provider_id: 'real', upstream_model: 'u' });
  await plane.create('agents', plane.agent('a', { model_id: 'm2' }));
  const { resolution_id } = plane.live.resolve('a');
  await plane.put('providers', provider('sk-two'));
  t.equal(plane.store.publications.latestVersion('default', 'provider', 'real')?.version, 1);
  t.notMatch(JSON.stringify(plane.store.publications.version('default', 'provider', 'real', 1)), 'sk-');
  await plane.put('agents', plane.agent('a'));
  await plane.restart();
  t.match(plane.live.resolve('a', resolution_id), { model: { id: 'm2', provider: 'real' } });
  await plane.remove('agents', 'a');
  await plane.remove('providers', 'real', true);
  t.throws(() => plane.live.resolve('a', resolution_id), { name: 'Unmet', message: /api.?key/i });
});

t.test('does not use the stored key for a publication with an older address', async (t) => {
  const plane = await startPlane(t);
  const provider = (host: string) => ({
    id: 'real',
    adapter: 'groq',
    api_key: `key-of-${host}`,
    base_url: `https://${host}.example/v1`,
  });
  await plane.create('providers', provider('one'));
  await plane.create('models', { id: 'm2', provider_id: 'real', upstream_model: 'u' });
  await plane.create('agents', plane.agent('a', { model_id: 'm2' }));
  const { resolution_id } = plane.live.resolve('a');
  await plane.put('providers', provider('two'));
  await plane.restart();
  t.throws(() => plane.live.resolve('a', resolution_id), { name: 'Unmet', message: /api.?key/i });
});

t.test('rejects a number without a publication', async (t) => {
  const { live } = await startPlane(t);
  for (const id of ['99', 'abc', '1.5', '-1', '1e0', '01']) {
    t.throws(() => live.resolve('a', id), {
      name: 'Invalid',
      message: `registry snapshot not found: '${id}'`,
    });
  }
});

t.test('rejects a publication that was altered', async (t) => {
  let tampered = false;
  const through = (store: Store): Store => ({
    ...store,
    publications: {
      ...store.publications,
      version: (...args) => {
        const found = store.publications.version(...args);
        return tampered && found ? { ...found, value: { ...found.value, model_id: 'other' } } : found;
      },
    },
  });
  const plane = await startPlane(t, { through });
  await plane.create('agents', plane.agent('a'));
  const { resolution_id } = plane.live.resolve('a');
  await plane.put('agents', plane.agent('a', { max_rounds: 3 }));
  tampered = true;
  t.throws(() => plane.live.resolve('a', resolution_id), {
    name: 'Integrity',
    message: `registry snapshot '${resolution_id}': version 1 of agent 'a' does not match its hash`,
  });
});

t.test('uses the tools and skills of a snapshot with their original texts', async (t) => {
  const seen = new Map<string, string[]>();
  const plane = await startPlane(t, {
    plugins: (source) => [
      {
        id: 'skilled',
        sections: [],
        state: [],
        parts: ({ agent }) => {
          seen.set(
            agent.system_prompt,
            source.list().map(({ spec }) => spec.instructions_md),
          );
          return {};
        },
      },
    ],
  });
  const agent = (system_prompt: string) => plane.agent('a', { system_prompt, plugin_ids: ['skilled'] });
  await plane.service.overrides.patch('tools', 'look', { description: 'Then.' }, CALLER);
  await plane.create('agents', agent('then'));
  const { resolution_id } = plane.live.resolve('a');
  await plane.put('skills', { ...greeting.spec, instructions_md: 'Say goodbye.' });
  await plane.service.overrides.patch('tools', 'look', { description: 'Now.' }, CALLER);
  await plane.put('agents', agent('now'));
  await plane.restart({ tools: [toolOf('look'), toolOf('new')] });
  const then = plane.live.resolve('a', resolution_id).tools;
  t.strictSame(
    Array.from(then.values(), ({ descriptor }) => `${descriptor.id}: ${descriptor.description}`),
    ['look: Then.'],
    'the snapshot has neither later tools nor removed ones',
  );
  t.equal(plane.live.resolve('a').tools.get('look')?.descriptor.description, 'Now.');
  t.strictSame([...plane.live.resolve('a').tools.keys()], ['look', 'new']);
  t.strictSame([seen.get('then'), seen.get('now')], [['Say hello.'], ['Say goodbye.']]);
});

t.test('publishes a draft separately, which is never live', async (t) => {
  const plane = await startPlane(t);
  await plane.create('agents', plane.agent('a', { system_prompt: 'live' }));
  const before = plane.live.resolve('a').resolution_id;
  const draft = await plane.live.publishDraft(plane.agent('a', { system_prompt: 'draft' }));
  t.match(draft, { spec: { system_prompt: 'draft' }, resolution_id: String(Number(before) + 1) });
  const isHidden = (): void => {
    t.equal(plane.live.resolve('a').spec.system_prompt, 'live');
    t.equal(plane.live.resolve('a', draft.resolution_id).spec.system_prompt, 'draft');
  };
  isHidden();
  t.match(plane.store.publications.latest('default'), {
    metadata: { preview: true },
    source_config_revisions: [],
  });
  t.match(plane.service.get('agents', 'a'), { system_prompt: 'live' });
  t.equal(plane.events('agents/a').length, 1);
  await plane.restart();
  isHidden();
  t.equal(plane.live.resolve('a').resolution_id, before, 'a restart publishes the version that was live');
  await plane.create('agents', plane.agent('b'));
  t.equal(plane.live.resolve('b').resolution_id, String(Number(before) + 2));
  isHidden();
});

t.test('does not publish a draft that cannot run', async (t) => {
  const plane = await startPlane(t);
  const { snapshot_version } = plane.store.publications.latest('default') ?? {};
  await t.rejects(plane.live.publishDraft({ id: 'x', model_id: 'gone' }), {
    message: 'model not found: gone',
  });
  await t.rejects(plane.live.publishDraft({ id: 'x', max_rounds: 'y' }), {
    message: /^invalid agent spec: /,
  });
  t.equal(plane.store.publications.latest('default')?.snapshot_version, snapshot_version);
});

t.test('reuses unchanged parts, so that connections of providers stay open', async (t) => {
  const plane = await startPlane(t);
  await plane.create('agents', plane.agent('a'));
  const { model } = plane.live.resolve('a');
  await plane.put('agents', plane.agent('a', { max_rounds: 3 }));
  t.equal(plane.live.resolve('a').model, model);
  await plane.put('providers', { id: 'p', adapter: 'scripted' });
  t.equal(plane.live.resolve('a').model, model, 'an unchanged write keeps the model');
  await plane.put('providers', { id: 'p', adapter: 'scripted', timeout_secs: 5 });
  t.not(plane.live.resolve('a').model, model);
});

t.test('compiles an agent only when it is resolved', async (t) => {
  let compiled = 0;
  const plane = await startPlane(t, {
    plugins: () => [
      {
        id: 'counting',
        sections: [],
        state: [],
        parts: ({ agent }) => {
          if (agent.id !== 'probe') compiled += 1;
          return {};
        },
      },
    ],
  });
  for (let n = 0; n < 10; n += 1) {
    await plane.create('agents', plane.agent(`a${n}`, { plugin_ids: ['counting'] }));
  }
  t.equal(compiled, 10, 'only the resolved agents are compiled');
  plane.live.resolve('a1');
  plane.live.resolve('a1');
  t.equal(compiled, 11);
});

t.test('omits an entry that is no longer valid', async (t) => {
  const plane = await startPlane(t);
  await plane.create('agents', plane.agent('a'));
  const record = plane.store.config.get('agents', 'a');
  const batch = plane.store.batch('commons');
  if (record) plane.store.config.put(batch, { ...record, spec: { id: 'a', max_rounds: 'many' } });
  await plane.store.commit(batch);
  await plane.restart();
  t.match(plane.warnings, ['config.entry_invalid']);
  t.throws(() => plane.live.resolve('a'), { message: 'agent not found: a' });
  await plane.create('agents', plane.agent('b'));
  t.match(plane.service.list('agents', {}).items, [{ id: 'a' }, { id: 'b' }]);
});

t.test('names remote agents by their server, and by their own name if it is free', async (t) => {
  const remote = (id: string) =>
    AgentSpec.parse({ id, registry: 'srv', endpoint: { base_url: 'https://r.example' } });
  const plane = await startPlane(t, {
    entries: { ...BASE, agents: [{ id: 'mine', model_id: 'm' }] },
    more: { a2a: { own: [], discovered: () => [remote('far'), remote('mine')], apply() {} } },
  });
  t.strictSame(plane.service.capabilities().agents, ['mine', 'srv/far', 'srv/mine']);
  for (const id of ['far', 'srv/far', 'srv/mine']) {
    t.throws(() => plane.live.resolve(id), { message: /unsupported remote backend/ });
  }
  t.doesNotThrow(() => plane.live.resolve('mine'));
  t.match(plane.service.list('agents', {}).items, [{ id: 'mine' }]);
  await plane.create('agents', plane.agent('a', { delegates: ['srv/far'] }));
});
