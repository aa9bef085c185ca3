import t from 'tap';
import { z } from 'zod';
import { agentHandoff } from '../../src/loop/handoff.ts';
import { ModelError } from '../../src/models/errors.ts';
import { NO_RECORDS } from '../../src/registry/records.ts';
import { runtimeStatsRoutes } from '../../src/routes/runtime-stats.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { AgentStats } from '../../src/schema/runtime-stats.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { update } from '../../src/tools/state.ts';
import { ADMIN_TOKEN, serve } from '../http/serve.ts';
import { asks } from './models.ts';
import { resume, suspend } from './suspended.ts';
import { createTestTools } from './tools.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';

/** Statistics of agents: config.md 15 and 16, check 68. */

const messages = [{ role: 'user', content: 'Hello' }];

const statsOf = async ({ admin }: Troupe, agent: string, query = ''): Promise<AgentStats> => {
  const { body } = await admin('GET', `/v1/agents/${encodeURIComponent(agent)}/runtime-stats${query}`);
  return AgentStats.parse(body);
};

t.test('without a registry both routes answer 503, whatever the window', async (t) => {
  const { url } = await serve(t, runtimeStatsRoutes({}));
  for (const path of ['/v1/agents/runtime-stats', '/v1/agents/x/runtime-stats?window=5x']) {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    t.equal(response.status, 503);
    t.strictSame(await response.json(), { error: 'runtime_stats registry not configured' });
  }
});

t.test('statistics need the admin token', async (t) => {
  const { call, admin } = await startTroupe(t);
  for (const path of ['/v1/agents/runtime-stats', '/v1/agents/echo/runtime-stats']) {
    t.equal((await call('GET', path)).status, 401);
  }
  t.strictSame((await admin('GET', '/v1/agents/runtime-stats')).body, { agents: [] });
  t.match((await admin('GET', '/v1/system/info')).body, { runtime_stats_enabled: true });
});

t.test('an agent that did nothing yet is not found, but a bad window is told first', async (t) => {
  const { admin } = await startTroupe(t);
  t.match(await admin('GET', '/v1/agents/alpha%2Fbeta/runtime-stats'), {
    status: 404,
    body: { error: 'agent not found in runtime stats: alpha/beta' },
  });
  const bad: [window: string, error: string][] = [
    ['', 'window value is empty'],
    ['5x', 'invalid window format "5x": expected <n>[s|m|h|d]'],
    ['0h', 'window "0h" must be greater than zero'],
  ];
  for (const [window, error] of bad) {
    t.match(await admin('GET', `/v1/agents/echo/runtime-stats?window=${window}`), {
      status: 400,
      body: { error },
    });
  }
});

t.test('a run is counted for its agent, with its tokens', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.runToEnd({ agentId: 'echo', messages });
  const stats = await statsOf(troupe, 'echo');
  t.match(stats, {
    agent_id: 'echo',
    window_seconds: 604_800,
    bucket_count: 1008,
    inference_count: 1,
    error_count: 0,
    input_tokens: 10,
    output_tokens: 20,
    tool_calls_by_tool: [],
  });
  t.equal(stats.inference_duration_histogram.length, 11);
  t.match(await statsOf(troupe, 'echo', '?window=1h&other=1'), { window_seconds: 3600, inference_count: 1 });
});

t.test('statistics outlive a restart of the service', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.runToEnd({ agentId: 'echo', messages });
  const before = await statsOf(troupe, 'echo');
  await troupe.restart();
  t.strictSame(await statsOf(troupe, 'echo'), before);
});

t.test('statistics can be turned off', async (t) => {
  const without = await startTroupe(t, { settings: { observability_disable: true } });
  t.match(await without.admin('GET', '/v1/agents/runtime-stats'), {
    status: 503,
    body: { error: 'runtime_stats registry not configured' },
  });
  t.match((await without.admin('GET', '/v1/system/info')).body, { runtime_stats_enabled: false });
});

t.test('a failed inference is an error, and the list is sorted', async (t) => {
  const troupe = await startTroupe(t);
  troupe.models.failures.push(new ModelError('unauthorized', 'no'));
  await troupe.runToEnd({ agentId: 'flaky', messages });
  await troupe.runToEnd({ agentId: 'echo', messages });
  t.match((await troupe.admin('GET', '/v1/agents/runtime-stats')).body, {
    agents: [
      { agent_id: 'echo', inference_count: 1, error_count: 0 },
      { agent_id: 'flaky', inference_count: 1, error_count: 1 },
    ],
  });
});

t.test('a call that waits and goes on is two suspensions and one call', async (t) => {
  const troupe = await startTroupe(t, { app: { tools: createTestTools().tools } });
  await suspend(troupe, 'T', ['c1', 'risky'], ['c2', 'note']);
  t.match(await statsOf(troupe, 'steps'), {
    suspensions: 1,
    tool_calls_by_tool: [{ tool: 'note', call_count: 1, failure_count: 0 }],
  });
  t.equal((await troupe.post('/v1/threads/T/decision', resume('c1'))).status, 202);
  const stats = await eventually(
    () => statsOf(troupe, 'steps'),
    ({ inference_count }) => inference_count === 2,
  );
  t.match(stats, {
    suspensions: 2,
    tool_calls_by_tool: [{ tool: 'note' }, { tool: 'risky', call_count: 1 }],
  });
});

t.test('a delegation and a handoff are counted for the agent that gives', async (t) => {
  const handOver = defineTool({
    id: 'hand_over',
    description: 'Hands over.',
    input: z.object({}),
    execute: () => ({ data: 'ok', state: [update(agentHandoff, { requested_agent: 'back' })] }),
  });
  const agents = [{ id: 'front', delegates: ['echo'] }, { id: 'back' }].map((agent) =>
    AgentSpec.parse({ model_id: 'steps', max_rounds: 8, ...agent }),
  );
  const troupe = await startTroupe(t, { app: { tools: [handOver], records: { ...NO_RECORDS, agents } } });
  troupe.models.steps.push(asks(['c1', 'agent_run_echo', { prompt: 'x' }]), asks(['c2', 'hand_over']));
  await troupe.runToEnd({ agentId: 'front', messages });
  t.match(await statsOf(troupe, 'front'), {
    inference_count: 2,
    handoffs: 1,
    delegations: 1,
    tool_calls_by_tool: [{ tool: 'agent_run_echo' }, { tool: 'hand_over' }],
  });
  t.match(await statsOf(troupe, 'back'), { inference_count: 1, handoffs: 0, delegations: 0 });
  t.match(await statsOf(troupe, 'echo'), { inference_count: 1 });
});

t.test('a tool that the model made up has no name of its own', async (t) => {
  const troupe = await startTroupe(t);
  troupe.models.steps.push(asks(['c1', 'agent_run_nobody']));
  await troupe.runToEnd({ agentId: 'steps', messages });
  t.match(await statsOf(troupe, 'steps'), {
    delegations: 0,
    tool_calls_by_tool: [{ tool: 'unknown', failure_count: 1 }],
  });
});
