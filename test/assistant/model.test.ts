import t from 'tap';
import * as models from '../../src/assistant/model.ts';
import { PoolSpec } from '../../src/schema/model.ts';
import { createTestModels } from '../service/models.ts';
import { liveModels } from './config.ts';

const model = (id: string, provider_id: string) => ({ id, provider_id, upstream_model: id });
const pool = (id: string, ...members: string[]) =>
  PoolSpec.parse({ id, members: members.map((model_id) => ({ model_id })) });

const { isUsable } = models;

const chooseModel = (
  live: Parameters<typeof models.chooseModel>[0],
  configured?: string,
  rejected: readonly string[] = [],
) => models.chooseModel(live, configured, (provider) => rejected.includes(provider));

const real = { id: 'real', adapter: 'openai', api_key: 'sk-key' };
const scripted = { id: 'played', adapter: ' Scripted ' };

const live = liveModels({
  providers: [real, scripted, { id: 'keyless', adapter: 'anthropic' }],
  models: [
    model('z', 'real'),
    model('m', 'real'),
    model('a', 'played'),
    model('b', 'keyless'),
    model('c', 'gone'),
  ],
  model_pools: [pool('mixed', 'a', 'z'), pool('all-played', 'a'), pool('broken', 'z', 'nobody')],
});

t.test('a model is usable if its provider exists and is not scripted', async (t) => {
  t.equal(isUsable(live, 'z'), true);
  for (const id of ['a', 'b', 'c', 'nope', '']) t.equal(isUsable(live, id), false, id);
});

t.test('a pool is usable if one of its members is, and all of them exist', async (t) => {
  t.equal(isUsable(live, 'mixed'), true);
  t.equal(isUsable(live, 'all-played'), false);
  t.equal(isUsable(live, 'broken'), false);
});

t.test('the default is the first usable id, from models and pools together', async (t) => {
  t.equal(chooseModel(live, undefined), 'm');
  const pools = liveModels({
    providers: [real],
    models: [model('z', 'real')],
    model_pools: [pool('first', 'z')],
  });
  t.equal(chooseModel(pools, undefined), 'first');
  t.equal(chooseModel(liveModels({}), undefined), undefined);
});

t.test('prefers a provider whose key was not rejected, unless a model is configured', async (t) => {
  const providers = ['broken', 'works'].map((id) => ({ ...real, id }));
  const two = liveModels({ providers, models: [model('a', 'broken'), model('b', 'works')] });
  t.equal(chooseModel(two), 'a');
  t.equal(chooseModel(two, undefined, ['broken']), 'b');
  t.equal(chooseModel(two, undefined, ['works', 'broken']), 'a', 'both providers rejected their key');
  t.equal(chooseModel(two, 'a', ['broken']), 'a');
  const pooled = liveModels({
    providers,
    models: [model('a', 'broken'), model('z', 'works')],
    model_pools: [pool('b', 'a', 'z')],
  });
  t.equal(chooseModel(pooled, undefined, ['broken']), 'b', 'a pool calls its other member');
});

t.test('a configured model that is not usable is not replaced by another one', async (t) => {
  t.equal(chooseModel(live, 'z'), 'z');
  t.equal(chooseModel(live, 'a'), undefined);
  t.equal(chooseModel(live, 'gone'), undefined);
});

t.test('a provider of the embedding program counts as real', async (t) => {
  const { provider } = createTestModels();
  t.equal(chooseModel(liveModels({ models: [model('m', 'test')] }, [provider]), undefined), 'm');
});
