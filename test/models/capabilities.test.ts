import t from 'tap';
import { type Capabilities, capabilitiesOf, sharedCapabilities } from '../../src/models/capabilities.ts';
import type { ModelSpec } from '../../src/schema/model.ts';

const spec = (upstream_model: string, more: Partial<ModelSpec> = {}): ModelSpec => ({
  id: 'm',
  provider_id: 'p',
  upstream_model,
  ...more,
});

const families: [upstream: string, window: number | undefined, output: number | undefined][] = [
  ['gpt-4o-mini', 128_000, 16_384],
  ['gpt-4.1', 1_047_576, 32_768],
  ['gpt-5.4', 1_050_000, 128_000],
  ['gpt-5.5-pro', 1_050_000, 128_000],
  ['o1-preview', 200_000, 100_000],
  ['o3', 200_000, 100_000],
  ['o4-mini', 200_000, 100_000],
  ['claude-opus-4-7', 1_000_000, 128_000],
  ['claude-sonnet-4-6', 1_000_000, 64_000],
  ['claude-haiku-4-5', 200_000, 64_000],
  ['claude-sonnet-4-5', 200_000, 32_000],
  ['claude-opus-4', 200_000, 32_000],
  ['claude-3-5-sonnet-latest', 200_000, 8192],
  ['gemini-1.5-pro', 1_048_576, 8192],
  ['gemini-2.0-flash', 1_048_576, 8192],
  ['gemini-2.5-pro', 1_048_576, 65_536],
  ['models/Gemini-2.5-Pro', 1_048_576, 65_536],
  ['gpt-5', undefined, undefined],
  ['llama3', undefined, undefined],
];
for (const [upstream, window, output] of families) {
  t.test(`limits of ${upstream}`, async (t) => {
    const { context_window, max_output_tokens } = capabilitiesOf(spec(upstream));
    t.same([context_window, max_output_tokens], [window, output]);
  });
}

t.test('the entry goes before the list of the provider, and that before the family', async (t) => {
  const found: Capabilities = {
    context_window: 90_000,
    max_output_tokens: 9000,
    modalities: { input: ['text', 'image'] },
    knowledge_cutoff: '2025-01',
  };
  t.same(capabilitiesOf(spec('gpt-4o'), found), found);
  const own: Capabilities = {
    context_window: 50_000,
    max_output_tokens: 5000,
    modalities: { input: ['text'] },
    knowledge_cutoff: '2024-06',
  };
  t.same(capabilitiesOf(spec('gpt-4o', own), found), own);
  t.match(capabilitiesOf(spec('gpt-4o', { max_output_tokens: 7 }), found), {
    context_window: 90_000,
    max_output_tokens: 7,
  });
});

t.test('an empty list of modalities says nothing', async (t) => {
  const found: Capabilities = { modalities: { input: ['text'], output: ['text'] } };
  t.same(capabilitiesOf(spec('x', { modalities: { input: [] } }), found), found);
  t.same(capabilitiesOf(spec('x', { modalities: { input: [], output: [] } })), {});
});

t.test('an answer is never longer than the window', async (t) => {
  t.match(capabilitiesOf(spec('gpt-4o', { context_window: 1000 })), { max_output_tokens: 1000 });
});

t.test('of several models holds what holds of all of them', async (t) => {
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
