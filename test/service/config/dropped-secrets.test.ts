import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { applyPlan } from '../../../src/commands/config/apply.ts';
import { readBundle } from '../../../src/commands/config/bundle.ts';
import { droppedBy } from '../../../src/commands/config/dropped.ts';
import { planImport } from '../../../src/commands/config/plan.ts';
import { connectService } from '../../../src/commands/config/service.ts';
import { startPeer } from '../../mcp/http-peer.ts';
import { chatChunk, type SeenRequest, sendEvents, startSseServer } from '../../models/sse-server.ts';
import { ADMIN_TOKEN } from '../troupe.ts';
import { idsOf, listOf, model, type Plane, startPlane } from './plane.ts';

/**
 * A restore and an import to another address drop the secrets that they do not bring, and the diagnostics name them
 * (identity.md 1.2 rule 5, check 57). Recorders at both addresses receive no key but their own.
 */

const messages = [{ role: 'user', content: 'Hello' }];

/** A provider or a remote agent that only records. */
const recorder = (t: Test) =>
  startSseServer(t, (response, { url }) => {
    if (!url.endsWith('/chat/completions')) return void response.writeHead(400).end('{}');
    sendEvents(response, [chatChunk({ content: 'Hi' }), chatChunk({}, 'stop')]);
    response.end('data: [DONE]\n\n');
  });

/** The distinct credentials that a recorder received. */
const received = (
  requests: readonly Pick<SeenRequest, 'headers'>[],
  name = 'authorization',
): (string | string[] | undefined)[] => [...new Set(requests.map(({ headers }) => headers[name]))].sort();

const dropped = async ({ get }: Plane): Promise<string[]> =>
  listOf((await get('/v1/config/diagnostics')).body.diagnostics).flatMap(
    ({ code, severity, resource, field }) =>
      code === 'secret_dropped' ? [`${severity} ${Object.values(resource ?? {}).join('/')} ${field}`] : [],
  );

/** Restores the first version of an entry, and publishes it with the write of another entry. */
const restoreFirst = async ({ get, post, put }: Plane, resource: string) => {
  const version = idsOf((await get(`/v1/audit-log?resource=${resource}`)).body.items).at(-1);
  const answer = await post(`/v1/config/${resource}/restore`, { version });
  await put('/v1/config/skills/other', {
    id: 'other',
    name: 'O',
    description: 'd',
    instructions_md: `# ${String(version)}`,
  });
  return answer;
};

/** Imports a document as `troupe config import` does. Returns its changes, its problems and the secrets that it drops. */
const imported = async (t: Test, { troupe }: Plane, document: object, { isDry = false } = {}) => {
  const file = join(t.testdirName, 'import.json');
  mkdirSync(t.testdirName, { recursive: true });
  writeFileSync(file, JSON.stringify(document));
  const service = connectService({ url: troupe.url, token: ADMIN_TOKEN });
  const plan = await planImport(service, await readBundle(file, {}), { prune: false });
  const steps = [...plan.entries, ...plan.overrides].map(
    ({ action, namespace, id }) => `${action} ${namespace}/${id}`,
  );
  if (isDry) return { steps, problems: plan.problems, dropped: [] };
  await applyPlan(service, plan);
  return { steps, problems: plan.problems, dropped: await droppedBy(service, plan) };
};

t.test('providers: a restored and an imported key is received by no other address', async (t) => {
  const [older, newer] = [await recorder(t), await recorder(t)];
  const plane = await startPlane(t, { app: { env: { OPENAI_API_KEY: 'key-of-the-environment' } } });
  const { post, put, get, troupe } = plane;
  const at = (base_url: string, more: object = {}) => ({ id: 'p', adapter: 'openai', base_url, ...more });
  const path = '/v1/config/providers/p';
  await post('/v1/config/providers', at(older.url, { api_key: 'key-of-the-older' }));
  await post('/v1/config/models', model('far', 'p'));
  await post('/v1/config/agents', { id: 'a', model_id: 'far', sections: { retry: { max_retries: 0 } } });
  const run = () => troupe.runToEnd({ agentId: 'a', messages });
  await run();
  t.equal((await put(path, at(newer.url, { api_key: 'key-of-the-newer' }))).status, 200);
  await run();

  t.match(await restoreFirst(plane, 'providers/p'), {
    status: 200,
    body: { base_url: older.url, has_api_key: undefined },
  });
  t.strictSame(await dropped(plane), ['warning providers/p api_key']);
  t.match(await put(path, (await get(path)).body), { status: 200 });
  t.strictSame(await dropped(plane), ['warning providers/p api_key'], 'an unchanged entry keeps the report');
  t.notMatch(JSON.stringify((await get('/v1/audit-log?limit=1000')).body), /key-of-the/);
  await run();
  await put(path, at(newer.url, { api_key: 'key-of-the-newer' }));
  t.strictSame(await dropped(plane), [], 'a secret is given');
  t.match(await put(path, at(older.url)), { status: 400, body: { error: /'api_key' must be given again/ } });
  t.match(await put(`${path}?moved_secrets=refuse`, at(older.url)), { status: 400 });
  t.match(await imported(t, plane, { providers: [at(older.url)] }, { isDry: true }), { problems: [] });
  t.match((await get(path)).body, { base_url: newer.url, has_api_key: true }, 'a dry run drops nothing');
  t.strictSame(await imported(t, plane, { providers: [at(older.url)] }), {
    steps: ['update providers/p'],
    problems: [],
    dropped: ['providers/p api_key'],
  });
  t.strictSame(await dropped(plane), ['warning providers/p api_key']);
  await run();
  const again = await imported(t, plane, { providers: [at(older.url)] });
  t.strictSame(again, { steps: ['unchanged providers/p'], problems: [], dropped: [] });
  t.strictSame(
    await dropped(plane),
    ['warning providers/p api_key'],
    'the report stays until a secret is given',
  );
  const slower = await imported(t, plane, { providers: [at(older.url, { timeout_secs: 3 })] });
  t.match(slower, { steps: ['update providers/p'], dropped: ['providers/p api_key'] });
  await plane.troupe.restart();
  t.strictSame(await dropped(plane), ['warning providers/p api_key'], 'a restart keeps the report');
  const whole = await imported(t, plane, {
    providers: [at(older.url, { api_key: 'new-key-of-the-older' })],
  });
  t.strictSame(whole, { steps: ['update providers/p'], problems: [], dropped: [] });
  t.strictSame(await dropped(plane), []);
  await run();

  t.strictSame(
    received(older.requests).filter((key) => key !== undefined),
    ['Bearer key-of-the-older', 'Bearer new-key-of-the-older'],
  );
  t.strictSame(received(newer.requests), ['Bearer key-of-the-newer']);
});

t.test('mcp-servers: a restored header and argument is received by no other address', async (t) => {
  const [older, newer] = [await startPeer(t), await startPeer(t)];
  const plane = await startPlane(t);
  const { post, put } = plane;
  const at = (url: string, key?: string) => ({
    id: 's',
    transport: 'http',
    url,
    ...(key !== undefined && { config: { headers: { 'x-key': key } } }),
  });
  const path = '/v1/config/mcp-servers/s';
  t.match(await post('/v1/config/mcp-servers', at(older.url, 'key-of-the-older')), { status: 201 });
  t.match(await put(path, at(newer.url, 'key-of-the-newer')), { status: 200 });
  t.match(await put(path, at(older.url, '***')), { status: 400 });
  t.match(await restoreFirst(plane, 'mcp-servers/s'), { status: 200, body: { url: older.url } });
  t.strictSame(await dropped(plane), ['warning mcp-servers/s config.headers.x-key']);
  await post(`/v1/mcp-servers/s/restart`, {});
  t.match(await put(path, at(newer.url, 'key-of-the-newer')), { status: 200 });
  t.strictSame(await dropped(plane), []);
  t.match(await imported(t, plane, { 'mcp-servers': [at(older.url, '***')] }), {
    problems: [],
    dropped: ['mcp-servers/s config.headers.x-key'],
  });
  t.strictSame(
    received(older.asked, 'x-key').filter((key) => key !== undefined),
    ['key-of-the-older'],
  );
  t.strictSame(received(newer.asked, 'x-key'), ['key-of-the-newer']);
});

t.test('agents: a restored and an imported token is received by no other endpoint', async (t) => {
  const [older, newer] = [await recorder(t), await recorder(t)];
  const plane = await startPlane(t);
  const { post, put, patch, troupe } = plane;
  const auth = (token: string) => ({ auth: { type: 'bearer', token } });
  const at = (base_url: string, more: object = {}) => ({ id: 'far', endpoint: { base_url, ...more } });
  const path = '/v1/config/agents/far';
  const run = () => troupe.runToEnd({ agentId: 'far', messages });
  t.match(await post('/v1/config/agents', at(older.url, auth('key-of-the-older'))), { status: 201 });
  await run();
  t.match(await put(path, at(newer.url, auth('key-of-the-newer'))), { status: 200 });
  await run();
  t.match(await restoreFirst(plane, 'agents/far'), { status: 200, body: { endpoint: { auth: null } } });
  t.strictSame(await dropped(plane), ['warning agents/far endpoint.auth.token']);
  await run();
  await put(path, at(newer.url, auth('key-of-the-newer')));
  t.match(await imported(t, plane, { agents: [at(older.url, auth('***'))] }), {
    problems: [],
    dropped: ['agents/far endpoint.auth.token'],
  });
  t.strictSame(await dropped(plane), ['warning agents/far endpoint.auth.token']);
  await run();

  await put(path, at(newer.url, auth('key-of-the-newer')));
  const { endpoint } = at(older.url, auth('***'));
  t.match(await patch(`${path}/overrides`, { endpoint }), { status: 400 });
  t.match(await imported(t, plane, { overrides: { agents: { far: { endpoint } } } }), {
    problems: [],
    dropped: ['agents/far endpoint.auth.token'],
  });
  t.strictSame(await dropped(plane), ['warning agents/far endpoint.auth.token']);
  await run();
  const tokens = (requests: readonly SeenRequest[]) =>
    received(requests).filter((token) => token !== undefined);
  t.strictSame(tokens(older.requests), ['Bearer key-of-the-older']);
  t.strictSame(tokens(newer.requests), ['Bearer key-of-the-newer']);
  t.ok(
    older.requests.some(({ headers }) => headers.authorization === undefined),
    'the older endpoint was asked without a token',
  );
});
