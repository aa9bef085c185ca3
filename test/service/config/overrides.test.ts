import t from 'tap';
import { idsOf, listOf, startPlane } from './plane.ts';

/** Overrides over HTTP: config.md 5 and 16, checks 30 to 42. */

const AGENT = '/v1/config/agents/default';

t.test('overrides and resets a built-in agent', async (t) => {
  const { get, patch, del, audit } = await startPlane(t);
  const base = (await get(AGENT)).body;
  t.match((await patch(`${AGENT}/overrides`, { system_prompt: 'Be brief.' })).body, {
    id: 'default',
    system_prompt: 'Be brief.',
  });
  await patch(`${AGENT}/overrides`, { max_rounds: 2 });
  t.match((await get(AGENT)).body, { system_prompt: 'Be brief.', max_rounds: 2 });
  t.match((await get(`${AGENT}/meta`)).body, {
    source: { kind: 'builtin' },
    user_overrides: { system_prompt: 'Be brief.', max_rounds: 2 },
    actor: /^[0-9a-f]{16}$/,
  });
  t.match(
    listOf((await get('/v1/config/agents/meta')).body).find(({ id }) => id === 'default'),
    {
      meta: { source: { kind: 'builtin' } },
    },
  );
  t.match((await del(`${AGENT}/overrides/max_rounds`)).body, {
    system_prompt: 'Be brief.',
    max_rounds: base.max_rounds,
  });
  t.match(await del(`${AGENT}/overrides/nope`), {
    status: 400,
    body: { error: 'invalid payload: unknown override field: nope' },
  });
  t.strictSame((await del(`${AGENT}/overrides`)).body, base);
  t.notOk('user_overrides' in (await get(`${AGENT}/meta`)).body);
  t.match(await audit('?resource=agents/default&action=update'), [
    { overrides: {} },
    { overrides: { system_prompt: 'Be brief.' } },
    { overrides: { system_prompt: 'Be brief.', max_rounds: 2 } },
    { overrides: { system_prompt: 'Be brief.' } },
  ]);
});

t.test('reports the result of a dry run without storing it', async (t) => {
  const { get, post, patch, audit } = await startPlane(t);
  await patch(`${AGENT}/overrides`, { max_rounds: 2 });
  const meta = (await get(`${AGENT}/meta`)).body;
  const events = (await audit()).length;
  t.strictSame((await post(`${AGENT}/overrides`, { description: 'x' })).body, {
    ok: true,
    normalized: { max_rounds: 2, description: 'x' },
  });
  t.strictSame((await post(`${AGENT}/overrides`, { max_rounds: null })).body, { ok: true, normalized: {} });
  t.equal((await post(`${AGENT}/overrides`, { typo: 1 })).status, 400);
  t.match(await post('/v1/config/agents/nobody/overrides', {}), {
    status: 404,
    body: { error: 'not found: agents/nobody' },
  });
  t.strictSame((await get(`${AGENT}/meta`)).body, meta);
  t.equal((await audit()).length, events);
});

t.test('leaves no trace of a change without effect', async (t) => {
  const { get, patch, audit } = await startPlane(t);
  await patch(`${AGENT}/overrides`, { max_rounds: 2 });
  const meta = (await get(`${AGENT}/meta`)).body;
  const events = (await audit()).length;
  t.equal((await patch(`${AGENT}/overrides`, { max_rounds: 2 })).status, 200);
  t.strictSame((await get(`${AGENT}/meta`)).body, meta);
  t.equal((await audit()).length, events);
});

t.test('changes only the description of a tool', async (t) => {
  const { get, patch, del, audit } = await startPlane(t);
  const path = '/v1/config/tools/get_weather';
  const described = async () =>
    listOf((await get('/v1/capabilities')).body.tools).find(({ id }) => id === 'get_weather')?.description;
  const original = await described();
  for (const description of ['x', ' ', 'é'.repeat(2048)]) {
    const answer = await patch(`${path}/overrides`, { description });
    t.match(answer, { status: 200, body: { id: 'get_weather', description } });
    t.equal(await described(), description);
  }
  for (const body of [
    { description: '' },
    { description: 'x'.repeat(4097) },
    { description: 5 },
    { name: 'x' },
    [],
  ]) {
    t.equal((await patch(`${path}/overrides`, body)).status, 400);
  }
  t.equal((await patch(`${path}/overrides`, {})).status, 200);
  t.match((await audit('?resource=tools'))[0], { resource: 'tools/get_weather', overrides: Object });
  t.equal((await patch(`${path}/overrides`, { description: null })).status, 200);
  t.equal(await described(), original);
  await patch(`${path}/overrides`, { description: 'x' });
  t.equal((await del(`${path}/overrides/description`)).status, 200);
  await patch(`${path}/overrides`, { description: 'x' });
  t.match((await del(`${path}/overrides`)).body, { description: original });
  t.match(await patch('/v1/config/tools/nope/overrides', { description: 'x' }), {
    status: 404,
    body: { error: 'not found: tools/nope' },
  });
});

t.test('hides the token of an overridden endpoint in the metadata', async (t) => {
  const { get, patch } = await startPlane(t);
  const endpoint = { base_url: 'https://r.example', auth: { type: 'bearer', token: 'override-secret' } };
  const answers = [
    await patch(`${AGENT}/overrides`, { endpoint }),
    await get(`${AGENT}/meta`),
    await get('/v1/config/agents/meta'),
  ];
  t.equal(answers[0]?.status, 200);
  t.match(answers[1]?.body, { user_overrides: { endpoint: { auth: { token: '***' } } } });
  for (const { body } of answers) t.notMatch(JSON.stringify(body), 'override-secret');
});

t.test('gives an agent with cleared tool lists no tools', async (t) => {
  const { get, patch } = await startPlane(t);
  const cleared = await patch(`${AGENT}/overrides`, { allowed_tools: null, allowed_tool_patterns: null });
  t.match(cleared.body, { allowed_tools: [], allowed_tool_patterns: [] });
  t.strictSame((await get('/v1/agents/default/permission-preview')).body.candidate_tools, []);
});

t.test('turns a built-in agent into a user agent on PUT', async (t) => {
  const { get, put, patch } = await startPlane(t);
  await patch(`${AGENT}/overrides`, { max_rounds: 2 });
  t.equal((await put(AGENT, { id: 'default', model_id: 'default' })).status, 200);
  const meta = (await get(`${AGENT}/meta`)).body;
  t.match(meta, { source: { kind: 'user' } });
  t.notOk('user_overrides' in meta);
  t.equal((await patch(`${AGENT}/overrides`, { max_rounds: 3 })).status, 200);
  t.match((await get(`${AGENT}/meta`)).body, { source: { kind: 'user' }, user_overrides: { max_rounds: 3 } });
  t.ok(idsOf((await get('/v1/agents')).body.items).includes('default'));
});
