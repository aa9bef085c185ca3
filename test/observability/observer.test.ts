import t from 'tap';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';
import { createObserver } from '../../src/observability/observer.ts';
import { createRuntimeStats } from '../../src/observability/statistics/runtime-stats.ts';

/** One observation of the runtime updates both the metrics of the service and the statistics of the agent. */

t.test('an observation counts in the metrics and for its agent, in milliseconds for the agent', async (t) => {
  const metrics = createMetrics();
  const stats = createRuntimeStats({ clock: { now: () => 1_767_225_600_000 } });
  const observer = createObserver({ metrics, stats });
  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  const model = { agent: 'a', model: 'm', provider: 'p' };
  observer.inference.ended({ ...model, status: 'ok', seconds: 2, usage });
  observer.inference.ended({ ...model, status: 'error', seconds: 1, errorClass: 'timeout' });
  observer.tools.ended({ agent: 'a', tool: 'x', status: 'suspended', seconds: 0.5 });
  observer.tools.ended({ agent: 'a', tool: 'x', status: 'failed', seconds: 0.5, errorClass: 'timeout' });
  observer.agents.suspension('a');
  observer.agents.handoff('a');
  observer.agents.suspension('a', 'cancel');
  observer.agents.delegation('a', { status: 'error', seconds: 2 });
  const text = await metrics.render();
  for (const status of ['ok', 'error'])
    t.match(text, `service_inference_requests_total{model="m",provider="p",status="${status}"} 1\n`);
  for (const status of ['suspended', 'failed'])
    t.match(text, `service_tool_calls_total{tool="x",status="${status}"} 1\n`);
  for (const series of [
    'agent_suspensions_total{action="suspended",resume_mode="none"} 1',
    'agent_suspensions_total{action="resumed",resume_mode="cancel"} 1',
    'agent_handoffs_total 1',
    'agent_delegations_total{status="error"} 1',
    'agent_delegation_duration_seconds_sum{status="error"} 2',
  ])
    t.match(text, `service_${series}\n`);
  t.match(stats.snapshot('a'), {
    inference_count: 2,
    error_count: 1,
    input_tokens: 3,
    output_tokens: 4,
    max_inference_duration_ms: 2000,
    suspensions: 2,
    handoffs: 1,
    delegations: 1,
    tool_calls_by_tool: [{ tool: 'x', call_count: 2, failure_count: 1, total_duration_ms: 1000 }],
  });
});
