import t from 'tap';
import { z } from 'zod';
import { Unavailable } from '../../src/schema/outcome.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { turn, when } from '../http/serve.ts';
import { rowsOf } from './rows.ts';
import { FULL, startRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/** Failing commits. */

t.test('rejects input whose commit fails, hides it, and keeps the thread usable', async (t) => {
  const { store, submit, allow } = await startRuntime(t);
  allow(0);
  const refused = submit('lost');
  await t.rejects(refused.accepted, { message: FULL });
  t.equal(refused.frames(), '', 'a run that was not accepted has no frames');
  t.equal(store.threads.get('default', 'T'), undefined);

  allow(Number.POSITIVE_INFINITY);
  const next = submit('kept');
  await next.accepted;
  await next.end;
  t.match(next.frames(), 'Scripted response to: kept');
  t.strictSame(
    Array.from(store.messages.range('default', 'T', {}), ({ seq, message }) => [seq, message.role]),
    [
      [1, 'user'],
      [2, 'assistant'],
    ],
  );
});

t.test('continues a run whose end was not written when its thread is used again', async (t) => {
  const { store, submit, allow } = await startRuntime(t);
  allow(1);
  const first = submit('first');
  const { run_id } = await first.accepted;
  const second = submit('second');
  await t.rejects(second.accepted, Unavailable);
  t.notMatch(first.frames(), /"run_finish"/, 'the stream stays open');
  t.equal(store.runs.get('default', run_id)?.status, 'running');

  allow(Number.POSITIVE_INFINITY);
  const third = submit('third');
  await third.accepted;
  await first.end;
  t.match(first.frames().match(/"run_finish".*/g), [/"cancelled"/]);
  await third.end;
  t.match(store.runs.get('default', run_id), { status: 'done', termination_reason: { type: 'cancelled' } });
  t.match(third.frames(), 'Scripted response to: third');
});

t.test('notifies the waiting caller of a run when the store fails its thread', async (t) => {
  const stage = createStage();
  const { runtime, store, failAt, restore } = await startRuntime(t, { provider: stage.provider });
  await runtime.recover();
  const told = runtime.subAgents.start({
    scope: 'default',
    run_id: 'parent',
    thread_id: 'T',
    call_id: 'c',
    agent: 'a',
    prompt: 'do it',
    signal: new AbortController().signal,
    onEvent() {},
  });
  await stage.until(1);
  failAt(1, 'from then on');
  stage.go();
  t.match(await told, { status: 'failed', reason: 'the run was interrupted', response: '' });

  await restore();
  await when(() => store.runs.count('default', 'done') === 1);
  const [run] = store.runs.list('default', {}, { offset: 0, limit: 1 }).items;
  t.match(run, { termination_reason: { type: 'cancelled' } }, 'the caller receives the outcome');
});

t.test('drives a suspended run by a single new actor after its store failed', async (t) => {
  const stage = createStage({ asksFirst: 'risky' });
  const executed: string[] = [];
  const tool = defineTool({
    id: 'risky',
    description: 'risky',
    input: z.object({}),
    needsApproval: true,
    execute(_, { call_id }) {
      executed.push(call_id);
      return { data: 'done' };
    },
  });
  const service = await startRuntime(t, { provider: stage.provider, tools: [tool] });
  const { runtime, submit, machines, failAt, input } = service;
  const rows = rowsOf(service, 'T');
  await runtime.recover();
  const { run_id } = await submit('go', 'T').accepted;
  await rows.rest();
  t.strictSame(machines('run'), [run_id], 'the suspended run keeps its actor');

  failAt(1, 'once');
  const later = { ...input('lost'), mode: 'queue', available_at: Date.now() + 3_600_000 } as const;
  await t.rejects(runtime.submit('default', 'T', later), Unavailable);
  await turn();
  const decision = { tool_call_id: 'risky', action: 'resume', payload: { approved: true } } as const;
  t.equal(machines('run').length, 0, 'the failed actor is released');
  await runtime.decide('default', run_id, 'run', decision);
  await stage.until(1);
  t.strictSame(machines('run'), [run_id]);
  stage.go();
  await rows.rest();
  t.strictSame(executed, ['risky']);
  // The end of the run is stored a moment before its actor receives it.
  await when(() => machines('run').length === 0);
  rows.check(t);
});

t.test('rejects a request that makes the actor of its thread fail, and continues the thread', async (t) => {
  const stage = createStage();
  const service = await startRuntime(t, { provider: stage.provider });
  const { runtime, store, submit } = service;
  const rows = rowsOf(service, 'T');
  await runtime.recover();
  const { put } = store.dispatches;
  /** Fails the next write of a new, or of an existing dispatch. */
  const breakNext = (isNew: boolean): void => {
    store.dispatches.put = (batch, scope, after, before) => {
      if ((before === undefined) !== isNew) return put(batch, scope, after, before);
      store.dispatches.put = put;
      throw new Error('broken');
    };
  };
  await submit('first').accepted;
  await submit('queued', 'T', 'queue').accepted;
  await stage.until(1);
  breakNext(false);
  await t.rejects(submit('overtakes the queue').accepted, { message: 'broken' });

  await stage.until(1);
  breakNext(true);
  await t.rejects(submit('takes the place of the first').accepted, { message: 'broken' });
  stage.go();
  await when(() => {
    stage.go();
    return store.dispatches.open(undefined, 1).length === 0;
  });
  await rows.rest();
  t.strictSame(rows.said(), ['first', 'queued']);
  rows.check(t);
});
