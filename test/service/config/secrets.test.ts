import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { writeDocument } from '../../../src/commands/config/bundle.ts';
import { exportBundle } from '../../../src/commands/config/export.ts';
import { connectService } from '../../../src/commands/config/service.ts';
import { createLog } from '../../../src/observability/log.ts';
import { openStore } from '../../../src/store/index.ts';
import { startPeer } from '../../mcp/http-peer.ts';
import { ADMIN_TOKEN } from '../troupe.ts';
import { idsOf, provider, startPlane } from './plane.ts';

/** No response of the service contains a secret, whatever a client does with it (config.md 4). */

const secret = (place: string): string => `hush-${place}-${'x'.repeat(12)}`;

/** A peer that echoes its requests to every caller. */
const peer = await startPeer(t, {
  initialize: ({ result }) =>
    result({
      protocolVersion: '2025-11-25',
      capabilities: { prompts: {} },
      serverInfo: { name: 'p', version: '1' },
    }),
  'prompts/list': ({ headers, error, url }) => error(-32_000, `not with ${url} ${JSON.stringify(headers)}`),
});

/** The credentials as HTTP encodes them. */
const BASIC = Buffer.from(`user:${secret('userinfo')}`).toString('base64');

const SERVER = {
  id: 'mcp',
  transport: 'http',
  url: `${peer.url.replace('//', `//user:${secret('userinfo')}@`)}?api_key=${secret('query')}`,
  config: { headers: { 'x-anything': secret('header') }, client_secret: secret('config') },
  args: [`--token=${secret('arg')}`, '--api-key', secret('next-arg'), '-H', `X-Any: ${secret('arg-header')}`],
  env: { PLAIN_NAME: secret('env') },
};

const remote = (id: string) => ({
  id,
  endpoint: { base_url: 'https://r.example', auth: { type: 'bearer', token: secret(`token-of-${id}`) } },
  sections: {
    custom: {
      nested: [{ password: secret('section') }],
      Authorization: secret('authorization'),
      cookie: secret('cookie'),
      access_key: secret('access-key'),
      passphrase: secret('passphrase'),
      dsn: secret('dsn'),
      headers: { 'X-Any': secret('section-header') },
      somewhere: `postgres://u:${secret('section-url')}@h/db`,
    },
  },
});

const ENTRIES: [namespace: string, body: { id: string; [field: string]: unknown }][] = [
  [
    'providers',
    provider('keyed', {
      adapter: 'openai',
      api_key: secret('key'),
      base_url: 'http://127.0.0.1:9/v1',
      adapter_options: {
        headers: { Authorization: `Bearer ${secret('provider-header')}`, 'X-Key': secret('x-key') },
        more: { client_secret: secret('option') },
      },
    }),
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
    {
      id: 'a2a',
      base_url: 'http://127.0.0.1:9/',
      options: { headers: { any: secret('a2a-option') } },
      auth: { type: 'bearer', token: secret('a2a') },
    },
  ],
];

t.test('repeats no secret in responses, events, log lines and documents', async (t) => {
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
  t.match((await hear(get('/v1/mcp-servers/mcp/inventory'))).body, { last_error: /not with .*x-anything/ });
  await hear(post('/v1/mcp-servers/mcp/restart'));
  await hear(get('/v1/a2a-servers/a2a/status'));
  // Invalid entries that contain a secret.
  for (const base_url of [
    `http://u:${secret('bad-url')}@ bad`,
    `http://u:${secret('userinfo')}@h/v1`,
    `http://h/v1?key=${secret('query')}`,
    `http://h/v1#${secret('fragment')}`,
  ]) {
    const refused = [
      post('/v1/config/providers', provider('wrong', { base_url })),
      post('/v1/config/a2a-servers', { id: 'wrong', base_url }),
      post('/v1/config/agents', { id: 'wrong', endpoint: { base_url } }),
      post('/v1/config/agents/default/overrides', { endpoint: { base_url } }),
    ];
    for (const asked of refused) t.equal((await hear(asked)).status, 400);
  }
  await hear(post('/v1/config/mcp-servers', { ...SERVER, id: 'wrong', url: `http://u:${secret('bad')}@ x` }));

  for (const [namespace, body] of ENTRIES) {
    const path = `/v1/config/${namespace}/${body.id}`;
    const shown = (await hear(get(path))).body;
    t.equal((await hear(put(path, shown))).status, 200, `${namespace}: what is shown can be written back`);
    t.strictSame((await hear(get(path))).body, shown);
  }
  const left: string[] = [];
  const service = connectService({ url: troupe.url, token: ADMIN_TOKEN });
  for (const leftOut of [(place: string) => left.push(place), undefined]) {
    const bundle = await exportBundle(service, { leftOut });
    said.push(writeDocument(bundle, 'yaml'), writeDocument(bundle, 'json'), left.join());
  }
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
    said.filter((text) => text.includes('hush-') || text.includes(BASIC) || text.includes(ADMIN_TOKEN)),
    [],
    'answers',
  );
  t.strictSame(
    log
      .split('\n')
      .filter((line) => line.includes('hush-') || line.includes(BASIC) || line.includes(ADMIN_TOKEN)),
    [],
    'log',
  );
  const created = said.filter((text) => text.startsWith('[201'));
  t.equal(created.length, ENTRIES.length, 'every entry was stored');
});

t.test('reports a stored invalid address without its text and never uses its password', async (t) => {
  const { troupe, get, post, put } = await startPlane(t);
  await post('/v1/config/providers', provider('main'));
  await post('/v1/config/models', { id: 'm', provider_id: 'main', upstream_model: 'u' });
  await post('/v1/config/agents', { id: 'a', model_id: 'm' });
  await troupe.app.stop();
  const store = await openStore({ dir: t.testdirName, durability: 'process' });
  const record = store.config.get('providers', 'main');
  if (!record) throw new Error('it was stored');
  const batch = store.batch('commons');
  store.config.put(batch, {
    ...record,
    spec: { ...record.spec, base_url: `http://u:${secret('old')}@ bad` },
  });
  await store.commit(batch);
  await store.close();
  await troupe.restart();
  const run = await troupe.call('POST', '/v1/runs', {
    agentId: 'a',
    messages: [{ role: 'user', content: 'x' }],
  });
  t.match(run, { status: 400, body: { error: /^base_url must be an absolute URL with http/ } });
  const tested = await post('/v1/providers/main/test');
  t.match(tested.body, { ok: false, network_tested: false, error: /^base_url must be an absolute URL/ });
  const answers = [run, tested, await get('/v1/config/providers/main'), await get('/v1/config/diagnostics')];
  t.notMatch(JSON.stringify(answers.map(({ body }) => body)), /hush-/);
  t.equal((await put('/v1/config/agents/a', { id: 'a', model_id: 'm', max_rounds: 1 })).status, 200);
});

t.test('keeps no secret readable in its data file', async (t) => {
  const stored = async (t: Test, settings: { secrets_key?: string }): Promise<boolean> => {
    const { troupe, post } = await startPlane(t, { settings });
    t.equal((await post('/v1/config/providers', provider('main', { api_key: secret('key') }))).status, 201);
    await troupe.app.stop();
    const found = readFileSync(join(t.testdirName, 'data.mdb')).includes(secret('key'));
    await troupe.restart();
    t.match((await post('/v1/providers/main/test')).body, { ok: true });
    return found;
  };
  await t.test('with a key', async (t) => t.notOk(await stored(t, { secrets_key: 'a long phrase' })));
  await t.test('with a generated key', async (t) => t.notOk(await stored(t, {})));
});
