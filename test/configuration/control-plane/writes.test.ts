import t from 'tap';
import { guarded } from '../../../src/configuration/control-plane/writes.ts';
import { Conflict, Unavailable } from '../../../src/schema/outcome.ts';
import { BASE, CALLER, startPlane } from './plane.ts';

/** POST, PUT and validate: config.md 2.3, 2.5, 3.1, 6.1 and checks 18 to 21, 55, 56. */

t.test('stores, publishes and audits a write before responding', async (t) => {
  const { service, live, create, put, agent, events } = await startPlane(t);
  t.match(await create('agents', agent('a', { system_prompt: 'one' })), {
    id: 'a',
    max_rounds: 16,
    backend: { kind: 'local' },
    allowed_tool_patterns: ['*'],
  });
  t.equal(live.resolve('a').spec.system_prompt, 'one');
  const first = live.resolve('a').resolution_id;
  await put('agents', agent('a', { system_prompt: 'two' }));
  t.equal(live.resolve('a').spec.system_prompt, 'two');
  t.equal(live.resolve('a').resolution_id, String(Number(first) + 1));
  t.match(events('agents/a'), [
    { action: 'create', actor: 'tester', before: undefined, after: { system_prompt: 'one' } },
    { action: 'update', before: { system_prompt: 'one' }, after: { system_prompt: 'two' } },
  ]);
  t.match(service.meta('agents', 'a'), {
    source: { kind: 'user' },
    version: 2,
    revision: 2,
    actor: 'tester',
  });
});

t.test('creates a missing entry on PUT, as an update without `before`', async (t) => {
  const { put, agent, events, service } = await startPlane(t);
  await put('agents', agent('new'));
  t.match(events('agents/new'), [{ action: 'update', before: undefined, after: { id: 'new' } }]);
  t.equal(service.meta('agents', 'new').revision, 1);
});

t.test('reports a duplicate id before validating the rest of the body', async (t) => {
  const { create, agent, service } = await startPlane(t);
  await create('agents', agent('a'));
  const taken = { name: 'Conflict', message: 'conflict: agents/a already exists' };
  await t.rejects(create('agents', { id: 'a', max_rounds: 'many' }), taken);
  await t.rejects(service.validate('agents', agent('a')), taken);
  t.match(await service.validate('agents', agent('a'), 'a'), { id: 'a' });
});

const REFUSED: [namespace: string, body: object, message: string | RegExp][] = [
  [
    'models',
    { id: 'x', provider_id: 'gone', upstream_model: 'u' },
    "invalid payload: invalid managed config: model 'x' references missing provider 'gone'",
  ],
  [
    'agents',
    { id: 'x', model_id: 'gone', plugin_ids: ['nope'], delegates: ['who'] },
    "invalid payload: invalid managed config: registry validation failed: agent 'x' references missing model 'gone'; agent 'x' uses missing plugin 'nope'; agent 'x' delegates to missing agent 'who'",
  ],
  [
    'agents',
    { id: 'x', model_id: 'm', plugin_ids: ['notes'], active_hook_filter: ['permission'] },
    /invalid managed config: agent 'x' active hook filter references unloaded plugin 'permission'$/,
  ],
  [
    'agents',
    { id: 'x', model_id: 'm', plugin_ids: ['notes'], sections: { notes: { size: 'big' } } },
    /invalid managed config: x: invalid config for plugin notes: section "notes" — size: /,
  ],
  [
    'agents',
    { id: 'x', model_id: 'm', sections: { retry: { max_retries: -1 } } },
    /: x: invalid config for plugin retry: /,
  ],
  [
    'model-pools',
    { id: 'x', members: [{ model_id: 'gone' }] },
    /: model pool 'x' references missing model 'gone'$/,
  ],
  [
    'model-pools',
    { id: 'm', members: [{ model_id: 'm' }] },
    /: model registry conflict: pool 'm' already registered as a model$/,
  ],
  [
    'models',
    { id: 'pool', provider_id: 'p', upstream_model: 'u' },
    /: model registry conflict: model 'pool' already registered as a pool$/,
  ],
  [
    'skills',
    { id: 'x', name: 'n', description: 'd', instructions_md: 'i', allowed_tools: ['nope'] },
    /: skill 'x' allowed_tools references unknown tool 'nope'$/,
  ],
  [
    'providers',
    { id: 'x', adapter: 'nope', api_key: 'sk-1' },
    /^invalid payload: unsupported provider adapter: nope \(supported: anthropic, openai, .*\)$/,
  ],
];

t.test('rejects in validate everything that a save rejects, and stores nothing', async (t) => {
  const { service, create, events, live } = await startPlane(t);
  await create('model-pools', { id: 'pool', members: [{ model_id: 'm' }] });
  const before = live.models().resolution_id;
  for (const [namespace, body, message] of REFUSED) {
    const id = 'id' in body ? String(body.id) : '';
    const seen = events().length;
    await t.rejects(service.validate(namespace, body), { name: 'Invalid', message });
    t.equal(events().length, seen, 'validate adds no event to the audit log');
    await t.rejects(create(namespace, body), { name: 'Invalid', message });
    const [event, ...more] = events().slice(seen);
    t.match(event, { action: 'apply_failed', resource: `${namespace}/${id}`, error: message, after: { id } });
    t.strictSame(more, []);
    t.throws(() => service.get(namespace, id), { message: `not found: ${namespace}/${id}` });
    t.notMatch(JSON.stringify(event), 'sk-1');
  }
  t.equal(live.models().resolution_id, before);
});

t.test('accepts tools of plugins and delegates in a skill', async (t) => {
  const { create, agent } = await startPlane(t);
  await create('agents', agent('helper'));
  const skill = { id: 's', name: 'n', description: 'd', instructions_md: 'i' };
  await create('skills', { ...skill, allowed_tools: ['look', 'take_note', 'agent_run_helper', 'mcp__x__*'] });
});

t.test('keeps the entry and the live configuration when a replacement is rejected', async (t) => {
  const { create, put, agent, service, live, events } = await startPlane(t);
  await create('agents', agent('a', { system_prompt: 'one' }));
  await t.rejects(put('agents', agent('a', { system_prompt: 'two', model_id: 'gone' })));
  t.match(service.get('agents', 'a'), { system_prompt: 'one' });
  t.equal(service.meta('agents', 'a').revision, 1);
  t.equal(live.resolve('a').spec.system_prompt, 'one');
  t.match(events('agents/a').at(-1), {
    action: 'apply_failed',
    before: { system_prompt: 'one' },
    after: { system_prompt: 'two' },
  });
});

t.test('accepts a write despite existing problems, but not one that adds a problem', async (t) => {
  const { create, put, remove, agent, service } = await startPlane(t);
  await create('models', { id: 'gone', provider_id: 'p', upstream_model: 'u' });
  await create('agents', agent('a', { model_id: 'gone' }));
  await remove('models', 'gone', true);
  t.match(service.diagnostics(), [{ code: 'agent_missing_model', resource: { id: 'a' } }]);
  await create('agents', agent('b'));
  await t.rejects(put('agents', agent('a', { model_id: 'gone' })), { message: /missing model 'gone'/ });
  await put('agents', agent('a'));
  t.strictSame(service.diagnostics(), []);
});

t.test('rejects an id that cannot be stored like any other field', async (t) => {
  const { create, service } = await startPlane(t);
  const message = /^invalid payload: field 'id' must (not contain control characters|have at most 512 bytes)/;
  for (const id of ['a\nb', 'x'.repeat(513)]) {
    await t.rejects(create('agents', { id, model_id: 'm' }), { message });
    await t.rejects(service.validate('agents', { id, model_id: 'm' }), { message });
  }
});

t.test('creates an entry once for two concurrent POSTs', async (t) => {
  const { create, agent } = await startPlane(t);
  const results = await Promise.allSettled([create('agents', agent('a')), create('agents', agent('a'))]);
  t.match(results, [{ status: 'fulfilled' }, { status: 'rejected', reason: { name: 'Conflict' } }]);
});

t.test('applies 50 concurrent PUTs one after another', async (t) => {
  const { put, agent, service, live, events, store } = await startPlane(t);
  await put('agents', agent('a'));
  const bodies = Array.from({ length: 50 }, (_, n) => agent('a', { system_prompt: `${n}`, max_rounds: n }));
  const answers = await Promise.all(bodies.map((body) => put('agents', body)));
  t.strictSame(
    answers.map(({ system_prompt }) => system_prompt),
    bodies.map(({ system_prompt }) => system_prompt),
  );
  t.equal(service.meta('agents', 'a').revision, 51);
  t.match(live.resolve('a').spec, { system_prompt: '49', max_rounds: 49 });
  t.equal(events('agents/a').length, 51);
  const numbers = events('agents/a').map(({ after }) => after?.system_prompt);
  t.strictSame(
    numbers.slice(1),
    bodies.map(({ system_prompt }) => system_prompt),
  );
  t.equal(store.publications.latestVersion('default', 'agent', 'a')?.version, 51);
});

t.test('changes nothing if the store rejects the write, and reports it', async (t) => {
  let full = false;
  const { put, agent, service, live, counts } = await startPlane(t, {
    through: (store) => ({
      ...store,
      commit: (...args) =>
        full ? Promise.reject(new Unavailable('the disk is full')) : store.commit(...args),
    }),
  });
  await put('agents', agent('a', { system_prompt: 'one' }));
  full = true;
  await t.rejects(put('agents', agent('a', { system_prompt: 'two' })), {
    name: 'Unavailable',
    message: 'storage error: the disk is full',
  });
  t.equal(counts.failures, 1, 'a failed write of the audit log is counted');
  t.match(service.get('agents', 'a'), { system_prompt: 'one' });
  t.equal(live.resolve('a').spec.system_prompt, 'one');
  full = false;
  await put('agents', agent('a', { system_prompt: 'three' }));
  t.equal(live.resolve('a').spec.system_prompt, 'three');
  t.equal(service.meta('agents', 'a').revision, 2);
});

t.test('reports an unflushed but visible commit as an error, and publishes it', async (t) => {
  let unflushed = false;
  const plane = await startPlane(t, {
    through: (store) => ({
      ...store,
      async commit(...args) {
        await store.commit(...args);
        if (unflushed) throw new Unavailable('the flush failed');
      },
    }),
  });
  await plane.put('agents', plane.agent('a', { system_prompt: 'one' }));
  unflushed = true;
  await t.rejects(plane.put('agents', plane.agent('a', { system_prompt: 'two' })), {
    name: 'Unavailable',
    message: 'storage error: the flush failed',
  });
  t.equal(plane.live.resolve('a').spec.system_prompt, 'two');
  unflushed = false;
  await plane.put('agents', plane.agent('a', { system_prompt: 'three' }));
  t.equal(plane.live.resolve('a').spec.system_prompt, 'three');
  t.equal(plane.service.meta('agents', 'a').revision, 3);
});

t.test('stores a remote agent with its token, and explains why it cannot run', async (t) => {
  const { create, put, live, service, store } = await startPlane(t);
  const endpoint = { base_url: 'https://r.example/a2a', auth: { type: 'bearer', token: 'tok-1' } };
  await create('agents', { id: 'far', endpoint });
  const shown = service.get('agents', 'far');
  t.notMatch(JSON.stringify(shown), 'tok-1');
  await put('agents', { ...shown, id: 'far', description: 'changed' });
  t.match(store.config.get('agents', 'far')?.spec, { endpoint: { auth: { token: 'tok-1' } } });
  t.throws(() => live.resolve('far'), { message: /unsupported remote backend `a2a`/ });
});

t.test('uses the configured name of the local backend', async (t) => {
  const plane = await startPlane(t, { more: { localKind: 'native' } });
  t.match(await plane.create('agents', plane.agent('a')), { backend: { kind: 'native' } });
  t.match(plane.service.get('agents', 'a'), { backend: { kind: 'native' } });
  t.match(plane.events('agents/a'), [{ after: { backend: { kind: 'native' } } }]);
  await plane.restart({ more: { localKind: 'other' } });
  t.match(plane.service.get('agents', 'a'), { backend: { kind: 'other' } });
});

t.test('rejects unknown and read-only namespaces first', async (t) => {
  const { service } = await startPlane(t);
  await t.rejects(service.create('nope', 5, CALLER), {
    name: 'NotFound',
    message: 'unknown namespace: nope',
  });
  await t.rejects(service.create('tools', 5, CALLER), {
    message: /^invalid payload: tools namespace is read-only/,
  });
  await t.rejects(service.remove('tools', 'look', true, CALLER), { message: /read-only/ });
});

t.test('rejects an agent without a model as invalid, without a failed change', async (t) => {
  const { service, create, events, agent, put } = await startPlane(t);
  const seen = events().length;
  for (const body of [
    { id: 'x' },
    { id: 'x', model_id: '' },
    { id: 'x', backend: { kind: 'local', config: { max_rounds: 2 } } },
  ]) {
    const message = "invalid payload: invalid agent spec: missing field 'model_id'";
    await t.rejects(service.validate('agents', body), { name: 'Invalid', message });
    await t.rejects(create('agents', body), { name: 'Invalid', message });
    await t.rejects(put('agents', body), { name: 'Invalid', message });
  }
  t.equal(events().length, seen);
  await create('agents', { id: 'in-backend', backend: { kind: 'local', config: { model_id: 'm' } } });
  await create('agents', agent('y'));
});

t.test('keeps an unused section, logs it once, and suggests the intended name', async (t) => {
  const said: string[] = [];
  const log = { warn: (_: string, fields?: object) => said.push(JSON.stringify(fields)) };
  const plane = await startPlane(t, { log });
  const sections = {
    permissions: { default_behavior: 'deny' },
    notes: { size: 2 },
    retry: { max_retries: 1 },
  };
  await plane.create('agents', plane.agent('a', { sections }));
  t.strictSame(plane.service.get('agents', 'a').sections, sections);
  const warning = {
    code: 'agent_unknown_section',
    severity: 'warning',
    resource: { namespace: 'agents', id: 'a' },
    message:
      /^agent 'a' has a section 'permissions' that no plugin reads; did you mean 'permission'\? \(sections: permission, notes, .*retry.*\)$/,
  };
  const reported = () => plane.service.diagnostics();
  t.match(reported(), [warning]);
  t.equal(reported().length, 1);
  t.equal(said.filter((line) => line.includes('permissions')).length, 1);
  await plane.put('agents', plane.agent('b'));
  t.equal(said.length, 1, 'later writes do not log it again');
  await plane.service.overrides.patch('agents', 'b', { sections: { note: {} } }, CALLER);
  t.match(reported()[1], { resource: { id: 'b' }, message: /did you mean 'notes'/ });
  t.match(said[1], "section 'note'");
  await plane.live.publishDraft(plane.agent('draft', { sections: { retrys: {} } }));
  t.match(said[2], "section 'retrys' that no plugin reads; did you mean 'retry'");
  await plane.put('agents', plane.agent('a'));
  await plane.service.overrides.clear('agents', 'b', CALLER);
  t.strictSame(reported(), []);
});

t.test('logs an unused section of a settings file at startup', async (t) => {
  const said: string[] = [];
  const log = { warn: (_: string, fields?: object) => said.push(JSON.stringify(fields)) };
  const agents = [{ id: 'a', model_id: 'm', sections: { permisson: {} } }];
  const plane = await startPlane(t, { log, entries: { ...BASE, agents } });
  t.match(said.join(), "agent 'a' has a section 'permisson' that no plugin reads; did you mean 'permission'");
  t.equal(said.length, 1);
  t.equal(plane.service.diagnostics().length, 1);
});

t.test('lists the valid names when it rejects an unknown one', async (t) => {
  const { service } = await startPlane(t);
  t.throws(() => service.list('agent', {}), {
    name: 'NotFound',
    message: /^unknown namespace: agent; did you mean 'agents'\? \(namespaces: agents, models, /,
  });
  t.throws(() => service.list('x'.repeat(100_000), {}), { name: 'NotFound' });
  await t.rejects(service.validate('providers', { id: 'x', adapter: 'opnai', api_key: 'k' }), {
    message: /unsupported provider adapter: opnai; did you mean 'openai'\? \(supported: anthropic, openai, /,
  });
  t.throws(() => service.get('agents', 'zz'), { message: 'not found: agents/zz' });
  t.throws(() => service.meta('agents', 'zz'), { message: 'not found: agents/zz' });
});

t.test('records a failed change with its cause, and marks unexpected errors', async (t) => {
  const told: object[] = [];
  const record = async (draft: object): Promise<void> => void told.push(draft);
  const fail = (cause: unknown): Promise<never> =>
    guarded({ record }, { action: 'update', resource: 'agents/a' }, CALLER, () => Promise.reject(cause));
  const bug = new TypeError('no such thing');
  await t.rejects(fail(bug), { message: 'runtime apply failed: no such thing', cause: bug });
  await t.rejects(fail('odd'), { message: 'runtime apply failed: odd' });
  const foreseen = new Unavailable('disk');
  t.equal(await fail(foreseen).catch((error: unknown) => error), foreseen);
  const early = new Conflict('conflict');
  t.equal(await fail(early).catch((error: unknown) => error), early);
  t.strictSame(
    told,
    ['runtime apply failed: no such thing', 'runtime apply failed: odd', 'disk'].map((error) => ({
      action: 'apply_failed',
      resource: 'agents/a',
      error,
    })),
  );
});
