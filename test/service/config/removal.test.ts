import t from 'tap';
import { definePlugin } from '../../../src/plugins/define.ts';
import { idsOf, listOf, model, type Plane, provider, startPlane } from './plane.ts';

/** Deletion of referenced entries, and reports of gaps: config.md 6 and 16, checks 43 to 48. */

/** Diagnostics warn about a model without these values. */
const KNOWN = {
  context_window: 1000,
  input_token_price_per_million_usd: 1,
  output_token_price_per_million_usd: 1,
};

const withModels = async (plane: Plane): Promise<void> => {
  await plane.post('/v1/config/providers', provider('main'));
  for (const id of ['m1', 'm2']) await plane.post('/v1/config/models', model(id, 'main', KNOWN));
};

const IN_USE = 'cannot delete: other records depend on this resource';

t.test('protects a provider with models, and deletes it with its unused models if forced', async (t) => {
  const plane = await startPlane(t);
  const { get, del, audit, post } = plane;
  await withModels(plane);
  const held = await del('/v1/config/providers/main');
  t.equal(held.status, 409);
  t.strictSame(held.body, {
    error: IN_USE,
    used_by: [
      { namespace: 'models', id: 'm1' },
      { namespace: 'models', id: 'm2' },
    ],
  });
  t.equal((await del('/v1/config/providers/main?force=false')).status, 409);

  await post('/v1/config/agents', { id: 'user', model_id: 'm1' });
  t.equal((await del('/v1/config/providers/main?force=true')).status, 204);
  t.equal((await get('/v1/config/models/m2')).status, 404);
  t.equal((await get('/v1/config/models/m1')).status, 200);
  t.match(await audit('?action=delete'), [
    { resource: 'providers/main', forced: true },
    { resource: 'models/m2' },
  ]);
  t.match((await get('/v1/config/diagnostics')).body, {
    diagnostics: [{ code: 'model_missing_provider', resource: { namespace: 'models', id: 'm1' } }],
  });
  t.equal((await post('/v1/config/providers', provider('unrelated'))).status, 201);
});

t.test('protects a model of agents and pools, and reports a missing model when the agent runs', async (t) => {
  const plane = await startPlane(t);
  const { get, del, put, post, troupe } = plane;
  await withModels(plane);
  const agent = { id: 'user', model_id: 'm1' };
  await post('/v1/config/agents', agent);
  await post('/v1/config/model-pools', { id: 'pool', members: [{ model_id: 'm1' }] });
  t.strictSame((await get('/v1/config/models/m2/used-by')).body, { used_by: [] });
  t.equal((await get('/v1/config/models/unknown/used-by')).status, 404);
  const listed = await get('/v1/config/models/m1/used-by');
  t.match((await del('/v1/config/models/m1')).body, {
    used_by: listed.body.used_by,
  });
  t.strictSame(listed.body, {
    used_by: [
      { namespace: 'agents', id: 'user' },
      { namespace: 'model-pools', id: 'pool' },
    ],
  });
  t.equal((await del('/v1/config/models/m1?force=true')).status, 204);
  const codes = listOf((await get('/v1/config/diagnostics')).body.diagnostics).map(({ code }) => code);
  t.strictSame(codes.sort(), ['agent_missing_model', 'model_pool_missing_model']);
  const run = await troupe.post('/v1/runs', {
    agentId: 'user',
    messages: [{ role: 'user', content: 'x' }],
  });
  t.match(JSON.stringify(run.body), 'm1');
  t.match(await put('/v1/config/agents/user', agent), {
    status: 400,
    body: { error: /agent 'user' references missing model 'm1'/ },
  });
});

t.test('protects an agent that others delegate to', async (t) => {
  const { del, post } = await startPlane(t);
  await post('/v1/config/agents', { id: 'leaf', model_id: 'default' });
  await post('/v1/config/agents', { id: 'root', model_id: 'default', delegates: ['leaf'] });
  t.strictSame((await del('/v1/config/agents/leaf')).body.used_by, [{ namespace: 'agents', id: 'root' }]);
  const gone = await del('/v1/config/agents/root');
  t.match(gone, { status: 204, body: { text: '' } });
  t.equal((await del('/v1/config/agents/root')).status, 404);
  t.equal((await del('/v1/config/agents/leaf')).status, 204);
});

t.test('previews which entries a removed provider affects', async (t) => {
  const plane = await startPlane(t);
  const { get, post } = plane;
  const preview = async () => (await get('/v1/config/providers/main/removal-preview')).body;
  await post('/v1/config/providers', provider('main'));
  t.strictSame(await preview(), {
    provider_id: 'main',
    model_ids: [],
    pool_ids: [],
    agent_ids: [],
    block_if_referenced_allowed: true,
    cascade_unused_models_allowed: true,
  });
  for (const id of ['m2', 'm1']) await post('/v1/config/models', model(id));
  t.match(await preview(), { model_ids: ['m1', 'm2'], block_if_referenced_allowed: false });
  await post('/v1/config/model-pools', { id: 'pool', members: [{ model_id: 'm1' }] });
  await post('/v1/config/agents', { id: 'user', model_id: 'pool' });
  t.match(await preview(), {
    pool_ids: ['pool'],
    agent_ids: ['user'],
    cascade_unused_models_allowed: false,
  });
  t.match(await get('/v1/config/providers/nope/removal-preview'), {
    status: 404,
    body: { error: 'not found: providers/nope' },
  });
});

t.test('reports a restored agent whose model is missing in the diagnostics', async (t) => {
  const plane = await startPlane(t);
  const { get, post, del, audit } = plane;
  await withModels(plane);
  t.strictSame((await get('/v1/config/diagnostics')).body, { diagnostics: [] });
  await post('/v1/config/agents', { id: 'user', model_id: 'm1' });
  const [created] = await audit('?resource=agents/user&action=create');
  await del('/v1/config/agents/user');
  await del('/v1/config/models/m1');
  t.equal((await post('/v1/config/agents/user/restore', { version: created?.id })).status, 200);
  t.strictSame((await get('/v1/config/diagnostics')).body.diagnostics, [
    {
      code: 'agent_missing_model',
      severity: 'error',
      resource: { namespace: 'agents', id: 'user' },
      depends_on: { namespace: 'models', id: 'm1' },
      message: "agent 'user' references missing model 'm1'",
    },
  ]);
});

t.test('warns once in the diagnostics about a model without known properties', async (t) => {
  const { get, post } = await startPlane(t);
  await post('/v1/config/providers', provider('main'));
  await post('/v1/config/models', model('m1'));
  await post('/v1/config/models', model('m2', 'main', KNOWN));
  await post('/v1/config/models', { ...model('m3'), upstream_model: 'openai/gpt-oss-120b' });
  t.match((await get('/v1/config/diagnostics')).body.diagnostics, [
    { code: 'model_unknown', severity: 'warning', resource: { namespace: 'models', id: 'm1' } },
  ]);
});

t.test('previews the tools of an agent', async (t) => {
  const plane = await startPlane(t, {
    app: { plugins: [definePlugin({ id: 'quiet', create: () => ({}) })] },
  });
  const { get, post } = plane;
  const preview = async (id: string, more: object) => {
    const answer = await post('/v1/config/agents', {
      id,
      model_id: 'default',
      allowed_tools: ['get_weather', 'gone', 'get_stock_price'],
      ...more,
    });
    t.equal(answer.status, 201, JSON.stringify(answer.body));
    return (await get(`/v1/agents/${id}/permission-preview`)).body;
  };
  const sections = {
    permission: {
      default_behavior: 'allow',
      rules: [
        { tool: 'get_weather', behavior: 'deny' },
        { tool: 'get_stock_price(X*)', behavior: 'ask' },
        { tool: 'gone', behavior: 'deny' },
      ],
    },
  };
  t.strictSame(await preview('open', { sections }), {
    agent_id: 'open',
    permission_plugin_enabled: false,
    default_behavior: null,
    candidate_tools: ['get_stock_price', 'get_weather'],
    unconditionally_denied: [],
    effective_tools: ['get_stock_price', 'get_weather'],
    args_conditional_rules: [],
  });
  t.match(
    await preview('filtered', {
      plugin_ids: ['permission', 'quiet'],
      active_hook_filter: ['quiet'],
      sections,
    }),
    { permission_plugin_enabled: false },
  );
  t.match(await preview('guarded', { plugin_ids: ['permission'], sections }), {
    permission_plugin_enabled: true,
    default_behavior: 'allow',
    unconditionally_denied: ['get_weather'],
    effective_tools: ['get_stock_price'],
    args_conditional_rules: [{ tool: 'get_stock_price', behavior: 'ask' }],
  });
  t.match(await get('/v1/agents/nobody/permission-preview'), {
    status: 404,
    body: { error: 'agent not found: nobody' },
  });
  t.ok(idsOf((await get('/v1/agents')).body.items).includes('guarded'));
});

t.test('protects an A2A server that agents reference, and deletes it if forced', async (t) => {
  const plane = await startPlane(t);
  const { del, audit, post, get } = plane;
  await post('/v1/config/a2a-servers', { id: 'far', base_url: 'https://agents.example' });
  const endpoint = { base_url: 'https://agents.example/a2a', options: { a2a_server_id: 'far' } };
  t.equal((await post('/v1/config/agents', { id: 'mirror', endpoint })).status, 201);
  t.match(await del('/v1/config/a2a-servers/far'), {
    status: 409,
    body: { error: IN_USE, used_by: [{ namespace: 'agents', id: 'mirror' }] },
  });
  t.equal((await del('/v1/config/a2a-servers/far?force=true')).status, 204);
  t.equal((await get('/v1/config/a2a-servers/far')).status, 404);
  t.match(await audit('?action=delete'), [{ resource: 'a2a-servers/far', forced: true }]);
});
