import t from 'tap';
import { type Capabilities, mergeCapabilities, sharedCapabilities } from '../../src/models/capabilities.ts';
import type { KnownModel } from '../../src/models/catalog.ts';
import type { ModelSpec } from '../../src/schema/model.ts';

const spec = (upstream_model: string, more: Partial<ModelSpec> = {}): ModelSpec => ({
  id: 'm',
  provider_id: 'p',
  upstream_model,
  ...more,
});

const known: KnownModel = {
  context_window: 100,
  max_output_tokens: 10,
  input: ['text', 'pdf'],
  output: ['text'],
  knowledge_cutoff: '2023-01',
};

t.test('prefers the entry, then the provider list, then the catalog', async (t) => {
  t.same(mergeCapabilities(spec('x'), {}, known), {
    context_window: 100,
    max_output_tokens: 10,
    modalities: { input: ['text', 'pdf'], output: ['text'] },
    knowledge_cutoff: '2023-01',
  });
  const found: Capabilities = {
    context_window: 90_000,
    max_output_tokens: 9000,
    modalities: { input: ['text', 'image'], output: ['image'] },
    knowledge_cutoff: '2025-01',
  };
  t.same(mergeCapabilities(spec('x'), found, known), found);
  const own: Capabilities = {
    context_window: 50_000,
    max_output_tokens: 5000,
    modalities: { input: ['text'], output: ['audio'] },
    knowledge_cutoff: '2024-06',
  };
  t.same(mergeCapabilities(spec('x', own), found, known), own);
  t.match(mergeCapabilities(spec('x', { max_output_tokens: 7 }), found, known), {
    context_window: 90_000,
    max_output_tokens: 7,
  });
});

t.test('returns no capabilities for a model without a source', async (t) => {
  t.same(mergeCapabilities(spec('x')), {});
});

t.test('ignores an empty list of modalities', async (t) => {
  const found: Capabilities = { modalities: { input: ['text'], output: ['text'] } };
  t.same(mergeCapabilities(spec('x', { modalities: { input: [] } }), found), found);
  t.same(mergeCapabilities(spec('x', { modalities: { input: [], output: [] } })), {});
});

t.test('limits the output tokens to the context window', async (t) => {
  t.match(mergeCapabilities(spec('x', { context_window: 50 }), {}, { max_output_tokens: 60 }), {
    max_output_tokens: 50,
  });
});

t.test('returns the shared capabilities of several models', async (t) => {
  const shared = sharedCapabilities([
    {
      context_window: 1000,
      max_output_tokens: 90,
      modalities: { input: ['text', 'image'] },
      knowledge_cutoff: '2025-01',
    },
    {
      context_window: 2000,
      max_output_tokens: 50,
      modalities: { input: ['image', 'pdf'] },
      knowledge_cutoff: '2024-06-01',
    },
    { context_window: 3000 },
  ]);
  t.same(shared, { context_window: 1000, max_output_tokens: 50, modalities: { input: ['image'] } });
  t.same(sharedCapabilities([{ knowledge_cutoff: '2025-01' }, { knowledge_cutoff: '2024-06-01' }]), {
    knowledge_cutoff: '2024-06-01',
  });
  t.same(sharedCapabilities([{}]), {});
});
