import t from 'tap';
import { eventually, startDemo, startTroupe } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { endOf, only, say, startWith, textIn, types } from './agents.ts';

/** The demo agents with the scripted model: agent-loop.md 20, checks 1 to 6, 17 to 22, 35, 44, 47 and 48. */

t.test('1, 2: completes a greeting in one step with the events, usage and state of 5.3', async (t) => {
  const { runToEnd } = await startDemo(t);
  const events = await runToEnd(say('default'));
  t.strictSame(types(events), [
    'run_start',
    'step_start',
    'text_delta',
    'inference_complete',
    'state_snapshot',
    'step_end',
    'state_snapshot',
    'run_finish',
  ]);
  t.equal(textIn(events), 'Scripted response to: Hello');
  t.match(endOf(events), {
    termination: { type: 'natural_end' },
    result: { status: 'done', status_reason: 'natural', response: 'Scripted response to: Hello' },
  });
  t.match(only(events, 'inference_complete'), [{ model: /./, usage: { total_tokens: 30 } }]);
  const [snapshot] = only(events, 'state_snapshot');
  t.match(snapshot, { snapshot: { extensions: { '__runtime.run_lifecycle': { step_count: 1 } } } });
});

t.test('3, 4: executes a tool each round until max_rounds, and interrupts the last call', async (t) => {
  const { runToEnd } = await startDemo(t);
  for (const [words, call, data] of [
    ['RUN_WEATHER_TOOL', { id: 'call_weather_1', name: 'get_weather' }, { condition: 'Sunny' }],
    [
      'RUN_STOCK_TOOL',
      { id: 'call_stock_1', name: 'get_stock_price' },
      { price_usd: 188.42, symbol: 'AAPL' },
    ],
  ] as const) {
    const events = await runToEnd(say('default', words));
    t.match(only(events, 'tool_call_start')[0], call);
    t.equal(only(events, 'step_start').length, 3);
    const done = only(events, 'tool_call_done');
    t.match(done.slice(0, 2), [
      { outcome: 'succeeded', result: { status: 'success', data } },
      { outcome: 'succeeded', result: { status: 'success', data } },
    ]);
    t.match(done[2], { outcome: 'failed', result: { message: '[Tool execution was interrupted]' } });
    t.match(endOf(events), {
      termination: { type: 'stopped', value: { code: 'max_rounds' } },
      result: { response: '', status: 'done', status_reason: 'stopped:max_rounds' },
    });
  }
  const events = await runToEnd(say('default', 'RUN_WEATHER_TOOL'));
  t.strictSame(only(events, 'tool_call_ready')[0]?.arguments, { location: 'Tokyo' });
});

t.test('5: an agent with one round completes naturally', async (t) => {
  const { runToEnd } = await startDemo(t);
  for (const agent of ['limited', 'stopper', 'thinking']) {
    const events = await runToEnd(say(agent, 'anything'));
    t.equal(only(events, 'step_start').length, 1);
    t.match(endOf(events), {
      termination: { type: 'natural_end' },
      result: { response: 'Scripted response to: anything' },
    });
  }
});

t.test('6: keeps characters whole when a text is truncated within one', async (t) => {
  const { run } = await startDemo(t);
  const stream = await run(say('default', `a${'é'.repeat(60)}`));
  t.equal(stream.status, 200);
  t.equal(textIn(await stream.rest()), `Scripted response to: a${'é'.repeat(24)}`);
});

t.test('17: renders a valid interface each round', async (t) => {
  const { runToEnd } = await startDemo(t);
  const events = await runToEnd(say('a2ui', 'RUN_A2UI_TOOL'));
  const done = only(events, 'tool_call_done');
  t.equal(done.length, 8);
  for (const one of done.slice(0, 7)) {
    t.match(one, { outcome: 'succeeded', result: { data: { rendered: true, count: 3 } } });
  }
  t.match(endOf(events), { termination: { type: 'stopped', value: { code: 'max_rounds' } } });
});

t.test('18: fails the call of a missing tool without asking for approval', async (t) => {
  const { runToEnd } = await startDemo(t);
  for (const [agent, words, tool] of [
    ['default', 'RUN_A2UI_TOOL', 'render_a2ui'],
    ['permission', 'RUN_A2UI_TOOL', 'render_a2ui'],
    ['default', 'RUN_TOOL_SEARCH_WEATHER', 'ToolSearch'],
  ] as const) {
    const events = await runToEnd(say(agent, words));
    t.match(only(events, 'tool_call_done')[0], {
      outcome: 'failed',
      result: { status: 'error', message: `tool '${tool}' not found` },
    });
    t.match(endOf(events), { termination: { type: 'stopped' } });
  }
});

t.test('20, 21, 35: rejects invalid requests but accepts an empty text', async (t) => {
  const { call, run } = await startDemo(t);
  t.match(await call('POST', '/v1/runs', say('nope', 'x', 'T')), {
    status: 400,
    body: { error: 'agent not found: nope' },
  });
  t.equal((await call('GET', '/v1/threads/T')).status, 404, 'nothing is written');
  t.equal((await call('GET', '/v1/runs')).body.total, 0);
  const empty = await run(say('default', ''));
  t.equal(empty.status, 200);
  t.match(endOf(await empty.rest()), { termination: { type: 'natural_end' } });
  const broken = (await call('POST', '/v1/runs', '{"agentId":')).status;
  t.ok(broken >= 400 && broken < 500, `${broken}`);
  const more = await run({ ...say('default'), foo: 1 });
  t.equal(more.status, 200);
  await more.rest();
  t.match(await call('POST', '/v1/runs', say('  ')), {
    status: 400,
    body: { error: 'agent_id cannot be empty' },
  });
  const { agentId: _, ...nobody } = say('default');
  const status = (await call('POST', '/v1/runs', nobody)).status;
  t.ok(status >= 400 && status < 500, `${status}`);
});

t.test('22: runs of a thread follow each other and see the earlier ones', async (t) => {
  const troupe = await startDemo(t);
  for (const text of ['one', 'two', 'three']) {
    t.match(endOf(await troupe.runToEnd(say('default', text, 'T'))), {
      termination: { type: 'natural_end' },
    });
  }
  t.strictSame(await viewOf(troupe, 'T').texts(), [
    'user: one',
    'assistant: Scripted response to: one',
    'user: two',
    'assistant: Scripted response to: two',
    'user: three',
    'assistant: Scripted response to: three',
  ]);
  for (const text of ['one', 'two']) await troupe.runToEnd(say('echo', text, 'E'));
  const second = troupe.models.requests.at(-1)?.request.messages;
  t.match(second, [
    { role: 'user', content: [{ text: 'one' }] },
    { role: 'assistant', content: [{ text: 'echo: one' }] },
    { role: 'user', content: [{ text: 'two' }] },
  ]);
});

t.test('44: cancelling a slow tool ends its run, and the thread stays usable', async (t) => {
  const troupe = await startWith(t, { agents: [{ id: 'own', model_id: 'steps' }] });
  troupe.models.steps.push((sink) => {
    sink.toolStart('c1', 'progress_demo');
    sink.toolEnd('c1', '{"scenario":"slow_build"}');
    return { stop: 'ToolUse' };
  });
  const stream = await troupe.run(say('own', 'go', 'T'));
  const progress = await stream.until('activity_snapshot');
  t.match(progress, {
    activity_type: 'tool-call-progress',
    message_id: 'c1',
    replace: true,
    content: { schema: 'tool-call-progress.v1', tool_name: 'progress_demo', call_id: 'c1', thread_id: 'T' },
  });
  t.equal((await troupe.post('/v1/threads/T/cancel')).status, 202);
  t.match(endOf(await stream.rest()), { termination: { type: 'cancelled' } });
  t.match(endOf(await troupe.runToEnd(say('default', 'next', 'T'))), {
    termination: { type: 'natural_end' },
  });
});

t.test('47: the minimal profile has one agent and no tools', async (t) => {
  const troupe = await startTroupe(t);
  t.equal((await troupe.post('/v1/runs', say('travel'))).status, 400);
  const events = await troupe.runToEnd(say('default', 'RUN_WEATHER_TOOL'));
  t.match(only(events, 'tool_call_done').slice(0, 2), [
    { result: { message: "tool 'get_weather' not found" } },
    { result: { message: "tool 'get_weather' not found" } },
  ]);
  t.match(endOf(events), { termination: { type: 'stopped', value: { code: 'max_rounds' } } });
  await troupe.runToEnd(say('echo'));
  t.strictSame(troupe.models.requests.at(-1)?.request.tools, []);
});

t.test('48: isolates parallel runs on many threads', async (t) => {
  const troupe = await startDemo(t);
  const runs = await Promise.all(
    Array.from({ length: 20 }, (_, n) => troupe.runToEnd(say('default', `text ${n}`, `T${n}`))),
  );
  const ids = new Set<unknown>();
  for (const [n, events] of runs.entries()) {
    t.equal(textIn(events), `Scripted response to: text ${n}`);
    t.match(endOf(events), { termination: { type: 'natural_end' }, thread_id: `T${n}` });
    const about = events.filter((event) => 'run_id' in event).map(({ run_id }) => run_id);
    t.equal(new Set(about).size, 1);
    ids.add(about[0]);
  }
  t.equal(ids.size, 20);
  await eventually(
    async () => (await troupe.call('GET', '/v1/runs?status=done')).body.total,
    (total) => total === 20,
  );
});
