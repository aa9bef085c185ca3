import t from 'tap';
import { unknownModels } from '../../src/registry/unknown-models.ts';

const gap = { id: 'm', upstream: 'own-model', lacksWindow: true, lacksPrices: true };

t.test('warns of a model whose window or prices are unknown, once, with the consequences', async (t) => {
  t.match(unknownModels({ gaps: () => [gap] }), [
    {
      code: 'model_unknown',
      severity: 'warning',
      resource: { namespace: 'models', id: 'm' },
      message:
        /^model 'm' has the upstream name 'own-model', which is not in the catalog of models: its context window is unknown.*; its prices are unknown/,
    },
  ]);
  const [priced] = unknownModels({ gaps: () => [{ ...gap, lacksPrices: false }] });
  t.notMatch(priced?.message, /prices/);
  t.strictSame(unknownModels({ gaps: () => [] }), []);
});
