import t from 'tap';
import type { RemoteOutcome } from '../../src/tools/remote-agent.ts';
import {
  completed,
  createFar,
  finishIn,
  handleIn,
  isDone,
  isWaiting,
  kindsOf,
  saidIn,
  startOffice,
  TASK,
} from './remote-runs.ts';

/** Runs of an agent that another service executes (a2a.md 12.4 to 12.9). */

t.test('emits the events of a run with the progress of its task and its text', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const stream = await office.submit('hello');
  const { turn, comesTo } = await far.asked();
  t.strictSame(turn.say, {
    message_id: `${stream.run_id}-0`,
    content: [{ type: 'text', text: 'hello' }],
  });
  await turn.onSubmitted(TASK);
  turn.onSnapshot({ ...TASK, state: 'TASK_STATE_WORKING', artifacts: [] });
  turn.onText('good ');
  turn.onText('day');
  comesTo(completed('good day'));
  const events = await stream.events();
  t.strictSame(kindsOf(events), [
    'run_start',
    'step_start',
    'activity_snapshot',
    'text_delta',
    'text_delta',
    'inference_complete',
    'state_snapshot',
    'step_end',
    'state_snapshot',
    'run_finish',
  ]);
  t.match(events[2], {
    message_id: 'task-1',
    activity_type: 'a2a-task-progress',
    replace: true,
    content: {
      schema: 'a2a-task-progress.v1',
      task_id: 'task-1',
      context_id: 'context-1',
      state: 'TASK_STATE_WORKING',
      text: null,
      artifacts: [],
      failure_message: null,
    },
  });
  t.match(events[5], { model: '' });
  t.notOk(Object.hasOwn(events[5] ?? {}, 'usage'));
  t.strictSame(finishIn(events).result, {
    response: 'good day',
    status: 'done',
    output: { text: 'good day', raw: { id: 'task-1' } },
    status_reason: 'natural',
  });
  t.strictSame(finishIn(events).termination, { type: 'natural_end' });
  t.strictSame(office.texts(), ['user: hello', 'assistant: good day']);
  t.match(office.run(stream.run_id), {
    status: 'done',
    final_output: 'good day',
    steps: 1,
    input_tokens: 0,
    output_tokens: 0,
    state: { extensions: { __runtime_backend_output: { text: 'good day', raw: { id: 'task-1' } } } },
  });
  t.match(handleIn(office.run(stream.run_id)), {
    version: 1,
    task_id: 'task-1',
    context_id: 'context-1',
    last_state: 'TASK_STATE_COMPLETED',
  });
  t.match(office.dispatches(), [{ status: 'Acked' }]);
  t.strictSame(far.stopped, []);
});

t.test('reports the model that the spec names', async (t) => {
  const far = createFar();
  const endpoint = { base_url: 'http://far.example' };
  const office = await startOffice(t, far, { agents: [{ id: 'named', model_id: 'm-7', endpoint }] });
  const stream = await office.submit('hello', { agent: office.resolve('named') });
  (await far.asked()).comesTo(completed('ok'));
  t.match(
    (await stream.events()).find(({ event_type }) => event_type === 'inference_complete'),
    { model: 'm-7' },
  );
});

t.test('emits text that was not streamed as one delta', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const stream = await office.submit('hello');
  const { turn, comesTo } = await far.asked();
  turn.onText('good');
  comesTo(completed('good day'));
  const deltas = (await stream.events()).flatMap((event) =>
    event.event_type === 'text_delta' ? [event.delta] : [],
  );
  t.strictSame(deltas, ['good', ' day']);
});

t.test('ends the run according to the outcome', async (t) => {
  const cases: [RemoteOutcome, object, object, string][] = [
    [
      { task: TASK, text: '', output: { raw: 1 }, status: 'failed', reason: 'out of paper' },
      { type: 'error', value: 'out of paper' },
      { response: '', status: 'failed', output: { raw: 1 }, status_reason: 'error' },
      'TASK_STATE_FAILED',
    ],
    [
      { task: TASK, text: 'no', output: {}, status: 'rejected', reason: 'not for you' },
      { type: 'error', value: 'not for you' },
      { response: 'no', status: 'failed', output: {}, status_reason: 'error' },
      'TASK_STATE_REJECTED',
    ],
    [
      { task: TASK, text: 'half', output: {}, status: 'cancelled' },
      { type: 'cancelled' },
      { response: 'half', status: 'cancelled', output: {}, status_reason: 'cancelled' },
      'TASK_STATE_CANCELED',
    ],
    [
      { task: TASK, text: '', output: {}, status: 'timeout' },
      { type: 'stopped', value: { code: 'timeout' } },
      { response: '', status: 'timeout', output: {}, status_reason: 'stopped:timeout' },
      'TASK_STATE_CANCELED',
    ],
  ];
  for (const [outcome, termination, result, state] of cases) {
    await t.test(outcome.status, async (t) => {
      const far = createFar();
      const office = await startOffice(t, far);
      const stream = await office.submit('go');
      const { turn, comesTo } = await far.asked();
      await turn.onSubmitted(TASK);
      comesTo(outcome);
      const events = await stream.events();
      t.notOk(kindsOf(events).includes('inference_complete'), 'the inference did not complete');
      t.strictSame(
        kindsOf(events).filter((kind) => kind.startsWith('step')),
        ['step_start', 'step_end'],
      );
      t.strictSame(finishIn(events).termination, termination);
      t.strictSame(finishIn(events).result, result);
      const run = await office.until(stream.run_id, isDone);
      t.match(run, { termination_reason: termination, steps: 1 });
      t.match(handleIn(run), { last_state: state });
      t.match(office.dispatches(), [{ status: 'Acked' }]);
      const answer = outcome.text === '' ? [] : [`assistant: ${outcome.text}`];
      t.strictSame(office.texts(), ['user: go', ...answer]);
      t.strictSame(far.stopped, [], 'the reader was closed');
    });
  }
});

t.test('ends the run on a rejected message without sending it again', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const stream = await office.submit('go');
  (await far.asked()).fails('A2A submission rejected: 401');
  const events = await stream.events();
  t.strictSame(kindsOf(events), ['run_start', 'step_start', 'step_end', 'run_finish']);
  t.strictSame(finishIn(events).termination, { type: 'error', value: 'A2A submission rejected: 401' });
  t.notOk(finishIn(events).result);
  t.match(await office.until(stream.run_id, isDone), {
    error_payload: { message: 'A2A submission rejected: 401' },
  });
  t.match(office.dispatches(), [{ status: 'Acked', attempt_count: 0 }]);
  t.equal(far.turns.length, 1);
});

t.test('fails a run without a new user message', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const stream = await office.submit('', { messages: [] });
  t.strictSame(finishIn(await stream.events()).termination, {
    type: 'error',
    value: 'no user message content to send',
  });
  t.equal(far.turns.length, 0);
});

t.test('continues in the same context with a new task in the next run of the thread', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const first = await office.submit('one');
  const { turn, comesTo } = await far.asked();
  await turn.onSubmitted(TASK);
  comesTo(completed('1'));
  await first.events();
  const between = await office.submit('local', { agent: office.resolve('here') });
  await between.events();
  const second = await office.submit('two');
  const next = await far.asked();
  t.strictSame(next.turn.say, {
    message_id: `${second.run_id}-0`,
    content: [{ type: 'text', text: 'two' }],
    context_id: 'context-1',
  });
  next.comesTo(completed('2'));
  await second.events();
});

t.test('stores an immediate message without a task, or with its own ids', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const first = await office.submit('one');
  (await far.asked()).comesTo({ context_id: 'context-9', text: 'hi', output: {}, status: 'completed' });
  await first.events();
  t.equal(handleIn(office.run(first.run_id)), undefined);
  const second = await office.submit('two');
  const next = await far.asked();
  t.equal(next.turn.say?.context_id, 'context-9');
  next.comesTo(completed('ho'));
  await second.events();
  t.match(handleIn(office.run(second.run_id)), { task_id: 'task-1', last_state: 'DIRECT_MESSAGE' });
  t.strictSame(far.stopped, []);
});

for (const [needs, reason, label] of [
  ['input_required', 'user_input', 'waiting_input'],
  ['auth_required', 'tool_permission', 'waiting_auth'],
] as const) {
  t.test(`${needs}: suspends the run without a ticket, and continues its task with new input`, async (t) => {
    const far = createFar();
    const office = await startOffice(t, far);
    const stream = await office.submit('book a table');
    const { turn, comesTo } = await far.asked();
    await turn.onSubmitted(TASK);
    comesTo({ task: TASK, text: 'for when?', output: {}, status: needs, reason: 'for when?' });
    const events = await stream.events();
    t.strictSame(finishIn(events).termination, { type: 'suspended' });
    t.strictSame(finishIn(events).result, {
      response: 'for when?',
      status: label,
      output: {},
      status_reason: needs,
    });
    t.notOk(kindsOf(events).includes('inference_complete'));
    const waiting = await office.until(stream.run_id, isWaiting);
    const [dispatch] = office.dispatches();
    t.strictSame(waiting.waiting, { reason, since_dispatch_id: dispatch?.dispatch_id, message: needs });
    t.match(handleIn(waiting), { last_state: `TASK_STATE_${needs.toUpperCase()}` });
    t.strictSame(office.texts(), ['user: book a table', 'assistant: for when?']);
    const decision = { tool_call_id: 'x', action: 'resume', payload: null } as const;
    await t.rejects(office.runtime.decide('default', stream.run_id, 'run', decision), { name: 'NotFound' });

    const more = await office.submit('tonight');
    t.equal(more.run_id, stream.run_id);
    const next = await far.asked();
    t.strictSame(next.turn.say, {
      message_id: `${stream.run_id}-1`,
      content: [{ type: 'text', text: 'tonight' }],
      task_id: 'task-1',
      context_id: 'context-1',
    });
    next.comesTo(completed('booked'));
    t.match(finishIn(await more.events()).result, { response: 'booked', status: 'done' });
    t.match(await office.until(stream.run_id, isDone), { steps: 2, final_output: 'booked' });
    t.strictSame(far.stopped, []);
  });
}

t.test('executes steered input as a separate turn after the current one', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const stream = await office.submit('one');
  const { turn, comesTo } = await far.asked();
  await turn.onSubmitted(TASK);
  const steered = await office.submit('two', { mode: 'live_then_queue' });
  t.equal(steered.run_id, stream.run_id);
  comesTo(completed('1'));
  const next = await far.asked();
  t.equal(saidIn(next.turn), 'two');
  t.equal(next.turn.say?.task_id, undefined);
  next.comesTo(completed('2', { task_id: 'task-2', context_id: 'context-1' }));
  await stream.events();
  t.strictSame(office.texts(), ['user: one', 'assistant: 1', 'user: two', 'assistant: 2']);
  t.match(office.run(stream.run_id), { steps: 2, final_output: '2' });
});

t.test('fails the run if its state cannot be read', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const stream = await office.submit('go');
  const { turn, comesTo } = await far.asked();
  // As another version of the service might have written it.
  const broken = { task_id: '', context_id: 'context-1' };
  await turn.onSubmitted(broken);
  comesTo({ task: broken, text: '?', output: {}, status: 'input_required', reason: '?' });
  await stream.events();
  const more = await office.submit('on');
  t.match(finishIn(await more.events()).termination, {
    type: 'error',
    value: /^corrupt A2A persisted remote state at __runtime_remote_backend: /,
  });
});

const DAY = {
  type: 'object',
  properties: { day: { type: 'string' } },
  required: ['day'],
  additionalProperties: false,
};

t.test('sends a structured result of a remote agent as one delta, once it fits', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const stream = await office.submit('which day?', { output_schema: DAY });
  const first = await far.asked();
  await first.turn.onSubmitted(TASK);
  first.turn.onText('I think ');
  first.turn.onText('Friday');
  first.comesTo(completed('I think Friday'));
  const second = await far.asked();
  await second.turn.onSubmitted({ task_id: 'task-2', context_id: 'context-1' });
  second.turn.onText('It is {"day":');
  second.turn.onText('"Friday"}');
  second.comesTo(completed('It is {"day":"Friday"}', { task_id: 'task-2', context_id: 'context-1' }));
  const events = await stream.events();
  t.strictSame(
    events
      .filter(({ event_type }) => event_type === 'text_delta')
      .map((event) => 'delta' in event && event.delta),
    ['{"day":"Friday"}'],
  );
  t.notOk(kindsOf(events).includes('stream_reset'), 'the stream was not reset');
  t.match(finishIn(events), { result: { structured_output: { day: 'Friday' } } });
  t.equal(office.texts().at(-1), 'assistant: {"day":"Friday"}');
});

t.test('sends the question of a remote agent as it is when a structured result is wanted', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const stream = await office.submit('which day?', { output_schema: DAY });
  const { turn, comesTo } = await far.asked();
  await turn.onSubmitted(TASK);
  turn.onText('In which ');
  comesTo({ ...completed('In which week?'), status: 'input_required', reason: 'In which week?' });
  await office.until(stream.run_id, isWaiting);
  t.match(
    stream.soFar().filter(({ event_type }) => event_type === 'text_delta'),
    [{ delta: 'In which week?' }],
  );
});
