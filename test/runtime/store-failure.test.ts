import t from 'tap';
import { Unavailable } from '../../src/schema/outcome.ts';
import { FULL, startRuntime } from './runtime.ts';

/** Commits that fail. */

t.test('input whose commit fails is refused, nothing of it is seen, and the thread goes on', async (t) => {
  const { store, submit, allow } = await startRuntime(t);
  allow(0);
  const refused = submit('lost');
  await t.rejects(refused.accepted, { message: FULL });
  t.equal(refused.frames(), '', 'no reader sees a run that was not accepted');
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

t.test('a run whose end cannot be written goes on when somebody asks for its thread', async (t) => {
  const { store, submit, allow } = await startRuntime(t);
  allow(1);
  const first = submit('first');
  const { run_id } = await first.accepted;
  const second = submit('second');
  await t.rejects(second.accepted, Unavailable);
  t.notMatch(first.frames(), /"run_finish"/, 'its stream stays open');
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
