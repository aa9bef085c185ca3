import t from 'tap';
import type { RemoteTask } from '../../src/tools/remote-agent.ts';
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

/** The effect of cancels, restarts and rejected requests on the task of a run (a2a.md 12.5, 12.8, 12.9). */

const ASKS = { task: TASK, text: 'when?', output: {}, status: 'input_required', reason: 'when?' } as const;

t.test('makes the task durable before it is followed, and follows it after a restart', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id, events } = await office.submit('go');
  const { turn } = await far.asked();
  await turn.onSubmitted(TASK);
  t.match(handleIn(office.run(run_id)), {
    version: 1,
    task_id: 'task-1',
    context_id: 'context-1',
    last_state: 'TASK_STATE_SUBMITTED',
  });
  await office.restart();
  t.equal(far.left(), 1, 'a stopped process does not cancel the task');
  t.match(finishIn(await events()).termination, { type: 'error', value: 'service is shutting down' });
  const again = await far.asked();
  t.strictSame(again.turn.follow, TASK);
  t.equal(again.turn.say, undefined);
  again.comesTo(completed('done'));
  t.match(await office.until(run_id, isDone), { final_output: 'done', steps: 1 });
  t.strictSame(office.texts(), ['user: go', 'assistant: done']);
  t.strictSame(far.stopped, []);
});

t.test('sends a message again unchanged if its acceptance is unknown', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id } = await office.submit('go');
  const { turn } = await far.asked();
  await office.restart();
  const again = await far.asked();
  t.strictSame(again.turn.say, turn.say);
  again.comesTo(completed('done'));
  await office.until(run_id, isDone);
});

t.test('excludes later input from a message that is sent again', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id } = await office.submit('go');
  const { turn } = await far.asked();
  await office.submit('more', { mode: 'live_then_queue' });
  await office.restart();
  const again = await far.asked();
  t.strictSame(again.turn.say, turn.say);
  again.comesTo(completed('done'));
  const next = await far.asked();
  t.match(next.turn.say, { message_id: `${run_id}-1`, content: [{ type: 'text', text: 'more' }] });
  next.comesTo(completed('all done'));
  t.match(await office.until(run_id, isDone), { final_output: 'all done' });
});

t.test('sends input that arrived during a task after the task has ended following a restart', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id } = await office.submit('one');
  const { turn } = await far.asked();
  await turn.onSubmitted(TASK);
  await office.submit('two', { mode: 'live_then_queue' });
  await office.restart();
  const again = await far.asked();
  t.strictSame(again.turn.follow, TASK);
  again.comesTo(completed('1'));
  const next = await far.asked();
  t.equal(saidIn(next.turn), 'two');
  next.comesTo(completed('2'));
  t.match(await office.until(run_id, isDone), { final_output: '2', steps: 2 });
});

t.test('keeps a suspended run across a restart, and continues its task with the reply', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id, events } = await office.submit('book');
  const { turn, comesTo } = await far.asked();
  await turn.onSubmitted(TASK);
  comesTo(ASKS);
  await events();
  await office.restart();
  t.match(office.run(run_id), { status: 'waiting' });
  const more = await office.submit('tonight');
  t.equal(more.run_id, run_id);
  const next = await far.asked();
  t.match(next.turn.say, { task_id: 'task-1', context_id: 'context-1' });
  t.equal(saidIn(next.turn), 'tonight', 'text from before the restart is not repeated');
  next.comesTo(completed('booked'));
  await more.events();
  t.strictSame(far.stopped, []);
});

t.test('cancels a task once when its run is cancelled', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id, events } = await office.submit('go');
  const { turn } = await far.asked();
  await turn.onSubmitted(TASK);
  turn.onText('half');
  await office.runtime.cancel('default', 'T', 'thread');
  const told = await events();
  t.notOk(kindsOf(told).includes('inference_complete'));
  t.strictSame(finishIn(told).termination, { type: 'cancelled' });
  t.match(finishIn(told).result, { status: 'cancelled', status_reason: 'cancelled', response: '' });
  const run = await office.until(run_id, isDone);
  t.match(run, { termination_reason: { type: 'cancelled' }, steps: 0 });
  t.match(handleIn(run), { last_state: 'TASK_STATE_CANCELED' });
  t.strictSame(far.stopped, ['signal']);
  t.strictSame(office.texts(), ['user: go'], 'the partial text is not kept');
});

t.test('ignores the output of a task after its run was cancelled', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id, soFar, events } = await office.submit('go');
  const { turn } = await far.asked();
  await turn.onSubmitted(TASK);
  await office.runtime.cancel('default', run_id, 'run');
  turn.onText('late');
  turn.onSnapshot({ ...TASK, state: 'TASK_STATE_WORKING', artifacts: [] });
  await turn.onSubmitted({ task_id: 'late' });
  await events();
  t.notOk(kindsOf(soFar()).includes('text_delta'));
  t.match(handleIn(await office.until(run_id, isDone)), { task_id: 'task-1' });
});

for (const held of [true, false]) {
  t.test(`cancels the task of a suspended run, ${held ? 'here' : 'after a restart'}`, async (t) => {
    const far = createFar();
    const office = await startOffice(t, far);
    const { run_id, events } = await office.submit('book');
    const { turn, comesTo } = await far.asked();
    await turn.onSubmitted(TASK);
    comesTo(ASKS);
    await events();
    await office.until(run_id, isWaiting);
    if (!held) await office.restart();
    await office.runtime.cancel('default', 'T', 'thread');
    t.match(await office.until(run_id, isDone), { termination_reason: { type: 'cancelled' } });
    t.strictSame(far.stopped, ['task-1']);
  });
}

t.test('cancels the task of a run that another agent replaces', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id, events } = await office.submit('book');
  const { turn, comesTo } = await far.asked();
  await turn.onSubmitted(TASK);
  comesTo(ASKS);
  await events();
  await (await office.submit('hi', { agent: office.resolve('here') })).events();
  t.match(await office.until(run_id, isDone), { termination_reason: { type: 'cancelled' } });
  t.strictSame(far.stopped, ['task-1']);
});

t.test('cancels the task when its response cannot be decoded', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id } = await office.submit('go');
  const { turn, fails } = await far.asked();
  await turn.onSubmitted(TASK);
  fails('failed to decode A2A task');
  await office.until(run_id, isDone);
  t.strictSame(far.stopped, ['task-1']);
});

t.test('cancels the task of a run that is found interrupted after a restart', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id } = await office.submit('go');
  const { turn } = await far.asked();
  await turn.onSubmitted(TASK);
  await office.die(() => office.runtime.interrupt('default', 'T'));
  t.match(await office.until(run_id, isDone), { termination_reason: { type: 'cancelled' } });
  t.strictSame(
    far.stopped.filter((each) => each !== 'signal'),
    ['task-1'],
  );
});

t.test('rejects features that a remote agent does not support before writing anything', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const tool = { id: 'pick', name: 'pick', description: '', parameters: {}, category: null };
  const decision = { tool_call_id: 'c', action: 'resume', payload: null } as const;
  const refused = (asked: string) => ({
    name: 'Invalid',
    code: 'capability_mismatch',
    message: `agent 'far' backend does not support: ${asked}`,
  });
  for (const mode of ['foreground', 'queue', 'live_then_queue', 'interrupt_then_queue'] as const) {
    await t.rejects(office.submit('go', { mode, frontend_tools: [tool] }), refused('frontend_tools'));
    await t.rejects(
      office.submit('go', { mode, decisions: [decision], frontend_tools: [tool] }),
      refused('decisions, frontend_tools'),
    );
  }
  t.strictSame(office.runs(), []);
  t.strictSame(office.texts(), []);
  const stream = await office.submit('go', { frontend_tools: [], decisions: [] });
  (await far.asked()).comesTo(completed('ok'));
  await stream.events();
});

t.test('rejects a decision on a run of another agent than the named one', async (t) => {
  const far = createFar();
  const office = await startOffice(t, far);
  const { run_id, events } = await office.submit('book');
  const { turn, comesTo } = await far.asked();
  const task: RemoteTask = TASK;
  await turn.onSubmitted(task);
  comesTo(ASKS);
  await events();
  const decision = { tool_call_id: 'c', action: 'resume', payload: null } as const;
  const asked = { agent: office.resolve('here'), named: false, into: run_id, decisions: [decision] };
  await t.rejects(office.submit('', { ...asked, messages: [] }), { code: 'capability_mismatch' });
  t.equal(office.run(run_id).status, 'waiting');
});
