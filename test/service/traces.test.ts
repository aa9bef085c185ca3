import t from 'tap';
import { z } from 'zod';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { agentHandoff } from '../../src/loop/handoff.ts';
import { ModelError } from '../../src/models/errors.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { update } from '../../src/tools/state.ts';
import { asks } from './models.ts';
import { resume, suspend, withTools } from './suspended.ts';
import { listed, readTrace, run, startTraced, traced } from './traced.ts';
import { eventually, startTroupe } from './troupe.ts';

/** Traces over HTTP: evals-and-traces.md 9, checks 53 to 62. */

t.test('does not serve traces unless they are exposed', async (t) => {
  const { admin } = await startTroupe(t);
  t.equal((await admin('GET', '/v1/traces')).status, 404);
});

t.test('serves exposed traces to admins', async (t) => {
  const shown = await startTraced(t);
  t.equal((await shown.call('GET', '/v1/traces?foo=1')).status, 401);
  t.strictSame((await shown.admin('GET', '/v1/traces')).body, { runs: [] });
  const modules = await shown.admin('GET', '/v1/system/modules');
  t.match(JSON.stringify(modules.body), '"trace"');
});

t.test('lists a run once it has ended, with its inference as a line', async (t) => {
  const troupe = await startTraced(t);
  const id = await run(troupe, 'echo', { threadId: 'T' });
  const [summary, ...others] = await listed(troupe);
  t.equal(others.length, 0);
  t.match(summary, { run_id: id, agent_id: 'echo', final_status: 'ok', prompt_ids: [/^[0-9a-f]{12}$/] });
  t.ok(Number(summary?.ended_at) >= Number(summary?.started_at));
  const { lines, text, total, next, contentType } = await readTrace(troupe, id);
  t.match(lines, [
    {
      type: 'inference',
      kind: 'inference',
      run_id: id,
      thread_id: 'T',
      agent_id: 'echo',
      step_index: 0,
      model: 'echo-upstream',
      provider: 'test',
      operation: 'chat',
      response_model: null,
      response_id: null,
      finish_reasons: ['end_turn'],
      error_type: null,
      error_class: null,
      input_tokens: 10,
      output_tokens: 20,
      total_tokens: 30,
      thinking_tokens: null,
      temperature: null,
      stop_sequences: [],
    },
  ]);
  t.notOk(Object.hasOwn(lines[0] ?? {}, 'response_content'));
  t.notOk(Object.hasOwn(lines[0] ?? {}, 'request_messages'));
  t.ok(text.endsWith('}\n'));
  t.match({ total, next, contentType }, { total: '1', next: null, contentType: 'application/x-ndjson' });
});

t.test('writes no trace for an agent without the plugin, or with a filter that excludes it', async (t) => {
  const agents = [
    { id: 'seen', plugin_ids: ['observability'] },
    { id: 'filtered', plugin_ids: ['observability', 'reminder'], active_hook_filter: ['reminder'] },
  ].map((agent) => AgentSpec.parse({ model_id: 'echo', ...agent }));
  const troupe = await startTroupe(t, {
    settings: traced({ sampling_disable: true }, { observe_all_agents: false }),
    app: { records: { ...NO_RECORDS, agents } },
  });
  const unseen = [await run(troupe, 'echo'), await run(troupe, 'filtered')];
  const id = await run(troupe, 'seen');
  t.match(await listed(troupe), [{ run_id: id }]);
  for (const other of unseen) t.equal((await readTrace(troupe, other)).status, 404);
});

t.test('writes a failed inference without tokens, and keeps the trace of its run', async (t) => {
  const troupe = await startTraced(t, { sampling_proportion: 0, capture_content: true });
  troupe.models.failures.push(new ModelError('unauthorized', 'no'));
  const id = await run(troupe, 'flaky');
  const dull = await run(troupe, 'echo');
  t.match(await listed(troupe), [{ run_id: id, final_status: 'error' }]);
  const { lines } = await readTrace(troupe, id);
  t.match(lines, [
    {
      type: 'inference',
      error_type: 'unauthorized',
      error_class: 'permanent',
      input_tokens: null,
      total_tokens: null,
      finish_reasons: [],
    },
  ]);
  t.notOk(Object.hasOwn(lines[0] ?? {}, 'response_content'));
  t.equal((await readTrace(troupe, dull)).status, 404);
});

t.test('writes a tool call after the inference that requested it', async (t) => {
  const failing = defineTool({
    id: 'fail',
    description: 'Fails.',
    input: z.object({ api_key: z.string() }),
    execute() {
      throw new Error('no');
    },
  });
  const large = defineTool({
    id: 'large',
    description: 'Much.',
    input: z.object({}),
    execute: () => ({ data: 'x'.repeat(20_000) }),
  });
  const troupe = await startTraced(
    t,
    { sampling_disable: true, capture_tool_io: 'arguments_and_results', capture_content: true },
    { app: { tools: [failing, large] } },
  );
  troupe.models.steps.push(asks(['c1', 'fail', { api_key: 'hunter2' }], ['c2', 'large']));
  const { lines, text, types } = await readTrace(troupe, await run(troupe, 'steps'));
  t.strictSame(types, ['inference', 'tool', 'tool', 'inference']);
  t.match(lines, [
    { response_tool_calls: [{ id: 'c1', name: 'fail' }, { id: 'c2' }], request_messages: [{ role: 'user' }] },
    { name: 'fail', step_index: 0, error_type: 'tool_error', call_arguments: { api_key: '***' } },
    {
      name: 'large',
      call_id: 'c2',
      error_type: null,
      operation: 'execute_tool',
      tool_type: 'function',
      call_result: { __payload_truncated: true, max_payload_bytes: 8192 },
    },
    { step_index: 1, response_content: [{ type: 'text' }] },
  ]);
  t.notOk(Object.hasOwn(lines[3] ?? {}, 'request_messages'));
  const [offered, called] = [lines[0]?.tool_desc_ids, lines[1]?.tool_desc_ids];
  t.ok(Array.isArray(offered) && Array.isArray(called) && offered.includes(called[0]));
  t.notMatch(text, 'hunter2', 'the recorded arguments are redacted too');
});

const BOTH_SEGMENTS = ['inference', 'suspension', 'tool', 'suspension', 'tool', 'inference'];

for (const trace of [{ sampling_disable: true }, { sampling_proportion: 1 }]) {
  const how = trace.sampling_disable ? 'that is readable at once' : 'that waits to be decided on';
  t.test(`writes one trace for a run that is suspended and resumed after a restart, ${how}`, async (t) => {
    const { troupe } = await withTools(t, { settings: traced(trace) });
    const { run_id } = await suspend(troupe, 'T', ['c1', 'risky'], ['c2', 'note']);
    t.strictSame(await listed(troupe), []);
    const before = await readTrace(troupe, run_id);
    if (trace.sampling_disable) t.strictSame(before.types, ['inference', 'suspension', 'tool']);
    else t.equal(before.status, 404);
    await troupe.restart();
    t.equal((await troupe.post('/v1/threads/T/decision', resume('c1'))).status, 202);
    await eventually(
      () => listed(troupe),
      (runs) => runs.length === 1,
    );
    const { lines, types } = await readTrace(troupe, run_id);
    t.strictSame(types, BOTH_SEGMENTS);
    t.match(
      lines.filter(({ type }) => type === 'suspension'),
      [
        { action: 'suspended', resume_mode: null, duration_ms: null, tool_call_id: 'c1', tool_name: 'risky' },
        { action: 'resumed', resume_mode: 'resume', duration_ms: Number, tool_call_id: 'c1' },
      ],
    );
    const resumed = lines.findIndex(({ action }) => action === 'resumed');
    t.match(lines[resumed + 1], { type: 'tool', call_id: 'c1', step_index: 0, error_type: null });
  });
}

t.test('writes handoffs and delegations with their agents', async (t) => {
  const handOver = defineTool({
    id: 'hand_over',
    description: 'Hands over.',
    input: z.object({}),
    execute: () => ({ data: 'ok', state: [update(agentHandoff, { requested_agent: 'back' })] }),
  });
  const agents = [{ id: 'front', delegates: ['echo'] }, { id: 'back' }].map((agent) =>
    AgentSpec.parse({ model_id: 'steps', max_rounds: 8, ...agent }),
  );
  const troupe = await startTraced(t, undefined, {
    app: { tools: [handOver], records: { ...NO_RECORDS, agents } },
  });
  troupe.models.steps.push(asks(['c1', 'agent_run_echo', { prompt: 'x' }]), asks(['c2', 'hand_over']));
  const id = await run(troupe, 'front');
  const { lines, types } = await readTrace(troupe, id);
  t.strictSame(types, ['inference', 'tool', 'delegation', 'inference', 'tool', 'handoff', 'inference']);
  t.match(lines[2], { parent_run_id: id, target_agent_id: 'echo', tool_call_id: 'c1', success: true });
  t.match(lines[5], { agent_id: 'front', from_agent_id: 'front', to_agent_id: 'back', reason: null });
  t.match(lines[6], { agent_id: 'back' });
  t.not(lines[6]?.prompt_id, lines[5]?.prompt_id);
  const child = (await listed(troupe, '?agent_id=echo'))[0];
  t.match((await readTrace(troupe, String(child?.run_id))).lines, [
    { parent_run_id: id, parent_tool_call_id: 'c1' },
  ]);
  t.equal(lines[2]?.child_run_id, child?.run_id);
});

t.test('isolates concurrent runs', async (t) => {
  const troupe = await startTraced(t);
  const ids = await Promise.all(
    Array.from({ length: 120 }, (_, index) =>
      run(troupe, index % 2 === 0 ? 'echo' : 'flaky', { threadId: `T${index}` }),
    ),
  );
  t.equal((await listed(troupe)).length, 120);
  for (const [index, run_id] of ids.entries()) {
    const { lines } = await readTrace(troupe, run_id);
    const agent_id = index % 2 === 0 ? 'echo' : 'flaky';
    if (lines.length !== 1 || lines[0]?.run_id !== run_id || lines[0]?.thread_id !== `T${index}`)
      t.fail(`the trace of T${index} has ${JSON.stringify(lines)}`);
    if (lines[0]?.agent_id !== agent_id) t.fail(`T${index} has agent ${lines[0]?.agent_id}`);
  }
});

t.test('filters lists and sorts them newest first', async (t) => {
  const troupe = await startTraced(t);
  const first = await run(troupe, 'echo');
  const second = await run(troupe, 'flaky');
  t.match(await listed(troupe), [{ run_id: second }, { run_id: first }]);
  t.match(await listed(troupe, '?limit=1'), [{ run_id: second }]);
  const only = await listed(troupe, '?agent_id=echo');
  t.match(only, [{ run_id: first }]);
  const prompts = z.array(z.string()).parse(only[0]?.prompt_ids);
  t.match(await listed(troupe, `?prompt_id=${prompts[0]}`), [{ run_id: first }]);
  t.strictSame(await listed(troupe, `?prompt_id=${prompts[0]}&agent_id=flaky`), []);
  t.equal((await listed(troupe, '?since=2024-01-01T00:00:00Z')).length, 2);
  t.equal((await listed(troupe, '?since=2124-01-01T00:00:00%2B02:00')).length, 0);
  t.equal((await listed(troupe, '?experiment_id=none')).length, 0);
});

t.test('joins the run of each trace, and filters by its outcome and its words', async (t) => {
  const { troupe } = await withTools(t, { settings: traced() });
  const { admin, models } = troupe;
  const say = (content: string) => ({ messages: [{ role: 'user', content }] });
  models.steps.push(asks(['c1', 'failingTool', { reason: 'of the test' }]));
  const recovered = await run(troupe, 'steps', say('The refund of Ms Okafor'));
  models.failures.push(new ModelError('unauthorized', 'no'));
  const failed = await run(troupe, 'flaky', say('The delivery of Ms Okafor'));
  const joined = async (query = '') => {
    const { status, body } = await admin('GET', `/v1/traces?run=true${query}`);
    t.equal(status, 200, JSON.stringify(body));
    return body;
  };
  t.match(await joined(), {
    runs: [
      {
        run_id: failed,
        run: { termination_reason: { type: 'error' }, preview: 'The delivery of Ms Okafor' },
      },
      {
        run_id: recovered,
        final_status: 'error',
        tool_errors: 1,
        run: { termination_reason: { type: 'natural_end' } },
      },
    ],
    total: 2,
    searched: 2,
    next_cursor: null,
  });
  const ids = async (query: string) =>
    z
      .array(z.object({ run_id: z.string() }))
      .parse((await joined(query)).runs)
      .map(({ run_id }) => run_id);
  t.strictSame(await ids('&outcome=completed'), [recovered], 'a failed call does not fail its run');
  t.strictSame(await ids('&outcome=failed&stored=true'), [failed]);
  t.strictSame(await ids('&q=okafor%20refund'), [recovered]);
  const first = await joined('&limit=1');
  t.match(first, { runs: [{ run_id: failed }], has_more: true, searched: 1 });
  t.strictSame(await ids(`&limit=1&cursor=${first.next_cursor}`), [recovered]);
  t.equal((await admin('GET', `/v1/traces?run=true&q=x&cursor=${first.next_cursor}`)).status, 400);
  t.equal((await admin('GET', '/v1/traces?outcome=failed')).status, 400);
});

t.test('rejects invalid queries of lists and pages', async (t) => {
  const troupe = await startTraced(t);
  const id = await run(troupe, 'echo');
  t.match(await troupe.admin('GET', '/v1/traces?since=yesterday'), {
    status: 400,
    body: { error: 'invalid `since` query parameter; expected RFC 3339 timestamp', detail: String },
  });
  for (const query of ['limit=0', 'foo=1', 'limit=x', 'limit=-1', 'limit=1&limit=1']) {
    t.equal((await troupe.admin('GET', `/v1/traces?${query}`)).status, 400, query);
    t.equal((await troupe.admin('GET', `/v1/traces/${id}?${query}`)).status, 400, query);
  }
  t.match((await troupe.admin('GET', '/v1/traces?limit=0')).body, { error: /limit/ });
  for (const bad of ['a%2Fb', 'a%5Cb', 'a%00b']) {
    for (const [method, path] of [
      ['GET', bad],
      ['POST', `${bad}/pin`],
    ] as const) {
      const { status, body } = await troupe.admin(method, `/v1/traces/${path}`);
      t.equal(status, 400, path);
      t.match(body, { error: `invalid run id: ${decodeURIComponent(bad)}` });
    }
  }
  t.match(await troupe.admin('GET', '/v1/traces/nobody'), {
    status: 404,
    body: { error: 'trace not found: nobody' },
  });
});

t.test('drops the trace of a run with more events than the buffer holds', async (t) => {
  const { troupe } = await withTools(t, {
    settings: traced({ sampling_proportion: 1, buffer_max_events: 3 }),
  });
  troupe.models.steps.push(asks(['c1', 'note'], ['c2', 'note']));
  const dropped = await run(troupe, 'steps');
  const kept = await run(troupe, 'echo');
  t.equal((await readTrace(troupe, dropped)).status, 404);
  t.match(await listed(troupe), [{ run_id: kept }]);
  t.match((await troupe.call('GET', '/metrics')).body.text, 'service_traces_dropped_total 1');
});

t.test('removes old traces at startup, except pinned ones', async (t) => {
  let now = Date.now();
  const clock = { now: () => now, monotonic: () => performance.now() };
  const troupe = await startTraced(t, undefined, { app: { clock } });
  const [pinned, other] = [await run(troupe, 'echo'), await run(troupe, 'echo')];
  for (const path of [pinned, pinned])
    t.equal((await troupe.admin('POST', `/v1/traces/${path}/pin`)).status, 204);
  t.equal((await troupe.admin('POST', '/v1/traces/nobody/pin')).status, 404);
  now += 8 * 86_400_000;
  const young = await run(troupe, 'echo');
  await troupe.restart();
  await eventually(
    () => listed(troupe),
    (runs) => runs.length === 2,
  );
  t.match(await listed(troupe), [{ run_id: young }, { run_id: pinned }]);
  t.equal((await readTrace(troupe, other)).status, 404);
  t.equal((await readTrace(troupe, pinned)).lines.length, 1);
});

t.test('lists a run that is cancelled while suspended', async (t) => {
  const { troupe } = await withTools(t, { settings: traced() });
  const { run_id } = await suspend(troupe, 'T', ['c1', 'risky']);
  await troupe.post(`/v1/runs/${run_id}/cancel`);
  const runs = await eventually(
    () => listed(troupe),
    (all) => all.length === 1,
  );
  t.match(runs, [{ run_id, final_status: 'ok' }]);
});

t.test('serves neither traces nor statistics when observability is disabled', async (t) => {
  const troupe = await startTroupe(t, { settings: traced(undefined, { observability_disable: true }) });
  await run(troupe, 'echo');
  t.equal((await troupe.admin('GET', '/v1/traces')).status, 404);
  t.equal((await troupe.admin('GET', '/v1/agents/runtime-stats')).status, 503);
});
