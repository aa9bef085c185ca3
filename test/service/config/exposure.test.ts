import t from 'tap';
import { configRoutes } from '../../../src/routes/config.ts';
import { configReportRoutes } from '../../../src/routes/config-reports.ts';
import { get, ADMIN_TOKEN as SERVED_TOKEN, serve, wire } from '../../http/serve.ts';
import { ADMIN_TOKEN, startTroupe } from '../troupe.ts';
import { provider, startPlane } from './plane.ts';

/** Access to routes, and their exposure: config.md 1 and 16, checks 1 to 6, 69, 70. */

const ALL = [
  '/v1/capabilities',
  '/v1/config/agents',
  '/v1/config/agents/default',
  '/v1/config/agents/default/meta',
  '/v1/config/agents/meta',
  '/v1/config/agents/$schema',
  '/v1/config/diagnostics',
  '/v1/config/providers/default/removal-preview',
  '/v1/config/models/default/used-by',
  '/v1/agents',
  '/v1/agents/default',
  '/v1/agents/default/permission-preview',
  '/v1/mcp-servers/x/status',
  '/v1/mcp-servers/x/inventory',
  '/v1/a2a-servers/x/status',
  '/v1/audit-log',
];

t.test('does not start with exposed admin routes and no token, even on loopback', async (t) => {
  const closed = { expose_config_routes: false, expose_eval_routes: false, expose_trace_routes: false };
  for (const flag of Object.keys(closed)) {
    await t.rejects(startTroupe(t, { settings: { AdminApiConfig: { ...closed, [flag]: true } } }), {
      message:
        'admin, config, trace, and eval APIs require SERVICE_ADMIN_API_BEARER_TOKEN when any admin surface is exposed',
    });
  }
  const { call } = await startTroupe(t, { settings: { AdminApiConfig: closed } });
  t.match(await call('GET', '/v1/system/info'), {
    status: 401,
    body: { error: 'admin authentication is not configured' },
  });
});

t.test('requires the token on every configuration route before anything else', async (t) => {
  const { troupe, get } = await startPlane(t);
  for (const path of ALL) {
    t.match(await troupe.call('GET', path), {
      status: 401,
      body: { error: 'admin authentication required' },
    });
    t.not((await get(path)).status, 401, path);
  }
  t.equal((await troupe.call('POST', '/v1/config/providers', provider('p'))).status, 401);
  t.equal((await get('/v1/config/providers/p')).status, 404, 'nothing was created');
  t.equal((await troupe.call('POST', '/v1/config/providers', '{')).status, 401);
  t.equal((await troupe.call('GET', '/v1/audit-log?limit=abc')).status, 401);
});

t.test('rejects every wrong bearer, and never reveals the token', async (t) => {
  const troupe = await startTroupe(t);
  const port = Number(new URL(troupe.url).port);
  const right = `Authorization: Bearer ${ADMIN_TOKEN}`;
  const table: string[][] = [
    [],
    ['Authorization: Bearer wrong'],
    ['Authorization: Basic x'],
    ['Authorization: Bearer'],
    [`Authorization: Bearer\t${ADMIN_TOKEN}`],
    [`Authorization: Bearer  ${ADMIN_TOKEN}`],
    [`${right} extra`],
    [right, right],
    [right, 'Authorization: Bearer wrong'],
  ];
  for (const headers of table) {
    const text = await wire(t, port, get('/v1/config/agents', ...headers)).until('"}');
    t.match(text, /^HTTP\/1\.1 401 /, headers.join());
    t.notMatch(text, ADMIN_TOKEN);
  }
  for (const scheme of ['bearer', 'BEARER']) {
    const headers = { authorization: `${scheme} ${ADMIN_TOKEN}` };
    t.equal((await troupe.call('GET', '/v1/config/agents', undefined, headers)).status, 200);
  }
});

t.test('does not register routes that are not exposed', async (t) => {
  const { troupe, get, post } = await startPlane(t, {
    settings: { AdminApiConfig: { bearer_token: ADMIN_TOKEN, expose_config_routes: false } },
  });
  for (const path of ALL) {
    t.equal((await get(path)).status, 404, path);
    t.equal((await troupe.call('GET', path)).status, 404, 'an unexposed route does not ask for the token');
  }
  t.equal((await post('/v1/providers/default/test')).status, 404);
  t.equal((await post('/v1/mcp-servers/x/restart')).status, 404);
  for (const path of ['/v1/system/info', '/v1/agents/runtime-stats', '/v1/runs/summary']) {
    t.equal((await get(path)).status, 200, path);
  }
  t.notOk(JSON.stringify((await get('/v1/system/modules')).body).includes('config'));
});

t.test('returns 503 without a configuration store, after checking the token', async (t) => {
  const { url } = await serve(t, [...configRoutes({}), ...configReportRoutes({})]);
  const headers = { authorization: `Bearer ${SERVED_TOKEN}`, 'content-type': 'application/json' };
  const asks: [string, RequestInit][] = [
    ['/v1/config/agents', {}],
    ['/v1/config/agents', { method: 'POST', body: '{}' }],
    ['/v1/config/agents/x', { method: 'PUT', body: '{}' }],
    ['/v1/config/agents/x', { method: 'DELETE' }],
    ['/v1/capabilities', {}],
  ];
  for (const [path, init] of asks) {
    t.equal((await fetch(url + path, init)).status, 401);
    const response = await fetch(url + path, { ...init, headers });
    t.equal(response.status, 400);
    t.strictSame(await response.json(), { error: 'config management API not enabled' });
  }
});

t.test('ignores scopes chosen by the client', async (t) => {
  const { get } = await startPlane(t);
  const info = await get('/v1/system/info?scope_id=other', undefined, { 'x-scope-id': 'other' });
  t.match(info.body, { scope_id: 'default', config_store_enabled: true, audit_log_enabled: true });
});

t.test('allows listed origins and exposes the headers that they need', async (t) => {
  const { url } = await startTroupe(t);
  const preflight = (origin: string) =>
    fetch(`${url}/v1/config/agents/x`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PATCH' },
    });
  const listed = (await preflight('http://localhost:3002')).headers;
  t.equal(listed.get('access-control-allow-origin'), 'http://localhost:3002');
  t.match(listed.get('access-control-allow-headers'), 'x-service-actor');
  t.equal(listed.get('access-control-allow-methods'), 'GET, POST, PUT, DELETE, PATCH, OPTIONS');
  t.equal(listed.get('access-control-allow-credentials'), null);
  const other = (await preflight('http://evil.test')).headers;
  for (const name of ['origin', 'headers', 'methods'])
    t.equal(other.get(`access-control-allow-${name}`), null);
  const answer = await fetch(`${url}/v1/config/agents`, {
    headers: {
      authorization: `Bearer ${ADMIN_TOKEN}`,
      origin: 'http://127.0.0.1:3002',
      'x-request-id': 'page-1',
    },
  });
  t.equal(
    answer.headers.get('access-control-expose-headers'),
    'x-trace-total-events, x-trace-next-offset, x-request-id, idempotency-replayed, mcp-session-id, retry-after, openai-processing-ms, x-should-retry, x-troupe-run-id, x-troupe-thread-id',
  );
  t.equal(answer.headers.get('x-request-id'), 'page-1');
});

t.test('lists `run` first among the modules, and the configuration', async (t) => {
  const { get } = await startPlane(t);
  const { body } = await get('/v1/system/modules');
  const modules: unknown[] = Array.isArray(body) ? body : [];
  t.equal(modules[0], 'run');
  t.ok(modules.indexOf('config') > modules.indexOf('admin'));
});

t.test('returns specific statuses for requests that the router rejects', async (t) => {
  const { post, patch, put, del, get } = await startPlane(t);
  t.equal((await post('/v1/config/agents', '{}', { 'content-type': 'text/plain' })).status, 415);
  t.equal((await post('/v1/config/agents', JSON.stringify({ id: 'x'.repeat(3 << 20) }))).status, 413);
  t.equal((await post('/v1/config/agents', '{')).status, 400);
  const answer = await patch('/v1/config/agents/x', {});
  t.equal(answer.status, 405);
  t.equal(answer.headers.get('allow'), 'DELETE, GET, HEAD, PUT');
  for (const not of [
    await post('/v1/config/diagnostics', {}),
    await put('/v1/config/agents/meta', { id: 'meta' }),
    await get('/v1/config/agents/validate'),
    await post('/v1/config/tools/x/overrides', {}),
    await del('/v1/agents/default'),
  ]) {
    t.equal(not.status, 405);
    t.ok(not.headers.get('allow'));
  }
  t.equal((await get('/v1/config/models/default/overrides')).status, 404);
  t.equal((await post('/v1/config/agents/default/restore', {})).status, 422);
  t.equal((await post('/v1/config/agents/default/restore', { version: 1.5 })).status, 422);
  t.equal((await post('/v1/config/agents/default/restore', { version: 5 })).status, 404);
});

t.test('rejects invalid query values but ignores unknown parameters', async (t) => {
  const { get, del } = await startPlane(t);
  for (const query of [
    '/v1/config/models?limit=abc',
    '/v1/config/models?limit=-1',
    '/v1/config/models?offset=x',
    '/v1/config/models/meta?limit=1.5',
    '/v1/agents?limit=',
    '/v1/audit-log?since=yesterday',
    '/v1/audit-log?until=2026-02-31T00:00:00Z',
    '/v1/audit-log?action=foo',
    '/v1/audit-log?limit=many',
  ]) {
    const answer = await get(query);
    t.equal(answer.status, 400, query);
    t.type(answer.body.error, 'string');
  }
  t.equal((await del('/v1/config/models/default?force=maybe')).status, 400);
  t.equal((await get('/v1/config/models?whatever=1')).status, 200);
});

t.test('describes the routes, bodies and rights in the API document', async (t) => {
  const { get } = await startPlane(t);
  const { paths } = (await get('/openapi.json')).body;
  for (const path of [
    '/v1/config/{ns}',
    '/v1/config/{ns}/validate',
    '/v1/config/{ns}/$schema',
    '/v1/config/{ns}/{id}/restore',
    '/v1/config/agents/{id}/overrides/{field}',
    '/v1/audit-log',
    '/v1/providers/{id}/test',
    '/v1/providers/preview',
    '/v1/mcp-servers/{id}/inventory',
    '/v1/a2a-servers/{id}/status',
  ]) {
    t.match(paths, { [path]: Object }, path);
  }
  t.match(paths, {
    '/v1/config/{ns}/{id}': {
      delete: {
        security: [{ adminBearer: [] }],
        parameters: [{ in: 'path' }, { in: 'path' }, { in: 'query', name: 'force' }],
        responses: { 204: Object, 409: Object },
      },
    },
  });
});
