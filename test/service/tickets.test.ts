import t from 'tap';
import { roundsOf } from '../long.ts';
import { asks, type Call } from './models.ts';
import { decline, resume, suspend, withTools } from './suspended.ts';
import { eventually } from './troupe.ts';
import { viewOf } from './view.ts';

/** Several tickets, and concurrent or early decisions: runtime.md 6.3, 12 and 19, checks 52, 54 and 56. */

const messages = [{ role: 'user', content: 'Hello' }];

t.test('applies decisions on two tickets one after the other, in the order of the contract', async (t) => {
  const { troupe, tools } = await withTools(t, { settings: { event_capture_mode: 'full_fidelity' } });
  const { run_id } = await suspend(troupe, 'T', ['b', 'risky'], ['a', 'risky'], ['n', 'note']);
  const view = viewOf(troupe, 'T');
  t.match(await view.run(run_id), { waiting: { ticket_ids: ['perm_a', 'perm_b'] } });
  t.strictSame(tools.executed, ['n']);
  const before = (await view.events(run_id)).length;

  t.equal((await view.post('/decision', resume('b'))).status, 202);
  const partly = await eventually(
    () => view.run(run_id),
    ({ status, waiting }) => status === 'waiting' && waiting?.tickets?.length === 1,
  );
  t.match(partly, { waiting: { ticket_ids: ['perm_a'], tickets: [{ tool_call_id: 'a' }] } });
  const inStream = (kind: string) => !/^(Mailbox|MessageC|ThreadM|RunQ|RunSubm)/.test(kind);
  t.strictSame((await view.kinds(run_id)).slice(before).filter(inStream), [
    'RunResumed',
    'ToolCallExecutingObserved',
    'ToolCallResumed',
    'StateSnapshotObserved',
    'RunSuspended',
  ]);
  t.equal((await view.post('/decision', resume('perm_b'))).status, 404, 'the ticket is already decided');

  const then = (await view.events(run_id)).length;
  t.equal((await view.post('/decision', resume('perm_a'))).status, 202);
  await view.until(run_id, 'done');
  t.strictSame((await view.kinds(run_id)).slice(then).filter(inStream).slice(0, 4), [
    'RunResumed',
    'ToolCallExecutingObserved',
    'ToolCallResumed',
    'StepStarted',
  ]);
  t.strictSame(tools.executed, ['n', 'b', 'a']);
  t.notOk(
    (await view.events(run_id)).some(({ payload }) => 'turn_id' in payload),
    'a decision does not start a turn',
  );
  await view.check(t);
});

t.test('applies concurrent decisions on all tickets once each', async (t) => {
  const { troupe, tools } = await withTools(t);
  for (let round = 0; round < roundsOf(20); round += 1) {
    const view = viewOf(troupe, `T${round}`);
    const calls = ['a', 'b', 'c', 'd'].map((id) => `${id}${round}`);
    const { run_id } = await suspend(troupe, `T${round}`, ...calls.map((id): Call => [id, 'risky']));
    const answers = await Promise.all(
      calls.toReversed().map((id) => view.post('/decision', id.startsWith('c') ? decline(id) : resume(id))),
    );
    for (const { status } of answers) t.equal(status, 202);
    t.match(await view.until(run_id, 'done'), { termination_reason: { type: 'natural_end' } });
    t.strictSame(
      tools.executed.filter((id) => calls.includes(id)).toSorted(),
      calls.filter((id) => !id.startsWith('c')),
    );
    await view.check(t);
  }
});

t.test('executes a tool once on two identical concurrent decisions, and rejects one of them', async (t) => {
  const { troupe, tools } = await withTools(t);
  for (let round = 0; round < roundsOf(20); round += 1) {
    const view = viewOf(troupe, `T${round}`);
    const call = `c${round}`;
    const { run_id } = await suspend(troupe, `T${round}`, [call, 'risky']);
    const answers = await Promise.all([
      view.post('/decision', resume(call)),
      troupe.post(`/v1/runs/${run_id}/decision`, resume(`perm_${call}`)),
      view.post('/decision', decline(call)),
    ]);
    t.strictSame(answers.map(({ status }) => status).toSorted(), [202, 404, 404]);
    await view.until(run_id, 'done');
    const accepted = answers.findIndex(({ status }) => status === 202);
    t.equal(tools.executed.filter((id) => id === call).length, accepted === 2 ? 0 : 1);
    t.equal((await view.post('/decision', resume(call))).status, 404, 'the run has ended');
    await view.check(t);
  }
});

t.test('accepts a decision while the run is being suspended', async (t) => {
  const { troupe, tools } = await withTools(t);
  for (let round = 0; round < roundsOf(40); round += 1) {
    const view = viewOf(troupe, `T${round}`);
    const call = `c${round}`;
    troupe.models.steps.push(asks([call, 'risky']));
    const stream = await troupe.run({ agentId: 'steps', threadId: `T${round}`, messages });
    const done = await stream.until('tool_call_done');
    t.equal(done.outcome, 'suspended');
    const [{ status }, tail] = await Promise.all([view.post('/decision', resume(call)), stream.rest()]);
    t.equal(status, 202);
    t.equal(tail.filter(({ event_type }) => event_type === 'run_finish').length, 1);
    t.match(tail.at(-1), { termination: { type: 'suspended' } });
    await eventually(view.runs, ([run]) => run?.status === 'done');
    t.equal(tools.executed.filter((id) => id === call).length, 1);
    await view.check(t);
  }
});

t.test('accepts a decision on a call while other calls of its step execute', async (t) => {
  const { troupe, tools } = await withTools(t);
  troupe.models.steps.push(asks(['c1', 'risky'], ['c2', 'hold'], ['c3', 'risky']));
  const stream = await troupe.run({ agentId: 'steps', threadId: 'T', messages });
  const { run_id } = await stream.until('run_start');
  await eventually(
    async () => tools.holding(),
    (held) => held.length === 1,
  );
  const view = viewOf(troupe, 'T');
  t.match(await view.run(run_id), { status: 'running' });
  t.equal((await view.post('/decision', resume('c1'))).status, 202);
  t.equal((await view.post('/decision', resume('c1'))).status, 404);
  t.strictSame(tools.executed, ['c2'], 'the decision is applied after the other calls of the step');
  tools.release();
  await stream.rest();
  await eventually(
    () => view.run(run_id),
    ({ status, waiting }) => status === 'waiting' && waiting?.tickets?.length === 1,
  );
  t.match(await view.run(run_id), { waiting: { ticket_ids: ['perm_c3'] } });
  t.equal((await view.post('/decision', decline('c3'))).status, 202);
  await view.until(run_id, 'done');
  t.strictSame(tools.executed, ['c2', 'c1']);
  await view.check(t);
});
