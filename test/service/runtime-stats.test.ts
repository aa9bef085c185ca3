import t from 'tap';
import { z } from 'zod';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { agentHandoff } from '../../src/loop/handoff.ts';
import { ModelError } from '../../src/models/errors.ts';
import { runtimeStatsRoutes } from '../../src/routes/runtime-stats.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { AgentStats, Course } from '../../src/schema/runtime-stats.ts';
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

t.test('returns 503 on both routes without a registry, whatever the window', async (t) => {
  const { url } = await serve(t, runtimeStatsRoutes({}));
  for (const path of ['/v1/agents/runtime-stats', '/v1/agents/x/runtime-stats?window=5x']) {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    t.equal(response.status, 503);
    t.strictSame(await response.json(), { error: 'runtime_stats registry not configured' });
  }
});

t.test('requires the admin token', async (t) => {
  const { call, admin } = await startTroupe(t);
  for (const path of ['/v1/agents/runtime-stats', '/v1/agents/echo/runtime-stats']) {
    t.equal((await call('GET', path)).status, 401);
  }
  t.strictSame((await admin('GET', '/v1/agents/runtime-stats')).body, { agents: [], kept_seconds: 604_800 });
  t.match((await admin('GET', '/v1/system/info')).body, { runtime_stats_enabled: true });
});

t.test('returns 404 for an agent without activity, but rejects an invalid window first', async (t) => {
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

t.test('counts a run for its agent, with its tokens', async (t) => {
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

t.test('returns the course of a window, bounded in its points', async (t) => {
  const troupe = await startTroupe(t);
  const { admin } = troupe;
  await troupe.runToEnd({ agentId: 'echo', messages });
  const listed = async (query: string) => {
    const { body } = await admin('GET', `/v1/agents/runtime-stats?${query}`);
    return { agents: body.agents, course: Course.parse(body.course) };
  };
  const { agents, course } = await listed('window=1h&points=6');
  t.match(agents, [{ agent_id: 'echo', completed_runs: 1, last_run: { termination: 'natural_end' } }]);
  t.equal(course.point_seconds, 600);
  t.equal(course.points.length, 6);
  t.match(course.points.at(-1), { completed_runs: 1, inference_count: 1, input_tokens: 10 });
  const one = await statsOf(troupe, 'echo', '?window=1h&points=6');
  t.match(one.inferences_by_model, [{ inference_count: 1, error_count: 0 }]);
  t.strictSame(one.course?.points.at(-1), course.points.at(-1));
  t.notOk('course' in (await statsOf(troupe, 'echo')));
  t.ok((await listed('points=100000')).course.points.length <= 401);
  t.ok((await listed('points=0')).course.points.length <= 2);
  const before = await statsOf(troupe, 'echo', '?until=2020-01-01T00:00:00Z');
  t.match(before, { inference_count: 0, completed_runs: 0 });
  for (const query of ['points=x', 'until=yesterday', 'until=2020-01-01T00:00']) {
    t.equal((await admin('GET', `/v1/agents/runtime-stats?${query}`)).status, 400, query);
  }
});

t.test('keeps statistics across a restart of the service', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.runToEnd({ agentId: 'echo', messages });
  const before = await statsOf(troupe, 'echo');
  await troupe.restart();
  t.strictSame(await statsOf(troupe, 'echo'), before);
});

t.test('can be disabled', async (t) => {
  const without = await startTroupe(t, { settings: { observability_disable: true } });
  t.match(await without.admin('GET', '/v1/agents/runtime-stats'), {
    status: 503,
    body: { error: 'runtime_stats registry not configured' },
  });
  t.match((await without.admin('GET', '/v1/system/info')).body, { runtime_stats_enabled: false });
});

t.test('counts a failed inference as an error, and sorts the list', async (t) => {
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

t.test('counts a suspended and resumed call as two suspensions and one call', async (t) => {
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

t.test('counts delegations and handoffs for the agent that initiates them', async (t) => {
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

t.test('counts a tool that the model invented as `unknown`', async (t) => {
  const troupe = await startTroupe(t);
  troupe.models.steps.push(asks(['c1', 'agent_run_nobody']));
  await troupe.runToEnd({ agentId: 'steps', messages });
  t.match(await statsOf(troupe, 'steps'), {
    delegations: 0,
    tool_calls_by_tool: [{ tool: 'unknown', failure_count: 1 }],
  });
});
