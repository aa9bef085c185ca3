import t from 'tap';
import { createRuntimeStats, type RuntimeStats } from '../../src/observability/statistics/runtime-stats.ts';
import { parseWindow } from '../../src/observability/statistics/window.ts';
import fc from '../random.ts';

/** evals-and-traces.md 10 and 13, checks 63 to 69. */

const MINUTE = 60_000;
const BUCKET = 10 * MINUTE;
const BOUNDS = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

const started = (options: { mostAgents?: number } = {}) => {
  const clock = { time: 1_767_225_600_000, now: () => clock.time };
  return { clock, stats: createRuntimeStats({ clock, ...options }) };
};

const BY = { provider: 'p', model: 'm' };

const infer = (stats: RuntimeStats, durationMs: number, agent = 'a'): void =>
  stats.inference(agent, { ...BY, durationMs });

const histogram = (counts: Record<string, number>) =>
  [...BOUNDS, null].map((upper_bound_ms) => ({ upper_bound_ms, count: counts[String(upper_bound_ms)] ?? 0 }));

t.test('a snapshot has the numbers of the contract', async (t) => {
  const { stats, clock } = started();
  stats.inference('support', {
    ...BY,
    durationMs: 100,
    inputTokens: 150,
    outputTokens: 75,
    usd: 0.5,
  });
  stats.inference('support', { ...BY, durationMs: 200, error: 'timeout', inputTokens: -4 });
  stats.runEnded('support', { run_id: 'r-1', termination: 'natural_end' });
  stats.runEnded('support', { run_id: 'r-2', termination: 'error' });
  stats.cutOff('support', { ...BY, input: 0, output: 0, usd: 0.25 });
  stats.tool('support', { tool: 'search', durationMs: 5, failed: false });
  stats.tool('support', { tool: 'search', durationMs: 5, failed: false });
  t.strictSame(stats.snapshot('support'), {
    agent_id: 'support',
    window_seconds: 604_800,
    bucket_window_seconds: 600,
    bucket_count: 1008,
    inference_count: 2,
    error_count: 1,
    input_tokens: 150,
    output_tokens: 75,
    cut_off: { input_tokens: 0, output_tokens: 0, estimated: true },
    cost_usd: 0.75,
    avg_inference_duration_ms: 150,
    min_inference_duration_ms: 100,
    max_inference_duration_ms: 200,
    p50_inference_duration_ms: 200,
    p95_inference_duration_ms: 200,
    p99_inference_duration_ms: 200,
    inference_duration_histogram: histogram({ 100: 1, 250: 1 }),
    suspensions: 0,
    handoffs: 0,
    delegations: 0,
    tool_calls_by_tool: [
      {
        tool: 'search',
        call_count: 2,
        failure_count: 0,
        total_duration_ms: 10,
        avg_duration_ms: 5,
        min_duration_ms: 5,
        max_duration_ms: 5,
        p50_duration_ms: 5,
        p95_duration_ms: 5,
        p99_duration_ms: 5,
        duration_histogram: histogram({ 10: 2 }),
      },
    ],
    completed_runs: 1,
    stopped_runs: 0,
    blocked_runs: 0,
    failed_runs: 1,
    cancelled_runs: 0,
    last_run: { run_id: 'r-2', ended_at: clock.time, termination: 'error' },
    inferences_by_model: [
      {
        provider_id: 'p',
        model: 'm',
        inference_count: 2,
        error_count: 1,
        input_tokens: 150,
        output_tokens: 75,
        cost_usd: 0.75,
        last_success_at: clock.time,
        last_error: { class: 'timeout', at: clock.time },
      },
    ],
  });
});

t.test('durations from 1 to 100 have the percentiles 51, 95 and 99', async (t) => {
  const { stats } = started();
  for (let ms = 100; ms >= 1; ms -= 1) infer(stats, ms);
  t.match(stats.snapshot('a'), {
    min_inference_duration_ms: 1,
    max_inference_duration_ms: 100,
    avg_inference_duration_ms: 50.5,
    p50_inference_duration_ms: 51,
    p95_inference_duration_ms: 95,
    p99_inference_duration_ms: 99,
  });
});

t.test('a duration on a bound belongs to it, and one above all bounds to null', async (t) => {
  const { stats } = started();
  for (const ms of [0, 10, 11, 10_000, 10_001]) infer(stats, ms);
  t.strictSame(
    stats.snapshot('a')?.inference_duration_histogram,
    histogram({ 10: 2, 25: 1, 10000: 1, null: 1 }),
  );
});

t.test('an unknown agent has no snapshot, and an event without an agent belongs to none', async (t) => {
  const { stats } = started();
  t.equal(stats.snapshot('a'), undefined);
  infer(stats, 1, '');
  t.strictSame(stats.list(), []);
});

for (const kind of ['suspension', 'handoff', 'delegation'] as const) {
  t.test(`one ${kind} adds an agent and is counted`, async (t) => {
    const { stats } = started();
    stats[kind]('a');
    t.match(stats.snapshot('a'), {
      [`${kind}s`]: 1,
      inference_count: 0,
      inference_duration_histogram: [],
      tool_calls_by_tool: [],
    });
  });
}

t.test('omits the cost if no inference had a price, and reports a cost of 0', async (t) => {
  const { stats, clock } = started();
  infer(stats, 1, 'unpriced');
  stats.cutOff('unpriced', { ...BY, input: 3, output: 3 });
  infer(stats, 1, 'free');
  stats.inference('free', { ...BY, durationMs: 1, usd: 0 });
  const kept = stats.takeChanged();
  const later = createRuntimeStats({ clock });
  for (const bucket of kept) later.restore(bucket);
  for (const each of [stats, later]) {
    t.notOk('cost_usd' in (each.snapshot('unpriced') ?? {}));
    t.equal(each.snapshot('free')?.cost_usd, 0);
  }
});

t.test('agents and tools are sorted by name', async (t) => {
  const { stats } = started();
  for (const agent of ['b', 'a/c', 'B', 'a']) stats.handoff(agent);
  t.strictSame(
    stats.list().map(({ agent_id }) => agent_id),
    ['B', 'a', 'a/c', 'b'],
  );
  for (const tool of ['z', 'x', 'y']) stats.tool('a', { tool, durationMs: 1, failed: true });
  t.strictSame(
    stats.snapshot('a')?.tool_calls_by_tool.map(({ tool, failure_count }) => [tool, failure_count]),
    [
      ['x', 1],
      ['y', 1],
      ['z', 1],
    ],
  );
});

t.test('a window is rounded up to whole buckets, at most the whole retention', async (t) => {
  const { stats } = started();
  stats.handoff('a');
  const windows: [asked: number, window: number][] = [
    [1, 600],
    [90, 600],
    [600, 600],
    [601, 1200],
    [3600, 3600],
    [604_800, 604_800],
    [1e9, 604_800],
    [Number.POSITIVE_INFINITY, 604_800],
  ];
  for (const [asked, window_seconds] of windows) {
    t.match(stats.snapshot('a', { seconds: asked }), { window_seconds, bucket_count: window_seconds / 600 });
  }
});

t.test('an agent that is idle for longer than the window stays known, with zeros', async (t) => {
  const { stats, clock } = started();
  infer(stats, 7);
  clock.time += 60 * MINUTE;
  t.match(stats.snapshot('a', { seconds: 3600 }), { inference_count: 0, max_inference_duration_ms: 0 });
  t.match(stats.snapshot('a'), { inference_count: 1, max_inference_duration_ms: 7 });
  clock.time += 1008 * BUCKET;
  stats.handoff('b');
  t.match(stats.snapshot('a'), { inference_count: 0, inference_duration_histogram: [] });
  t.match(stats.list(), [{ agent_id: 'a' }, { agent_id: 'b' }]);
});

t.test('a clock that was ahead leaves no data behind', async (t) => {
  const { stats, clock } = started();
  clock.time += 365 * 24 * 60 * MINUTE;
  infer(stats, 7);
  clock.time -= 365 * 24 * 60 * MINUTE;
  infer(stats, 9);
  t.match(stats.snapshot('a'), { inference_count: 1, min_inference_duration_ms: 9 });
  clock.time += 365 * 24 * 60 * MINUTE;
  t.match(stats.snapshot('a'), { inference_count: 0 });
});

t.test('a clock that is set back into an earlier bucket continues with its data', async (t) => {
  const { stats, clock } = started();
  infer(stats, 7);
  clock.time += BUCKET;
  infer(stats, 8);
  clock.time -= BUCKET;
  infer(stats, 9);
  t.match(stats.snapshot('a'), {
    inference_count: 2,
    min_inference_duration_ms: 7,
    max_inference_duration_ms: 9,
  });
});

t.test('past 1024 durations in a bucket only percentiles are estimates', async (t) => {
  const { stats } = started();
  const n = 10_000;
  for (let i = 0; i < n; i += 1) infer(stats, i);
  const snapshot = stats.snapshot('a');
  t.match(snapshot, {
    inference_count: n,
    min_inference_duration_ms: 0,
    max_inference_duration_ms: n - 1,
    avg_inference_duration_ms: (n - 1) / 2,
  });
  t.equal(
    snapshot?.inference_duration_histogram.reduce((all, { count }) => all + count, 0),
    n,
  );
  for (const [p, value] of [
    [50, snapshot?.p50_inference_duration_ms],
    [95, snapshot?.p95_inference_duration_ms],
  ] as const) {
    t.ok(Math.abs((value ?? 0) - (n * p) / 100) < n * 0.05, `p${p} is about ${(n * p) / 100}: ${value}`);
  }
});

t.test('past 1024 durations every second one represents two, the first of each pair', async (t) => {
  const { stats } = started();
  // 0, 9999, 4, 6, 8 … 1024 remain of the first 1025.
  for (let i = 0; i <= 1024; i += 1) infer(stats, i === 2 ? 9999 : i);
  t.match(stats.snapshot('a'), { p50_inference_duration_ms: 514, p99_inference_duration_ms: 1016 });
  infer(stats, 9998);
  infer(stats, 9997);
  t.match(stats.snapshot('a'), {
    p50_inference_duration_ms: 516,
    p99_inference_duration_ms: 1018,
    max_inference_duration_ms: 9999,
  });
});

t.test('durations of buckets with many and with few calls are weighted by their real number', async (t) => {
  const { stats, clock } = started();
  for (let i = 0; i < 2048; i += 1) infer(stats, 7);
  clock.time += BUCKET;
  for (let i = 0; i < 1024; i += 1) infer(stats, 90);
  t.match(stats.snapshot('a'), { p50_inference_duration_ms: 7, p95_inference_duration_ms: 90 });
});

t.test('a negative or missing duration counts as zero', async (t) => {
  const { stats } = started();
  for (const ms of [-5, Number.NaN, 0.4]) infer(stats, ms);
  t.match(stats.snapshot('a'), {
    inference_count: 3,
    avg_inference_duration_ms: 0,
    min_inference_duration_ms: 0,
    max_inference_duration_ms: 0,
    p99_inference_duration_ms: 0,
    inference_duration_histogram: histogram({ 10: 3 }),
  });
});

t.test('a duration of more than 49 days counts as 49 days', async (t) => {
  const { stats } = started();
  infer(stats, Number.POSITIVE_INFINITY);
  const most = 2 ** 32 - 1;
  t.match(stats.snapshot('a'), {
    avg_inference_duration_ms: most,
    min_inference_duration_ms: most,
    p99_inference_duration_ms: most,
  });
});

t.test('with too many agents the one that has been idle for longest is dropped', async (t) => {
  const { stats, clock } = started({ mostAgents: 2 });
  stats.handoff('first');
  clock.time += BUCKET;
  stats.handoff('second');
  clock.time += BUCKET;
  stats.handoff('first');
  stats.handoff('third');
  t.strictSame(
    stats.list().map(({ agent_id }) => agent_id),
    ['first', 'third'],
  );
});

type Happening = { after: number; agent: string; tool: string | undefined; ms: number; failed: boolean };

const happening = fc.record<Happening>({
  after: fc.oneof(fc.nat(5 * MINUTE), fc.nat(400 * BUCKET)),
  agent: fc.constantFrom('a', 'b'),
  tool: fc.constantFrom(undefined, 'x', 'y'),
  ms: fc.oneof(fc.nat(60), fc.nat(20_000)),
  failed: fc.boolean(),
});

/** A literal implementation of the contract, over a list of all events. */
const naive = (durations: readonly number[]) => {
  const sorted = durations.toSorted((a, b) => a - b);
  const n = sorted.length;
  const at = (p: number): number => sorted[Math.floor(((n - 1) * p) / 100 + 0.5)] ?? 0;
  const above = (bound: number): number => sorted.filter((ms) => ms > bound).length;
  const counts = BOUNDS.map((bound, i) => above(BOUNDS[i - 1] ?? -1) - above(bound));
  return {
    avg: n === 0 ? 0 : sorted.reduce((all, ms) => all + ms, 0) / n,
    min: sorted[0] ?? 0,
    max: sorted.at(-1) ?? 0,
    percentiles: [at(50), at(95), at(99)],
    histogram: n === 0 ? [] : [...counts, above(10_000)],
  };
};

t.test('snapshots of random events match a list of them', async (t) => {
  fc.assert(
    fc.property(
      fc.array(happening, { maxLength: 60 }),
      fc.integer({ min: 1, max: 700_000 }),
      (all, window) => {
        const { stats, clock } = started();
        const log = all.map((each) => {
          clock.time += each.after;
          const { agent, tool, ms: durationMs, failed } = each;
          if (tool === undefined) {
            const error = failed ? 'timeout' : undefined;
            stats.inference(agent, { ...BY, durationMs, error, inputTokens: durationMs });
          } else stats.tool(agent, { tool, durationMs, failed });
          return { ...each, bucket: Math.floor(clock.time / BUCKET) };
        });
        const n = Math.min(Math.ceil(window / 600), 1008);
        const oldest = Math.floor(clock.time / BUCKET) - n + 1;
        for (const agent of ['a', 'b']) {
          const own = log.filter((each) => each.agent === agent);
          const snapshot = stats.snapshot(agent, { seconds: window });
          if (own.length === 0) {
            t.equal(snapshot, undefined);
            continue;
          }
          const inside = own.filter(({ bucket }) => bucket >= oldest);
          const inferences = inside.filter(({ tool }) => tool === undefined);
          const expected = naive(inferences.map(({ ms }) => ms));
          const got = {
            n: snapshot?.bucket_count,
            count: snapshot?.inference_count,
            errors: snapshot?.error_count,
            tokens: snapshot?.input_tokens,
            avg: snapshot?.avg_inference_duration_ms,
            min: snapshot?.min_inference_duration_ms,
            max: snapshot?.max_inference_duration_ms,
            percentiles: [
              snapshot?.p50_inference_duration_ms,
              snapshot?.p95_inference_duration_ms,
              snapshot?.p99_inference_duration_ms,
            ],
            histogram: snapshot?.inference_duration_histogram.map(({ count }) => count),
          };
          const same =
            JSON.stringify(got) ===
            JSON.stringify({
              n,
              count: inferences.length,
              errors: inferences.filter(({ failed }) => failed).length,
              tokens: inferences.reduce((sum, { ms }) => sum + ms, 0),
              ...expected,
            });
          if (!same) throw new Error(JSON.stringify({ got, expected }));
          const tools = snapshot?.tool_calls_by_tool.map((row) => [
            row.tool,
            row.call_count,
            row.failure_count,
            row.avg_duration_ms,
            row.p95_duration_ms,
          ]);
          const rows = ['x', 'y'].flatMap((tool) => {
            const calls = inside.filter((each) => each.tool === tool);
            if (calls.length === 0) return [];
            const { avg, percentiles } = naive(calls.map(({ ms }) => ms));
            return [[tool, calls.length, calls.filter(({ failed }) => failed).length, avg, percentiles[1]]];
          });
          if (JSON.stringify(tools) !== JSON.stringify(rows))
            throw new Error(JSON.stringify({ tools, rows }));
        }
      },
    ),
  );
});

const windows: [text: string, seconds: number][] = [
  ['90s', 90],
  ['2m', 120],
  ['1h', 3600],
  ['7d', 604_800],
  ['3600', 3600],
  [' 1h ', 3600],
  ['007', 7],
  [`${'9'.repeat(400)}d`, Number.POSITIVE_INFINITY],
];
for (const [text, seconds] of windows) {
  t.test(`the window "${text.slice(0, 8)}" is ${seconds} s`, async (t) => {
    t.equal(parseWindow(text), seconds);
  });
}

const refused: [text: string, message: string][] = [
  ['', 'window value is empty'],
  ['  ', 'window value is empty'],
  ['5x', 'invalid window format "5x": expected <n>[s|m|h|d]'],
  ['-1h', 'invalid window format "-1h": expected <n>[s|m|h|d]'],
  ['1.5h', 'invalid window format "1.5h": expected <n>[s|m|h|d]'],
  ['h', 'invalid window format "h": expected <n>[s|m|h|d]'],
  ['0h', 'window "0h" must be greater than zero'],
  ['0', 'window "0" must be greater than zero'],
];
for (const [text, message] of refused) {
  t.test(`rejects the window "${text}"`, async (t) => {
    t.throws(() => parseWindow(text), { name: 'Invalid', message });
  });
}

t.test('counts ended runs by termination, and remembers the newest one', async (t) => {
  const { stats, clock } = started();
  for (const termination of ['natural_end', 'behavior_requested', 'stopped', 'blocked', 'error'] as const) {
    stats.runEnded('a', { run_id: termination, termination });
  }
  clock.time += BUCKET;
  stats.runEnded('a', { run_id: 'last', termination: 'cancelled' });
  t.match(stats.snapshot('a'), {
    completed_runs: 2,
    stopped_runs: 1,
    blocked_runs: 1,
    failed_runs: 1,
    cancelled_runs: 1,
    last_run: { run_id: 'last', ended_at: clock.time, termination: 'cancelled' },
  });
  t.match(stats.snapshot('a', { until: clock.time - BUCKET + 1 }), {
    cancelled_runs: 0,
    last_run: { run_id: 'error' },
  });
});

t.test('divides a window into points that start at multiples of their length', async (t) => {
  const { stats, clock } = started();
  const start = clock.time / 1000;
  stats.inference('a', { ...BY, durationMs: 10, inputTokens: 3, outputTokens: 2, usd: 0.5 });
  stats.runEnded('a', { run_id: 'r', termination: 'natural_end' });
  clock.time += 2 * BUCKET;
  stats.inference('b', { ...BY, durationMs: 30, error: 'timeout' });
  stats.runEnded('b', { run_id: 'r', termination: 'error' });
  const all = stats.course({ seconds: 1800 }, 3);
  t.match(all, {
    point_seconds: 600,
    total: { completed_runs: 1, failed_runs: 1, cost_usd: 0.5, p95_inference_duration_ms: 30 },
  });
  t.match(all.points, [
    {
      from: start,
      completed_runs: 1,
      input_tokens: 3,
      output_tokens: 2,
      cost_usd: 0.5,
      p50_inference_duration_ms: 10,
    },
    { from: start + 600, inference_count: 0, p95_inference_duration_ms: 0 },
    { from: start + 1200, failed_runs: 1, error_count: 1, p95_inference_duration_ms: 30 },
  ]);
  t.notOk('cost_usd' in (all.points[2] ?? {}));
  t.match(stats.course({ seconds: 1800 }, 3, 'b').points, [
    { completed_runs: 0 },
    { completed_runs: 0 },
    { failed_runs: 1 },
  ]);
  t.strictSame(
    stats.course({ seconds: 1800 }, 1).points.map(({ from }) => from),
    [start],
    'the only point begins at a multiple of its length',
  );
  t.equal(stats.course({}, 400).points.length <= 401, true);
  t.strictSame(stats.course({ seconds: 600, until: 0 }, 5).points, [], 'nothing was kept so long ago');
});

t.test('a window that ends earlier leaves out what is newer', async (t) => {
  const { stats, clock } = started();
  infer(stats, 1);
  const until = clock.time + BUCKET;
  clock.time += BUCKET;
  infer(stats, 2);
  t.match(stats.list({ seconds: 600, until }), [{ inference_count: 1, max_inference_duration_ms: 1 }]);
  t.match(stats.list({ seconds: 600, until: until + 1 }), [{ max_inference_duration_ms: 2 }]);
  t.match(stats.list({ until: clock.time + 100 * BUCKET }), [{ inference_count: 2 }], 'not beyond now');
});

t.test('knows the providers that rejected their key, also after a restart', async (t) => {
  const { stats, clock } = started();
  const call = (provider: string, error?: string): void =>
    stats.inference('a', { provider, model: 'm', durationMs: 1, error });
  call('wrong', 'timeout');
  call('wrong', 'unauthorized');
  call('repaired', 'unauthorized');
  clock.time += 1;
  call('repaired');
  call('slow', 'timeout');
  const later = createRuntimeStats({ clock });
  for (const bucket of stats.takeChanged()) later.restore(bucket);
  for (const each of [stats, later]) {
    t.strictSame(['wrong', 'repaired', 'slow', 'unknown'].filter(each.hasRejectedKey), ['wrong']);
  }
  for (let i = 0; i < 1000; i += 1) call(`other ${i}`);
  t.notOk(stats.hasRejectedKey('wrong'), 'at most 1000 providers are remembered');
});

t.test('past 1000 models in a bucket, others count in the totals only', async (t) => {
  const { stats } = started();
  for (let i = 0; i < 1001; i += 1) stats.inference('a', { provider: 'p', model: `m ${i}`, durationMs: 1 });
  t.equal(stats.snapshot('a')?.inferences_by_model.length, 1000);
  t.equal(stats.snapshot('a')?.inference_count, 1001);
});
