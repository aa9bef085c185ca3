import t, { type Test } from 'tap';
import { textOf } from '../../src/schema/message.ts';
import { roundsOf } from '../long.ts';
import { asks } from './models.ts';
import { suspend, withTools } from './suspended.ts';
import { eventually, type Troupe } from './troupe.ts';
import { type View, viewOf } from './view.ts';

/** New input instead of a decision: runtime.md 7.4, 5.1 and 19, check 57. */

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const say = (content: string) => [{ role: 'user', content }];

const waiting = async (t: Test) => {
  const { troupe, tools } = await withTools(t);
  const { run_id } = await suspend(troupe, 'T', ['call-1', 'risky'], ['call-2', 'note']);
  return { troupe, executed: tools.executed, run_id, view: viewOf(troupe, 'T') };
};

/** Readers and the model no longer see the suspended call; the call with a result remains. */
const checkSuperseded = async (t: Test, { models }: Troupe, view: View, run_id: string): Promise<void> => {
  t.match(await view.until(run_id, 'done'), {
    termination_reason: { type: 'natural_end' },
    final_output: 'echo: instead',
  });
  t.match(await view.messages(), [
    { role: 'user' },
    { role: 'assistant', tool_calls: [{ id: 'call-2' }] },
    { role: 'tool', tool_call_id: 'call-2' },
    { role: 'user', content: [{ text: 'instead' }], metadata: { run_id } },
    { role: 'assistant', metadata: { run_id } },
  ]);
  const request = models.requests.at(-1)?.request.messages ?? [];
  t.strictSame(
    request.map(({ role, tool_calls, tool_call_id }) => [
      role,
      tool_call_id,
      tool_calls?.map(({ id }) => id),
    ]),
    [
      ['user', undefined, undefined],
      ['assistant', undefined, ['call-2']],
      ['tool', 'call-2', undefined],
      ['user', undefined, undefined],
    ],
  );
  t.equal((await view.runs()).length, 1, 'the same run continued');
  t.equal((await view.post('/decision', { toolCallId: 'call-1', action: 'resume' })).status, 404);
  await view.check(t);
};

t.test('continues the suspended run in another turn on a new foreground run of the same agent', async (t) => {
  const { troupe, executed, run_id, view } = await waiting(t);
  const events = await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages: say('instead') });
  const [first] = events;
  t.match(first, { event_type: 'run_start', run_id, turn_id: UUID_V7 });
  t.strictSame(
    events.map(({ event_type }) => event_type),
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
  t.match(events.at(-1), { run_id, termination: { type: 'natural_end' } });
  await checkSuperseded(t, troupe, view, run_id);
  t.strictSame(executed, ['call-2']);
  t.match(
    (await view.dispatches()).map(({ status, run_status }) => [status, run_status]),
    [
      ['Acked', 'waiting'],
      ['Acked', 'done'],
    ],
  );
});

for (const [name, send] of Object.entries({
  'queued input': (view: View) => view.say('instead'),
  'queued input that names the agent': (view: View) => view.say('instead', { agentId: 'steps' }),
  'steered input': (view: View) => view.say('instead', { mode: 'steer' }),
  'input for the open run': (view: View) => view.say('instead', { mode: 'resume_open_run' }),
  'pushed work': (view: View) => view.post('/mailbox', { payload: { text: 'instead' } }),
})) {
  t.test(`${name} continues the suspended run in another turn`, async (t) => {
    const { troupe, run_id, view } = await waiting(t);
    const { status, body } = await send(view);
    t.ok(status === 202 || status === 201);
    t.equal(body.accepted_run_id ?? body.run_id, run_id);
    await checkSuperseded(t, troupe, view, run_id);
    const resumed = (await view.events(run_id)).find(({ event_kind }) => event_kind === 'RunResumed');
    t.match(resumed?.payload, { event_type: 'run_start', run_id, turn_id: UUID_V7 });
  });
}

for (const mode of ['queue', 'live_then_queue', 'resume_open_run']) {
  t.test(`input to a suspended run continues it: ${mode}`, async (t) => {
    const { troupe, run_id, view } = await waiting(t);
    const { status, body } = await troupe.post(`/v1/runs/${run_id}/inputs`, {
      mode,
      messages: say('instead'),
    });
    t.equal(status, 202);
    t.match(body, { run_id, accepted_run_id: run_id });
    await checkSuperseded(t, troupe, view, run_id);
  });
}

t.test('continues a suspended run on new input after a restart', async (t) => {
  const { troupe, run_id, view } = await waiting(t);
  await troupe.restart();
  const events = await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages: say('instead') });
  t.match(events[0], { run_id, turn_id: UUID_V7 });
  await checkSuperseded(t, troupe, view, run_id);
});

t.test('keeps the turn id until the next new input', async (t) => {
  const { troupe, run_id, view } = await waiting(t);
  const turnOf = async (content: string): Promise<unknown> => {
    troupe.models.steps.push(asks([content, 'risky']));
    const [start] = await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages: say(content) });
    t.equal(start?.run_id, run_id);
    return start?.turn_id;
  };
  const one = await turnOf('one');
  const two = await turnOf('two');
  t.not(one, two);
  await view.post('/decision', { toolCallId: 'two', action: 'resume' });
  await view.until(run_id, 'done');
  const starts = (await view.events(run_id)).filter(({ event_kind }) => event_kind === 'RunResumed');
  t.strictSame(
    starts.map(({ payload }) => payload.turn_id),
    [one, two, two],
    'a decision does not start a turn',
  );
  await view.check(t);
});

t.test('cancels the suspended run on a foreground run of another agent', async (t) => {
  const { troupe, executed, run_id, view } = await waiting(t);
  const events = await troupe.runToEnd({ agentId: 'echo', threadId: 'T', messages: say('instead') });
  t.not(events[0]?.run_id, run_id);
  t.notOk('turn_id' in (events[0] ?? {}));
  t.match(events.at(-1), { termination: { type: 'natural_end' }, result: { response: 'echo: instead' } });
  t.match(await view.run(run_id), { status: 'done', termination_reason: { type: 'cancelled' } });
  t.equal((await view.post('/decision', { toolCallId: 'call-1', action: 'resume' })).status, 404);
  t.strictSame(executed, ['call-2']);
  await view.check(t);
});

t.test('leaves the run suspended and open to decisions on queued input for another agent', async (t) => {
  const { executed, run_id, view } = await waiting(t);
  const { body } = await view.say('beside', { agentId: 'echo' });
  t.not(body.accepted_run_id, run_id);
  t.match(await view.until(body.accepted_run_id, 'done'), { final_output: 'echo: beside' });
  t.match(await view.run(run_id), { status: 'waiting', waiting: { ticket_ids: ['perm_call-1'] } });
  t.match(
    (await view.dispatches()).map(({ status, run_status }) => [status, run_status]),
    [
      ['Acked', 'waiting'],
      ['Acked', 'done'],
    ],
    'the run waits without a dispatch',
  );
  await view.check(t);
  t.equal((await view.post('/decision', { toolCallId: 'call-1', action: 'resume' })).status, 202);
  t.match(await view.until(run_id, 'done'), { termination_reason: { type: 'natural_end' } });
  t.strictSame(executed, ['call-2', 'call-1']);
  t.match(
    (await view.events(run_id)).find(({ event_kind }) => event_kind === 'MailboxDecisionReceived')?.payload,
    { delivery_path: 'durable_dispatch' },
  );
  await view.check(t);
});

t.test('processes a concurrent input and decision in one run without losing either', async (t) => {
  const { troupe, tools } = await withTools(t);
  for (let round = 0; round < roundsOf(30); round += 1) {
    const thread = `T${round}`;
    const call = `call-${round}`;
    await suspend(troupe, thread, [call, 'risky']);
    const view = viewOf(troupe, thread);
    const decide = () => view.post('/decision', { toolCallId: call, action: 'resume' });
    const input = () => view.say('instead');
    const [one, two] = round % 2 ? [decide(), input()] : [input(), decide()];
    const [decided, said] = round % 2 ? await Promise.all([one, two]) : await Promise.all([two, one]);
    t.equal(said.status, 202);
    await eventually(view.runs, (runs) => runs.every(({ status }) => status === 'done'));
    t.equal(tools.executed.filter((id) => id === call).length, decided.status === 202 ? 1 : 0);
    const users = (await view.messages()).filter(({ role }) => role === 'user');
    t.strictSame(
      users.map(({ content }) => textOf(content)),
      ['Hello', 'instead'],
    );
    t.equal((await view.texts()).at(-1), 'assistant: echo: instead');
    if (decided.status === 404) t.equal((await view.runs()).length, 1, 'the input superseded the call');
    await view.check(t);
  }
});
