import t from 'tap';
import {
  bandPath,
  barsPath,
  labelled,
  linePath,
  niceTop,
  stacked,
} from '../../src/console/activity/chart.ts';
import {
  before,
  between,
  isWithin,
  rangeOf,
  spanText,
  statsQuery,
} from '../../src/console/activity/range.ts';
import { modelsIn, toolsIn, unpriced } from '../../src/console/activity/stats.ts';
import { AgentStats } from '../../src/console/data/resources.ts';
import type { Say } from '../../src/console/i18n/locale.ts';
import { textIn } from '../../src/console/i18n/texts.ts';
import { type Known, knownOf, needsIn } from '../../src/console/screens/dashboard/needs.ts';
import texts from '../../src/console/screens/dashboard/texts.json' with { type: 'json' };
import { figuresOf, parseMetrics, rateOf } from '../../src/console/screens/system/prometheus.ts';
import { runtimeStatsOf } from './runtime-stats.ts';

/** Values that the dashboard, the statistics of an agent and the System screen derive. */

const NOW = 1_767_225_600_000;

t.test('reads ranges of the address, and falls back to a day', async (t) => {
  t.strictSame(rangeOf('7d'), { text: '7d', seconds: 604_800, until: undefined });
  t.strictSame(rangeOf('1767220000-1767223600'), {
    text: '1767220000-1767223600',
    seconds: 3600,
    until: 1_767_223_600,
  });
  for (const wrong of [undefined, '', '0h', '-5m', '1w', '1767223600-1767220000', '1-2', '9999999999999d'])
    t.equal(rangeOf(wrong).text, '24h', String(wrong));
  t.strictSame(before(rangeOf('1h'), NOW), rangeOf(between(NOW / 1000 - 7200, NOW / 1000 - 3600)));
  t.ok(isWithin(rangeOf('1h'), NOW - 3_599_000, NOW));
  t.notOk(isWithin(rangeOf('1h'), NOW - 3_601_000, NOW));
  t.notOk(isWithin(rangeOf(between(1000_000_000, 1000_003_600)), NOW, NOW));
});

t.test('names the day of the end of a span only if it differs', async (t) => {
  const tick = (at: number, kind: 'time' | 'day'): string =>
    new Date(at).toISOString().slice(...(kind === 'day' ? [8, 10] : [11, 16]));
  t.equal(spanText(tick, NOW, NOW + 3_600_000), '01, 00:00 – 01:00');
  t.equal(spanText(tick, NOW, NOW + 90_000_000), '01, 00:00 – 02, 01:00');
});

t.test('requests ten minutes a point for a day, an hour for a week, and never more than 180', async (t) => {
  t.match(statsQuery(rangeOf('24h')), { window: '86400s', until: undefined, points: 144 });
  t.match(statsQuery(rangeOf('7d')), { points: 168 });
  t.match(statsQuery(rangeOf('900d')), { points: 180 });
  t.match(statsQuery(rangeOf('1767220000-1767225600')), { until: '2026-01-01T00:00:00.000Z' });
});

t.test('draws bars, lines and bands with gaps', async (t) => {
  t.strictSame([0, 1, 3, 11, 23, 100, 0.07].map(niceTop), [2, 2, 4, 12, 24, 120, 0.08]);
  t.strictSame(stacked([1, 0, 2]), [
    [0, 1],
    [1, 1],
    [1, 3],
  ]);
  t.equal(barsPath([[0, 1], undefined, [1, 1]], 2), 'M0.1 100V50h0.8V100z');
  t.equal(linePath([2, 1, undefined, 0], 2), 'M0.5 0L1.5 50M3.1 100h.8');
  t.equal(bandPath([[0, 2], [1, 2], undefined, [1, 2]], 2), 'M0.5 0L1.5 0L1.5 50L0.5 100z');
  t.strictSame(labelled(6, 3), [0, 2, 4]);
  t.strictSame(labelled(0, 3), []);
});

const model = (provider_id: string, more: object = {}) => ({
  provider_id,
  model: 'large',
  inference_count: 4,
  error_count: 0,
  input_tokens: 10,
  output_tokens: 5,
  ...more,
});

const stats = (agent_id: string, more: object = {}): AgentStats =>
  AgentStats(runtimeStatsOf(agent_id, more), '');

t.test('adds up models and tools of several agents', async (t) => {
  const tool = (name: string, call_count: number, total_duration_ms: number) => ({
    ...runtimeStatsOf('x').tool_calls_by_tool[0],
    tool: name,
    call_count,
    total_duration_ms,
    p95_duration_ms: total_duration_ms,
  });
  const agents = [
    stats('a', {
      inferences_by_model: [
        model('p', { cost_usd: 1, last_success_at: 5, last_error: { class: 'timeout', at: 4 } }),
      ],
      tool_calls_by_tool: [tool('search', 1, 10)],
    }),
    stats('b', {
      inferences_by_model: [
        model('p', { last_error: { class: 'overloaded', at: 9 } }),
        model('q'),
        model('r', { error_count: 4 }),
      ],
      tool_calls_by_tool: [tool('search', 3, 50), tool('refund', 1, 1)],
    }),
  ];
  const models = modelsIn(agents);
  t.match(models, [
    {
      provider_id: 'p',
      inference_count: 8,
      cost_usd: 1,
      last_success_at: 5,
      last_error: { class: 'overloaded' },
    },
    { provider_id: 'q' },
    { provider_id: 'r' },
  ]);
  t.strictSame(
    unpriced(models).map(({ provider_id }) => provider_id),
    ['q'],
    'a model that only failed costs nothing',
  );
  t.match(toolsIn({ agents, course: { point_seconds: 1, total: stats('all'), points: [] } }), [
    { tool: 'search', call_count: 4, total_duration_ms: 60, avg_duration_ms: 15, p95_duration_ms: 50 },
    { tool: 'refund', call_count: 1 },
  ]);
});

const say: Say<keyof typeof texts> = (key, values) => textIn(texts, 'en', key, values);

const NOTHING: Known = {
  agents: [],
  configured: undefined,
  providers: undefined,
  diagnostics: [],
  waiting: [],
  servers: [],
  tests: new Map(),
  changed: new Map(),
};

const failing = (agent_id: string, error: string, more: object = {}): AgentStats =>
  stats(agent_id, {
    completed_runs: 0,
    failed_runs: 4,
    last_run: { run_id: `run-of-${agent_id}`, ended_at: NOW, termination: 'error' },
    inferences_by_model: [model('acme', { error_count: 4, last_error: { class: error, at: NOW } })],
    ...more,
  });

const textsOf = (known: Partial<Known>): string[] =>
  needsIn(say, { ...NOTHING, ...known }).map(({ text }) => text);

t.test('lists required actions with cause and repair, most severe first', async (t) => {
  const server = (id: string, permanently_failed: boolean) => ({
    id,
    status: {
      connected: false,
      reconnecting: true,
      permanently_failed,
      consecutive_failures: 3,
      last_error: 'refused',
      last_attempt_at: undefined,
    },
  });
  const waiting = { waiting: { reason: 'tool_permission', tickets: [{}] }, agent_id: 'on-call' };
  const needs = needsIn(say, {
    ...NOTHING,
    agents: [failing('on-call', 'unauthorized'), stats('sound')],
    waiting: [waiting as never, { waiting: { reason: 'background_tasks', tickets: [] } } as never],
    servers: [server('shaky', false), server('gone', true)],
    diagnostics: [
      {
        code: 'agent_missing_model',
        severity: 'error',
        resource: { namespace: 'agents', id: 'x' },
        depends_on: { namespace: 'models', id: 'm' },
        message: 'model m is missing',
      },
      {
        code: 'other',
        severity: 'note',
        resource: { namespace: 'agents', id: 'x' },
        depends_on: undefined,
        message: 'fine',
      },
    ],
  });
  t.strictSame(
    needs.map(({ tone, text }) => [tone, text]),
    [
      ['error', 'on-call: 4 of 4 runs failed: key rejected by acme'],
      ['error', 'MCP server gone is down and no longer reconnects: refused'],
      ['error', 'model m is missing'],
      ['warn', '1 run is waiting for a decision'],
      ['warn', 'MCP server shaky is not connected: refused'],
    ],
    'the rejected key is named once, with the agent that fails',
  );
  t.strictSame(
    needs[0]?.links.map(({ href }) => href),
    ['/providers?edit=acme', '/runs/run-of-on-call', '/agents/on-call/dashboard'],
  );
  t.strictSame(textsOf({ agents: [stats('sound')] }), []);
  const own = knownOf({ ...NOTHING, agents: [failing('a', 'timeout'), failing('b', 'timeout')] }, 'b');
  t.strictSame(
    needsIn(say, own).map(({ id }) => id),
    ['agent/b'],
  );
});

t.test('does not report agents whose failures are few, repaired, or of the past', async (t) => {
  const few = { completed_runs: 100, failed_runs: 1 };
  t.strictSame(textsOf({ agents: [failing('a', 'timeout', few)] }), []);
  t.match(textsOf({ agents: [failing('a', 'unauthorized', few)] }), [
    'a: 1 of 101 runs failed: key rejected',
  ]);
  const recovered = {
    last_run: { run_id: 'r', ended_at: NOW, termination: 'natural_end' },
    inferences_by_model: [],
  };
  t.strictSame(textsOf({ agents: [failing('a', 'timeout', recovered)] }), []);
  t.match(textsOf({ agents: [failing('a', 'timeout', { ...recovered, failed_runs: 5 })] }), ['a: 5 of 5']);
  t.strictSame(textsOf({ agents: [failing('a', 'timeout')], configured: new Set(['b']) }), []);
});

t.test('reports a rejected key until a test, a change or an inference of the provider', async (t) => {
  const agents = [failing('a', 'unauthorized', { failed_runs: 0, last_run: undefined })];
  const rejected = ['key rejected by acme'];
  t.strictSame(textsOf({ agents }), rejected);
  const test = {
    ok: true,
    latency_ms: 1,
    network_tested: true,
    status: undefined,
    error: undefined,
    at: NOW + 1,
  };
  t.strictSame(textsOf({ agents, tests: new Map([['acme', [test]]]) }), []);
  t.strictSame(textsOf({ agents, tests: new Map([['acme', [{ ...test, at: NOW - 1 }]]]) }), rejected);
  t.strictSame(textsOf({ agents, changed: new Map([['acme', NOW + 1]]) }), []);
  t.strictSame(textsOf({ agents, providers: new Set(['acme']) }), rejected);
  t.strictSame(textsOf({ agents, providers: new Set() }), [], 'the provider was deleted');
  const works = stats('b', {
    inferences_by_model: [{ ...model('acme'), model: 'other', last_success_at: NOW + 1 }],
  });
  t.strictSame(textsOf({ agents: [...agents, works] }), []);
  const failed = { ...test, ok: false, error: 'status 401' };
  t.strictSame(textsOf({ tests: new Map([['acme', [failed]]]) }), ['acme failed its last test: status 401']);
});

const metrics = (requests: number, failed: number, slow: number): string =>
  `# TYPE x_active_runs gauge
x_active_runs 2
# TYPE x_http_requests_total counter
x_http_requests_total{method="GET",status="200"} ${requests}
x_http_requests_total{method="GET",status="503"} ${failed}
# TYPE x_http_request_duration_seconds histogram
x_http_request_duration_seconds_bucket{le="0.1"} ${requests}
x_http_request_duration_seconds_bucket{le="1"} ${requests + slow}
x_http_request_duration_seconds_bucket{le="+Inf"} ${requests + slow}
x_http_request_duration_seconds_sum 0.5
nodejs_eventloop_lag_p99_seconds 0.025
x_admin_auth_failures_total NaN`;

t.test('computes the tiles from two readings of the metrics', async (t) => {
  const first = { at: NOW, series: parseMetrics(metrics(10, 0, 0)) };
  t.match(first.series[0], { metric: 'x_active_runs', labels: {}, value: 2 });
  t.match(first.series[1], { metric: 'x_http_requests_total', labels: { status: '200' } });
  t.match(figuresOf(first, undefined), { runs: 2, requests: undefined, latency: undefined, heap: undefined });
  const second = { at: NOW + 10_000, series: parseMetrics(metrics(28, 2, 2)) };
  const figures = figuresOf(second, first);
  t.match(figures, { requests: 2, errors: 0.2, latency: 1, runs: 2 });
  t.equal(figures.loop?.toFixed(3), '0.005');
  t.equal(figuresOf({ ...first, at: NOW + 20_000 }, second).requests, undefined, 'the service was restarted');
  t.equal(rateOf(1, 2, 0), undefined);
});
