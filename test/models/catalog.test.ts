import t from 'tap';
import { type KnownModel, knownModel } from '../../src/models/catalog.ts';
import { CATALOG, CATALOG_DATE } from '../../src/models/catalog-data.ts';

const MOST_DAYS = 180;

t.test('the catalog is at most 180 days old', async (t) => {
  const days = Math.floor((Date.now() - Date.parse(CATALOG_DATE)) / 86_400_000);
  t.ok(
    days <= MOST_DAYS,
    `the prices in src/models/catalog-data.ts are ${days} days old (${CATALOG_DATE}): renew them with 'npm run models:update'`,
  );
});

t.test('has a table for each adapter with known models', async (t) => {
  const tables = CATALOG.split('\n').filter((line) => line.startsWith('# '));
  t.ok(tables.length > 10);
  t.ok(tables.includes('# anthropic'));
  t.ok(tables.includes('# bedrock'));
});

t.test('all lines have the same form', async (t) => {
  const CELLS = /^[^\t\s]+\t\d*\t\d*\t[tiavp]*\t[tiavp]*\t(\d{4}-\d\d(-\d\d)?)?\t(yes|no)?(\t[\d.e-]*){0,6}$/;
  for (const line of CATALOG.split('\n')) {
    const padded = line.split('\t').length < 7 ? line + '\t'.repeat(7 - line.split('\t').length) : line;
    if (!line.startsWith('# ') && !CELLS.test(padded)) t.fail(`a line of another form: ${line}`);
  }
});

t.test('has limits, capabilities and all prices of a current model', async (t) => {
  t.same(knownModel('anthropic', 'claude-opus-4-7'), {
    context_window: 1_000_000,
    max_output_tokens: 128_000,
    input: ['text', 'image', 'pdf'],
    output: ['text'],
    knowledge_cutoff: '2026-01-31',
    takes_tools: true,
    prices: {
      input: 5,
      output: 25,
      cached_input: 0.5,
      cache_write_5m: 6.25,
      cache_write_1h: 10,
      reasoning: undefined,
    },
  });
});

/** Each spelling must find the model in the last column. */
const spellings: [adapter: string | undefined, spelling: string, found: [adapter: string, name: string]][] = [
  ['openai', 'gpt-5.5-2026-04-23', ['openai', 'gpt-5.5']],
  ['openai', ' GPT-5.5 ', ['openai', 'gpt-5.5']],
  ['openai_resp', 'gpt-5.5', ['openai', 'gpt-5.5']],
  ['azure', 'gpt-5.5', ['openai', 'gpt-5.5']],
  ['openai', 'gpt-5.5-2026-01-15', ['openai', 'gpt-5.5']],
  ['anthropic', 'claude-haiku-4-5-20251001', ['anthropic', 'claude-haiku-4-5']],
  ['anthropic', 'claude-sonnet-4-6-latest', ['anthropic', 'claude-sonnet-4-6']],
  ['openrouter', 'anthropic/claude-opus-4.7', ['anthropic', 'claude-opus-4-7']],
  ['openrouter', 'anthropic/claude-sonnet-4.6:thinking', ['anthropic', 'claude-sonnet-4-6']],
  ['openrouter', 'google/gemini-2.5-pro', ['gemini', 'gemini-2.5-pro']],
  ['bedrock', 'anthropic.claude-opus-4-7-v1:0', ['bedrock', 'anthropic.claude-opus-4-7']],
  [
    'bedrock',
    'arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    ['bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ],
  ['vertex', 'claude-opus-4-7@20260416', ['anthropic', 'claude-opus-4-7']],
  ['vertex', 'publishers/google/models/gemini-2.5-pro', ['gemini', 'gemini-2.5-pro']],
  ['gemini', 'models/Gemini-2.5-Pro', ['gemini', 'gemini-2.5-pro']],
  ['gemini', 'gemini-2.5-pro-001', ['gemini', 'gemini-2.5-pro']],
  ['openai', 'claude-opus-4-7', ['anthropic', 'claude-opus-4-7']],
  [undefined, 'gpt-5.5', ['openai', 'gpt-5.5']],
];
for (const [adapter, spelling, [other, name]] of spellings) {
  t.test(`finds ${spelling} of adapter ${adapter ?? 'of the program'}`, async (t) => {
    const found = knownModel(adapter, spelling);
    t.type(found?.context_window, 'number');
    t.same(found, knownModel(other, name));
  });
}

t.test('reads regional prices of Bedrock', async (t) => {
  const inputPrice = (model: KnownModel | undefined) => model?.prices?.input ?? 0;
  const regional = knownModel('bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0');
  const general = knownModel('bedrock', 'global.anthropic.claude-sonnet-4-5-20250929-v1:0');
  t.ok(inputPrice(regional) > inputPrice(general));
});

t.test('returns undefined for unknown names', async (t) => {
  for (const [adapter, name] of [
    ['openai', 'gpt-5.5x'],
    ['openai', 'gpt-5.5-turbo-of-somebody'],
    ['openai', 'gpt'],
    ['openai', ''],
    ['openai', '/'],
    ['openai', '__proto__'],
    ['scripted', 'gpt-5.5'],
    // Ollama hosts models itself, under the names of their makers.
    ['ollama', 'gpt-5.5'],
    ['unheard-of', 'gpt-5.5'],
  ] as const) {
    t.equal(knownModel(adapter, name), undefined, `${adapter} ${name}`);
  }
});
