import t from 'tap';
import { Conflict, Unavailable } from '../../src/schema/outcome.ts';
import { partitionOf } from '../../src/schema/partition.ts';
import { when } from '../http/serve.ts';
import { startRuntime } from './runtime.ts';
import { createStage } from './scene.ts';

/** Changes of the owner of a thread while its run executes, and commits that fail at that time (identity.md 1.3). */

const SCOPE = 'default';
const BOB = partitionOf({ scope: SCOPE, user: 'bob' });

const start = async (t: Parameters<typeof startRuntime>[0]) => {
  const stage = createStage();
  const service = await startRuntime(t, { provider: stage.provider });
  await service.runtime.recover();
  const { runtime, store } = service;
  const begun = service.submit('Hello', 't1');
  const { run_id } = await begun.accepted;
  await stage.until(1);
  return {
    ...service,
    stage,
    begun,
    run_id,
    give: () => runtime.threads.transfer({ scope: SCOPE, id: 't1', to: BOB }),
    ends: (scope: string) =>
      when(() => {
        stage.go();
        return store.runs.get(scope, run_id)?.status === 'done';
      }),
  };
};

for (const commit of [1, 2, 3]) {
  t.test(`keeps the thread with its owner if commit ${commit} fails, and its run continues`, async (t) => {
    const { store, failAt, restore, give, ends, run_id } = await start(t);
    failAt(commit, 'once');
    await t.rejects(give(), Unavailable, `commit ${commit}`);
    await restore();
    t.equal(store.threads.get(BOB, 't1'), undefined);
    await ends(SCOPE);
    t.match(store.runs.get(SCOPE, run_id), { termination_reason: { type: 'natural_end' } });
    t.match(await give(), { id: 't1', uid: 't1', owner: 'bob' });
    t.match(store.runs.get(BOB, run_id), { owner: 'bob', status: 'done' });
  });
}

t.test('ends the stream of an executing run, and the run continues at its new place', async (t) => {
  const { store, begun, stage, give, ends, run_id, machines } = await start(t);
  const listed = store.runs.get(SCOPE, run_id);
  await give();
  await begun.end;
  t.notMatch(begun.frames(), 'run_finish');
  await stage.until(1);
  t.equal(store.runs.get(SCOPE, run_id), undefined);
  await ends(BOB);
  t.match(store.runs.get(BOB, run_id), {
    termination_reason: { type: 'natural_end' },
    final_output: 'answer to Hello',
    created_at: listed?.created_at,
  });
  await when(() => machines('run').length === 0);
  const events = store.events.list(BOB, { thread_id: 't1' }, 0, 1000).rows;
  t.same(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    'the log has no gap',
  );
  const [dispatch] = store.dispatches.listByThread(BOB, 't1', { offset: 0, limit: 1 });
  t.match(dispatch, { status: 'Acked', attempt_count: 0 }, 'the change is no failed attempt');
});

t.test(
  'refuses input that has waited for the change, and accepts later input for a new thread',
  async (t) => {
    const { store, give, submit, holdCommit, goOn, ends, stage } = await start(t);
    const held = holdCommit(3);
    const given = give();
    await held;
    const late = submit('Late', 't1');
    const again = give();
    // The requests are handled before the commit is.
    late.accepted.catch(() => {});
    again.catch(() => {});
    goOn();
    await given;
    await t.rejects(late.accepted, Conflict);
    await t.rejects(again, Conflict);
    await ends(BOB);
    const other = submit('Other', 't1');
    await other.accepted;
    await stage.until(1);
    stage.go();
    await other.end;
    t.match(store.threads.get(SCOPE, 't1')?.thread, { id: 't1' });
    t.notOk(store.threads.get(SCOPE, 't1')?.thread.owner);
    const said = [...store.messages.range(BOB, 't1', {})];
    t.equal(said.length, 2, 'the thread of the new owner is another one');
  },
);
