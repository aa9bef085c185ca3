import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { roundsOf } from '../long.ts';
import { asks, hangs } from './models.ts';
import { createTestTools } from './tools.ts';
import { eventually, startTroupe } from './troupe.ts';
import { TERMINAL, viewOf } from './view.ts';

/**
 * Cancel and interrupt: runtime.md 11 and 19, checks 21, 45 to 50 and 62. Cancellation in every phase: phases.test.ts.
 */

const start = (agentId: string, threadId = 'T') => ({
  agentId,
  threadId,
  messages: [{ role: 'user', content: 'Hello' }],
});

t.test('returns 404 when an idle thread has nothing to cancel or interrupt', async (t) => {
  const troupe = await startTroupe(t);
  const { post } = troupe;
  const [first] = await troupe.runToEnd(start('echo'));
  const run = first?.run_id;
  for (const [path, error] of [
    ['threads/T/cancel', "nothing to cancel on thread 'T'"],
    ['threads/T/interrupt', "nothing to interrupt on thread 'T'"],
    ['ai-sdk/threads/T/cancel', "nothing to cancel on thread 'T'"],
    ['ag-ui/threads/T/interrupt', "nothing to interrupt on thread 'T'"],
    [`runs/${run}/cancel`, `nothing to cancel on run '${run}'`],
    ['threads/unknown/cancel', 'thread not found: unknown'],
    ['threads/unknown/interrupt', 'thread not found: unknown'],
    ['runs/unknown/cancel', 'run not found: unknown'],
  ]) {
    t.strictSame((await post(`/v1/${path}`)).body, { error });
    t.equal((await post(`/v1/${path}`)).status, 404);
  }
  await viewOf(troupe, 'T').check(t);
});

t.test('cancels a run by its run, thread or dispatch id on either route', async (t) => {
  const troupe = await startTroupe(t);
  const ids = ['run', 'thread', 'dispatch'] as const;
  for (const [round, by] of [...ids, ...ids].entries()) {
    const thread = `T${round}`;
    const view = viewOf(troupe, thread);
    const stream = await troupe.run(start('slow', thread));
    const { run_id } = await stream.until('run_start');
    await stream.until('text_delta');
    const { dispatch_id } = await view.run(run_id);
    const id = { run: run_id, thread, dispatch: dispatch_id }[by];
    const route = round < ids.length ? 'threads' : 'runs';
    const kind = route === 'runs' ? 'run_id' : 'thread_id';
    const answer = await troupe.post(`/v1/${route}/${id}/cancel`);
    t.equal(answer.status, 202, `${route} by ${by}`);
    t.strictSame(answer.body, { status: 'cancel_requested', [kind]: id });
    const events = await stream.rest();
    t.strictSame(
      events.map(({ event_type }) => event_type),
      ['inference_complete', 'state_snapshot', 'step_end', 'state_snapshot', 'run_finish'],
    );
    t.match(events.at(-1), {
      termination: { type: 'cancelled' },
      result: { status: 'done', status_reason: 'cancelled' },
    });
    t.match(await view.run(run_id), {
      status: 'done',
      termination_reason: { type: 'cancelled' },
      outcome: { termination_reason: { type: 'cancelled' } },
    });
    t.match(await view.dispatches(), [{ status: 'Acked', termination: { type: 'cancelled' } }]);
    t.strictSame(await view.texts(), ['user: Hello'], 'partial text is not kept');
    t.equal((await troupe.post(`/v1/${route}/${id}/cancel`)).status, 404, 'no run is left to cancel');
    await view.check(t);
  }
});

t.test('cancels nothing when an id names both a run and another thread', async (t) => {
  const troupe = await startTroupe(t);
  const stream = await troupe.run(start('slow'));
  const { run_id } = await stream.until('run_start');
  await stream.until('text_delta');
  const other = await troupe.run(start('slow', String(run_id)));
  await other.until('text_delta');
  for (const route of ['runs', 'threads']) {
    t.equal((await troupe.post(`/v1/${route}/${run_id}/cancel`)).status, 404);
  }
  t.equal(troupe.models.waiting(), 2);
  troupe.models.release();
  for (const each of [stream, other]) {
    t.match((await each.rest()).at(-1), { termination: { type: 'natural_end' } });
  }
});

t.test('cancels a queued run without affecting the executing one', async (t) => {
  const troupe = await startTroupe(t);
  const stream = await troupe.run(start('slow'));
  await stream.until('text_delta');
  const view = viewOf(troupe, 'T');
  const queued = [];
  for (const text of ['one', 'two', 'three']) queued.push((await view.say(text, { agentId: 'echo' })).body);
  const [one, two, three] = queued;
  const cancel = (id: unknown) => troupe.post(`/v1/runs/${id}/cancel`);
  t.equal((await cancel(one?.accepted_run_id)).status, 202);
  t.equal((await cancel(two?.dispatch_id)).status, 202);
  t.equal((await cancel(one?.accepted_run_id)).status, 404, 'the run is already cancelled');
  t.match(await view.run(one?.accepted_run_id), {
    status: 'done',
    termination_reason: { type: 'cancelled' },
    steps: 0,
  });
  t.match(await view.dispatches(), [
    { status: 'Claimed' },
    { status: 'Cancelled' },
    { status: 'Cancelled' },
    { status: 'Queued' },
  ]);
  t.equal(troupe.models.waiting(), 1);
  troupe.models.release();
  t.match((await stream.rest()).at(-1), { termination: { type: 'natural_end' } });
  await view.check(t);
  t.match(await view.run(three?.accepted_run_id), { termination_reason: { type: 'natural_end' } });
  t.equal(troupe.models.requests.length, 2, 'only the first and the last run were executed');
  t.strictSame(
    (await view.texts()).toSorted(),
    [
      'user: Hello',
      'user: one',
      'user: two',
      'user: three',
      'assistant: partial answer',
      'assistant: echo: three',
    ].toSorted(),
    'input of a cancelled run stays in the history',
  );
  t.equal((await view.kinds(one?.accepted_run_id)).at(-1), 'RunCancelled');
});

t.test('cancels the executing run of a thread first, then the oldest queued one', async (t) => {
  const troupe = await startTroupe(t);
  const stream = await troupe.run(start('slow'));
  const { run_id } = await stream.until('run_start');
  await stream.until('text_delta');
  const view = viewOf(troupe, 'T');
  const queued = (await view.say('next')).body.accepted_run_id;
  t.equal((await view.post('/cancel')).status, 202);
  await view.until(run_id, 'done');
  await view.until(queued, 'running');
  t.equal((await view.post('/cancel')).status, 202);
  t.match(await view.until(queued, 'done'), { termination_reason: { type: 'cancelled' } });
  t.equal((await view.post('/cancel')).status, 404);
  await view.check(t);
});

t.test('ends the executing run and the queue on interrupt, and keeps their messages', async (t) => {
  const troupe = await startTroupe(t);
  const stream = await troupe.run(start('slow'));
  await stream.until('text_delta');
  const view = viewOf(troupe, 'T');
  const texts = ['one', 'two', 'three'];
  for (const text of texts) await view.say(text);
  const { status, body } = await view.post('/interrupt');
  t.equal(status, 202);
  t.strictSame(body, { status: 'interrupt_requested', thread_id: 'T', superseded_dispatches: 3 });
  t.match((await stream.rest()).at(-1), { termination: { type: 'cancelled' } });
  await view.check(t);
  const runs = await view.runs();
  t.equal(runs.length, 4);
  for (const { run_id, status, termination_reason } of runs) {
    t.strictSame(
      { status, termination_reason },
      { status: 'done', termination_reason: { type: 'cancelled' } },
    );
    t.equal((await view.kinds(run_id)).at(-1), 'RunCancelled');
  }
  const dispatches = await view.dispatches();
  t.strictSame(
    dispatches.map(({ status }) => status),
    ['Superseded', 'Superseded', 'Superseded', 'Superseded'],
  );
  for (const { last_error, completed_at } of dispatches.slice(1)) {
    t.equal(last_error, 'queued dispatch superseded by interrupt');
    t.ok(completed_at);
  }
  t.ok((await view.kinds(runs[0]?.run_id)).includes('RunInterrupted'));
  t.strictSame(await view.texts(), ['user: Hello', ...texts.map((text) => `user: ${text}`)]);
  t.match((await troupe.runToEnd(start('echo'))).at(-1), { termination: { type: 'natural_end' } });
  t.equal((await view.post('/interrupt')).status, 404);
});

t.test('ends a suspended run on interrupt and counts no superseded dispatches', async (t) => {
  const { tools } = createTestTools();
  const troupe = await startTroupe(t, { app: { tools } });
  troupe.models.steps.push(asks(['c1', 'risky']));
  const [waiting] = await troupe.runToEnd(start('steps'));
  const view = viewOf(troupe, 'T');
  const { body } = await view.post('/interrupt');
  t.equal(body.superseded_dispatches, 0, 'a suspended run is not in the queue');
  await view.until(waiting?.run_id, 'done');
  t.equal((await view.post('/interrupt')).status, 404);
  await view.check(t);
});

t.test('records in the state of a suspended run how it was ended', async (t) => {
  const { tools } = createTestTools();
  const troupe = await startTroupe(t, { app: { tools } });
  const ends: [string, () => Promise<unknown>][] = [
    ['cancel', () => troupe.post('/v1/threads/cancel/cancel')],
    ['interrupt', () => troupe.post('/v1/threads/interrupt/interrupt')],
    ['replaced', () => troupe.runToEnd(start('echo', 'replaced'))],
  ];
  for (const [thread, end] of ends) {
    troupe.models.steps.push(asks(['c1', 'risky']));
    const [waiting] = await troupe.runToEnd(start('steps', thread));
    await end();
    const run = await viewOf(troupe, thread).until(waiting?.run_id, 'done');
    t.match(
      run.state,
      {
        extensions: {
          '__runtime.run_lifecycle': { status: 'done', status_reason: 'cancelled' },
          '__runtime.tool_call_states': { calls: { c1: { status: 'cancelled' } } },
        },
      },
      thread,
    );
  }
});

t.test('accepts cancel and interrupt with any body and content type, or none', async (t) => {
  const troupe = await startTroupe(t);
  const bodies = [undefined, '', '{', 'x=1', '[]'];
  for (const [round, body] of bodies.entries()) {
    for (const path of ['cancel', 'interrupt']) {
      const thread = `${path}${round}`;
      const stream = await troupe.run(start('slow', thread));
      await stream.until('text_delta');
      const response = await fetch(`${troupe.url}/v1/threads/${thread}/${path}`, {
        method: 'POST',
        ...(body !== undefined && {
          body,
          headers: { 'content-type': round % 2 ? 'text/plain' : 'application/json' },
        }),
      });
      t.equal(response.status, 202, `${path} with ${body}`);
      await stream.rest();
    }
  }
});

t.test('hides tool calls that a cancelled run left without a result', async (t) => {
  const { tools, holding } = createTestTools();
  const troupe = await startTroupe(t, { app: { tools } });
  troupe.models.steps.push(asks(['c1', 'note'], ['c2', 'hold']));
  const stream = await troupe.run(start('steps'));
  await eventually(
    async () => holding(),
    (held) => held.length === 1,
  );
  const view = viewOf(troupe, 'T');
  t.equal((await view.post('/cancel')).status, 202);
  await stream.rest();
  const messages = await view.messages();
  t.notOk(messages.some(({ tool_calls }) => tool_calls?.some(({ id }) => id === 'c2')));
  troupe.models.steps.push(asks(['c3', 'hold']));
  const second = await troupe.run(start('steps', 'U'));
  await eventually(
    async () => holding(),
    (held) => held.length === 1,
  );
  const other = viewOf(troupe, 'U');
  t.equal((await other.post('/interrupt')).status, 202);
  await second.rest();
  for (const message of await other.messages()) t.notOk('tool_calls' in message);
  for (const each of [view, other]) await each.check(t);
  t.match((await troupe.runToEnd(start('echo'))).at(-1), { termination: { type: 'natural_end' } });
});

t.test('ends a cancelled run although its tool ignores the abort signal', async (t) => {
  const { tools, holding, release } = createTestTools();
  const troupe = await startTroupe(t, { app: { tools } });
  troupe.models.steps.push(asks(['c1', 'sly']));
  const stream = await troupe.run(start('steps'));
  await eventually(
    async () => holding(),
    (held) => held.length === 1,
  );
  const view = viewOf(troupe, 'T');
  t.equal((await view.post('/cancel')).status, 202);
  t.match((await stream.rest()).at(-1), { termination: { type: 'cancelled' } });
  const before = await view.messages('&visibility=all');
  release();
  await troupe.runToEnd(start('echo', 'other'));
  t.strictSame(await view.messages('&visibility=all'), before, 'the late result is not kept');
  await view.check(t);
});

t.test('settles a race between cancel and the end of a run with one terminal event', async (t) => {
  const troupe = await startTroupe(t);
  const statuses = new Set<number>();
  const half = roundsOf(30);
  for (let round = 0; round < 2 * half; round += 1) {
    const thread = `T${round}`;
    const view = viewOf(troupe, thread);
    const stream = await troupe.run(start('slow', thread));
    const { run_id } = await stream.until('run_start');
    await eventually(
      async () => troupe.models.waiting(),
      (waiting) => waiting === 1,
    );
    const delay = (Math.abs(round - half) * 2) / half;
    if (round < half) troupe.models.release();
    if (round < half && delay > 0) await pause(delay);
    const path = round % 2 ? 'interrupt' : 'cancel';
    const answered = view.post(`/${path}`);
    if (round >= half && delay > 0) await pause(delay);
    troupe.models.releaseAll();
    const [{ status }, events] = await Promise.all([answered, stream.rest()]);
    statuses.add(status);
    t.ok([202, 404].includes(status));
    const finishes = events.filter(({ event_type }) => event_type === 'run_finish');
    t.equal(finishes.length, 1);
    const { termination_reason } = await view.until(run_id, 'done');
    t.match(finishes[0], { termination: termination_reason });
    if (status === 404) t.equal(termination_reason?.type, 'natural_end', 'a rejected cancel has no effect');
    if (path === 'cancel' && status === 202) t.equal(termination_reason?.type, 'cancelled');
    const ends = (await view.kinds(run_id)).filter((kind) => TERMINAL.includes(kind));
    t.strictSame(ends, [termination_reason?.type === 'cancelled' ? 'RunCancelled' : 'RunFinished']);
    await view.check(t);
  }
  t.comment(`statuses: ${[...statuses]}`);
});

t.test('accepts one of several concurrent cancels', async (t) => {
  const troupe = await startTroupe(t);
  troupe.models.steps.push(hangs('partial'));
  const stream = await troupe.run(start('steps'));
  const { run_id } = await stream.until('run_start');
  await stream.until('text_delta');
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      troupe.post(index % 2 ? `/v1/runs/${run_id}/cancel` : '/v1/threads/T/cancel'),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 202).length, 1);
  t.equal(answers.filter(({ status }) => status === 404).length, 9);
  await stream.rest();
  await viewOf(troupe, 'T').check(t);
});
