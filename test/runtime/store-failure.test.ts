import t from 'tap';
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

t.test(
  'a run whose end cannot be written ends its stream with an error, and is taken up again',
  async (t) => {
    const { store, submit, allow } = await startRuntime(t);
    allow(1);
    const first = submit('first');
    const { run_id } = await first.accepted;
    await first.end;
    const finishes = first.frames().match(/"run_finish"/g) ?? [];
    t.equal(finishes.length, 1);
    t.match(first.frames(), /"run_finish".*"termination":\{"type":"error"/);
    t.equal(store.runs.get('default', run_id)?.status, 'running');

    allow(Number.POSITIVE_INFINITY);
    const second = submit('second');
    await second.accepted;
    await second.end;
    t.match(store.runs.get('default', run_id), { status: 'done', termination_reason: { type: 'cancelled' } });
    t.match(second.frames(), 'Scripted response to: second');
  },
);
