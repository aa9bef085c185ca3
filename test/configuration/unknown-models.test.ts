import t from 'tap';
import { unknownModels } from '../../src/configuration/unknown-models.ts';

const gap = { id: 'm', upstream: 'own-model', lacksWindow: true, lacksPrices: true };

t.test('warns once about a model with unknown window or prices, with the consequences', async (t) => {
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
