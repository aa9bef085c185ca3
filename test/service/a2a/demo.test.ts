import t from 'tap';
import { NO_RECORDS } from '../../../src/configuration/records.ts';
import { AgentSpec } from '../../../src/schema/agent.ts';
import { textIn } from '../agent-loop/agents.ts';
import { planeOf } from '../config/plane.ts';
import { startDemo } from '../troupe.ts';

/** Demo agents over A2A, from clients and as remote agents: agent-loop.md 20, checks 42, 43 and 51. */

const DEMO = [
  'default',
  'limited',
  'permission',
  'stopper',
  'travel',
  'research',
  'thinking',
  'a2a',
  'compact',
];
const messages = [{ role: 'user', content: 'plain words' }];

t.test('42: an agent with this service as its endpoint responds like the local agent', async (t) => {
  const troupe = await startDemo(t);
  const endpoint = { base_url: `${troupe.url}/v1/a2a`, target: 'default' };
  t.equal((await planeOf(troupe).post('/v1/config/agents', { id: 'mirror', endpoint })).status, 201);
  const events = await troupe.runToEnd({ agentId: 'mirror', messages });
  t.equal(textIn(events), 'Scripted response to: plain words');
  t.match(events.at(-1), { termination: { type: 'natural_end' }, result: { status: 'done' } });
  t.ok(events.some(({ activity_type }) => activity_type === 'a2a-task-progress'));
});

t.test('43: an agent with an unreachable endpoint fails in time without side effects', async (t) => {
  const agents = [
    AgentSpec.parse({ id: 'nobody', endpoint: { base_url: 'http://127.0.0.1:9', timeout_ms: 5000 } }),
  ];
  const troupe = await startDemo(t, { app: { records: { ...NO_RECORDS, agents } } });
  const events = await troupe.runToEnd({ agentId: 'nobody', messages });
  t.match(events.at(-1), {
    termination: { type: 'error', value: /^failed to submit A2A task: no connection/ },
  });
  t.equal((await troupe.call('GET', '/health')).status, 200);
  t.match((await troupe.runToEnd({ agentId: 'default', messages })).at(-1), {
    termination: { type: 'natural_end' },
  });
});

t.test('51: each demo agent is a tenant and accepts a client task id with a context', async (t) => {
  const troupe = await startDemo(t);
  const { ids } = await demoAgents(troupe);
  t.strictSame(
    DEMO.filter((id) => !ids.includes(id)),
    [],
  );
  for (const id of ids) {
    const body = {
      message: {
        messageId: 'm',
        role: 'ROLE_USER',
        taskId: `task-${id}`,
        contextId: `context-${id}`,
        parts: [{ text: 'Hello' }],
      },
      configuration: { returnImmediately: true },
    };
    const answer = await troupe.call('POST', `/v1/a2a/${encodeURIComponent(id)}/message:send`, body);
    t.match(answer, { status: 200, body: { task: { id: `task-${id}`, contextId: `context-${id}` } } }, id);
  }
});

const demoAgents = async (troupe: Parameters<typeof planeOf>[0]) => {
  const { body } = await planeOf(troupe).get('/v1/capabilities');
  // Capabilities list agents by id.
  return {
    ids: (body.agents as string[]).filter((id) => !['slow', 'flaky', 'broken', 'steps', 'echo'].includes(id)),
  };
};
