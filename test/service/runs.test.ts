import { connect } from 'node:net';
import t from 'tap';
import { z } from 'zod';
import { ModelError } from '../../src/models/errors.ts';
import { Run } from '../../src/schema/run.ts';
import { eventually, startDemo } from './troupe.ts';

/** runtime.md 19, checks 22 to 36, and the sequences of agent-loop.md 5.3. */

const RawList = z.object({ items: z.array(z.looseObject({})) });

const hello = (agentId: string, threadId?: string, content = 'Hello') => ({
  agentId,
  ...(threadId !== undefined && { threadId }),
  messages: [{ role: 'user', content }],
});

t.test('streams the events of a plain run', async (t) => {
  const { runToEnd, call } = await startDemo(t);
  const events = await runToEnd(hello('default'));
  t.strictSame(
    events.map((event) => event.event_type),
    [
      'run_start',
      'step_start',
      'text_delta',
      'inference_complete',
      'state_snapshot',
      'step_end',
      'state_snapshot',
      'run_finish',
    ],
  );
  const [start, step, delta, inference, snapshot] = events;
  const finish = events.at(-1);
  t.match(delta, { delta: 'Scripted response to: Hello' });
  t.match(inference, { model: 'scripted', usage: { total_tokens: 30 } });
  t.match(snapshot, { snapshot: { extensions: { '__runtime.run_lifecycle': { run_id: start?.run_id } } } });
  t.match(finish, {
    thread_id: start?.thread_id,
    run_id: start?.run_id,
    result: { response: 'Scripted response to: Hello', status: 'done', status_reason: 'natural' },
    termination: { type: 'natural_end' },
  });
  const { messages } = (await call('GET', `/v1/threads/${start?.thread_id}/messages`)).body as {
    messages: { id: string; role: string; metadata: object; seq: number; created_at: number }[];
  };
  t.match(messages, [
    { role: 'user', seq: 1, content: [{ type: 'text', text: 'Hello' }] },
    { role: 'assistant', seq: 2, id: step?.message_id, metadata: { run_id: start?.run_id, step_index: 0 } },
  ]);
});

t.test('shows a run without the state that is stored with it', async (t) => {
  const { runToEnd, call } = await startDemo(t);
  const [start] = await runToEnd(hello('default', 'T'));
  const read = async (path: string) => (await call('GET', path)).body;
  const { items } = RawList.parse(await read('/v1/runs'));
  const shown = [
    ...items,
    ...RawList.parse(await read('/v1/threads/T/runs')).items,
    await read(`/v1/runs/${start?.run_id}`),
    await read('/v1/threads/T/runs/latest'),
  ];
  t.equal(shown.length, 4);
  for (const run of shown)
    t.strictSame(
      Object.keys(run).filter((key) => !(key in Run.shape)),
      [],
    );
});

t.test('sends each frame as one data line and a blank line, without ids', async (t) => {
  const { run } = await startDemo(t);
  const stream = await run(hello('default'));
  t.equal(stream.status, 200);
  t.equal(stream.headers.get('content-type'), 'text/event-stream');
  t.equal(stream.headers.get('cache-control'), 'no-cache');
  await stream.rest();
  for (const frame of stream.raw().split('\n\n').slice(0, -1)) t.match(frame, /^data: \{.*\}$/);
  t.ok(stream.raw().endsWith('}\n\n'));
});

t.test('executes two rounds of tool calls and stops the third at max_rounds', async (t) => {
  const { runToEnd, call } = await startDemo(t);
  const events = await runToEnd(hello('default', 'T', 'RUN_WEATHER_TOOL'));
  const step = [
    'step_start',
    'tool_call_start',
    'tool_call_delta',
    'tool_call_ready',
    'inference_complete',
    'tool_call_executing',
    'tool_call_done',
    'state_snapshot',
    'step_end',
  ];
  const stopped = step.filter((type) => type !== 'tool_call_executing');
  t.strictSame(
    events.map((event) => event.event_type),
    ['run_start', ...step, ...step, ...stopped, 'state_snapshot', 'run_finish'],
  );
  const done = events.filter((event) => event.event_type === 'tool_call_done');
  t.match(done[0], { id: 'call_weather_1', outcome: 'succeeded', result: { data: { condition: 'Sunny' } } });
  t.match(done[2], { outcome: 'failed', result: { message: '[Tool execution was interrupted]' } });
  t.match(events.at(-1), {
    termination: { type: 'stopped', value: { code: 'max_rounds' } },
    result: { response: '', status_reason: 'stopped:max_rounds' },
  });
  const { messages } = (await call('GET', '/v1/threads/T/messages')).body as { messages: { role: string }[] };
  t.strictSame(
    messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant', 'tool'],
  );
});

t.test('accepts the completion of the last allowed round', async (t) => {
  const { runToEnd } = await startDemo(t);
  const events = await runToEnd(hello('stopper'));
  t.equal(events.filter((event) => event.event_type === 'step_start').length, 1);
  t.match(events.at(-1), {
    termination: { type: 'natural_end' },
    result: { response: 'Scripted response to: Hello' },
  });
});

t.test('fails the call of an unknown tool and continues the run', async (t) => {
  const { runToEnd } = await startDemo(t);
  const events = await runToEnd(hello('default', undefined, 'RUN_A2UI_TOOL'));
  t.match(
    events.find((event) => event.event_type === 'tool_call_done'),
    { outcome: 'failed', result: { message: "tool 'render_a2ui' not found", status: 'error' } },
  );
  t.match(events.at(-1), { termination: { type: 'stopped' } });
});

t.test('rejects invalid requests before writing anything', async (t) => {
  const { call } = await startDemo(t);
  const messages = [{ role: 'user', content: 'x' }];
  t.equal((await call('POST', '/v1/runs', {})).status, 422);
  for (const key of ['agentId', 'agent_id']) {
    const { status, body } = await call('POST', '/v1/runs', { [key]: ' ', messages });
    t.equal(status, 400);
    t.match(body.error, 'agent_id cannot be empty');
    t.match(body.error, `'${key}'`, 'the error uses the name that the client sent');
  }
  for (const none of [[], undefined, [{ role: 'tool', content: 'x' }]]) {
    t.match(await call('POST', '/v1/runs', { agentId: 'default', messages: none }), {
      status: 400,
      body: { error: 'at least one message is required' },
    });
  }
  t.match(await call('POST', '/v1/runs', { agentId: 'nope', threadId: 'T', messages }), {
    status: 400,
    body: { error: 'agent not found: nope' },
  });
  const blocks = [{ role: 'user', content: [{ type: 'unknown', text: 'x' }] }];
  t.equal((await call('POST', '/v1/runs', { agentId: 'default', messages: blocks })).status, 422);
  t.equal((await call('POST', '/v1/runs', { agentId: 'default', messages: null })).status, 422);
  t.equal((await call('POST', '/v1/runs', { agentId: 'a', agent_id: 'a', messages })).status, 422);
  for (const threadId of ['a/b', 'a\\b', '..', 'a\u0000b', 'x'.repeat(600)]) {
    t.equal(
      (await call('POST', '/v1/runs', { agentId: 'default', threadId, messages })).status,
      400,
      threadId,
    );
  }
  t.equal((await call('GET', '/v1/threads')).body.total, 0);
  t.equal((await call('GET', '/v1/runs')).body.total, 0);
  t.equal((await call('GET', '/health')).status, 200);
});

t.test('accepts thread ids that are new, untrimmed or given by their alias', async (t) => {
  const { runToEnd, call } = await startDemo(t);
  const [made] = await runToEnd(hello('echo'));
  t.equal((await call('GET', `/v1/threads/${made?.thread_id}`)).status, 200);
  const [named] = await runToEnd(hello('echo', '  x '));
  t.equal(named?.thread_id, 'x');
  const [aliased] = await runToEnd({
    agent_id: 'echo',
    thread_id: 'y',
    messages: [{ role: 'user', content: 'q' }],
  });
  t.equal(aliased?.thread_id, 'y');
});

t.test('returns long and unusual text unchanged', async (t) => {
  const { runToEnd, call } = await startDemo(t);
  const content = `${'ä😀\u2028"\\\n'.repeat(2000)}end`;
  const events = await runToEnd(hello('echo', 'T', content));
  t.match(events.at(-1), { result: { response: `echo: ${content}` } });
  const { messages } = (await call('GET', '/v1/threads/T/messages')).body as {
    messages: { content: object }[];
  };
  t.strictSame(messages[0]?.content, [{ type: 'text', text: content }]);
});

t.test('sends heartbeats on a quiet stream', async (t) => {
  const { run, models } = await startDemo(t, { settings: { sse_heartbeat_ms: 40 } });
  const stream = await run(hello('slow'));
  const rest = stream.rest();
  await eventually(
    async () => stream.raw(),
    (raw) => raw.includes(': heartbeat\n\n'),
  );
  models.release();
  t.match((await rest).at(-1), { event_type: 'run_finish' });
});

t.test('continues a run whose client disconnects', async (t) => {
  const { run, models, call } = await startDemo(t);
  const stream = await run(hello('slow', 'T'));
  const { run_id } = await stream.until('run_start');
  await stream.close();
  models.release();
  const { body } = await eventually(
    () => call('GET', `/v1/runs/${run_id}`),
    (answer) => answer.body.status === 'done',
  );
  t.match(body, { termination_reason: { type: 'natural_end' }, final_output: 'partial answer' });
  t.equal((await call('GET', '/v1/threads/T/messages')).body.total, 2);
});

t.test('keeps the invariants of each status in the run record', async (t) => {
  const { run, models, call } = await startDemo(t);
  const stream = await run(hello('slow', 'T'));
  const { run_id } = await stream
    .until('text_delta')
    .then(() => call('GET', '/v1/threads/T/runs/latest'))
    .then(({ body }) => body);
  const running = (await call('GET', `/v1/runs/${run_id}`)).body;
  t.match(running, { status: 'running', parent_run_id: null, state: null, steps: 0 });
  for (const key of ['waiting', 'outcome', 'finished_at', 'termination_reason']) t.notOk(key in running, key);
  t.ok(Number(running.started_at) < 1e11, 'times are in seconds');
  t.match((await call('GET', '/v1/threads/T/runs/active')).body, {
    active_run: { run_id, status: 'running' },
  });
  t.match((await call('GET', '/v1/threads/T')).body, { active_run_id: run_id, open_run_id: run_id });
  t.match((await call('GET', '/v1/runs?status=running')).body, { total: 1, items: [{ run_id }] });
  t.match((await call('GET', '/v1/runs?status=done')).body, { total: 0 });

  models.release();
  await stream.rest();
  const done = (await call('GET', `/v1/runs/${run_id}`)).body;
  t.match(done, {
    status: 'done',
    steps: 1,
    input_tokens: 10,
    output_tokens: 20,
    resolution_id: '1',
    final_output: 'partial answer',
    input: { range: { from_seq: 1, to_seq: 1 } },
    output: { range: { from_seq: 2, to_seq: 2 } },
    state: { extensions: { '__runtime.run_lifecycle': { status: 'done', status_reason: 'natural' } } },
  });
  const outcome = done.outcome as Record<string, unknown>;
  t.strictSame(outcome.termination_reason, done.termination_reason);
  t.equal(outcome.final_output, done.final_output);
  t.ok(Number(done.finished_at) < 1e11);
  t.equal(Math.floor(Number(done.finished_at_ms) / 1000), done.finished_at);
  t.equal(Math.floor(Number(done.started_at_ms) / 1000), done.started_at);
  const thread = (await call('GET', '/v1/threads/T')).body;
  t.notOk('active_run_id' in thread || 'open_run_id' in thread);
  t.equal(thread.latest_run_id, run_id);
  t.strictSame((await call('GET', '/v1/threads/T/runs/active')).body, { active_run: null });
});

t.test('lists runs in the order of their creation, filtered by status', async (t) => {
  const { runToEnd, call } = await startDemo(t);
  const ids: unknown[] = [];
  for (const thread of ['a', 'b', 'a']) ids.push((await runToEnd(hello('echo', thread)))[0]?.run_id);
  const all = (await call('GET', '/v1/runs')).body as { items: { run_id: string }[] };
  t.strictSame(
    all.items.map(({ run_id }) => run_id),
    ids,
  );
  t.match((await call('GET', '/v1/threads/a/runs?limit=1')).body, { total: 2, has_more: true });
  t.match(await call('GET', '/v1/runs?status=x'), {
    status: 400,
    body: { error: 'invalid status filter: x' },
  });
  t.match((await call('GET', '/v1/threads/nope/runs')).body, { items: [], total: 0, has_more: false });
  t.match(await call('GET', '/v1/threads/nope/runs/latest'), {
    status: 404,
    body: { error: 'run not found: no runs for thread nope' },
  });
  t.strictSame((await call('GET', '/v1/threads/nope/runs/active')).body, { active_run: null });
  t.match(await call('GET', '/v1/runs/nope'), { status: 404, body: { error: 'run not found: nope' } });
  t.match((await call('GET', '/v1/threads/a/runs/latest')).body, { run_id: ids[2] });
});

t.test('keeps one of two concurrent runs on a thread and leaves none running', async (t) => {
  const { run, call, models } = await startDemo(t);
  for (let round = 0; round < 20; round += 1) {
    const thread = `T${round}`;
    const streams = await Promise.all([run(hello('slow', thread)), run(hello('slow', thread))]);
    for (const { status } of streams) t.ok([200, 409].includes(status), `status ${status}`);
    models.release();
    await Promise.all(streams.map((stream) => stream.rest()));
    const { items } = (await call('GET', `/v1/threads/${thread}/runs`)).body as {
      items: { status: string; termination_reason: { type: string } }[];
    };
    t.ok(items.every(({ status }) => status === 'done'));
    t.equal(items.filter((each) => each.termination_reason.type !== 'cancelled').length, 1);
  }
});

t.test('isolates runs on different threads', async (t) => {
  const { runToEnd } = await startDemo(t);
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, index) => runToEnd(hello('echo', `T${index}`, `text ${index}`))),
  );
  for (const [index, events] of all.entries()) {
    t.match(events.at(-1), {
      thread_id: `T${index}`,
      run_id: events[0]?.run_id,
      termination: { type: 'natural_end' },
      result: { response: `echo: text ${index}` },
    });
  }
});

t.test('replaces the executing run with a new one', async (t) => {
  const { run, runToEnd, call, models } = await startDemo(t);
  const first = await run(hello('slow', 'T'));
  await first.until('text_delta');
  t.equal((await call('POST', '/v1/runs', hello('nope', 'T'))).status, 400);
  t.equal(models.waiting(), 1, 'a rejected request affects no run');

  const second = await runToEnd(hello('echo', 'T', 'again'));
  t.match(second.at(-1), { termination: { type: 'natural_end' } });
  const tail = await first.rest();
  t.strictSame(
    tail.map((event) => event.event_type),
    ['inference_complete', 'state_snapshot', 'step_end', 'state_snapshot', 'run_finish'],
  );
  t.match(tail.at(-1), { termination: { type: 'cancelled' }, result: { status_reason: 'cancelled' } });
  const { messages } = (await call('GET', '/v1/threads/T/messages')).body as { messages: { role: string }[] };
  t.strictSame(
    messages.map(({ role }) => role),
    ['user', 'user', 'assistant'],
    'partial text is not kept',
  );
});

t.test('ends a run with an error on a permanent model failure, and keeps the thread usable', async (t) => {
  const { runToEnd, call, models } = await startDemo(t);
  models.failures.push(new ModelError('unauthorized', 'bad key'));
  const events = await runToEnd(hello('flaky', 'T'));
  t.strictSame(
    events.slice(-2).map((event) => event.event_type),
    ['step_end', 'run_finish'],
  );
  const finish = events.at(-1);
  t.match(finish, { termination: { type: 'error', value: /inference failed: .*bad key/ } });
  t.notOk(finish && 'result' in finish);
  t.match((await call('GET', `/v1/runs/${finish?.run_id}`)).body, {
    status: 'done',
    error_payload: { message: /bad key/ },
    outcome: { error_payload: { message: /bad key/ } },
  });
  t.match((await runToEnd(hello('echo', 'T'))).at(-1), { termination: { type: 'natural_end' } });
});

t.test('retries a transient failure within the same stream', async (t) => {
  const { runToEnd, call, models } = await startDemo(t, { settings: { mailbox: { retry_base_ms: 1 } } });
  models.failures.push(new ModelError('overloaded', 'busy'));
  const events = await runToEnd(hello('flaky', 'T'));
  const types = events.map((event) => event.event_type);
  t.equal(types.filter((type) => type === 'run_start').length, 1);
  t.equal(types.filter((type) => type === 'stream_reset').length, 1);
  t.equal(types.filter((type) => type === 'run_finish').length, 1);
  t.equal(
    types.filter((type) => type === 'step_start').length,
    types.filter((type) => type === 'step_end').length,
  );
  t.match(events.at(-1), { termination: { type: 'natural_end' } });
  t.equal((await call('GET', '/v1/threads/T/messages')).body.total, 2);
  t.equal((await call('GET', '/v1/threads/T/runs')).body.total, 1);
});

t.test('fails after the maximum number of attempts on repeated transient failures', async (t) => {
  const { runToEnd, models } = await startDemo(t, {
    settings: { mailbox: { retry_base_ms: 1, max_attempts: 3 } },
  });
  for (let index = 0; index < 3; index += 1) {
    models.failures.push(new ModelError('provider', '500'));
  }
  const events = await runToEnd(hello('flaky'));
  t.equal(events.filter((event) => event.event_type === 'step_start').length, 3);
  t.match(events.at(-1), { termination: { type: 'error' } });
  t.equal(models.failures.length, 0);
});

t.test('continues a truncated completion in another step', async (t) => {
  const { runToEnd, call, models } = await startDemo(t);
  models.steps.push((sink) => {
    sink.text('first ');
    return { stop: 'MaxTokens' };
  });
  models.steps.push((sink) => {
    sink.text('second');
    return { stop: 'EndTurn' };
  });
  const events = await runToEnd(hello('steps', 'T'));
  t.match(events.at(-1), { termination: { type: 'natural_end' }, result: { response: 'second' } });
  t.equal((await call('GET', '/v1/threads/T/messages')).body.total, 3);
  t.match((await call('GET', '/v1/threads/T/messages?visibility=internal')).body, {
    total: 1,
    messages: [{ role: 'user', visibility: 'internal', seq: 3 }],
  });
});

t.test('reports malformed tool arguments to the model', async (t) => {
  const { runToEnd, models } = await startDemo(t);
  models.steps.push((sink) => {
    sink.toolStart('c1', 'get_weather');
    sink.toolDelta('c1', '{"loc');
    sink.toolEnd('c1', '{"loc');
    return { stop: 'ToolUse' };
  });
  const events = await runToEnd(hello('steps'));
  t.match(
    events.find((event) => event.event_type === 'tool_call_done'),
    { outcome: 'failed', result: { message: /^Invalid arguments: / } },
  );
  t.match(events.at(-1), { termination: { type: 'natural_end' } });
});

t.test('executes adjacent calls concurrently and keeps the order of their results', async (t) => {
  const { runToEnd, models } = await startDemo(t);
  models.steps.push((sink) => {
    for (const [id, name, args] of [
      ['c1', 'progress_demo', '{}'],
      ['c2', 'get_stock_price', '{"symbol":"aapl"}'],
      ['c3', 'failingTool', ''],
    ] as const) {
      sink.toolStart(id, name);
      sink.toolDelta(id, args);
      sink.toolEnd(id, args);
    }
    return { stop: 'ToolUse' };
  });
  const events = await runToEnd(hello('steps'));
  const done = events.filter((event) => event.event_type === 'tool_call_done');
  t.strictSame(
    done.map(({ id, outcome }) => [id, outcome]),
    [
      ['c1', 'succeeded'],
      ['c2', 'succeeded'],
      ['c3', 'failed'],
    ],
  );
  t.match(
    events.find((event) => event.event_type === 'activity_snapshot'),
    { activity_type: 'tool-call-progress', content: { schema: 'tool-call-progress.v1', call_id: 'c1' } },
  );
  const request = models.requests.at(-1)?.request;
  t.strictSame(
    request?.messages.slice(-3).map((message) => message.tool_call_id),
    ['c1', 'c2', 'c3'],
  );
});

t.test('stalls neither its run nor other streams when a stream is not read', async (t) => {
  const { url, runToEnd, call } = await startDemo(t, {
    settings: {
      sse_buffer_size: 10,
      entries: undefined,
    },
  });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const body = JSON.stringify(hello('bench', 'stalled'));
  socket.pause();
  socket.write(
    `POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  t.match((await runToEnd(hello('echo', 'other'))).at(-1), { termination: { type: 'natural_end' } });
  await eventually(
    () => call('GET', '/v1/threads/stalled/runs/latest'),
    (answer) => answer.body.status === 'done',
  );
  socket.destroy();
});

t.test('lists runs by outcome, agent, time and words, in every order', async (t) => {
  const { call, runToEnd } = await startDemo(t);
  const ids = async (query: string): Promise<string[]> => {
    const { status, body } = await call('GET', `/v1/runs?${query}`);
    t.equal(status, 200, `${query} ${JSON.stringify(body)}`);
    return Object(body).items.map(({ thread_id }: { thread_id: string }) => thread_id);
  };
  await runToEnd(hello('default', 'refund', 'The refund of Ms Okafor'));
  await runToEnd(hello('default', 'stopped', 'RUN_WEATHER_TOOL'));
  await runToEnd(hello('echo', 'echoed', 'The delivery of Ms Okafor'));

  t.strictSame(await ids('outcome=completed'), ['refund', 'echoed']);
  t.strictSame(await ids('outcome=stopped'), ['stopped']);
  t.strictSame(await ids('outcome=stopped,completed&sort=-changed'), ['echoed', 'stopped', 'refund']);
  t.strictSame(await ids('outcome=failed,blocked'), []);
  t.strictSame(await ids('agent_id=echo'), ['echoed']);
  t.strictSame(await ids('agent_id=default&sort=-changed'), ['stopped', 'refund']);
  t.strictSame(await ids('q=okafor%20REFUND'), ['refund'], 'words of the input in any case');
  t.strictSame(await ids('q=okafor&sort=-created'), ['echoed', 'refund']);
  t.strictSame(await ids('q=okafor%20echo'), ['echoed'], 'words of the input and of the agent');
  t.strictSame(await ids('created_after=2001-01-01T00:00:00Z&sort=-created'), [
    'echoed',
    'stopped',
    'refund',
  ]);
  t.strictSame(await ids('created_before=2001-01-01T00:00:00%2B01:00'), []);
  t.equal((await ids('sort=-tokens'))[0], 'stopped', 'three inferences');
  t.equal((await ids('sort=-duration')).length, 3);

  const { body } = await call('GET', '/v1/runs?q=okafor&limit=1');
  t.match(body, { total: 3, searched: 1, has_more: true });
  t.notOk('prev_cursor' in Object(body));
  const rest = await call('GET', `/v1/runs?q=okafor&cursor=${Object(body).next_cursor}`);
  t.match(rest.body, { items: [{ thread_id: 'echoed' }], searched: 3, has_more: false, next_cursor: null });
  t.notOk('searched' in Object((await call('GET', '/v1/runs?status=done')).body));
  const other = await call('GET', `/v1/runs?q=refund&cursor=${Object(body).next_cursor}`);
  t.match(other, { status: 400, body: { error: 'cursor does not match run query filters' } });
  for (const bad of [
    'outcome=done',
    'outcome=',
    'created_after=yesterday',
    'sort=cost',
    `q=${'x'.repeat(201)}`,
  ])
    t.equal((await call('GET', `/v1/runs?${bad}`)).status, 400, bad);
  t.match((await call('GET', '/v1/threads/refund/runs?outcome=completed&sort=-changed')).body, {
    items: [{ thread_id: 'refund' }],
  });

  const threads = async (query: string): Promise<string[]> =>
    Object((await call('GET', `/v1/threads/summaries?${query}`)).body).items.map(
      ({ id }: { id: string }) => id,
    );
  await call('PATCH', '/v1/threads/stopped', { title: 'Weather of Oslo' });
  t.strictSame(await threads('q=okafor'), ['echoed', 'refund']);
  t.strictSame(await threads('q=weather'), ['stopped'], 'words of the title');
  t.strictSame(await threads('agent_id=default&q=okafor'), ['refund']);
  t.match((await call('GET', '/v1/threads?q=okafor&limit=1')).body, {
    items: ['echoed'],
    total: 3,
    has_more: true,
  });
});
