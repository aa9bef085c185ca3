import t from 'tap';
import { createMetrics } from '../../src/observability/metrics/metrics.ts';

/** The series in the text of metrics: name with labels → value. */
const seriesOf = (text: string): Map<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );

/** False for metrics of the process, which change over time. */
const isOwn = (line: string): boolean => !/(?:^|# \w+ )(?:process|nodejs)_/.test(line);

const recorded = async (feed: (metrics: ReturnType<typeof createMetrics>) => void, prefix?: string) => {
  const metrics = createMetrics(prefix === undefined ? {} : { prefix });
  feed(metrics);
  return seriesOf(await metrics.render());
};

t.test('counts and times a request under its method, route and status', async (t) => {
  const series = await recorded(({ http }) => {
    http.request('GET', '/health/live', 200, 0.02);
    http.request('GET', '/health/live', 200, 0.3);
    http.request('GET', 'unmatched', 404, 0.001);
  });
  const live = 'method="GET",route="/health/live",status="200"';
  t.equal(series.get(`service_http_requests_total{${live}}`), 2);
  t.equal(series.get(`service_http_request_duration_seconds_count{${live}}`), 2);
  t.equal(series.get(`service_http_request_duration_seconds_sum{${live}}`), 0.32);
  t.equal(series.get(`service_http_request_duration_seconds_bucket{le="0.025",${live}}`), 1);
  t.equal(series.get(`service_http_request_duration_seconds_bucket{le="0.5",${live}}`), 2);
  t.equal(series.get('service_http_requests_total{method="GET",route="unmatched",status="404"}'), 1);
});

t.test('counts attempts to forward a request, and times those with a response', async (t) => {
  const series = await recorded(({ forwarding }) => {
    forwarding.forwarded('ok', 0.02);
    forwarding.forwarded('misdirected', 0.3);
    forwarding.forwarded('unreachable');
    forwarding.stream(1);
    forwarding.stream(1);
    forwarding.stream(-1);
  });
  for (const result of ['ok', 'misdirected', 'unreachable']) {
    t.equal(series.get(`service_cluster_forwarded_total{result="${result}"}`), 1, result);
  }
  t.equal(series.get('service_cluster_forward_seconds_count'), 2);
  t.equal(series.get('service_cluster_forward_seconds_sum'), 0.32);
  t.equal(series.get('service_cluster_forwarded_streams'), 1);
});

t.test('many short-lived models leave a bounded number of series', async (t) => {
  const metrics = createMetrics();
  const ended = (model: string): void =>
    metrics.inference.ended({ model, provider: `of-${model}`, seconds: 1, status: 'ok' });
  for (let each = 0; each < 2500; each += 1) {
    ended(`m${each}`);
    ended('busy');
  }
  const series = seriesOf(await metrics.render());
  const counts = [...series.keys()].filter((name) => name.startsWith('service_inference_requests_total'));
  t.equal(counts.length, 1000);
  const labels = (model: string): string => `{model="${model}",provider="of-${model}",status="ok"}`;
  const countOf = (model: string, from = series) =>
    from.get(`service_inference_requests_total${labels(model)}`);
  t.equal(countOf('busy'), 2500, 'counts of active models are complete');
  t.strictSame([countOf('m2499'), countOf('m1501'), countOf('m1500')], [1, 1, undefined]);
  const lines = [...series.keys()].filter((name) =>
    name.startsWith('service_inference_duration_seconds_count'),
  );
  t.equal(lines.length, 1000, 'prom-client does not retain the series');
  ended('m0');
  const later = seriesOf(await metrics.render());
  t.equal(countOf('m0', later), 1);
  t.equal(later.get(`service_inference_duration_seconds_count${labels('m0')}`), 1);
  t.equal(countOf('m1501', later), undefined, 'the model that was idle for longest is removed');
});

t.test('gauges go up and return to 0', async (t) => {
  const metrics = createMetrics();
  metrics.http.inFlight(1);
  metrics.http.stream(1);
  metrics.http.stream(1);
  metrics.runs.executing(1);
  metrics.mailbox.moved('Queued', undefined);
  metrics.mailbox.moved('Queued', undefined);
  const up = seriesOf(await metrics.render());
  t.equal(up.get('service_http_requests_in_flight'), 1);
  t.equal(up.get('service_sse_connections'), 2);
  t.equal(up.get('service_active_runs'), 1);
  t.equal(up.get('service_mailbox_queue_depth'), 2);
  t.equal(up.get('service_mailbox_dispatch_depth{status="queued"}'), 2);
  t.equal(up.get('service_mailbox_dispatch_depth{status="dead_letter"}'), 0);
  metrics.http.inFlight(-1);
  metrics.http.stream(-2);
  metrics.runs.executing(-1);
  metrics.mailbox.moved('Claimed', 'Queued');
  metrics.mailbox.moved('Acked', 'Claimed');
  metrics.mailbox.moved('Cancelled', 'Queued');
  const down = seriesOf(await metrics.render());
  for (const name of ['http_requests_in_flight', 'sse_connections', 'active_runs', 'mailbox_queue_depth']) {
    t.equal(down.get(`service_${name}`), 0, name);
  }
});

t.test(
  'a dispatch that never started counts as finished, without a duration and without an active run',
  async (t) => {
    const series = await recorded(({ runs }) => {
      runs.executing(1);
      runs.executing(-1);
      runs.ended('completed', 20);
      runs.dismissed('superseded');
    });
    t.equal(series.get('service_runs_total{outcome="completed"}'), 1);
    t.equal(series.get('service_run_duration_seconds_bucket{le="10",outcome="completed"}'), 0);
    t.equal(series.get('service_run_duration_seconds_bucket{le="30",outcome="completed"}'), 1);
    t.equal(series.get('service_runs_total{outcome="superseded"}'), 1);
    t.equal(series.has('service_run_duration_seconds_count{outcome="superseded"}'), false);
    t.equal(series.get('service_active_runs'), 0);
  },
);

t.test('an inference counts its request, its tokens above 0 and the class of its error', async (t) => {
  const call = { model: 'default', provider: 'main' };
  const series = await recorded(({ inference }) => {
    inference.ended({
      ...call,
      status: 'ok',
      seconds: 2,
      usage: {
        prompt_tokens: 10,
        completion_tokens: 20,
        total_tokens: 30,
        thinking_tokens: 0,
        cache_read_tokens: 4,
        cache_creation_tokens: -1,
      },
    });
    inference.ended({ ...call, status: 'ok', seconds: 2, usage: { prompt_tokens: 5, thinking_tokens: 7 } });
    inference.ended({ ...call, status: 'error', seconds: 1, errorClass: 'rate_limit' });
  });
  const of = (labels: string) => `{model="default",provider="main",${labels}}`;
  t.equal(series.get(`service_inference_requests_total${of('status="ok"')}`), 2);
  t.equal(series.get(`service_inference_requests_total${of('status="error"')}`), 1);
  t.equal(series.get(`service_inference_duration_seconds_sum${of('status="ok"')}`), 4);
  t.equal(
    series.get(
      `service_inference_duration_seconds_bucket{le="120",model="default",provider="main",status="ok"}`,
    ),
    2,
  );
  t.equal(series.get(`service_inference_errors_total${of('class="rate_limit"')}`), 1);
  const tokens = {
    input: 15,
    output: 20,
    total: 30,
    thinking: 7,
    cache_read_input: 4,
    cache_creation_input: undefined,
  };
  for (const [type, amount] of Object.entries(tokens)) {
    t.equal(series.get(`service_inference_tokens_total${of(`type="${type}"`)}`), amount, type);
  }
});

t.test('a tool call counts under its status, and a failed one also under its class', async (t) => {
  const series = await recorded(({ tools }) => {
    tools.ended({ tool: 'get_weather', status: 'succeeded', seconds: 0.2 });
    tools.ended({ tool: 'get_weather', status: 'failed', seconds: 0.1, errorClass: 'timeout' });
    tools.ended({ tool: 'get_weather', status: 'suspended', seconds: 0.1 });
  });
  for (const status of ['succeeded', 'failed', 'suspended']) {
    t.equal(series.get(`service_tool_calls_total{tool="get_weather",status="${status}"}`), 1, status);
    t.equal(
      series.get(`service_tool_duration_seconds_count{tool="get_weather",status="${status}"}`),
      1,
      status,
    );
  }
  t.equal(series.get('service_tool_errors_total{tool="get_weather",class="timeout"}'), 1);
});

t.test('the mailbox counts its operations and times its dispatches', async (t) => {
  const series = await recorded(({ mailbox }) => {
    mailbox.operation('enqueue', 'ok', 0.2);
    mailbox.operation('enqueue', 'error', 1);
    mailbox.operation('purged', 'ok', 0.3, 7);
    mailbox.started({ enqueueToStart: 0.4, eligibleToStart: 0.3, claimToStart: 0.02 });
    mailbox.completed('completed', { enqueueToComplete: 3, runtime: 2 });
  });
  t.equal(series.get('service_mailbox_operations_total{operation="enqueue",result="ok"}'), 1);
  t.equal(series.get('service_mailbox_operations_total{operation="enqueue",result="error"}'), 1);
  t.equal(series.get('service_mailbox_operations_total{operation="purged",result="ok"}'), 7);
  t.equal(series.get('service_mailbox_dispatch_enqueue_to_start_seconds_sum'), 0.4);
  t.equal(series.get('service_mailbox_dispatch_claim_to_start_seconds_sum'), 0.02);
  t.equal(series.get('service_mailbox_dispatch_eligible_to_start_seconds_sum'), 0.3);
  const timed = (labels: string) => `service_mailbox_operation_duration_seconds_${labels}`;
  t.equal(series.get(timed('sum{operation="enqueue",result="ok"}')), 0.2);
  t.equal(series.get(timed('count{operation="purged",result="ok"}')), 1);
  t.equal(series.get('service_mailbox_dispatch_enqueue_to_complete_seconds_sum{outcome="completed"}'), 3);
  t.equal(series.get('service_mailbox_dispatch_runtime_seconds_sum{outcome="completed"}'), 2);
});

t.test('counts an internal failure by its class', async (t) => {
  const series = await recorded((metrics) => {
    metrics.error('Integrity');
    metrics.error('Integrity');
  });
  t.equal(series.get('service_errors_total{class="Integrity"}'), 2);
});

t.test('the audit log counts what it wrote, lost and removed', async (t) => {
  const series = await recorded(({ audit }) => {
    audit.event('create');
    audit.event('create');
    audit.failed();
    audit.pruned(7);
  });
  t.equal(series.get('service_audit_events_total{action="create"}'), 2);
  t.equal(series.get('service_audit_write_failures_total'), 1);
  t.equal(series.get('service_audit_sweep_pruned_total'), 7);
});

t.test('a series with labels appears with its first observation, others exist from the start', async (t) => {
  const series = await recorded(() => {});
  t.strictSame([...series.keys()].filter(isOwn).sort(), [
    'service_active_runs',
    'service_agent_handoffs_total',
    'service_anonymous_access',
    'service_audit_sweep_pruned_total',
    'service_audit_write_failures_total',
    'service_blobs_removed_total',
    'service_build_info{version="unknown"}',
    'service_cluster_forwarded_streams',
    'service_cluster_takeovers_total',
    'service_files',
    'service_files_bytes',
    'service_http_request_buffer_bytes',
    'service_http_requests_in_flight',
    'service_http_response_buffer_bytes',
    'service_mailbox_dispatch_depth{status="acked"}',
    'service_mailbox_dispatch_depth{status="cancelled"}',
    'service_mailbox_dispatch_depth{status="claimed"}',
    'service_mailbox_dispatch_depth{status="dead_letter"}',
    'service_mailbox_dispatch_depth{status="queued"}',
    'service_mailbox_dispatch_depth{status="superseded"}',
    'service_mailbox_queue_depth',
    'service_mcp_sessions',
    'service_output_repairs_total',
    'service_sessions',
    'service_sse_connections',
    'service_store_file_bytes',
    'service_store_used_bytes',
    'service_thread_forks_total',
    'service_threads_waiting',
    'service_traces_dropped_total',
  ]);
});

t.test('rendering the text twice counts nothing twice', async (t) => {
  const metrics = createMetrics();
  metrics.error('Integrity');
  const own = async () => (await metrics.render()).split('\n').filter(isOwn);
  t.strictSame(await own(), await own());
});

t.test('a duration that is negative or missing counts as 0', async (t) => {
  const series = await recorded(({ runs }) => {
    runs.ended('cancelled', -3);
    runs.ended('cancelled', Number.NaN);
  });
  t.equal(series.get('service_run_duration_seconds_count{outcome="cancelled"}'), 2);
  t.equal(series.get('service_run_duration_seconds_sum{outcome="cancelled"}'), 0);
});

t.test('durations have buckets that queries may name: 10 s, 2 minutes and 15 minutes at most', async (t) => {
  const series = await recorded(({ http, inference, runs }) => {
    http.request('GET', '/health', 200, 1);
    inference.ended({ model: 'm', provider: 'p', status: 'ok', seconds: 1 });
    runs.ended('completed', 1);
  });
  const boundsOf = (name: string): string[] =>
    [...series.keys()].flatMap((line) =>
      line.startsWith(`service_${name}_bucket{`) ? (/le="([^"]+)"/.exec(line)?.[1] ?? []) : [],
    );
  const expected = {
    http_request_duration_seconds: '0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 +Inf',
    inference_duration_seconds: '0.05 0.1 0.25 0.5 1 2.5 5 10 30 60 120 +Inf',
    run_duration_seconds: '0.01 0.05 0.1 0.5 1 5 10 30 60 300 900 +Inf',
  };
  for (const [name, bounds] of Object.entries(expected)) t.equal(boundsOf(name).join(' '), bounds, name);
});

t.test('the prefix starts every name, and two services do not share a registry', async (t) => {
  const feed = (metrics: ReturnType<typeof createMetrics>) => metrics.error('Integrity');
  const series = await recorded(feed, 'troupe_');
  t.equal(series.get('troupe_errors_total{class="Integrity"}'), 1);
  t.ok([...series.keys()].filter(isOwn).every((name) => name.startsWith('troupe_')));
  t.equal((await recorded(feed)).get('service_errors_total{class="Integrity"}'), 1);
});

t.test('the text has the type that scrapers expect', async (t) => {
  t.equal(createMetrics().contentType, 'text/plain; version=0.0.4; charset=utf-8');
});

t.test('reports the time to the first chunk of an answer, unless there was none', async (t) => {
  const call = { model: 'default', provider: 'main', seconds: 2 };
  const series = await recorded(({ inference }) => {
    inference.ended({ ...call, status: 'ok', firstSeconds: 0.3 });
    inference.ended({ ...call, status: 'error', errorClass: 'timeout', firstSeconds: 0.4 });
    inference.ended({ ...call, status: 'error', errorClass: 'timeout', firstSeconds: undefined });
  });
  const name = 'service_inference_time_to_first_token_seconds';
  t.equal(series.get(`${name}_count{model="default",provider="main"}`), 2);
  t.equal(series.get(`${name}_bucket{le="0.25",model="default",provider="main"}`), 0);
  t.equal(series.get(`${name}_bucket{le="0.5",model="default",provider="main"}`), 2);
});

t.test('the process and Node report memory, CPU time, open files, heap, collections and delay', async (t) => {
  const series = await recorded(() => {});
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'process_start_time_seconds',
    'nodejs_heap_size_used_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_external_memory_bytes',
  ]) {
    t.ok(Number(series.get(name)) >= 0, name);
  }
  t.match(await createMetrics().render(), '# TYPE nodejs_gc_duration_seconds histogram');
  t.ok([...series.keys()].some((name) => name.startsWith('nodejs_active_resources{type=')));
});

t.test('two services of one process each report the process metrics once', async (t) => {
  for (const metrics of [createMetrics(), createMetrics()]) {
    const lines = (await metrics.render()).split('\n');
    t.equal(lines.filter((line) => line.startsWith('process_resident_memory_bytes ')).length, 1);
  }
});

t.test('reads the store and the circuit breakers at each scrape', async (t) => {
  const metrics = createMetrics({ version: '1.2.3' });
  let size = { file_bytes: 4096, used_bytes: 1000, rows: { runs: 2 } };
  let breakers: { model: string; state: 'closed' | 'open' | 'half_open' }[] = [
    { model: 'm', state: 'closed' },
  ];
  metrics.read({
    store: () => size,
    breakers: () => breakers,
    work: () => ({ waiting: 7 }),
    sessions: () => 3,
    signedIn: () => 2,
    budgets: () => [[0.5, 'monthly']],
    files: () => ({ files: 3, bytes: 300 }),
    mcpServers: () => [{ server: 'files', state: 'given_up' }],
  });
  const before = seriesOf(await metrics.render());
  t.equal(before.get('service_build_info{version="1.2.3"}'), 1);
  t.equal(before.get('service_store_file_bytes'), 4096);
  t.equal(before.get('service_threads_waiting'), 7);
  t.equal(before.get('service_files'), 3);
  t.equal(before.get('service_files_bytes'), 300);
  t.equal(before.get('service_mcp_sessions'), 3);
  t.equal(before.get('service_sessions'), 2);
  t.equal(before.get('service_budget_spent_ratio{budget="monthly"}'), 0.5);
  t.equal(before.get('service_store_rows{table="runs"}'), 2);
  t.equal(before.get('service_circuit_breaker_state{model="m",state="closed"}'), 1);
  t.equal(before.get('service_circuit_breaker_state{model="m",state="open"}'), 0);
  t.equal(before.get('service_mcp_connection_state{server="files",state="given_up"}'), 1);
  t.equal(before.get('service_mcp_connection_state{server="files",state="ready"}'), 0);
  size = { file_bytes: 8192, used_bytes: 5000, rows: { runs: 3 } };
  breakers = [{ model: 'n', state: 'open' }];
  const after = seriesOf(await metrics.render());
  t.equal(after.get('service_store_used_bytes'), 5000);
  t.equal(after.get('service_circuit_breaker_state{model="n",state="open"}'), 1);
  t.notOk(
    after.has('service_circuit_breaker_state{model="m",state="closed"}'),
    'the series of a removed model is not reported',
  );
});

t.test(
  'names follow the conventions: counters end in _total, others do not, and all have help',
  async (t) => {
    const text = await createMetrics().render();
    const types = [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)];
    t.ok(types.length > 40);
    for (const [, name = '', type] of types) {
      t.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
      t.match(text, new RegExp(`^# HELP ${name} \\S`, 'm'), name);
    }
    t.equal(new Set(types.map(([, name]) => name)).size, types.length, 'no name is used twice');
  },
);
