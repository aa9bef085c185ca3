import t from 'tap';
import type { z } from 'zod';
import { ModelSpec, PoolSpec, ProviderSpec } from '../../src/schema/model.ts';
import { parseEntry } from '../../src/schema/problems.ts';
import { mcpToolId } from '../../src/tools/mcp-id.ts';
import { toolRuleIssues } from '../../src/tools/tool-rules.ts';

const refuses = (surface: string, schema: z.ZodType, whole: object, table: readonly [object, string][]) => {
  for (const [part, problem] of table) {
    t.test(`${surface}: ${JSON.stringify(part)} is rejected`, async (t) => {
      t.throws(() => parseEntry(surface, schema, { ...whole, ...part }), {
        message: `invalid ${surface}: ${problem}`,
      });
    });
  }
};

const model = { id: 'm', provider_id: 'p', upstream_model: 'u' };

refuses('model spec', ModelSpec, model, [
  [{ foo: 1 }, "unknown field 'foo'"],
  [{ upstream_model: ' ' }, "field 'upstream_model' cannot be empty"],
  [{ provider_id: undefined }, "missing field 'provider_id'"],
  [{ context_window: 0 }, "field 'context_window' must be greater than zero"],
  [
    { context_window: 1000, max_output_tokens: 2000 },
    'max_output_tokens (2000) must not exceed context_window (1000)',
  ],
  [{ modalities: { input: ['text', 'text'] } }, "'modalities.input' contains duplicate 'text'"],
  [{ modalities: { in: [] } }, "unknown field 'in'"],
  [{ knowledge_cutoff: '2024-02-30' }, "field 'knowledge_cutoff' must be a date: YYYY-MM or YYYY-MM-DD"],
  [{ knowledge_cutoff: '2024' }, "field 'knowledge_cutoff' must be a date: YYYY-MM or YYYY-MM-DD"],
  [
    { input_token_price_per_million_usd: -1 },
    "field 'input_token_price_per_million_usd' must be a finite number of 0 or more",
  ],
]);

t.test('omits empty fields of a model', async (t) => {
  const given = {
    ...model,
    context_window: null,
    modalities: { input: [] },
    knowledge_cutoff: ' 2024-02-29 ',
  };
  t.strictSame(parseEntry('model spec', ModelSpec, given), { ...model, knowledge_cutoff: '2024-02-29' });
});

const member = { model_id: 'm1' };

refuses('model pool spec', PoolSpec, { id: 'p', members: [member] }, [
  [{ members: [] }, 'must declare at least one member'],
  [{ members: [member, member] }, "duplicate member model_id 'm1'"],
  [{ members: [{ ...member, weight: 0 }] }, "member 'm1' weight must be greater than zero"],
  [
    { members: [{ ...member, role: 'failover_only' }] },
    "at least one member must be home-eligible (role 'member')",
  ],
  [{ routing: { foo: 1 } }, "unknown field 'foo'"],
]);

t.test('fills the defaults of a pool', async (t) => {
  t.strictSame(parseEntry('model pool spec', PoolSpec, { id: 'p', members: [member] }), {
    id: 'p',
    members: [{ model_id: 'm1', weight: 1, role: 'member' }],
    routing: { home: 'deterministic', sticky_scope: 'thread' },
    switch: { on_circuit_open: true, on_quota: true, on_permanent: true },
  });
});

refuses('provider spec', ProviderSpec, { id: 'p', adapter: 'openai' }, [
  [{ adapter: '' }, "field 'adapter' cannot be empty"],
  [{ url: 'x' }, "unknown field 'url'"],
]);

t.test('treats an empty key or URL of a provider as absent', async (t) => {
  const given = { id: 'p', adapter: 'openai', api_key: '', base_url: null, has_api_key: true };
  t.strictSame(parseEntry('provider spec', ProviderSpec, given), { id: 'p', adapter: 'openai' });
});

t.test('names field and entry in issues of tool rules, and only warns about a star in ids', async (t) => {
  const rules = {
    allowed_tools: ['get_*', 'a\\*'],
    allowed_tool_patterns: ['', 'x*'],
    excluded_tool_patterns: ['a\\'],
  };
  t.match(toolRuleIssues(rules), [
    {
      severity: 'error',
      field: 'allowed_tool_patterns',
      entry: '',
      message: 'allowed_tool_patterns[] is not a valid pattern: pattern is empty',
    },
    {
      severity: 'error',
      field: 'excluded_tool_patterns',
      entry: 'a\\',
      message:
        'excluded_tool_patterns[a\\] is not a valid pattern: pattern ends with a dangling escape (`\\`)',
    },
    { severity: 'warning', field: 'allowed_tools', entry: 'get_*' },
  ]);
  t.equal(toolRuleIssues(rules).length, 3);
});

t.test('keeps letters and digits in ids of MCP tools', async (t) => {
  t.equal(mcpToolId('files', 'read'), 'mcp__files__read');
  t.equal(mcpToolId('_my--files.v2_', 'läs/fil'), 'mcp__my_files_v2__l_s_fil');
  t.equal(mcpToolId('files', 'a'.repeat(52)), `mcp__files__${'a'.repeat(52)}`);
  const long = mcpToolId('files', 'a'.repeat(53));
  t.equal(long.length, 64);
  t.match(long, /^mcp__files__a{43}_[0-9a-f]{8}$/);
  t.not(long, mcpToolId('files', 'a'.repeat(54)));
  t.throws(() => mcpToolId('--', 'read'), { message: 'invalid tool id component after sanitization: --' });
  t.throws(() => mcpToolId('files', ''), { message: 'invalid tool id component after sanitization: ' });
});
