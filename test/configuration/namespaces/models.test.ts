import t from 'tap';
import { namespace, refuses, write } from './write.ts';

const models = namespace('models');
const pools = namespace('model-pools');
const model = { id: 'm', provider_id: 'p', upstream_model: 'u' };

t.test('returns every field of a model as submitted', async (t) => {
  const whole = {
    ...model,
    context_window: 10,
    max_output_tokens: 10,
    modalities: { input: ['text', 'pdf'], output: [] },
    knowledge_cutoff: ' 2024-02-29 ',
    input_token_price_per_million_usd: 0,
    output_token_price_per_million_usd: 1.5,
  };
  t.strictSame(models.redact(write(models, whole)), whole);
  t.strictSame(models.audit(whole), whole);
});

refuses(t, models, model, [
  [{ x: 1 }, "invalid model spec: unknown field 'x'"],
  [{ provider_id: ' ' }, "invalid model spec: field 'provider_id' cannot be empty"],
  [{ context_window: 0 }, "invalid model spec: field 'context_window' must be greater than zero"],
  [{ max_output_tokens: 0 }, "invalid model spec: field 'max_output_tokens' must be greater than zero"],
  [
    { context_window: 1, max_output_tokens: 2 },
    'invalid model spec: max_output_tokens (2) must not exceed context_window (1)',
  ],
  [
    { knowledge_cutoff: '2026-02-31' },
    "invalid model spec: field 'knowledge_cutoff' must be a date: YYYY-MM or YYYY-MM-DD",
  ],
  [
    { modalities: { output: ['pdf', 'pdf'] } },
    "invalid model spec: 'modalities.output' contains duplicate 'pdf'",
  ],
  [{ modalities: { in: [] } }, "invalid model spec: unknown field 'in'"],
  [
    { output_token_price_per_million_usd: -1 },
    "invalid model spec: field 'output_token_price_per_million_usd' must be a finite number of 0 or more",
  ],
]);

const member = { model_id: 'm' };

refuses(t, pools, { id: 'p', members: [member] }, [
  [{ members: [] }, 'invalid model pool spec: must declare at least one member'],
  [{ members: null }, "invalid model pool spec: missing field 'members'"],
  [{ members: [member, member] }, "invalid model pool spec: duplicate member model_id 'm'"],
  [
    { members: [{ ...member, weight: 0 }] },
    "invalid model pool spec: member 'm' weight must be greater than zero",
  ],
  [
    { members: [{ ...member, role: 'failover_only' }] },
    "invalid model pool spec: at least one member must be home-eligible (role 'member')",
  ],
  [{ switch: { x: 1 } }, "invalid model pool spec: unknown field 'x'"],
  [{ members: [{ ...member, x: 1 }] }, "invalid model pool spec: unknown field 'x'"],
]);

t.test('treats null as absent, also in nested objects, and fills no defaults', async (t) => {
  const pool = {
    id: 'p',
    members: [{ model_id: 'm', weight: null }],
    routing: { home: null },
    switch: { on_quota: null },
  };
  t.strictSame(write(pools, pool), pool);
  const given = { ...model, modalities: { input: null }, context_window: null };
  t.strictSame(write(models, given), given);
});
