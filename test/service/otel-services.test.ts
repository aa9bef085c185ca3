import t, { type Test } from 'tap';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { when } from '../http/serve.ts';
import { startReceiver } from '../observability/otel/receiver.ts';
import { asks, type Call } from './models.ts';
import { messages } from './traced.ts';
import { ADMIN_TOKEN, eventually, startTroupe, type Troupe } from './troupe.ts';

/** One trace across two services, one of which calls the other: evals-and-traces.md 12. */

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const authorization = `Bearer ${ADMIN_TOKEN}`;

const both = async (
  t: Test,
  act: (services: { worker: Troupe; office: Troupe; stop(): Promise<void> }) => Promise<void>,
  env: Record<string, string>,
): Promise<void> => {
  const observed = { observe_all_agents: true };
  const worker = await startTroupe(t, { settings: observed, app: { env } });
  const endpoint = { base_url: `${worker.url}/v1/a2a`, target: 'echo', options: { poll_interval_ms: 20 } };
  const agents = [
    { id: 'far', endpoint },
    { id: 'boss', model_id: 'steps', delegates: ['far'] },
  ].map((agent) => AgentSpec.parse(agent));
  // Each service needs its own data directory.
  await t.test('with an office', async (t) => {
    const office = await startTroupe(t, {
      settings: observed,
      app: { env, records: { ...NO_RECORDS, agents } },
    });
    const stop = async () => {
      await office.app.stop();
      await worker.app.stop();
    };
    await act({ worker, office, stop });
  });
};

const connect = async (office: Troupe, url: string): Promise<void> => {
  const server = { id: 'w', transport: 'http', url: `${url}/v1/mcp` };
  const { status } = await office.call('POST', '/v1/config/mcp-servers', server, { authorization });
  if (status !== 201) throw new Error(`the server was rejected: ${status}`);
  await eventually(
    async () => (await office.admin('GET', '/v1/mcp-servers/w/status')).body.connected,
    (connected) => connected === true,
  );
};

const asked = (office: Troupe, call: Call) => {
  office.models.steps.push(asks(call));
  return office.call('POST', '/v1/runs', { agentId: 'boss', messages }, { traceparent: PARENT });
};

const ways: [string, Call][] = [
  ['A2A', ['c1', 'agent_run_far', { prompt: 'count' }]],
  ['MCP', ['c1', 'mcp__w__echo', { message: 'count' }]],
];

for (const [way, call] of ways) {
  t.test(`nests a run over ${way} under the tool call in the trace of the original caller`, async (t) => {
    const receiver = await startReceiver(t);
    await both(
      t,
      async ({ worker, office, stop }) => {
        if (way === 'MCP') await connect(office, worker.url);
        t.equal((await asked(office, call)).status, 200);
        await stop();
        const find = (name: string) => receiver.spans.find((span) => span.name === name);
        // On a busy host an export may take longer than a stop waits for it.
        await when(() => find('invoke_agent boss') !== undefined && find('invoke_agent echo') !== undefined);
        const boss = find('invoke_agent boss');
        t.match(boss, { traceId: PARENT.slice(3, 35), parentSpanId: PARENT.slice(36, 52) });
        const tool = find(`execute_tool ${call[1]}`);
        t.ok(tool);
        t.match(find('invoke_agent echo'), { traceId: boss?.traceId, parentSpanId: tool?.spanId });
      },
      { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url },
    );
  });

  t.test(`forwards the trace context unchanged over ${way} without a collector`, async (t) => {
    await both(
      t,
      async ({ worker, office }) => {
        if (way === 'MCP') await connect(office, worker.url);
        await asked(office, call);
        t.strictSame(worker.models.requests[0]?.request.trace, { traceparent: PARENT });
      },
      {},
    );
  });
}
