import { join } from 'node:path';
import t from 'tap';
import { z } from 'zod';
import { startApp } from '../../src/app.ts';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { createLog } from '../../src/observability/log.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { Unavailable } from '../../src/schema/outcome.ts';
import { settingsFrom } from '../../src/settings/index.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Json } from '../../src/tools/tool.ts';
import { asks } from './models.ts';
import { resume, suspend, withTools } from './suspended.ts';
import { listed, readTrace, run, runMany, startTraced, traced } from './traced.ts';
import { ADMIN_TOKEN, eventually, startDemo } from './troupe.ts';

/** Retention and confidentiality of traces: evals-and-traces.md 2, 9.5 to 9.8. */

const DAY_MS = 86_400_000;

t.test('removes old traces periodically at the configured interval', async (t) => {
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => performance.now() };
  const troupe = await startTraced(
    t,
    { sampling_disable: true, prune_interval_secs: 1, retention_days: 1 },
    { app: { clock } },
  );
  const ids = await runMany(troupe, 'echo', 250);
  const pinned = ids.slice(100, 220);
  for (const id of pinned) await troupe.admin('POST', `/v1/traces/${id}/pin`);
  now += 2 * DAY_MS;
  const left = await eventually(
    () => listed(troupe),
    (runs) => runs.length === pinned.length,
  );
  t.strictSame(left.map(({ run_id }) => run_id).sort(), [...pinned].sort());
});

t.test('keeps a trace that is pinned during its removal, or rejects the pin', async (t) => {
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => performance.now() };
  const troupe = await startTraced(
    t,
    { sampling_disable: true, prune_interval_secs: 1, retention_days: 1 },
    { app: { clock } },
  );
  const ids = await runMany(troupe, 'echo', 300);
  now += 2 * DAY_MS;
  const pins: { id: string; status: number }[] = [];
  for (const id of ids)
    pins.push({ id, status: (await troupe.admin('POST', `/v1/traces/${id}/pin`)).status });
  const kept = pins.filter(({ status }) => status === 204).map(({ id }) => id);
  const left = await eventually(
    () => listed(troupe),
    (runs) => runs.length === kept.length,
  );
  t.strictSame(left.map(({ run_id }) => run_id).sort(), kept.sort());
});

t.test('keeps traces in a separate folder across a suspension and a restart', async (t) => {
  const { troupe } = await withTools(t, {
    settings: traced({ sampling_disable: true, sink_dir: join(t.testdir(), 'traces') }),
  });
  const { run_id } = await suspend(troupe, 'T', ['c1', 'risky']);
  t.equal((await troupe.post('/v1/threads/T/decision', resume('c1'))).status, 202);
  await eventually(
    () => listed(troupe),
    (runs) => runs.length === 1,
  );
  await troupe.restart();
  const types = ['inference', 'suspension', 'suspension', 'tool', 'inference'];
  const page = await eventually(
    () => readTrace(troupe, run_id),
    ({ lines }) => lines.length === types.length,
  );
  t.strictSame(page.types, types);
  t.equal((await troupe.admin('POST', `/v1/traces/${run_id}/pin`)).status, 204);
  const next = await run(troupe, 'echo', { threadId: 'T' });
  await eventually(
    () => readTrace(troupe, next),
    ({ lines }) => lines.length === 1,
  );
});

t.test('fails to start if the trace folder is in use, and releases the store', async (t) => {
  const dir = t.testdir({ first: {}, second: {} });
  const start = (of: string) =>
    startApp({
      settings: settingsFrom({
        http_addr: '127.0.0.1:0',
        storage_dir: join(dir, of),
        AdminApiConfig: { bearer_token: ADMIN_TOKEN },
        trace: { sink_dir: join(dir, 'traces') },
      }),
      log: createLog({ level: 'silent' }),
    });
  const first = await start('first');
  await t.rejects(start('second'), Unavailable);
  await first.stop();
  await (await start('second')).stop();
});

t.test('writes a line at the start and at the end of a background task', async (t) => {
  const ends: ((result: Json) => void)[] = [];
  const work = defineTool({
    id: 'work',
    description: 'Starts a task.',
    input: z.object({}),
    execute(_, { tasks }) {
      tasks?.start({ name: 'dig', run: () => new Promise((resolve) => ends.push(resolve)) });
      return { data: 'started' };
    },
  });
  const worker = AgentSpec.parse({ id: 'worker', model_id: 'steps', plugin_ids: ['background_tasks'] });
  const troupe = await startTraced(t, undefined, {
    app: { tools: [work], records: { ...NO_RECORDS, agents: [worker] } },
  });
  troupe.models.steps.push(asks(['c1', 'work']));
  const id = await run(troupe, 'worker');
  ends[0]?.('deep');
  await eventually(
    () => listed(troupe),
    (runs) => runs.length === 1,
  );
  const { lines } = await readTrace(troupe, id);
  const tasks = lines.filter(({ type }) => type === 'background_task');
  t.match(tasks, [
    { task_id: 'bg_1', task_name: 'dig', status: 'running', agent_id: 'worker', tool_call_id: 'c1' },
    { task_id: 'bg_1', status: 'completed', completed_at_ms: Number },
  ]);
  t.equal(tasks.length, 2);
});

t.test('writes three traces that refer to each other for nested delegations', async (t) => {
  const agents = [
    { id: 'top', delegates: ['middle'] },
    { id: 'middle', delegates: ['echo'] },
  ].map((agent) => AgentSpec.parse({ model_id: 'steps', max_rounds: 8, ...agent }));
  const troupe = await startTraced(t, undefined, { app: { records: { ...NO_RECORDS, agents } } });
  troupe.models.steps.push(
    asks(['c1', 'agent_run_middle', { prompt: 'x' }]),
    asks(['c2', 'agent_run_echo', { prompt: 'y' }]),
  );
  const top = await run(troupe, 'top');
  const [middle] = await listed(troupe, '?agent_id=middle');
  const [low] = await listed(troupe, '?agent_id=echo');
  const all = await Promise.all(
    [top, middle?.run_id, low?.run_id].map((id) => readTrace(troupe, String(id))),
  );
  t.strictSame(
    all.map(({ types }) => types),
    [
      ['inference', 'tool', 'delegation', 'inference'],
      ['inference', 'tool', 'delegation', 'inference'],
      ['inference'],
    ],
  );
  t.match(all[1]?.lines, [
    { parent_run_id: top, parent_tool_call_id: 'c1' },
    {},
    { parent_run_id: middle?.run_id, child_run_id: low?.run_id },
  ]);
  for (const { text } of all)
    for (const line of text.split('\n'))
      t.ok((line.match(/"parent_run_id"/g) ?? []).length <= 1, 'no key is repeated');
});

t.test('shows secrets in traces only as the embedding program decides', async (t) => {
  const echoes = defineTool({
    id: 'echoes',
    description: 'Echoes.',
    input: z.object({ text: z.string() }),
    execute: ({ text }) => ({ data: text }),
  });
  const troupe = await startTraced(
    t,
    { sampling_disable: true, capture_content: true, capture_tool_io: 'arguments_and_results' },
    {
      app: {
        tools: [echoes],
        redactTraces: (value, kind) => {
          if (kind === 'result') throw new Error('no');
          return JSON.parse(JSON.stringify(value).replaceAll('4111', '####'));
        },
      },
    },
  );
  troupe.models.steps.push(asks(['c1', 'echoes', { text: 'card 4111' }]));
  const id = await run(troupe, 'steps', {
    threadId: 'T',
    messages: [{ role: 'user', content: 'my card is 4111' }],
  });
  const { text, lines } = await readTrace(troupe, id);
  t.notMatch(text, '4111');
  t.match(lines[0], { request_messages: [{ content: [{ text: 'my card is ####' }] }] });
  t.match(lines[1], { call_arguments: { text: 'card ####' }, call_result: '***' });
  const history = await troupe.call('GET', '/v1/threads/T/messages');
  t.match(JSON.stringify(history.body), '4111', 'the history is unchanged');
});

t.test('shows everything of an observed agent in the demo once its routes are exposed', async (t) => {
  const observed = AgentSpec.parse({ id: 'seen', model_id: 'echo', plugin_ids: ['observability'] });
  const troupe = await startDemo(t, {
    settings: {
      ...traced({}, { seed: { profile: 'demo' } }),
      observe_all_agents: false,
    },
    app: { records: { ...NO_RECORDS, agents: [observed] } },
  });
  const unseen = await run(troupe, 'echo');
  const { lines } = await readTrace(troupe, await run(troupe, 'seen'));
  t.match(lines, [{ response_content: [{ type: 'text' }], request_messages: [{ role: 'user' }] }]);
  t.equal((await readTrace(troupe, unseen)).status, 404);
});

t.test('exposes the event count headers to other origins', async (t) => {
  const origin = 'https://console.example.org';
  const troupe = await startTraced(t, undefined, {
    settings: traced(undefined, {
      AdminApiConfig: {
        bearer_token: ADMIN_TOKEN,
        expose_trace_routes: true,
        cors_allowed_origins: [origin],
      },
    }),
  });
  const id = await run(troupe, 'echo');
  const path = `/v1/traces/${id}?limit=1`;
  const { headers } = await troupe.call('GET', path, undefined, {
    origin,
    authorization: `Bearer ${ADMIN_TOKEN}`,
  });
  t.equal(headers.get('access-control-allow-origin'), origin);
  t.match(headers.get('access-control-expose-headers'), /x-trace-total-events.*x-trace-next-offset/);
});
