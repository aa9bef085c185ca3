import t from 'tap';
import { textOf } from '../../src/schema/message.ts';
import { asks } from './models.ts';
import { decline, resume, suspend, withTools } from './suspended.ts';
import { eventually, type RunEventLike } from './troupe.ts';
import { viewOf } from './view.ts';

/** Decisions on suspended tool calls: runtime.md 12 and 19, checks 51 to 53, 56 and 58. Restarts: waiting.test.ts. */

const messages = [{ role: 'user', content: 'Hello' }];

const types = (events: readonly RunEventLike[]): string[] => events.map(({ event_type }) => event_type);

t.test('rejects invalid decisions', async (t) => {
  const { troupe } = await withTools(t);
  const { run_id } = await suspend(troupe, 'T', ['c1', 'risky']);
  for (const [route, id] of [
    ['runs', 'x'],
    ['threads', 'x'],
    ['runs', run_id],
  ]) {
    const path = `/v1/${route}/${id}/decision`;
    t.match(await troupe.post(path, { toolCallId: 'c1', action: 'maybe' }), {
      status: 400,
      body: { error: "invalid action: maybe, expected 'resume' or 'cancel'" },
    });
    t.equal((await troupe.post(path, { action: 'resume' })).status, 422);
    t.equal((await troupe.post(path, { toolCallId: 'c1' })).status, 422);
    t.equal((await troupe.post(path, { toolCallId: 5, action: 'resume' })).status, 422);
    t.equal(
      (await troupe.post(path, { toolCallId: 'c1', tool_call_id: 'c1', action: 'resume' })).status,
      422,
    );
  }
  t.match(await troupe.post('/v1/runs/x/decision', resume('c1')), {
    status: 404,
    body: { error: 'run not found: x' },
  });
  t.match(await troupe.post('/v1/threads/x/decision', resume('c1')), {
    status: 404,
    body: { error: 'thread not found: x' },
  });
  await viewOf(troupe, 'T').check(t);
});

t.test('suspends a run with a ticket when its call needs approval', async (t) => {
  const { troupe, tools } = await withTools(t);
  const { run_id, events } = await suspend(troupe, 'T', ['call_1', 'risky', { path: 'a.txt' }]);
  t.strictSame(types(events), [
    'run_start',
    'step_start',
    'tool_call_start',
    'tool_call_ready',
    'inference_complete',
    'tool_call_done',
    'state_snapshot',
    'step_end',
    'state_snapshot',
    'run_finish',
  ]);
  t.match(events[5], {
    id: 'call_1',
    outcome: 'suspended',
    result: {
      status: 'pending',
      data: null,
      message: "Tool 'risky' suspended: awaiting approval",
      suspension: {
        suspension: { id: 'perm_call_1', action: 'tool:PermissionConfirm', parameters: { path: 'a.txt' } },
        pending: { id: 'perm_call_1', name: 'permission_confirm', arguments: { path: 'a.txt' } },
        resume_mode: 'replay_tool_call',
      },
    },
  });
  const finish = events.at(-1);
  t.match(finish, { termination: { type: 'suspended' } });
  t.notOk(finish && 'result' in finish, 'a suspended run has no result');
  const view = viewOf(troupe, 'T');
  const waiting = {
    reason: 'tool_permission',
    ticket_ids: ['perm_call_1'],
    tickets: [
      {
        ticket_id: 'perm_call_1',
        tool_call_id: 'call_1',
        tool_name: 'risky',
        arguments: { path: 'a.txt' },
        resume_mode: 'replay_tool_call',
        reason: 'tool:PermissionConfirm',
      },
    ],
    message: 'suspended',
  };
  const run = await view.run(run_id);
  t.match(run, { status: 'waiting', waiting });
  t.equal(run.waiting?.since_dispatch_id, run.session_id);
  t.match(await view.active(), { run_id, status: 'waiting', waiting });
  t.match(await view.thread(), { open_run_id: run_id });
  t.match(await view.dispatches(), [{ status: 'Claimed', run_status: 'waiting' }]);
  t.match(await view.messages(), [
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
    {
      role: 'tool',
      id: events[5]?.message_id,
      content: [{ text: "Tool 'risky' suspended: awaiting decision" }],
    },
  ]);
  t.match((await view.kinds(run_id)).join(), /ToolCallSuspended,ToolPermissionRequested,.*RunSuspended$/);
  t.strictSame(tools.executed, []);
  await view.check(t);
});

t.test('executes an approved call once, by the id of the call or of its ticket, on any route', async (t) => {
  const { troupe, tools } = await withTools(t);
  for (const [round, by] of ['run', 'thread', 'dispatch'].entries()) {
    for (const [form, key] of ['toolCallId', 'tool_call_id'].entries()) {
      const thread = `T${round}-${form}`;
      const view = viewOf(troupe, thread);
      const call = `c-${thread}`;
      const { run_id } = await suspend(troupe, thread, [call, 'risky']);
      const { dispatch_id } = await view.run(run_id);
      const id = { run: run_id, thread, dispatch: dispatch_id }[by];
      const route = form === 0 ? 'runs' : 'threads';
      const ticket = form === 0 ? call : `perm_${call}`;
      const { status, body } = await troupe.post(`/v1/${route}/${id}/decision`, {
        [key]: ticket,
        action: 'resume',
        payload: { approved: true },
      });
      t.equal(status, 202, `${route} by ${by}`);
      t.strictSame(body, {
        status: 'decision_submitted',
        [route === 'runs' ? 'run_id' : 'thread_id']: id,
        tool_call_id: ticket,
      });
      t.match(await view.until(run_id, 'done'), {
        termination_reason: { type: 'natural_end' },
        final_output: 'echo: Hello',
        steps: 2,
      });
      t.equal(tools.executed.filter((each) => each === call).length, 1);
      t.strictSame(
        (await view.messages()).filter(({ role }) => role === 'tool').map(({ content }) => textOf(content)),
        ["Tool 'risky' suspended: awaiting decision", `"did ${call}"`],
      );
      const request = troupe.models.requests.at(-1)?.request.messages ?? [];
      t.match(
        request.map(({ role }) => role),
        ['user', 'assistant', 'tool'],
      );
      t.equal(textOf(request[2]?.content ?? []), `"did ${call}"`, 'the model sees one result');
      const received = (await view.events(run_id)).filter(({ event_kind }) =>
        ['MailboxDecisionReceived', 'ToolPermissionResolved'].includes(event_kind),
      );
      const facts = { tool_call_id: call, action: 'resume', delivery_path: 'local_live' };
      t.match(received, [{ payload: facts }, { payload: { ...facts, approved: true } }]);
      t.equal((await view.dispatches()).length, 1, 'the decision continues the run without a dispatch');
      await view.check(t);
    }
  }
});

const REFUSED = 'Denied: this call was refused, and nothing was done';

t.test('removes a denied call from the history and reports the denial to the model', async (t) => {
  const { troupe, tools } = await withTools(t);
  const ways = [
    [decline('c1', { why: 'no' }), REFUSED],
    [{ ...decline('c1', { reason: 'of less weight' }), reason: 'too risky' }, `${REFUSED} (too risky)`],
    [resume('c1', { approved: false, reason: 'not today' }), `${REFUSED} (not today)`],
    [{ ...decline('perm_c1'), reason: ' ' }, REFUSED],
  ] as const;
  for (const [round, [decision, told]] of ways.entries()) {
    const view = viewOf(troupe, `T${round}`);
    const { run_id } = await suspend(troupe, `T${round}`, ['c1', 'risky'], ['c2', 'note']);
    t.equal((await view.post('/decision', decision)).status, 202);
    t.match(await view.until(run_id, 'done'), { termination_reason: { type: 'natural_end' } });
    t.match(await view.messages(), [
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'c2' }] },
      { role: 'tool', tool_call_id: 'c2' },
      { role: 'assistant' },
    ]);
    t.equal((await view.messages('&visibility=all')).length, 4, 'the suspension marker is never shown');
    const request = troupe.models.requests.at(-1)?.request.messages ?? [];
    t.match(request[1]?.tool_calls, [{ id: 'c1' }, { id: 'c2' }], 'the model receives its own calls');
    const results = request.filter(({ role }) => role === 'tool');
    t.strictSame(
      results.map(({ tool_call_id, content }) => [tool_call_id, textOf(content)]),
      [
        ['c1', told],
        ['c2', '"did c2"'],
      ],
    );
    const resumed = (await view.events(run_id)).find((each) => each.event_kind === 'ToolCallResumed');
    t.match(resumed?.payload, {
      target_id: 'c1',
      action: 'cancel',
      result: decision.payload ?? null,
    });
    await view.check(t);
  }
  t.strictSame(tools.executed, ['c2', 'c2', 'c2', 'c2']);
});

t.test('removes a completion from the history when all its calls were denied', async (t) => {
  const { troupe } = await withTools(t);
  const view = viewOf(troupe, 'T');
  const { run_id } = await suspend(troupe, 'T', ['c1', 'risky'], ['c2', 'risky']);
  await view.post('/decision', decline('c1'));
  await eventually(
    () => view.run(run_id),
    ({ waiting }) => waiting?.tickets?.length === 1,
  );
  t.match(await view.messages(), [{ role: 'user' }, { tool_calls: [{ id: 'c2' }] }, { role: 'tool' }]);
  await view.post('/decision', decline('c2'));
  await view.until(run_id, 'done');
  t.strictSame(await view.texts(), ['user: Hello', 'assistant: echo: Hello']);
  for (const query of ['?visibility=all', `?run_id=${run_id}`, '?after=1', '?limit=1']) {
    const { body } = await troupe.call('GET', `/v1/threads/T/messages${query}`);
    t.match(body, { total: query === '?after=1' ? 1 : 2 }, `counted: ${query}`);
  }
  await view.check(t);
});

t.test('uses the output of the client as the result of a client call', async (t) => {
  const { troupe } = await withTools(t);
  const { run_id, events } = await suspend(troupe, 'T', ['c1', 'pick_color', { prompt: 'which?' }]);
  t.match(
    events.find(({ event_type }) => event_type === 'tool_call_done'),
    {
      outcome: 'suspended',
      result: {
        suspension: {
          suspension: { id: 'suspend_c1', action: 'tool:pick_color', parameters: { prompt: 'which?' } },
          pending: { id: 'c1', name: 'pick_color' },
          resume_mode: 'use_decision_as_tool_result',
        },
      },
    },
  );
  const view = viewOf(troupe, 'T');
  // `approved: false` denies only permissions.
  const payload = { color: 'red', approved: false };
  t.equal((await view.post('/decision', resume('suspend_c1', payload))).status, 202);
  await view.until(run_id, 'done');
  const resumed = (await view.events(run_id)).find(({ event_kind }) => event_kind === 'ToolCallResumed');
  t.match(resumed?.payload, { target_id: 'c1', action: 'resume', result: payload });
  const result = (await view.messages()).findLast(({ role }) => role === 'tool');
  t.equal(result?.id, resumed?.payload.message_id);
  t.strictSame(JSON.parse(textOf(result?.content ?? [])), payload);
  await view.check(t);
});

t.test('rejects a decision on a call that is not suspended, without side effects', async (t) => {
  const { troupe, tools } = await withTools(t);
  const { run_id } = await suspend(troupe, 'T', ['c1', 'risky'], ['c2', 'note']);
  const view = viewOf(troupe, 'T');
  const before = await view.run(run_id);
  for (const id of ['unknown', 'c2', 'perm_c2']) {
    t.match(await troupe.post(`/v1/runs/${run_id}/decision`, resume(id)), {
      status: 404,
      body: { error: `no open decision '${id}' on run '${run_id}'` },
    });
    t.match(await view.post('/decision', resume(id)), {
      status: 404,
      body: { error: `no open decision '${id}' on thread 'T'` },
    });
  }
  t.strictSame(await view.run(run_id), before);
  t.equal((await view.post('/decision', resume('c1'))).status, 202, 'the ticket is still open');
  await view.until(run_id, 'done');
  t.match(await view.post('/decision', resume('c1')), {
    status: 404,
    body: { error: "no open decision 'c1' on thread 'T'" },
  });

  troupe.models.steps.push(asks(['c3', 'hold']));
  const stream = await troupe.run({ agentId: 'steps', threadId: 'T', messages });
  await eventually(
    async () => tools.holding(),
    (held) => held.length === 1,
  );
  for (const id of ['c3', 'c1', 'perm_c1']) {
    t.equal((await view.post('/decision', resume(id))).status, 404, 'an executing run accepts no decision');
  }
  tools.release();
  t.match((await stream.rest()).at(-1), { termination: { type: 'natural_end' } });
  await view.check(t);
});
