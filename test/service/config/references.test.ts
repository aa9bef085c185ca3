import t from 'tap';
import { startPlane } from './plane.ts';

/** References between entries, over HTTP: config.md 16, checks 17 to 19, 21 and 25 of agent-loop.md 20. */

// A save requests no model list from this adapter.
const provider = { id: 'main', adapter: 'groq', api_key: 'key' };
const model = { id: 'm', provider_id: 'main', upstream_model: 'gpt' };

t.test('validates limits, dates and modalities of a model', async (t) => {
  const { post, get } = await startPlane(t);
  await post('/v1/config/providers', provider);
  for (const [wrong, error] of [
    [{ context_window: 10, max_output_tokens: 11 }, /must not exceed context_window/],
    [{ context_window: 0 }, /must be greater than zero/],
    [{ knowledge_cutoff: '2026-02-31' }, /knowledge_cutoff/],
    [{ modalities: { input: ['text', 'text'] } }, /duplicate/],
  ] as const) {
    const { status, body } = await post('/v1/config/models', { ...model, ...wrong });
    t.equal(status, 400, JSON.stringify(wrong));
    t.match(body.error, error);
  }
  const whole = {
    ...model,
    context_window: 1000,
    max_output_tokens: 100,
    modalities: { input: ['text', 'image'], output: ['text'] },
    knowledge_cutoff: '2026-02',
    input_token_price_per_million_usd: 1.5,
    output_token_price_per_million_usd: 0,
  };
  t.equal((await post('/v1/config/models', whole)).status, 201);
  t.strictSame((await get('/v1/config/models/m')).body, whole);
  const { models } = (await get('/v1/capabilities')).body as { models: { id: string }[] };
  t.strictSame(
    models.find(({ id }) => id === 'm'),
    { ...whole, known: {} },
  );
});

t.test('requires models and pools to reference existing entries', async (t) => {
  const { post, get } = await startPlane(t);
  const orphan = await post('/v1/config/models', model);
  t.equal(orphan.status, 400);
  t.match(orphan.body.error, /references missing provider 'main'/);
  t.equal((await get('/v1/config/models/m')).status, 404);
  await post('/v1/config/providers', provider);
  t.equal((await post('/v1/config/models', model)).status, 201);
  for (const [members, error] of [
    [[], /must declare at least one member/],
    [[{ model_id: 'none' }], /references missing model 'none'/],
    [[{ model_id: 'm' }, { model_id: 'm' }], /duplicate member model_id/],
    [[{ model_id: 'm', role: 'failover_only' }], /at least one member must be home-eligible/],
    [[{ model_id: 'm', weight: 0 }], /weight/],
  ] as const) {
    const { status, body } = await post('/v1/config/model-pools', { id: 'p', members });
    t.equal(status, 400, JSON.stringify(members));
    t.match(body.error, error);
  }
  const members = [{ model_id: 'm' }];
  t.match(
    (await post('/v1/config/model-pools', { id: 'm', members })).body.error,
    /already registered as a model/,
  );
  t.equal((await post('/v1/config/model-pools', { id: 'p', members })).status, 201);
  t.equal((await post('/v1/config/agents', { id: 'pooled', model_id: 'p' })).status, 201);
});

t.test('requires an agent to reference existing entries and sections of its plugins', async (t) => {
  const { post, get } = await startPlane(t);
  for (const [wrong, error] of [
    [{ model_id: 'none' }, /agent 'x' references missing model 'none'/],
    [{ plugin_ids: ['nope'] }, /agent 'x' uses missing plugin 'nope'/],
    [{ delegates: ['nobody'] }, /agent 'x' delegates to missing agent 'nobody'/],
    [{ active_hook_filter: ['permission'] }, /references unloaded plugin 'permission'/],
    [
      { plugin_ids: ['permission'], sections: { permission: { default_behavior: 'maybe' } } },
      /invalid config for plugin permission: section "permission"/,
    ],
  ] as const) {
    const agent = { id: 'x', model_id: 'default', ...wrong };
    for (const path of ['/v1/config/agents', '/v1/config/agents/validate']) {
      const { status, body } = await post(path, agent);
      t.equal(status, 400, `${path} ${JSON.stringify(wrong)}`);
      t.match(body.error, error);
    }
  }
  t.equal((await get('/v1/config/agents/x')).status, 404);
});
