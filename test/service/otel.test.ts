import t, { type Test } from 'tap';
import { z } from 'zod';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { ModelError } from '../../src/models/errors.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import type { SettingsInput } from '../../src/settings/index.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import {
  type ReceivedSpan,
  type Receiver,
  startGrpcReceiver,
  startReceiver,
  stopExporter,
} from '../observability/otel/receiver.ts';
import { asks } from './models.ts';
import { resume, suspend } from './suspended.ts';
import { createTestTools } from './tools.ts';
import { messages, run } from './traced.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe } from './troupe.ts';

/** Spans and metrics as a collector receives them: evals-and-traces.md 12 and check 73. */

const agents = [
  { id: 'boss', delegates: ['middle'] },
  { id: 'middle', delegates: ['echo'] },
].map((agent) => AgentSpec.parse({ model_id: 'steps', ...agent }));

const observed = async (
  t: Test,
  env: Record<string, string>,
  settings: SettingsInput = {},
): Promise<Troupe> =>
  startTroupe(t, {
    settings: { observe_all_agents: true, ...settings },
    app: { env, records: { ...NO_RECORDS, agents }, tools: createTestTools().tools },
  });

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const named = ({ spans }: Receiver, name: string): ReceivedSpan => {
  const found = spans.filter((span) => span.name === name);
  if (found.length !== 1 || !found[0]) throw new Error(`${found.length} spans are called ${name}`);
  return found[0];
};

t.test('exports a run as one trace, with inferences, calls and delegations nested in it', async (t) => {
  const receiver = await startReceiver(t);
  const troupe = await observed(t, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_SERVICE_NAME: 'desk',
  });
  troupe.models.steps.push(
    asks(['b1', 'agent_run_middle', { prompt: 'go on' }]),
    asks(['m1', 'agent_run_echo', { prompt: 'say hi' }]),
  );
  const run_id = await run(troupe, 'boss', { threadId: 'T' });
  await stopExporter(troupe.app, receiver);

  const boss = named(receiver, 'invoke_agent boss');
  t.equal(boss.parentSpanId, '');
  t.strictSame([...new Set(receiver.spans.map(({ traceId }) => traceId))], [run_id.replaceAll('-', '')]);
  const calls = named(receiver, 'execute_tool agent_run_middle');
  const chat = receiver.spans.find(({ spanId }) => spanId === calls.parentSpanId);
  t.match(chat, { name: 'chat steps-upstream', kind: 3, parentSpanId: boss.spanId });
  const middle = named(receiver, 'invoke_agent middle');
  t.equal(middle.parentSpanId, calls.spanId);
  const deeper = named(receiver, 'execute_tool agent_run_echo');
  t.equal(named(receiver, 'invoke_agent echo').parentSpanId, deeper.spanId);
  const echo = named(receiver, 'chat echo-upstream');
  t.equal(echo.parentSpanId, named(receiver, 'invoke_agent echo').spanId);

  t.match(boss.attributes, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': 'test',
    'gen_ai.request.model': 'steps-upstream',
    'gen_ai.conversation.id': 'T',
    'gen_ai.agent.id': 'boss',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 20,
    'agent_service.run.id': run_id,
    'agent_service.session.inference_count': 2,
    'agent_service.session.tool_count': 1,
    'agent_service.session.tool_failures': 0,
  });
  t.match(echo.attributes, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.response.finish_reasons': ['end_turn'],
    'agent_service.step.index': 0,
    'agent_service.parent_run.id': middle.attributes['agent_service.run.id'],
    'agent_service.parent_tool.call_id': 'm1',
  });
  t.match(calls.attributes, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'agent_run_middle',
    'gen_ai.tool.call.id': 'b1',
    'gen_ai.tool.type': 'function',
  });
  t.match(receiver.spans.find(({ name }) => name === 'agent_service.delegation')?.attributes, {
    'agent_service.delegation.success': true,
  });
  t.match(receiver.resources[0], { 'service.name': 'desk' });
  for (const span of receiver.spans) t.ok(span.endTimeUnixNano >= span.startTimeUnixNano, span.name);
  t.notMatch(receiver.spans.flatMap(({ attributes }) => Object.keys(attributes)).join(), 'messages');
});

t.test('continues the trace of a request in its run across a suspension and a restart', async (t) => {
  const receiver = await startReceiver(t);
  const troupe = await observed(t, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  troupe.models.steps.push(asks(['c1', 'risky']));
  const thread = '/v1/threads/T';
  const start = { agentId: 'steps', threadId: 'T', messages };
  await troupe.call('POST', '/v1/runs', start, { traceparent: PARENT });
  await troupe.restart();
  t.equal(
    receiver.spans.some(({ name }) => name.startsWith('invoke_agent')),
    false,
  );
  await troupe.post(`${thread}/decision`, resume('c1'));
  await eventually(
    async () => (await troupe.call('GET', `${thread}/runs`)).body.items,
    (items) => Array.isArray(items) && items[0]?.status === 'done',
  );
  await stopExporter(troupe.app, receiver);
  const root = named(receiver, 'invoke_agent steps');
  t.match(root, { traceId: PARENT.slice(3, 35), parentSpanId: PARENT.slice(36, 52) });
  t.ok(receiver.spans.every(({ traceId }) => traceId === root.traceId));
  const tool = named(receiver, 'execute_tool risky');
  const asked = receiver.spans.find(({ spanId }) => spanId === tool.parentSpanId);
  t.match(asked, {
    parentSpanId: root.spanId,
    attributes: { 'gen_ai.response.finish_reasons': ['tool_use'] },
  });
  const actions = receiver.spans.map(({ attributes }) => attributes['agent_service.suspension.action']);
  t.strictSame(
    actions.filter((action) => action !== undefined),
    ['suspended', 'resumed'],
  );
  t.ok(root.startTimeUnixNano <= tool.startTimeUnixNano);
});

for (const [protocol, path, content] of [
  ['chat', '/v1/ai-sdk/chat', { parts: [{ type: 'text', text: 'hi' }] }],
  ['AG-UI', '/v1/ag-ui/run', { content: 'hi' }],
] as const) {
  t.test(`continues the trace of a request over ${protocol} in its run`, async (t) => {
    const receiver = await startReceiver(t);
    const troupe = await observed(t, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    const said = { id: 'u1', role: 'user', ...content };
    const body = { agentId: 'echo', threadId: 'T', messages: [said] };
    const { status } = await troupe.call('POST', path, body, { traceparent: PARENT });
    t.equal(status, 200);
    await stopExporter(troupe.app, receiver);
    const root = named(receiver, 'invoke_agent echo');
    t.match(root, { traceId: PARENT.slice(3, 35), parentSpanId: PARENT.slice(36, 52) });
    t.equal(named(receiver, 'chat echo-upstream').parentSpanId, root.spanId);
  });
}

t.test('nests a background task under the call that started it, and a part under its task', async (t) => {
  const receiver = await startReceiver(t);
  const work = defineTool({
    id: 'work',
    description: 'Starts a task with a part.',
    input: z.object({}),
    execute(_, { tasks }) {
      const whole = tasks?.start({ name: 'dig', run: async () => 'deep' });
      tasks?.start({ name: 'shovel', parent: whole?.task_id ?? '', run: async () => 'sharp' });
      return { data: 'started' };
    },
  });
  const worker = AgentSpec.parse({ id: 'worker', model_id: 'steps', plugin_ids: ['background_tasks'] });
  const troupe = await startTroupe(t, {
    settings: { observe_all_agents: true },
    app: {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
      tools: [work],
      records: { ...NO_RECORDS, agents: [worker] },
    },
  });
  troupe.models.steps.push(asks(['c1', 'work']));
  const run_id = await run(troupe, 'worker');
  await eventually(
    async () => (await troupe.call('GET', `/v1/runs/${run_id}`)).body.status,
    (status) => status === 'done',
  );
  await stopExporter(troupe.app, receiver);
  const tasks = receiver.spans.filter(({ name }) => name === 'agent_service.background_task');
  const [whole, part] = ['dig', 'shovel'].map((each) =>
    tasks.find(({ attributes }) => attributes['agent_service.background_task.name'] === each),
  );
  t.equal(whole?.parentSpanId, named(receiver, 'execute_tool work').spanId);
  t.match(whole?.attributes, {
    'agent_service.background_task.parent_run_id': run_id,
    'agent_service.background_task.parent_tool_call_id': 'c1',
    'agent_service.background_task.status': 'completed',
  });
  t.equal(part?.parentSpanId, whole?.spanId);
});

t.test('exports a failed inference and its run as spans with the error', async (t) => {
  const receiver = await startReceiver(t);
  const troupe = await observed(t, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  troupe.models.failures.push(new ModelError('unauthorized', 'the secret reason'));
  await run(troupe, 'flaky');
  await stopExporter(troupe.app, receiver);
  const failed = { status: { code: 2, message: 'unauthorized' } };
  t.match(named(receiver, 'chat flaky-upstream'), {
    ...failed,
    attributes: { 'error.type': 'unauthorized' },
  });
  t.match(named(receiver, 'invoke_agent flaky'), failed);
});

t.test('sets the tokens of broken attempts as attributes of the inference and the run', async (t) => {
  const receiver = await startReceiver(t);
  const troupe = await observed(t, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  troupe.models.steps.push((sink) => {
    sink.text('x '.repeat(100));
    throw new ModelError('stream_interrupted', 'connection reset', {
      usage: { prompt_tokens: 777, completion_tokens: 1 },
    });
  });
  const run_id = await run(troupe, 'boss');
  const { cut_off } = (await troupe.call('GET', `/v1/runs/${run_id}`)).body;
  await stopExporter(troupe.app, receiver);
  t.match(cut_off, { input_tokens: 777, output_tokens: 104 });
  const attributes = {
    'agent_service.cut_off.input_tokens': 777,
    'agent_service.cut_off.output_tokens': 104,
    'gen_ai.usage.input_tokens': 10,
  };
  t.match(named(receiver, 'chat steps-upstream'), { attributes });
  t.match(named(receiver, 'invoke_agent boss'), { attributes });
});

t.test('sends the span of the inference to the provider as the parent', async (t) => {
  const receiver = await startReceiver(t);
  const troupe = await observed(t, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  await troupe.call(
    'POST',
    '/v1/runs',
    { agentId: 'echo', messages },
    { traceparent: PARENT, tracestate: 'a=b' },
  );
  await stopExporter(troupe.app, receiver);
  const { spanId } = named(receiver, 'chat echo-upstream');
  t.strictSame(troupe.models.requests[0]?.request.trace, {
    traceparent: `00-${PARENT.slice(3, 35)}-${spanId}-01`,
    tracestate: 'a=b',
  });
});

t.test('forwards the trace context unchanged without a collector, but not a malformed one', async (t) => {
  const troupe = await observed(t, {});
  const ask = async (traceparent: string) => {
    await troupe.call('POST', '/v1/runs', { agentId: 'echo', messages }, { traceparent, tracestate: 'a=b' });
    return troupe.models.requests.at(-1)?.request.trace;
  };
  t.strictSame(await ask(PARENT), { traceparent: PARENT, tracestate: 'a=b' });
  for (const malformed of [
    PARENT.slice(1),
    `${PARENT}-x`,
    PARENT.replace('0af7', '0AF7'),
    'ff'.concat(PARENT.slice(2)),
    '00-0-0-0',
  ])
    t.equal(await ask(malformed), undefined, malformed);
});

t.test('exports no spans of an unsampled run, and forwards the decision', async (t) => {
  const receiver = await startReceiver(t);
  const troupe = await observed(t, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  const traceparent = PARENT.replace(/01$/, '00');
  await troupe.call('POST', '/v1/runs', { agentId: 'echo', messages }, { traceparent });
  await troupe.app.stop();
  t.strictSame(receiver.spans, []);
  t.match(troupe.models.requests[0]?.request.trace?.traceparent, /-00$/);
});

t.test('exports no credential in a span, with all content captured (check 97)', async (t) => {
  const receiver = await startReceiver(t);
  const capture: SettingsInput = {
    trace: { capture_content: true, capture_tool_io: 'arguments_and_results' },
  };
  const troupe = await observed(t, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, capture);
  const body = 'ab3'.repeat(16);
  const secrets = [
    `tpk_${body}Z`,
    `tps_${body}Y`,
    `tpt_${body}X`,
    `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.${'c2ln'.repeat(20)}`,
  ];
  const everything = secrets.join(' ');
  const link = 'https://a.example/cb?code=once-only-code&state=once-only-code';
  troupe.models.steps.push(asks(['n1', 'note', { text: everything, link }]), (sink) => {
    sink.text(`you said ${everything}`);
    throw new ModelError('invalid_request', `refused ${everything}`);
  });
  await run(troupe, 'steps', { messages: [{ role: 'user', content: `Remember ${everything}` }] });
  await stopExporter(troupe.app, receiver);
  const all = JSON.stringify(receiver.spans, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  t.match(all, /Remember \*\*\*/, 'the prompt is exported');
  t.match(named(receiver, 'execute_tool note').attributes, { 'gen_ai.tool.call.arguments': /\*\*\*/ });
  for (const secret of [...secrets, 'once-only-code', ADMIN_TOKEN])
    t.notOk(all.includes(secret), `no span has ${secret.slice(0, 8)}`);
});

t.test('exports prompts and completions only when content is captured, and without secrets', async (t) => {
  const receiver = await startReceiver(t);
  const capture: SettingsInput = {
    trace: { capture_content: true, capture_tool_io: 'arguments_and_results' },
  };
  const troupe = await observed(t, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, capture);
  troupe.models.steps.push(asks(['n1', 'note', { api_key: 'sk-very-secret' }]));
  await run(troupe, 'steps');
  await stopExporter(troupe.app, receiver);
  const all = JSON.stringify(receiver.spans.map(({ attributes }) => attributes));
  t.match(all, /gen_ai\.input\.messages.*Hello/);
  t.match(all, /gen_ai\.output\.messages.*echo: /);
  t.match(named(receiver, 'execute_tool note').attributes, {
    'gen_ai.tool.call.arguments': '{"api_key":"***"}',
    'gen_ai.tool.call.result': /did n1/,
  });
  t.notMatch(all, 'sk-very-secret');
});

t.test(
  'exports spans only for agents with the plugin, also of a suspended run that is cancelled',
  async (t) => {
    const receiver = await startReceiver(t);
    const plain = AgentSpec.parse({ id: 'plain', model_id: 'echo' });
    const seen = AgentSpec.parse({ id: 'seen', model_id: 'steps', plugin_ids: ['observability'] });
    const troupe = await startTroupe(t, {
      app: {
        env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces` },
        records: { ...NO_RECORDS, agents: [plain, seen] },
        tools: createTestTools().tools,
      },
    });
    await run(troupe, 'plain');
    troupe.models.steps.push(asks(['r1', 'risky']));
    const run_id = await run(troupe, 'seen', { threadId: 'T' });
    await troupe.restart();
    await troupe.post(`/v1/runs/${run_id}/cancel`);
    await eventually(
      async () => (await troupe.call('GET', `/v1/runs/${run_id}`)).body.status,
      (status) => status === 'done',
    );
    await stopExporter(troupe.app, receiver);
    t.match(named(receiver, 'invoke_agent seen'), { traceId: run_id.replaceAll('-', '') });
    t.ok(receiver.spans.every(({ traceId }) => traceId === run_id.replaceAll('-', '')));
    t.strictSame(receiver.metrics, []);
  },
);

t.test('exports metrics with the names, units and bounds of the conventions', async (t) => {
  const receiver = await startReceiver(t);
  const troupe = await startTroupe(t, {
    app: {
      env: { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${receiver.url}/own/metrics` },
      tools: createTestTools().tools,
    },
  });
  await suspend(troupe, 'T', ['n1', 'note']);
  await stopExporter(troupe.app, receiver, ['metrics']);
  t.strictSame(receiver.requests[0]?.path, '/own/metrics');
  const of = (name: string) => receiver.metrics.find((metric) => metric.name === name);
  t.match(of('gen_ai.client.operation.duration'), {
    unit: 's',
    histogram: {
      dataPoints: [
        {
          attributes: {
            'gen_ai.operation.name': 'chat',
            'gen_ai.provider.name': 'test',
            'gen_ai.request.model': 'steps-upstream',
          },
          count: 2,
        },
      ],
    },
  });
  t.match(of('gen_ai.client.token.usage'), {
    unit: '{token}',
    histogram: {
      dataPoints: [
        { attributes: { 'gen_ai.token.type': 'input' }, sum: 10 },
        { attributes: { 'gen_ai.token.type': 'output' }, sum: 20 },
      ],
    },
  });
  t.ok(of('gen_ai.client.operation.time_to_first_chunk'));
  t.match(of('gen_ai.execute_tool.duration')?.histogram.dataPoints[0], {
    attributes: { 'gen_ai.tool.name': 'note' },
  });
});

t.test('exports the same data over JSON and gRPC', async (t) => {
  for (const [protocol, start] of [
    ['http/json', startReceiver],
    ['grpc', startGrpcReceiver],
  ] as const) {
    const receiver = await start(t);
    const troupe = await startTroupe(t, {
      settings: { observe_all_agents: true, storage_dir: t.testdir({ [protocol.replace('/', '-')]: {} }) },
      app: { env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: protocol } },
    });
    const run_id = await run(troupe, 'echo');
    await stopExporter(troupe.app, receiver, ['spans', 'metrics']);
    const root = named(receiver, 'invoke_agent echo');
    t.equal(root.traceId, run_id.replaceAll('-', ''), protocol);
    t.equal(named(receiver, 'chat echo-upstream').parentSpanId, root.spanId, protocol);
    t.ok(
      receiver.metrics.some(({ name }) => name === 'gen_ai.client.token.usage'),
      protocol,
    );
  }
});

t.test('affects neither runs nor the stop when the collector is down, failing or silent', async (t) => {
  const hangs = await startReceiver(t, () => {});
  const refuses = await startReceiver(t, (_request, response) =>
    response.writeHead(500).end('x'.repeat(10_000_000)),
  );
  for (const url of [hangs.url, refuses.url, 'http://127.0.0.1:1']) {
    // Longer than a stop waits. Until then the exporter retries, even after the stop.
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: '4000' };
    const troupe = await startTroupe(t, {
      settings: { observe_all_agents: true, storage_dir: t.testdir() },
      app: { env },
    });
    const events = await troupe.runToEnd({ agentId: 'echo', messages });
    t.match(events.at(-1), { event_type: 'run_finish' }, url);
    await troupe.app.stop();
  }
  t.ok(hangs.requests.length > 0);
  t.ok(refuses.requests.length > 0);
});
