import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createLog } from '../../../src/telemetry/log.ts';
import { ADMIN_TOKEN } from '../troupe.ts';
import { idsOf, provider, startPlane } from './plane.ts';

/** Whatever a client does with secrets, nothing that the service says has one in it (config.md 4). */

const secret = (place: string): string => `hush-${place}-${'x'.repeat(12)}`;

const SERVER = {
  id: 'mcp',
  transport: 'http',
  url: `http://user:${secret('userinfo')}@127.0.0.1:9/mcp?api_key=${secret('query')}`,
  config: { headers: { 'x-anything': secret('header') }, client_secret: secret('config') },
  env: { PLAIN_NAME: secret('env') },
};

const remote = (id: string) => ({
  id,
  endpoint: { base_url: 'https://r.example', auth: { type: 'bearer', token: secret(`token-of-${id}`) } },
  sections: { custom: { nested: [{ password: secret('section') }] } },
});

const ENTRIES: [namespace: string, body: { id: string; [field: string]: unknown }][] = [
  [
    'providers',
    provider('keyed', { adapter: 'openai', api_key: secret('key'), base_url: 'http://127.0.0.1:9/v1' }),
  ],
  [
    'models',
    { id: 'm', provider_id: 'keyed', upstream_model: 'u', context_window: 1000, max_output_tokens: 10 },
  ],
  ['model-pools', { id: 'pool', members: [{ model_id: 'm' }] }],
  ['agents', remote('far')],
  ['mcp-servers', SERVER],
  [
    'a2a-servers',
    { id: 'a2a', base_url: 'http://127.0.0.1:9', auth: { type: 'bearer', token: secret('a2a') } },
  ],
];

t.test('no answer, event, log line or document repeats a secret', async (t) => {
  let log = '';
  const destination = {
    write(line: string) {
      log += line;
    },
  };
  const { troupe, get, post, put, patch, del } = await startPlane(t, {
    app: { log: createLog({ level: 'debug', destination }) },
  });
  const said: string[] = [];
  const hear = async <Said extends { status: number; headers: Headers; body: unknown }>(
    asked: Promise<Said>,
  ) => {
    const answer = await asked;
    said.push(JSON.stringify([answer.status, [...answer.headers], answer.body]));
    return answer;
  };

  for (const [namespace, body] of ENTRIES) {
    const path = `/v1/config/${namespace}`;
    await hear(post(`${path}/validate`, body));
    await hear(post(path, body));
    await hear(post(path, body));
    await hear(put(`${path}/${body.id}`, body));
    await hear(put(`${path}/${body.id}`, { ...body, future: { token: secret('unknown') }, id: body.id }));
    await hear(put(`${path}/${body.id}`, { ...body, adapter: 'nope', base_url: 5, command: 5 }));
    await hear(
      post(`${path}/validate?id=${body.id}`, { ...body, auth: { type: 'basic', token: secret('basic') } }),
    );
    for (const read of ['', '/meta', `/${body.id}`, `/${body.id}/meta`, '/$schema'])
      await hear(get(path + read));
  }
  await hear(post('/v1/config/providers', `{"api_key":"${secret('syntax')}"`));
  await hear(post('/v1/config/providers', provider('bad', { api_key: [secret('list')] })));
  await hear(post('/v1/config/agents/default/overrides', { endpoint: remote('dry').endpoint }));
  await hear(patch('/v1/config/agents/default/overrides', { endpoint: remote('patched').endpoint }));
  await hear(patch('/v1/config/agents/default/overrides', { endpoint: remote('again').endpoint, typo: 1 }));
  await hear(get('/v1/config/agents/default/meta'));
  await hear(del('/v1/config/agents/default/overrides/endpoint'));

  await hear(post('/v1/providers/keyed/test'));
  await hear(get('/v1/mcp-servers/mcp/status'));
  await hear(get('/v1/mcp-servers/mcp/inventory'));
  await hear(post('/v1/mcp-servers/mcp/restart'));
  await hear(get('/v1/a2a-servers/a2a/status'));
  for (const event of idsOf((await hear(get('/v1/audit-log?resource=agents/far'))).body.items)) {
    await hear(post('/v1/config/agents/far/restore', { version: event }));
  }
  await troupe.restart();
  for (const agentId of ['far', 'default']) {
    await hear(
      troupe.call('POST', '/v1/runs', {
        agentId,
        threadId: agentId,
        messages: [{ role: 'user', content: 'x' }],
      }),
    );
    await hear(get(`/v1/threads/${agentId}/events`));
  }
  for (const path of [
    '/v1/capabilities',
    '/v1/config/diagnostics',
    '/v1/audit-log?limit=1000',
    '/openapi.json',
    '/metrics',
    '/v1/system/info',
    '/v1/agents',
  ]) {
    await hear(get(path));
  }
  for (const [namespace, { id }] of ENTRIES.toReversed())
    await hear(del(`/v1/config/${namespace}/${id}?force=true`));
  await hear(get('/v1/audit-log?limit=1000'));

  t.ok(said.length > 80);
  t.strictSame(
    said.filter((text) => text.includes('hush-') || text.includes(ADMIN_TOKEN)),
    [],
    'answers',
  );
  t.strictSame(
    log.split('\n').filter((line) => line.includes('hush-') || line.includes(ADMIN_TOKEN)),
    [],
    'log',
  );
  const created = said.filter((text) => text.startsWith('[201'));
  t.equal(created.length, ENTRIES.length, 'every entry was stored');
});

t.test('with a key of its own the service keeps no secret readable in its folder', async (t) => {
  const stored = async (t: Test, settings: { secrets_key?: string }): Promise<boolean> => {
    const { troupe, post } = await startPlane(t, { settings });
    t.equal((await post('/v1/config/providers', provider('main', { api_key: secret('key') }))).status, 201);
    await troupe.app.stop();
    const found = readFileSync(join(t.testdirName, 'data.mdb')).includes(secret('key'));
    await troupe.restart();
    t.match((await post('/v1/providers/main/test')).body, { ok: true });
    return found;
  };
  await t.test('a key', async (t) => t.notOk(await stored(t, { secrets_key: 'a long phrase' })));
  await t.test('none', async (t) => t.ok(await stored(t, {})));
});
