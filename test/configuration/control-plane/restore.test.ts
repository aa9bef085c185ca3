import t from 'tap';
import { CALLER, type Plane, startPlane } from './plane.ts';

/** Restore: config.md 8 and checks 47, 52 to 54. */

const restoreTo = (plane: Plane, namespace: string, id: string, version = '') =>
  plane.service.restore(namespace, id, version, CALLER);

const first = (plane: Plane, resource: string): string => plane.events(resource)[0]?.id ?? '';

t.test('stores a restore, and publishes it with the next write, across restarts', async (t) => {
  const plane = await startPlane(t);
  const { agent } = plane;
  await plane.create('agents', agent('a', { system_prompt: 'one' }));
  await plane.put('agents', agent('a', { system_prompt: 'two' }));
  const version = first(plane, 'agents/a');
  const seen = plane.events().length;
  t.match(await restoreTo(plane, 'agents', 'a', version), { system_prompt: 'one' });
  t.match(plane.events().slice(seen), [
    {
      action: 'restore',
      resource: 'agents/a',
      restored_from: version,
      before: { system_prompt: 'two' },
      after: { system_prompt: 'one' },
    },
  ]);
  const isTwo = (): void => {
    t.match(plane.service.get('agents', 'a'), { system_prompt: 'one' });
    t.equal(plane.live.resolve('a').spec.system_prompt, 'two');
  };
  isTwo();
  const { resolution_id } = plane.live.models();
  await plane.restart();
  isTwo();
  t.equal(plane.live.models().resolution_id, resolution_id, 'a start publishes nothing');
  await plane.live.refresh();
  isTwo();
  await plane.create('agents', agent('b'));
  t.equal(plane.live.resolve('a').spec.system_prompt, 'one');
  t.strictSame(plane.store.config.unpublished(), []);
  t.equal(plane.service.meta('agents', 'a').revision, 3);
});

t.test('publishes seeded entries at startup, but not restored ones', async (t) => {
  const plane = await startPlane(t);
  await plane.create('agents', plane.agent('a', { system_prompt: 'one' }));
  await plane.put('agents', plane.agent('a', { system_prompt: 'two' }));
  await restoreTo(plane, 'agents', 'a', first(plane, 'agents/a'));
  await plane.restart({
    entries: {
      providers: [{ id: 'p', adapter: 'scripted' }],
      models: [
        { id: 'm', provider_id: 'p', upstream_model: 'up' },
        { id: 'more', provider_id: 'p', upstream_model: 'up' },
      ],
    },
  });
  t.match(plane.live.models().models, [{ id: 'm' }, { id: 'more' }]);
  t.equal(plane.live.resolve('a').spec.system_prompt, 'two');
  t.equal(plane.store.config.unpublished().length, 1);
});

t.test('restores a deleted entry, and publishes it with the next write', async (t) => {
  const plane = await startPlane(t);
  await plane.create('agents', plane.agent('a', { system_prompt: 'one' }));
  await plane.remove('agents', 'a');
  const deletion = plane.events('agents/a').at(-1)?.id;
  await restoreTo(plane, 'agents', 'a', deletion);
  t.match(plane.service.meta('agents', 'a'), { revision: 1, source: { kind: 'user' } });
  t.notOk(plane.events('agents/a').at(-1)?.before);
  t.throws(() => plane.live.resolve('a'), { message: 'agent not found: a' });
  await plane.restart();
  t.throws(() => plane.live.resolve('a'), { message: 'agent not found: a' });
  t.strictSame(plane.service.capabilities().agents, []);
  await plane.put('models', { id: 'm', provider_id: 'p', upstream_model: 'other' });
  t.equal(plane.live.resolve('a').spec.system_prompt, 'one');
});

t.test('does not check references, and reports them in the diagnostics', async (t) => {
  const plane = await startPlane(t);
  await plane.create('models', { id: 'gone', provider_id: 'p', upstream_model: 'u' });
  await plane.create('agents', plane.agent('a', { model_id: 'gone' }));
  await plane.put('agents', plane.agent('a'));
  await plane.remove('models', 'gone');
  t.strictSame(plane.service.diagnostics(), []);
  await restoreTo(plane, 'agents', 'a', first(plane, 'agents/a'));
  t.match(plane.service.diagnostics(), [{ code: 'agent_missing_model', depends_on: { id: 'gone' } }]);
  t.equal(plane.live.resolve('a').spec.model_id, 'm');
  await plane.create('agents', plane.agent('other'));
  t.throws(() => plane.live.resolve('a'), { message: 'model not found: gone' });
});

t.test('keeps the stored key of a restored provider', async (t) => {
  const plane = await startPlane(t);
  const spec = { id: 'real', adapter: 'groq', api_key: 'sk-secret' };
  await plane.create('providers', spec);
  await plane.put('providers', { id: 'real', adapter: 'groq', timeout_secs: 9 });
  t.match(await restoreTo(plane, 'providers', 'real', first(plane, 'providers/real')), { has_api_key: true });
  t.strictSame(plane.service.providerSpec('real'), spec);
  await plane.remove('providers', 'real');
  const deletion = plane.events('providers/real').at(-1)?.id;
  t.strictSame(await restoreTo(plane, 'providers', 'real', deletion), { id: 'real', adapter: 'groq' });
  t.notMatch(JSON.stringify([plane.service.providerSpec('real'), plane.events()]), 'sk-secret');
  t.notMatch(JSON.stringify(plane.service.providerSpec('real')), '***');
});

t.test('includes restored overrides in the entry', async (t) => {
  const plane = await startPlane(t, {
    entries: {
      providers: [{ id: 'p', adapter: 'scripted' }],
      models: [{ id: 'm', provider_id: 'p', upstream_model: 'up' }],
      agents: [{ id: 'a', model_id: 'm' }],
    },
  });
  await plane.service.overrides.patch('agents', 'a', { max_rounds: 3 }, CALLER);
  await plane.service.overrides.clear('agents', 'a', CALLER);
  t.match(await restoreTo(plane, 'agents', 'a', first(plane, 'agents/a')), { max_rounds: 3 });
  t.match(plane.service.meta('agents', 'a'), { source: { kind: 'user' }, user_overrides: undefined });
});

t.test('distinguishes the reasons for a failed restore', async (t) => {
  const plane = await startPlane(t);
  await plane.create('agents', plane.agent('a'));
  await plane.create('agents', plane.agent('ab'));
  await plane.service.audit.record({ action: 'restart', resource: 'agents/a' }, CALLER);
  await t.rejects(plane.put('agents', plane.agent('a', { model_id: 'gone' })));
  const events = plane.events('agents/a');
  const [created, restarted, failed] = events.map(({ id }) => id);
  const notRestorable = { name: 'Unprocessable', message: 'this event type is not restorable' };
  await t.rejects(restoreTo(plane, 'agents', 'a', '01ARZ3NDEKTSV4RRFFQ69G5FAV'), {
    name: 'NotFound',
    message: 'version not found',
    details: { reason: 'unknown' },
  });
  await t.rejects(restoreTo(plane, 'agents', 'a', 'nonsense'), { message: 'version not found' });
  await t.rejects(restoreTo(plane, 'agents', 'ab', created), {
    name: 'Unprocessable',
    message: 'cross-resource restore not allowed',
  });
  await t.rejects(restoreTo(plane, 'agents', 'a', restarted), notRestorable);
  await t.rejects(restoreTo(plane, 'agents', 'a', failed), notRestorable);
  await t.rejects(restoreTo(plane, 'agents', 'a', first(plane, 'seed:created')), { name: 'Unprocessable' });
  await t.rejects(restoreTo(plane, 'tools', 'look', created), { name: 'Invalid', message: /read-only/ });
  t.equal(plane.service.meta('agents', 'a').revision, 1);
});

t.test('requires an audit log', async (t) => {
  const plane = await startPlane(t, { audit: { enabled: false } });
  await plane.create('agents', plane.agent('a'));
  const off = { name: 'Unavailable', message: 'audit log is not configured' };
  await t.rejects(restoreTo(plane, 'agents', 'a', 'any'), off);
  t.throws(() => plane.service.audit.page({}), off);
});

t.test('uses the current key in a run on an earlier publication, also after a restore', async (t) => {
  const plane = await startPlane(t);
  const provider = (api_key: string) => ({ id: 'real', adapter: 'groq', api_key });
  await plane.create('providers', provider('sk-one'));
  await plane.create('models', { id: 'm2', provider_id: 'real', upstream_model: 'u' });
  await plane.create('agents', plane.agent('a', { model_id: 'm2' }));
  const { resolution_id } = plane.live.resolve('a');
  await plane.put('agents', plane.agent('a', { model_id: 'm2', max_rounds: 2 }));
  const event = first(plane, 'providers/real');
  const before = plane.live.resolve('a', resolution_id).model;
  t.equal(plane.live.resolve('a', resolution_id).model, before, 'the resolved model is cached');
  await plane.remove('providers', 'real', true);
  t.throws(() => plane.live.resolve('a', resolution_id), { name: 'Unmet', message: /api_key/ });
  await restoreTo(plane, 'providers', 'real', event);
  t.throws(
    () => plane.live.resolve('a', resolution_id),
    { message: /api_key/ },
    'an entry restored from the audit log has no key',
  );
  await plane.put('providers', provider('sk-two'));
  const deleted = plane.live.resolve('a', resolution_id).model;
  await restoreTo(plane, 'providers', 'real', event);
  t.not(
    plane.live.resolve('a', resolution_id).model,
    deleted,
    'the model is rebuilt from the stored provider',
  );
});
