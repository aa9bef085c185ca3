import t, { type Test } from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { textOf } from '../../src/schema/message.ts';
import { asks, type Call } from './models.ts';
import { resume, suspend as suspendOn, withTools } from './suspended.ts';
import { eventually, type Troupe, type TroupeOptions } from './troupe.ts';
import { type View, viewOf } from './view.ts';

/**
 * Suspended runs without an actor, and decisions that wait for a busy thread: runtime.md 12, 17, 18.5 and 19, check 55.
 */

const begin = async (t: Test, options?: TroupeOptions) => {
  const { troupe, tools } = await withTools(t, options);
  return { troupe, tools, view: viewOf(troupe, 'T') };
};

const suspend = async (troupe: Troupe, ...calls: Call[]): Promise<string> =>
  (await suspendOn(troupe, 'T', ...calls)).run_id;

const slowWaits = ({ models }: Troupe) =>
  eventually(
    async () => models.waiting(),
    (waiting) => waiting === 1,
  );

/** Keeps the thread busy with a run of another agent. */
const keepBusy = async (troupe: Troupe, view: View): Promise<void> => {
  await view.say('other work', { agentId: 'slow' });
  await slowWaits(troupe);
};

t.test('keeps a run suspended across restarts without a decision, and executes nothing', async (t) => {
  const { troupe, tools, view } = await begin(t);
  const run_id = await suspend(troupe, ['c1', 'risky']);
  const [run, history] = [await view.run(run_id), await view.messages()];
  for (let restarts = 0; restarts < 2; restarts += 1) {
    await troupe.restart();
    t.match(await view.active(), { run_id, status: 'waiting', waiting: { ticket_ids: ['perm_c1'] } });
    t.strictSame(await view.run(run_id), run);
    t.strictSame(await view.messages(), history);
    t.match(await view.thread(), { open_run_id: run_id });
  }
  t.strictSame(tools.executed, []);
  t.equal(troupe.models.requests.length, 1);
  await view.check(t);
});

t.test('resumes a suspended run after a restart once it is decided', async (t) => {
  const { troupe, tools, view } = await begin(t);
  const run_id = await suspend(troupe, ['a', 'risky'], ['b', 'pick_color'], ['c', 'risky']);
  await troupe.restart();
  t.equal((await view.post('/decision', resume('perm_a'))).status, 202);
  await eventually(
    () => view.run(run_id),
    ({ status, waiting }) => status === 'waiting' && waiting?.tickets?.length === 2,
  );
  t.match(await view.run(run_id), { waiting: { ticket_ids: ['suspend_b', 'perm_c'] } });
  await troupe.restart();
  const color = { toolCallId: 'b', action: 'resume', payload: { color: 'red' } };
  t.equal((await troupe.post(`/v1/runs/${run_id}/decision`, color)).status, 202);
  await eventually(
    () => view.run(run_id),
    ({ status, waiting }) => status === 'waiting' && waiting?.tickets?.length === 1,
  );
  t.equal((await view.post('/decision', { toolCallId: 'c', action: 'cancel' })).status, 202);
  t.match(await view.until(run_id, 'done'), { termination_reason: { type: 'natural_end' } });
  t.strictSame(tools.executed, ['a']);
  t.match(
    (await view.messages()).filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id),
    ['a', 'b', 'a', 'b'],
  );
  const received = (await view.events(run_id)).filter(
    (each) => each.event_kind === 'MailboxDecisionReceived',
  );
  t.strictSame(
    received.map(({ payload }) => [payload.tool_call_id, payload.delivery_path]),
    [
      ['a', 'durable_dispatch'],
      ['b', 'durable_dispatch'],
      ['c', 'local_live'],
    ],
  );
  await view.check(t);
});

t.test('shows the model after a restart that a call was denied', async (t) => {
  const { troupe, view } = await begin(t);
  const run_id = await suspend(troupe, ['c1', 'risky']);
  await view.post('/decision', { toolCallId: 'c1', action: 'cancel', reason: 'too risky' });
  await view.until(run_id, 'done');
  await troupe.restart();
  await view.say('And now?', { agentId: 'steps' });
  await view.rest();
  t.match(
    troupe.models.requests.at(-1)?.request.messages.map(({ role, content }) => [role, textOf(content)]),
    [
      ['user', 'Hello'],
      ['assistant', ''],
      ['tool', 'Denied: this call was refused, and nothing was done (too risky)'],
      ['assistant', 'echo: Hello'],
      ['user', 'And now?'],
    ],
  );
  await view.check(t);
});

t.test('applies one of several concurrent decisions to a suspended run without an actor', async (t) => {
  const { troupe, tools, view } = await begin(t);
  const run_id = await suspend(troupe, ['c1', 'risky']);
  await troupe.restart();
  const answers = await Promise.all(
    ['c1', 'perm_c1', 'c1', 'unknown'].map((id) => view.post('/decision', resume(id))),
  );
  t.strictSame(answers.map(({ status }) => status).toSorted(), [202, 404, 404, 404]);
  await view.until(run_id, 'done');
  t.strictSame(tools.executed, ['c1']);
  await view.check(t);
});

for (const [name, restarts] of [
  ['applies a decision when its run reaches the front of the queue', false],
  ['keeps a queued decision across a restart', true],
] as const) {
  t.test(name, async (t) => {
    const { troupe, tools, view } = await begin(t);
    const run_id = await suspend(troupe, ['a', 'risky'], ['b', 'risky']);
    await keepBusy(troupe, view);
    t.equal((await view.post('/decision', resume('a'))).status, 202);
    t.equal((await view.post('/decision', resume('a'))).status, 404, 'the ticket is already decided');
    t.equal(
      (await view.post('/decision', resume('perm_b'))).status,
      202,
      'the second decision joins the queued turn',
    );
    t.match(await view.run(run_id), {
      status: 'waiting',
      activation: { intent: { kind: { kind: 'hitl_resume', run_id } } },
    });
    const queued = (await view.dispatches()).filter(({ status }) => status === 'Queued');
    t.equal(queued.length, 1, 'one turn applies both decisions');
    t.strictSame(tools.executed, []);
    if (restarts) {
      await troupe.restart();
      await slowWaits(troupe);
    }
    troupe.models.release();
    t.match(await view.until(run_id, 'done'), { termination_reason: { type: 'natural_end' } });
    t.strictSame(tools.executed, ['a', 'b']);
    await view.check(t);
  });
}

for (const mode of ['queue', 'resume_open_run']) {
  t.test(`input to a suspended run continues it once the thread is free: ${mode}`, async (t) => {
    const { troupe, tools, view } = await begin(t);
    const run_id = await suspend(troupe, ['a', 'risky'], ['b', 'risky']);
    await keepBusy(troupe, view);
    t.equal((await view.post('/decision', resume('a'))).status, 202);
    const messages = [{ role: 'user', content: 'and this' }];
    const { status, body } = await troupe.post(`/v1/runs/${run_id}/inputs`, { mode, messages });
    t.equal(status, 202);
    t.equal(body.accepted_run_id, run_id);
    troupe.models.release();
    await view.rest();
    t.match(await view.run(run_id), { status: 'done', final_output: 'echo: and this' });
    t.strictSame(tools.executed, ['a'], 'decided calls are executed, and undecided ones are superseded');
    t.match((await view.messages()).at(-2), { content: [{ text: 'and this' }], metadata: { run_id } });
    await view.check(t);
  });
}

t.test('executes work that is queued while a run is being suspended', async (t) => {
  const { troupe } = await begin(t);
  for (let round = 0; round < 20; round += 1) {
    const thread = viewOf(troupe, `T${round}`);
    troupe.models.steps.push(asks([`c${round}`, 'risky']));
    const messages = [{ role: 'user', content: 'Hello' }];
    const stream = await troupe.run({ agentId: 'steps', threadId: `T${round}`, messages });
    await stream.until('tool_call_done');
    const { body } = await thread.say('other', { agentId: 'echo' });
    await stream.rest();
    t.match(await thread.until(body.accepted_run_id, 'done'), { final_output: 'echo: other' });
    t.match(await thread.runs(), [{ status: 'waiting' }, { status: 'done' }]);
    await thread.check(t);
  }
});

t.test('releases a suspended run from this process once its lease expires', async (t) => {
  const { troupe, tools, view } = await begin(t, {
    settings: { mailbox: { suspended_lease_ms: 1, lease_ms: 20, lease_renewal_ms: 5 } },
  });
  const run_id = await suspend(troupe, ['c1', 'risky']);
  await eventually(view.dispatches, ([dispatch]) => dispatch?.status === 'Acked');
  t.match(await view.dispatches(), [{ status: 'Acked', run_status: 'waiting' }]);
  t.match(await view.run(run_id), { status: 'waiting', waiting: { ticket_ids: ['perm_c1'] } });
  t.equal((await view.post('/decision', resume('c1'))).status, 202);
  await view.until(run_id, 'done');
  t.strictSame(tools.executed, ['c1']);
  await view.check(t);
});

t.test('does not log a released or replaced suspended run as a failed execution', async (t) => {
  const lines: { event: string }[] = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
  const { troupe, view } = await begin(t, {
    settings: { mailbox: { suspended_lease_ms: 1, lease_ms: 20, lease_renewal_ms: 5 } },
    app: { log: createLog({ level: 'info', destination }) },
  });
  await suspend(troupe, ['c1', 'risky']);
  await eventually(view.dispatches, ([dispatch]) => dispatch?.status === 'Acked');
  await suspendOn(troupe, 'U', ['c2', 'risky']);
  await troupe.runToEnd({ agentId: 'echo', threadId: 'U', messages: [{ role: 'user', content: 'x' }] });
  t.notMatch(String((await troupe.call('GET', '/metrics')).body.text), 'outcome="transient_error"');
  t.notOk(lines.some(({ event }) => event === 'run.released'));
});
