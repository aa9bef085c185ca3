import t from 'tap';
import { startPlane } from './plane.ts';

/** DELETE: config.md 6.2, 6.3 and checks 43 to 46. */

t.test('rejects deleting an entry that others need', async (t) => {
  const { remove, create, agent, events } = await startPlane(t);
  await create('agents', agent('a', { delegates: ['a'] }));
  await create('model-pools', { id: 'pool', members: [{ model_id: 'm' }] });
  const refused = (used_by: object[]) => ({
    name: 'Conflict',
    message: 'cannot delete: other records depend on this resource',
    details: { used_by },
  });
  const seen = events().length;
  await t.rejects(remove('providers', 'p'), refused([{ namespace: 'models', id: 'm' }]));
  await t.rejects(
    remove('models', 'm'),
    refused([
      { namespace: 'agents', id: 'a' },
      { namespace: 'model-pools', id: 'pool' },
    ]),
  );
  t.equal(events().length, seen);
  await remove('agents', 'a');
  await t.rejects(remove('agents', 'a'), { name: 'NotFound', message: 'not found: agents/a' });
});

t.test('deletes a provider with its unused models if forced, with an event each', async (t) => {
  const { remove, create, agent, events, service, live } = await startPlane(t);
  await create('models', { id: 'idle', provider_id: 'p', upstream_model: 'u' });
  await create('agents', agent('a'));
  const seen = events().length;
  t.match(service.removalPreview('p'), {
    model_ids: ['idle', 'm'],
    agent_ids: ['a'],
    cascade_unused_models_allowed: false,
  });
  await remove('providers', 'p', true);
  t.strictSame(
    events()
      .slice(seen)
      .map(({ action, resource, forced, before }) => [action, resource, forced, before?.id]),
    [
      ['delete', 'models/idle', undefined, 'idle'],
      ['delete', 'providers/p', true, 'p'],
    ],
  );
  t.throws(() => service.get('models', 'idle'));
  t.match(service.diagnostics(), [{ code: 'model_missing_provider', resource: { id: 'm' } }]);
  t.throws(() => live.resolve('a'), { message: 'provider not found: p' });
  await create('providers', { id: 'p2', adapter: 'scripted' });
  t.throws(() => service.removalPreview('p'), { message: 'not found: providers/p' });
});

t.test('starts with references that a forced delete left dangling', async (t) => {
  const plane = await startPlane(t, {
    entries: {
      providers: [{ id: 'p', adapter: 'scripted' }],
      agents: [{ id: 'a', model_id: 'm' }],
      models: [{ id: 'm', provider_id: 'p', upstream_model: 'u' }],
    },
  });
  await plane.create('models', { id: 'stored', provider_id: 'p', upstream_model: 'u' });
  const entries = {
    providers: [{ id: 'p', adapter: 'scripted' }],
    agents: [{ id: 'a', model_id: 'stored' }],
  };
  await plane.restart({ entries });
  t.doesNotThrow(() => plane.live.resolve('a'), 'a program entry may refer to a stored one');
  await plane.remove('models', 'stored', true);
  await plane.restart({ entries });
  t.match(plane.service.diagnostics(), [{ code: 'agent_missing_model' }]);
  t.throws(() => plane.live.resolve('a'), { message: 'model not found: stored' });
});

t.test('recreates a built-in entry at the next start', async (t) => {
  const plane = await startPlane(t);
  await plane.remove('models', 'm', true);
  await plane.restart();
  t.match(plane.service.meta('models', 'm'), { source: { kind: 'builtin' }, revision: 1 });
});
