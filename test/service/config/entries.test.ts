import t from 'tap';
import { idsOf, listOf, model, provider, startPlane } from './plane.ts';

/** Reads and writes of entries: config.md 2 and 16, checks 7 to 15, 27 to 29. */

t.test('reads a created entry back as it was returned, without its secret', async (t) => {
  const { get, post } = await startPlane(t);
  const created = await post('/v1/config/providers', { id: 'main', adapter: 'openai', api_key: 'sk-1' });
  const shown = { id: 'main', adapter: 'openai', has_api_key: true };
  t.equal(created.status, 201);
  t.strictSame(created.body, shown);
  t.strictSame((await get('/v1/config/providers/main')).body, shown);
  const list = await get('/v1/config/providers');
  t.strictSame(Object.keys(list.body).sort(), ['items', 'limit', 'namespace', 'offset']);
  t.strictSame(
    listOf(list.body.items).find(({ id }) => id === 'main'),
    shown,
  );
});

t.test('serves agents on a second path', async (t) => {
  const { get } = await startPlane(t);
  const listed = await get('/v1/config/agents');
  t.equal(listed.body.namespace, 'agents');
  t.strictSame((await get('/v1/agents')).body, listed.body);
  t.strictSame((await get('/v1/agents/default')).body, (await get('/v1/config/agents/default')).body);
  t.match(await get('/v1/agents/nobody'), { status: 404, body: { error: 'agents/nobody' } });
});

t.test('rejects a duplicate id before validating the rest of the body', async (t) => {
  const { post } = await startPlane(t);
  await post('/v1/config/providers', provider('main'));
  for (const body of [provider('main'), { id: 'main', adapter: 'nope', future: 1 }]) {
    t.match(await post('/v1/config/providers', body), {
      status: 409,
      body: { error: 'conflict: providers/main already exists' },
    });
  }
});

t.test('rejects a body without a usable id', async (t) => {
  const { post, put } = await startPlane(t);
  for (const id of [undefined, 5, ' ', null]) {
    t.match(await post('/v1/config/providers', { ...provider('x'), id }), {
      status: 400,
      body: { error: "missing 'id' field in body" },
    });
  }
  for (const body of ['[]', '5', '"x"', 'null']) {
    t.match(await post('/v1/config/providers', body), {
      status: 400,
      body: { error: 'invalid payload: expected JSON object body' },
    });
  }
  t.match(await put('/v1/config/agents/left', { id: 'right' }), {
    status: 400,
    body: { error: "invalid payload: path id 'left' does not match body id 'right'" },
  });
});

t.test('creates a missing entry on PUT', async (t) => {
  const { get, put, audit } = await startPlane(t);
  t.equal((await put('/v1/config/providers/new', provider('new'))).status, 200);
  t.equal((await get('/v1/config/providers/new')).status, 200);
  const [event = {}] = await audit('?resource=providers/new');
  t.match(event, { action: 'update', after: { id: 'new' } });
  t.notOk('before' in event);
});

t.test('names the missing resource in a 404', async (t) => {
  const { get, del, put } = await startPlane(t);
  t.match(await get('/v1/config/models/nope'), { status: 404, body: { error: 'models/nope' } });
  t.match(await get('/v1/config/models/nope/meta'), { status: 404, body: { error: 'models/nope' } });
  t.match(await del('/v1/config/models/nope'), { status: 404, body: { error: 'not found: models/nope' } });
  for (const answer of [
    await get('/v1/config/nope'),
    await get('/v1/config/nope/x'),
    await get('/v1/config/nope/$schema'),
    await get('/v1/config/nope/meta'),
    await put('/v1/config/nope/x', { id: 'x' }),
    await del('/v1/config/nope/x'),
  ]) {
    t.match(answer, { status: 404, body: { error: 'unknown namespace: nope' } });
  }
});

t.test('accepts an id with a slash', async (t) => {
  const { get, put, del } = await startPlane(t);
  t.equal((await put('/v1/config/providers/team%2Fmain', provider('team/main'))).status, 200);
  t.match((await get('/v1/config/providers/team%2Fmain')).body, { id: 'team/main' });
  t.match((await get('/v1/config/providers/team%2Fmain/meta')).body, { version: 1 });
  t.equal((await del('/v1/config/providers/team%2Fmain')).status, 204);
});

t.test('orders a list by the bytes of the ids, and reports its page', async (t) => {
  const { get, put } = await startPlane(t);
  await put('/v1/config/providers/main', provider('main'));
  for (const id of ['zz', 'Aa', '\u{10000}', '\uffff']) {
    await put(`/v1/config/models/${encodeURIComponent(id)}`, model(id));
  }
  const all = idsOf((await get('/v1/config/models')).body.items);
  t.strictSame(
    all,
    [...all].sort((one, other) => Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))),
  );
  const page = await get('/v1/config/models?limit=1&offset=1');
  t.match(page.body, { offset: 1, limit: 1, items: [{ id: all[1] }] });
  t.equal(listOf(page.body.items).length, 1);
  t.match((await get('/v1/config/models?limit=0')).body, { limit: 1, items: [{ id: all[0] }] });
  t.equal((await get('/v1/config/models?limit=999')).body.limit, 200);
  t.match((await get('/v1/config/models')).body, { offset: 0, limit: 100 });
});

t.test('returns all entries without a limit, even above 100', async (t) => {
  const { get, put } = await startPlane(t);
  await put('/v1/config/providers/main', provider('main'));
  const before = idsOf((await get('/v1/config/models')).body.items).length;
  const ids = Array.from({ length: 101 }, (_, index) => `m${index}`);
  for (const id of ids) await put(`/v1/config/models/${id}`, model(id));
  const { body } = await get('/v1/config/models');
  t.equal(idsOf(body.items).length, before + 101);
  t.equal(body.limit, before + 101);
  t.equal(listOf((await get('/v1/config/models/meta')).body).length, before + 101);
});

t.test('keeps an omitted key and removes a cleared one', async (t) => {
  const { put, post } = await startPlane(t);
  await post('/v1/config/providers', provider('main'));
  const { api_key: _, ...rest } = provider('main', { timeout_secs: 7 });
  t.strictSame((await put('/v1/config/providers/main', rest)).body, { ...rest, has_api_key: true });
  t.match(await put('/v1/config/providers/main', { ...rest, api_key: '' }), {
    status: 400,
    body: { error: /requires api_key/ },
  });
  const open = { ...rest, adapter_options: { allow_env_credentials: true } };
  t.strictSame((await put('/v1/config/providers/main', { ...open, api_key: '' })).body, open);
});

t.test('changes nothing on unknown fields or adapters', async (t) => {
  const { get, post, put } = await startPlane(t);
  t.match(await post('/v1/config/providers', provider('p', { future_top_level: 1 })), {
    status: 400,
    body: { error: "invalid payload: invalid provider spec: unknown field 'future_top_level'" },
  });
  const unknown = provider('p', { adapter: 'nope' });
  t.match(await post('/v1/config/providers', unknown), {
    status: 400,
    body: { error: /unsupported provider adapter: nope/ },
  });
  t.equal((await get('/v1/config/providers/p')).status, 404);
  await post('/v1/config/providers', provider('p'));
  t.equal((await put('/v1/config/providers/p', unknown)).status, 400);
  t.match((await get('/v1/config/providers/p')).body, { adapter: 'groq' });
});

t.test('serves tools read-only', async (t) => {
  const { get, post, put, del } = await startPlane(t);
  const tool = { id: 'get_weather', name: 'x', description: 'y' };
  for (const answer of [
    await post('/v1/config/tools', tool),
    await put('/v1/config/tools/get_weather', tool),
    await del('/v1/config/tools/get_weather'),
    await post('/v1/config/tools/validate', tool),
    await post('/v1/config/tools/get_weather/restore', { version: 'x' }),
  ]) {
    t.match(answer, {
      status: 400,
      body: {
        error: 'invalid payload: tools namespace is read-only; use PATCH /v1/config/tools/:id/overrides',
      },
    });
  }
  t.ok(idsOf((await get('/v1/config/tools')).body.items).includes('get_weather'));
  for (const path of ['/get_weather', '/get_weather/meta', '/meta', '/$schema', '/%24schema']) {
    t.equal((await get(`/v1/config/tools${path}`)).status, 200, path);
  }
});

t.test('returns the errors of a save on validate, without side effects', async (t) => {
  const { get, post, audit } = await startPlane(t);
  await post('/v1/config/providers', provider('main'));
  const events = (await audit()).length;
  const good = await post('/v1/config/providers/validate', provider('other'));
  t.match(good, { status: 200, body: { ok: true, normalized: { id: 'other', has_api_key: true } } });
  t.notMatch(JSON.stringify(good.body), 'key-of-other');
  t.equal((await get('/v1/config/providers/other')).status, 404);

  const { api_key: _, ...keyless } = provider('main');
  t.equal((await post('/v1/config/providers/validate?id=main', keyless)).status, 200);
  t.equal((await post('/v1/config/providers/validate', provider('main'))).status, 409);
  const { api_key: _key, ...stranger } = provider('stranger');
  for (const [path, body] of [
    ['providers/validate', stranger],
    ['providers/validate?id=main', provider('other')],
    ['providers/validate', provider('p', { adapter: 'nope' })],
    ['agents/validate', { id: 'a', model_id: 'nope' }],
    ['models/validate', model('m', 'nope')],
    ['model-pools/validate', { id: 'p', members: [{ model_id: 'nope' }] }],
  ] as const) {
    t.equal((await post(`/v1/config/${path}`, body)).status, 400, path);
  }
  const dead = { id: 'dead', transport: 'stdio', command: '/no/such/program' };
  t.equal((await post('/v1/config/mcp-servers/validate', dead)).status, 200);
  t.equal((await audit()).length, events);
});

t.test('serves a schema for every namespace', async (t) => {
  const { get } = await startPlane(t);
  const required: [string, string[]][] = [
    ['agents', ['id']],
    ['models', ['id', 'provider_id', 'upstream_model']],
    ['model-pools', ['id', 'members']],
    ['providers', ['id', 'adapter']],
    ['mcp-servers', ['id', 'transport']],
    ['skills', ['id', 'name', 'description', 'instructions_md']],
    ['tools', ['id', 'name', 'description']],
    ['a2a-servers', ['id', 'base_url']],
  ];
  for (const [namespace, fields] of required) {
    const { status, body } = await get(`/v1/config/${namespace}/$schema`);
    t.equal(status, 200);
    t.match(body, { type: 'object', properties: Object, title: String, $schema: String });
    t.strictSame(new Set(Array.isArray(body.required) ? body.required : []), new Set(fields), namespace);
    t.equal(body.additionalProperties === false, namespace !== 'mcp-servers', namespace);
  }
});
