import { createHash } from 'node:crypto';
import t from 'tap';
import { ADMIN_TOKEN } from '../troupe.ts';
import { idsOf, listOf, model, provider, startPlane } from './plane.ts';

/** The audit log and restores from it: config.md 8, 9 and 16, checks 50 to 54. */

const ACTOR = createHash('sha256').update(ADMIN_TOKEN).digest('hex').slice(0, 16);

t.test('records the actor, the address and the principal of each change', async (t) => {
  const { troupe, post, put, audit } = await startPlane(t);
  const asked = async (headers: Record<string, string>) => {
    const id = `p${headers.n}`;
    await post('/v1/config/providers', provider(id), headers);
    return (await audit(`?resource=providers/${id}`))[0];
  };
  t.match(await asked({ n: '1', 'x-service-actor': ' ci/deploy ', 'x-request-id': 'req-1' }), {
    actor: `${ACTOR}/ci/deploy`,
    action: 'create',
    resource: 'providers/p1',
    ip: '127.0.0.1',
    request_id: 'req-1',
    restored_from: null,
    ts: /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
    id: /^[0-9A-HJKMNP-TV-Z]{26}$/,
  });
  t.match(await asked({ n: '2', 'x-service-actor': 'x'.repeat(64) }), {
    actor: `${ACTOR}/${'x'.repeat(64)}`,
  });
  for (const [n, label] of [
    ['3', 'x'.repeat(65)],
    ['4', ' '],
    ['5', 'caf\u00e9'],
  ] as const) {
    t.match(await asked({ n, 'x-service-actor': label }), { actor: ACTOR, request_id: /^[\da-f-]{36}$/ });
  }
  t.match(await asked({ n: '6', 'x-forwarded-for': '192.0.2.1, 203.0.113.7', 'x-real-ip': '10.0.0.2' }), {
    ip: '203.0.113.7',
  });
  t.match(await asked({ n: '7', 'x-real-ip': '203.0.113.8' }), { ip: '127.0.0.1' });
  await put('/v1/config/providers/p1', provider('p1', { timeout_secs: 9 }));
  t.match((await audit('?resource=providers/p1'))[0], {
    action: 'update',
    before: { id: 'p1', api_key: '***' },
    after: { id: 'p1', api_key: '***', timeout_secs: 9 },
  });
  t.notMatch(JSON.stringify(await audit('?limit=1000')), ADMIN_TOKEN);
  t.match(troupe.url, 'http');
});

t.test('trusts forwarded headers only if configured', async (t) => {
  const { post, audit } = await startPlane(t, { settings: { trust_forwarded_headers: false } });
  await post('/v1/config/providers', provider('p'), { 'x-forwarded-for': '203.0.113.7' });
  t.match((await audit())[0], { ip: '127.0.0.1' });
});

t.test('filters and pages the log', async (t) => {
  const { get, post, del, audit } = await startPlane(t);
  await post('/v1/config/providers', provider('main'), { 'x-service-actor': 'ci' });
  for (const id of ['m1', 'm2', 'm10']) await post('/v1/config/models', model(id));
  await del('/v1/config/models/m2');
  const resources = async (query: string) => (await audit(query)).map(({ resource }) => resource);
  t.strictSame(await resources('?resource=models/m1'), ['models/m1']);
  t.strictSame(await resources('?resource=models&action=create'), ['models/m10', 'models/m2', 'models/m1']);
  t.strictSame(await resources('?action=delete'), ['models/m2']);
  t.strictSame(await resources(`?actor=${ACTOR}/c`), ['providers/main']);
  t.equal((await audit(`?actor=${ACTOR}`)).length, 5);

  const all = await audit(`?actor=${ACTOR}`);
  const [, second] = all;
  const ts = encodeURIComponent(String(second?.ts));
  t.ok(idsOf(await audit(`?since=${ts}`)).includes(second?.id), 'since is inclusive');
  t.notOk(idsOf(await audit(`?until=${ts}`)).includes(second?.id), 'until is exclusive');

  t.equal((await audit('?limit=0')).length, 1);
  t.ok((await audit('?limit=5000')).length <= 1000);
  const seen: unknown[] = [];
  let cursor: unknown;
  do {
    const query = cursor === undefined ? '' : `&cursor=${cursor}`;
    const { body } = await get(`/v1/audit-log?limit=2&actor=${ACTOR}${query}`);
    seen.push(...idsOf(body.items));
    cursor = body.next_cursor;
    if (cursor === undefined) t.notOk('next_cursor' in body);
  } while (cursor !== undefined);
  t.strictSame(seen, idsOf(all));
  t.match(await get('/v1/audit-log?cursor=not-base64-!!!'), {
    status: 400,
    body: { error: 'invalid cursor' },
  });
});

t.test('restores an entry in the store, and publishes it with the next write', async (t) => {
  const { troupe, get, post, put, audit } = await startPlane(t);
  const agent = { id: 'a', model_id: 'echo', system_prompt: 'old' };
  await post('/v1/config/agents', agent);
  await put('/v1/config/agents/a', { ...agent, system_prompt: 'new' });
  const [created] = await audit('?resource=agents/a&action=create');
  const restored = await post('/v1/config/agents/a/restore', { version: created?.id });
  t.match(restored, { status: 200, body: { system_prompt: 'old' } });
  t.match(await audit('?resource=agents/a&action=restore'), [
    { restored_from: created?.id, before: { system_prompt: 'new' }, after: { system_prompt: 'old' } },
  ]);
  t.match((await get('/v1/config/agents/a')).body, { system_prompt: 'old' });
  const prompt = async () => {
    await troupe.runToEnd({ agentId: 'a', messages: [{ role: 'user', content: 'x' }] });
    return JSON.stringify(troupe.models.requests.at(-1)?.request);
  };
  t.match(await prompt(), '"new"');
  await troupe.restart();
  t.match(await prompt(), '"new"', 'a restart does not publish it');
  await post('/v1/config/providers', provider('unrelated'));
  t.match(await prompt(), '"old"');
});

t.test('restores a deleted entry, and rejects an impossible restore with the reason', async (t) => {
  const { post, del, get, audit } = await startPlane(t);
  await post('/v1/config/providers', provider('main'));
  await post('/v1/config/models', model('m'));
  await del('/v1/config/models/m');
  const [deleted] = await audit('?action=delete');
  const restore = (path: string, version: unknown) => post(`/v1/config/${path}/restore`, { version });
  t.match(await restore('models/m', deleted?.id), { status: 200, body: model('m') });
  t.match((await get('/v1/config/models/m/meta')).body, { version: 1, source: { kind: 'user' } });

  const unknown = await restore('models/m', '01ARZ3NDEKTSV4RRFFQ69G5FAV');
  t.equal(unknown.status, 404);
  t.strictSame(unknown.body, { error: 'version not found', reason: 'unknown' });
  t.match(await restore('models/other', deleted?.id), {
    status: 422,
    body: { error: 'cross-resource restore not allowed' },
  });
  await post('/v1/config/providers', provider('main2', { adapter: 'nope' }));
  const [failed] = await audit('?action=apply_failed');
  t.match(failed, { resource: 'providers/main2', error: /unsupported provider adapter/ });
  t.match(await restore('providers/main2', failed?.id), {
    status: 422,
    body: { error: 'this event type is not restorable' },
  });
  const [seeded] = await audit('?action=seed_apply');
  t.match(seeded, { actor: 'system:seed', resource: /^seed:/ });
  t.equal(listOf(await audit('?action=restore')).length, 1);
});

t.test('restores a provider with its former key', async (t) => {
  const { get, post, put, audit } = await startPlane(t);
  await post('/v1/config/providers', provider('main'));
  const [created] = await audit('?resource=providers/main');
  const { api_key: _, ...changed } = provider('main', { timeout_secs: 9 });
  await put('/v1/config/providers/main', changed);
  t.match(await post('/v1/config/providers/main/restore', { version: created?.id }), {
    status: 200,
    body: { id: 'main', adapter: 'groq', has_api_key: true },
  });
  t.match((await get('/v1/config/providers/main')).body, { has_api_key: true });
  t.match((await post('/v1/providers/main/test')).body, { ok: true });
});

t.test('returns 503 on the routes that need a disabled audit log', async (t) => {
  const { get, post } = await startPlane(t, { settings: { audit_log: { enabled: false } } });
  t.equal((await post('/v1/config/providers', provider('main'))).status, 201);
  t.match(await get('/v1/audit-log'), { status: 503, body: { error: 'audit log is not configured' } });
  t.match(await post('/v1/config/providers/main/restore', { version: 'x' }), {
    status: 503,
    body: { error: 'audit log is not configured' },
  });
  t.match((await get('/v1/system/info')).body, { config_store_enabled: true, audit_log_enabled: false });
});
