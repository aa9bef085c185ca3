import { readFileSync } from 'node:fs';
import t from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { Members } from '../../src/schema/members.ts';
import { says } from './agent-loop/agents.ts';
import { asks } from './models.ts';
import { suspend, withTools } from './suspended.ts';
import { ADMIN_TOKEN, startDemo } from './troupe.ts';

/** runtime.md 19, checks 66 to 70. */

t.test('serves health and liveness without a token', async (t) => {
  const { call } = await startDemo(t);
  t.match(await call('GET', '/health'), {
    status: 200,
    body: {
      status: 'healthy',
      components: { store: 'ok', runtime: 'ok', database: 'none', member: 'none' },
    },
  });
  t.equal((await call('GET', '/health?role=active')).status, 200, 'the only process is active');
  t.equal((await call('GET', '/health?role=passive')).status, 400);
  t.match(await call('GET', '/health/live'), { status: 200, body: { text: '' } });
});

t.test('requires the admin token on system routes', async (t) => {
  const { call, admin } = await startDemo(t);
  t.match(await call('GET', '/v1/system/info'), {
    status: 401,
    body: { error: 'admin authentication required' },
  });
  t.match(await call('GET', '/v1/system/info', undefined, { authorization: 'Bearer wrong' }), {
    status: 401,
    body: { error: 'invalid admin bearer token' },
  });
  t.equal(
    (await call('GET', '/v1/system/info', undefined, { authorization: `bearer ${ADMIN_TOKEN}` })).status,
    200,
  );
  t.strictSame(Object.keys((await admin('GET', '/v1/system/info')).body).sort(), [
    'audit_log_enabled',
    'config_store_enabled',
    'member',
    'open_to_all',
    'runtime_stats_enabled',
    'scope_id',
    'uptime_seconds',
    'version',
  ]);
  const modules = await admin('GET', '/v1/system/modules');
  t.ok(Array.isArray(modules.body) && modules.body.includes('run'));
});

t.test('lists the process as the only member in embedded mode', async (t) => {
  const { admin, call, run, models, url } = await startDemo(t);
  t.equal((await call('GET', '/v1/system/members')).status, 401);
  const stream = await run({ agentId: 'slow', messages: [{ role: 'user', content: 'x' }] });
  await stream.until('text_delta');
  const { body } = await admin('GET', '/v1/system/members');
  const { members, ...rest } = Members.parse(body);
  const [member] = members;
  if (!member) return t.fail('no member');
  t.strictSame(rest, { mode: 'embedded', database: null, leader: member.id });
  t.match(member, {
    url,
    state: 'active',
    self: true,
    lease_ms: null,
    lineages: 1,
    executing: 1,
    waiting: 0,
  });
  t.ok(member.copy_bytes > 0 && member.joined_at <= Date.now());
  models.release();
  await stream.rest();
  t.match(await admin('POST', `/v1/system/members/${member.id}/drain`), {
    status: 409,
    body: { error: 'this service has no other member that could take its work' },
  });
  t.match((await admin('GET', '/v1/system/info')).body, { member: null });
});

t.test('counts open runs in the run summary', async (t) => {
  const { admin, call, run, models } = await startDemo(t);
  t.equal((await call('GET', '/v1/runs/summary')).status, 401);
  const stream = await run({ agentId: 'slow', messages: [{ role: 'user', content: 'x' }] });
  await stream.until('text_delta');
  t.strictSame((await admin('GET', '/v1/runs/summary')).body, { running: 1, waiting: 0, created: 0 });
  models.release();
  await stream.rest();
  t.strictSame((await admin('GET', '/v1/runs/summary')).body, { running: 0, waiting: 0, created: 0 });
});

t.test('labels metrics with route templates, never with ids', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  await call('GET', '/health/live');
  const [start] = await runToEnd({ agentId: 'echo', messages: [{ role: 'user', content: 'x' }] });
  await call('GET', `/v1/threads/${start?.thread_id}`);
  const { body, headers } = await call('GET', '/metrics');
  const text = String(body.text);
  t.equal(headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  t.match(text, /http_requests_total\{.*route="\/health\/live"/);
  t.match(text, 'route="/v1/threads/:id"');
  t.match(text, /runs_total\{outcome="completed"\} 1/);
  t.notMatch(text, String(start?.thread_id));
  t.notMatch(text, String(start?.run_id));
});

t.test(
  'exports the version, the store size, the circuit of a model and the time to first token',
  async (t) => {
    const { call, runToEnd } = await startDemo(t);
    await runToEnd({ agentId: 'echo', messages: [{ role: 'user', content: 'x' }] });
    const text = String((await call('GET', '/metrics')).body.text);
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    t.match(text, `service_build_info{version="${version}"} 1`);
    t.match(text, /^service_store_file_bytes [1-9]\d+$/m);
    t.match(text, /^service_store_used_bytes [1-9]\d+$/m);
    t.match(text, 'service_store_rows{table="runs"} 1');
    t.match(text, /^service_circuit_breaker_state\{model="[\w-]+",state="closed"\} 1$/m);
    t.match(text, /^service_inference_time_to_first_token_seconds_count\{.*\} 1$/m);
    t.match(text, /^process_resident_memory_bytes [1-9]\d+$/m);
  },
);

t.test('exports the circuit of a model while the model is configured', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const isTold = async (): Promise<boolean> =>
    String((await call('GET', '/metrics')).body.text).includes('circuit_breaker_state{model="passing"');
  const entries = [
    ['providers', { id: 'passing', adapter: 'scripted' }],
    ['models', { id: 'passing', provider_id: 'passing', upstream_model: 'any' }],
    ['agents', { id: 'passing', model_id: 'passing' }],
  ] as const;
  for (const [namespace, entry] of entries)
    t.equal((await call('POST', `/v1/config/${namespace}`, entry, headers)).status, 201, namespace);
  await runToEnd({ agentId: 'passing', messages: [{ role: 'user', content: 'x' }] });
  t.ok(await isTold());
  for (const [namespace] of [...entries].reverse())
    t.equal(
      (await call('DELETE', `/v1/config/${namespace}/passing`, undefined, headers)).status,
      204,
      namespace,
    );
  t.notOk(await isTold());
});

t.test('exports outcomes of runs, model calls and tool calls', async (t) => {
  const troupe = await startDemo(t);
  troupe.models.steps.push(asks(['c1', 'get_weather', { location: 'Oslo' }]), says('done'));
  await troupe.runToEnd({ agentId: 'steps', messages: [{ role: 'user', content: 'x' }] });
  const text = String((await troupe.call('GET', '/metrics')).body.text);
  const ofModel = 'model="steps-upstream",provider="test"';
  t.match(text, 'service_runs_total{outcome="completed"} 1\n');
  t.match(text, `service_inference_requests_total{${ofModel},status="ok"} 2\n`);
  t.match(text, `service_inference_tokens_total{${ofModel},type="output"} `);
  t.match(text, 'service_tool_calls_total{tool="get_weather",status="succeeded"} 1\n');
  t.match(text, 'service_active_runs 0\n');
});

t.test('counts a run as active only while it executes, and counts runs that end in the queue', async (t) => {
  const { troupe } = await withTools(t);
  const metrics = async (): Promise<string> => String((await troupe.call('GET', '/metrics')).body.text);
  const waits = await suspend(troupe, 'T', ['c1', 'risky']);
  t.match(await metrics(), 'service_active_runs 0\n', 'a waiting run is not active');
  const messages = [{ role: 'user', content: 'x' }];
  const slow = await troupe.run({ agentId: 'slow', threadId: 'T', messages });
  const { run_id } = await slow.until('run_start');
  await slow.until('text_delta');
  t.match(await metrics(), 'service_active_runs 1\n', 'another run is active');
  t.equal((await troupe.post(`/v1/runs/${run_id}/inputs`, { mode: 'queue', messages })).status, 202);
  t.equal((await troupe.post('/v1/threads/T/interrupt')).status, 202);
  await slow.rest();
  const text = await metrics();
  t.match(text, 'service_active_runs 0\n');
  t.match(
    text,
    'service_runs_total{outcome="superseded"} 2\n',
    'the queued run and the executing one are superseded',
  );
  t.equal((await troupe.call('GET', `/v1/runs/${waits.run_id}`)).body.status, 'done');
});

t.test('logs the start, the end of each run and the stop', async (t) => {
  const lines: { event: string }[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const { runToEnd, app, call, models, run } = await startDemo(t, {
    app: { log: createLog({ level: 'info', destination }) },
    settings: { shutdown_timeout_ms: 60_000 },
  });
  const [start] = await runToEnd({
    agentId: 'echo',
    threadId: 'T',
    messages: [{ role: 'user', content: 'x' }],
  });
  t.equal((await call('GET', '/health')).status, 200);
  const slow = await run({ agentId: 'slow', messages: [{ role: 'user', content: 'x' }] });
  await slow.until('text_delta');
  await app.stop((runs) => {
    t.equal(runs, 1);
    models.release();
  });
  // Earlier lines depend on the host: on its umask, and on the HTTP server that its Node.js can load.
  const started = lines.findIndex(({ event }) => event === 'service.started');
  t.match(lines.slice(started), [
    { event: 'service.started', url: app.url, node: process.version },
    {
      level: 'info',
      event: 'run.ended',
      run_id: start?.run_id,
      thread_id: 'T',
      agent_id: 'echo',
      outcome: 'completed',
      seconds: Number,
    },
    { event: 'service.waiting_for_runs', runs: 1 },
    { event: 'run.ended', agent_id: 'slow' },
    { event: 'service.stopped' },
  ]);
});

t.test('distinguishes unknown paths from unknown methods', async (t) => {
  const { call } = await startDemo(t);
  t.match(await call('GET', '/nope'), { status: 404, body: { error: String } });
  const answer = await call('PUT', '/v1/threads', {});
  t.equal(answer.status, 405);
  t.match(answer.headers.get('allow'), /^GET, .*POST$/);
});

t.test('lists every route in the API document', async (t) => {
  const { call } = await startDemo(t);
  const { body } = await call('GET', '/openapi.json');
  t.match(body.openapi, /^3\.1/);
  const paths = Object.keys(body.paths as object);
  for (const path of [
    '/v1/runs',
    '/v1/threads/{id}',
    '/v1/threads/{id}/messages',
    '/health',
    '/v1/system/info',
  ]) {
    t.ok(paths.includes(path), path);
  }
});
