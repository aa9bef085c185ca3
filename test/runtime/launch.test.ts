import t from 'tap';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { when } from '../http/serve.ts';
import { startRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/** The start of a run: accepted input is scheduled, committed, and executed from that commit on. */

t.test('commits a run together with its input, and starts its actor during the commit', async (t) => {
  const stage = createStage();
  const { submit, store, holdCommit, goOn, machines } = await startRuntime(t, { provider: stage.provider });
  const reached = holdCommit(1);
  const { accepted, end, frames } = submit('one');
  let isAccepted = false;
  accepted.then(() => {
    isAccepted = true;
  });
  await reached;
  await stage.until(1);
  const [run_id = ''] = machines('run');
  await when(() => store.runs.get('default', run_id) !== undefined);
  const run = store.runs.get('default', run_id);
  t.match(run, { status: 'running', input: { range: { from_seq: 1, to_seq: 1 } } });
  t.match(store.dispatches.get('default', run?.dispatch_id ?? ''), { run_id, status: 'Claimed' });
  t.equal(Array.from(store.messages.range('default', 'T', {})).length, 1);
  t.equal(isAccepted, false);
  t.equal(frames(), '', 'a run is streamed only after its acceptance');

  goOn();
  t.match(await accepted, { run_id, dispatch_id: run?.dispatch_id, status: 'running' });
  t.match(frames(), '"run_start"');
  stage.go();
  await end;
});

t.test('commits a queued run with its staged input, and starts it with its readers', async (t) => {
  const stage = createStage();
  const { submit, store } = await startRuntime(t, { provider: stage.provider });
  const first = submit('one');
  await stage.until(1);
  const second = submit('two', 'T', 'queue');
  const { run_id, dispatch_id, status } = await second.accepted;
  t.equal(status, 'queued');
  t.match(store.runs.get('default', run_id), { status: 'created', dispatch_id });
  t.match(store.dispatches.get('default', dispatch_id), { status: 'Queued' });
  t.equal(second.frames(), '');

  stage.go();
  await first.end;
  await stage.until(1);
  await when(() => store.runs.get('default', run_id)?.status === 'running');
  t.match(store.dispatches.get('default', dispatch_id), { status: 'Claimed' });
  t.match(second.frames(), '"run_start"');
  stage.go();
  await second.end;
  t.match(second.frames(), 'answer to two');
});

t.test('continues a waiting run with a decision that is part of the input', async (t) => {
  const stage = createStage({ asksFirst: 'risky' });
  const tool = defineTool({
    id: 'risky',
    description: 'risky',
    input: z.object({}),
    needsApproval: true,
    execute: () => ({ data: 'done' }),
  });
  const service = await startRuntime(t, { provider: stage.provider, tools: [tool] });
  const { runtime, submit, store, machines, input } = service;
  const { run_id } = await submit('one').accepted;
  // The store contains the wait before the execution ends.
  await when(() => runtime.work().executing === 0);
  t.equal(store.runs.get('default', run_id)?.status, 'waiting');

  const decisions = [{ tool_call_id: 'risky', action: 'resume', payload: { approved: true } } as const];
  const continuation = { ...input('two'), mode: 'foreground', decisions } as const;
  const accepted = await runtime.submit('default', 'T', continuation);
  t.match(accepted, { run_id, status: 'running' });
  await stage.until(1);
  const run = store.runs.get('default', run_id);
  // After a crash, the run continues with the inference, whose lost attempt counts.
  t.match(run, { machine_state: 'running.inferring', dispatch_id: accepted.dispatch_id });
  t.match(store.dispatches.get('default', accepted.dispatch_id), { run_id, status: 'Claimed' });
  t.strictSame(machines('run'), [run_id], 'the suspended execution was replaced');
  stage.go();
  await when(() => store.runs.get('default', run_id)?.status === 'done');
  const roles = Array.from(store.messages.range('default', 'T', {}), ({ message }) => message.role);
  t.strictSame(roles, ['user', 'assistant', 'tool', 'tool', 'user', 'assistant']);
});

t.test('rejects input while the service stops, and starts nothing', async (t) => {
  const { runtime, submit, machines } = await startRuntime(t);
  await runtime.stop(0);
  await t.rejects(submit('late').accepted, { message: 'service is shutting down' });
  t.strictSame(machines('run'), []);
});
