import t from 'tap';
import { only, responds, startEvals } from './evals.ts';

/** Scripted runs over HTTP: evals-and-traces.md 5.2, checks 19 and 28 to 32, 43, 48. */

t.test('reports a passing dataset in the order of its items, without live fields', async (t) => {
  const { dataset, ask, admin } = await startEvals(t);
  await dataset('D', [
    {
      id: 'b',
      user_input: 'Say b',
      provider_script: [responds('b it is')],
      expect: { final_answer_contains: ['b'] },
    },
    {
      id: 'a',
      user_input: 'Say a',
      provider_script: [responds('a it is')],
      expect: { final_answer_contains: ['a'] },
    },
  ]);
  const { status, body } = await ask('POST', '/v1/eval/runs', { dataset_id: 'D' });
  t.equal(status, 200);
  t.strictSame(Object.keys(body), ['run']);
  const run = body.run as Record<string, unknown> & { items: Record<string, unknown>[] };
  t.match(run, {
    id: /^[0-9A-HJKMNP-TV-Z]{26}$/,
    dataset_id: 'D',
    dataset_revision: 0,
    execution_mode: 'scripted',
  });
  t.notOk('status' in run || 'planned_item_count' in run);
  t.strictSame(
    run.items.map(({ fixture_id }) => fixture_id),
    ['b', 'a'],
  );
  for (const item of run.items) {
    t.strictSame(Object.keys(item), ['fixture_id', 'report', 'trace_run_id']);
    t.match(item.report, { passed: true, failures: [], inference_count: 1 });
    const trace = await admin('GET', `/v1/traces/${item.trace_run_id}`);
    t.equal(trace.status, 200);
    t.match(JSON.parse(String(trace.body.text).split('\n')[0] ?? ''), {
      type: 'inference',
      agent_id: 'default',
      provider: 'scripted',
    });
  }
});

t.test('passes a fixture with a mocked text, with estimated tokens', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  await dataset('D', [
    { id: 'f', user_input: 'Hello', mock_response: { kind: 'text', text: 'Hello there 😀' } },
  ]);
  t.match(only(await evaluate({ dataset_id: 'D' })), {
    passed: true,
    final_text: 'Hello there 😀',
    total_input_tokens: 2,
    total_output_tokens: 4,
    total_tokens: 6,
  });
});

t.test('passes an expected scripted failure without retrying', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  await dataset('D', [
    {
      id: 'f',
      user_input: 'Hello',
      provider_script: [{ kind: 'error', error_type: 'rate_limit', message: 'slow down' }],
      expect: { expected_error_type: 'rate_limit' },
    },
  ]);
  const report = only(await evaluate({ dataset_id: 'D' }));
  t.match(report, {
    passed: true,
    failures: [],
    final_text: '',
    inference_count: 0,
    inference_error_count: 1,
    error_type: 'rate_limit',
  });
  t.notOk('runtime_failure' in report);
});

t.test('fails on unused script events unless the fixture allows them', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  const fixture = { user_input: 'Hello', provider_script: [responds('one'), responds('two')] };
  await dataset('D', [
    { id: 'refused', ...fixture },
    { id: 'allowed', ...fixture, allow_unused_provider_script: true },
  ]);
  const [refused, allowed] = (await evaluate({ dataset_id: 'D' })).items;
  const failure = { kind: 'provider_script_unused', remaining: 1 };
  t.strictSame(refused?.report.failures, [{ kind: 'replay_runtime_failure', failure }]);
  t.strictSame(refused?.report.runtime_failure, failure);
  t.equal(allowed?.report.passed, true);
});

t.test('reports the number of calls without a script event', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  const script = [{ kind: 'tool_call', id: 'c', name: 'search', arguments: {} }];
  await dataset('D', [{ id: 'f', user_input: 'Hello', provider_script: script }]);
  const report = only(await evaluate({ dataset_id: 'D' }));
  t.strictSame(report.runtime_failure, { kind: 'script_exhausted', extra_calls: 1 });
  t.equal(report.final_text, '');
});

t.test('executes a dialogue as one conversation, and ends it at the first failed turn', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  const second = { user_input: 'And you?', provider_script: [responds('Fine too')] };
  await dataset('D', [
    {
      id: 'both',
      user_input: 'How are you?',
      provider_script: [responds('Fine')],
      continued_turns: [second],
    },
    {
      id: 'first',
      user_input: 'How are you?',
      provider_script: [{ kind: 'error', error_type: 'overloaded' }],
      continued_turns: [second],
      allow_unused_provider_script: true,
    },
  ]);
  const [both, first] = (await evaluate({ dataset_id: 'D' })).items;
  t.match(both?.report, { passed: true, final_text: 'Fine too', inference_count: 2 });
  t.match(first?.report, {
    final_text: '',
    inference_count: 0,
    inference_error_count: 1,
    error_type: 'overloaded',
  });
});

t.test('reports why a fixture cannot be replayed', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  await dataset('D', [
    { id: 'f', user_input: 'Hello', provider_script_error: 'two tool calls in a turn' },
    {
      id: 'g',
      user_input: 'Hello',
      continued_turns: [{ user_input: 'x' }, { user_input: 'y', provider_script_error: 'no text' }],
    },
  ]);
  const messages = (await evaluate({ dataset_id: 'D' })).items.map(({ report, trace_run_id }) => {
    t.equal(trace_run_id, undefined);
    t.match(report, { passed: false, runtime_failure: { no_script: true } });
    return report.runtime_failure?.kind === 'runtime_error' ? report.runtime_failure.message : '';
  });
  t.match(messages[0], /no replayable provider_script.*two tool calls in a turn/);
  t.match(messages[1], /continued_turn 2.*no replayable provider_script.*no text/);
});

t.test('fails a tool call without tools, counts it and checks its arguments', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  const script = [
    {
      kind: 'tool_call',
      id: 'c',
      name: 'search',
      arguments: { query: { text: 'x', limit: 3 }, tags: ['a', 'b'] },
    },
    responds('done'),
  ];
  const requires = (matcher: object) => ({ required_tool_calls: [{ name: 'search', ...matcher }] });
  await dataset('D', [
    {
      id: 'met',
      user_input: 'Hello',
      provider_script: script,
      expect: {
        ...requires({ args_subset: { query: { text: 'x' } }, result_subset: "tool 'search' not found" }),
        tool_sequence: ['search'],
      },
    },
    {
      id: 'unmet',
      user_input: 'Hello',
      provider_script: script,
      expect: requires({ args_subset: { tags: ['a'] } }),
    },
  ]);
  const [met, unmet] = (await evaluate({ dataset_id: 'D' })).items;
  t.strictSame(met?.report.failures, []);
  t.match(met?.report, { tool_count: 1, tool_failures: 1 });
  t.match(met?.report.tool_calls_by_agent, [
    { agent_id: 'default', tool: 'search', call_count: 1, failure_count: 1 },
  ]);
  t.strictSame(unmet?.report.failures, [
    { kind: 'required_tool_call_not_satisfied', name: 'search', actual_matches: 0, args_filter_set: true },
  ]);
});

t.test('replays a script for the model that it was recorded with', async (t) => {
  const { dataset, evaluate } = await startEvals(t);
  await dataset('D', [
    { id: 'f', user_input: 'Hello', source_model_id: 'gpt-x', provider_script: [responds('hi')] },
  ]);
  t.match(only(await evaluate({ dataset_id: 'D' })), { passed: true, final_text: 'hi' });
});

t.test('isolates texts, tokens and traces of concurrent runs', async (t) => {
  const { dataset, evaluate, admin } = await startEvals(t);
  const tokens = (prompt_tokens: number) => ({ prompt_tokens, completion_tokens: 1 });
  for (const [name, n] of [
    ['one', 100],
    ['two', 900],
  ] as const) {
    await dataset(
      name,
      Array.from({ length: 20 }, (_, index) => ({
        id: `f${index}`,
        user_input: `${name} ${index}`,
        provider_script: [responds(`${name} answers ${index}`, tokens(n + index))],
      })),
    );
  }
  const runs = await Promise.all([evaluate({ dataset_id: 'one' }), evaluate({ dataset_id: 'two' })]);
  for (const [name, n, run] of [
    ['one', 100, runs[0]],
    ['two', 900, runs[1]],
  ] as const) {
    for (const [index, { report, trace_run_id }] of (run?.items ?? []).entries()) {
      t.equal(report.final_text, `${name} answers ${index}`);
      t.equal(report.total_input_tokens, n + index);
      t.match((await admin('GET', `/v1/traces/${trace_run_id}`)).body.text, `"input_tokens":${n + index},`);
    }
  }
});

t.test('creates no agent statistics, runs or threads in replays', async (t) => {
  const { dataset, evaluate, admin, call } = await startEvals(t);
  await dataset('D', [{ id: 'f', user_input: 'Hello', provider_script: [responds('hi')] }]);
  await evaluate({ dataset_id: 'D' });
  t.strictSame((await admin('GET', '/v1/agents/runtime-stats')).body.agents, []);
  t.match((await call('GET', '/v1/runs')).body, { items: [] });
  t.match((await call('GET', '/v1/threads')).body, { items: [] });
});
