import t, { type Test } from 'tap';
import {
  createRecorder,
  end,
  leave,
  note,
  type RecorderDeps,
  write,
} from '../../../src/observability/traces/recorder.ts';
import { newSummary } from '../../../src/observability/traces/summary.ts';
import { scene } from '../../loop/turn.ts';
import { storeFor } from '../../store/open.ts';

/** Events that wait until their trace is decided: evals-and-traces.md 9.6. */

const handoff = { type: 'handoff', to: 'b' } as const;

const open = async (t: Test, sampling: RecorderDeps['sampling']) => {
  const store = await storeFor(t);
  const dropped: string[] = [];
  const deps: RecorderDeps = {
    table: store.traces,
    now: () => 1_000_000,
    capture: { content: false, tool_io: 'disabled', payload: { fields: undefined, maxBytes: 8192 } },
    sampling,
    observes: () => true,
    dropped: (run_id) => dropped.push(run_id),
  };
  const head = {
    total: 0,
    state: 'open' as const,
    summary: newSummary('r'),
    created_at: 1000,
    written_at: 1000,
  };
  return { store, dropped, recorder: createRecorder(deps, { run_id: 'r', thread_id: 'T' }, head) };
};

const { agent } = scene({}).turn;

t.test('ten thousand events may wait, and with one more there is no trace', async (t) => {
  for (const count of [10_000, 10_001]) {
    await t.test(`${count} events`, async (t) => {
      const { store, dropped, recorder } = await open(t, { proportion: 1, mostEvents: 10_000 });
      for (let index = 0; index < count; index += 1) note(recorder, agent, handoff);
      const batch = store.batch('commons');
      write(recorder, batch, 'later');
      end(recorder, batch);
      await store.commit(batch);
      const isKept = count === 10_000;
      t.strictSame(dropped, isKept ? [] : ['r']);
      t.equal(store.traces.list({}).length, isKept ? 1 : 0);
      t.equal(store.traces.page('r', 0, 1).total, isKept ? 10_000 : 0);
      t.equal(recorder.waiting.length, 0);
    });
  }
});

t.test('a process that continues a released run finds the events of its commits', async (t) => {
  const { store, recorder } = await open(t, { proportion: 1, mostEvents: 10 });
  note(recorder, agent, handoff);
  const committed = store.batch('commons');
  write(recorder, committed, 'now');
  t.equal(committed.writes.length, 0, 'a trace is written after the decision on its run');
  note(recorder, agent, handoff);
  const batch = store.batch('commons');
  leave(recorder, batch);
  await store.commit(batch);
  t.match(store.traces.head('r'), { total: 1, state: 'held' });
  t.strictSame(store.traces.list({}), []);
});

t.test('a pinned trace stays when its run ends, regardless of the sampling rate at that time', async (t) => {
  for (const isPinned of [true, false]) {
    await t.test(isPinned ? 'pinned' : 'not pinned', async (t) => {
      const { store, recorder } = await open(t, { proportion: 0, mostEvents: 10 });
      note(recorder, agent, handoff);
      const batch = store.batch('commons');
      write(recorder, batch, 'later');
      if (isPinned) store.traces.refer(batch, 'r', { kind: 'pin', id: 'operator' });
      await store.commit(batch);
      const last = store.batch('commons');
      end(recorder, last);
      await store.commit(last);
      t.equal(store.traces.list({}).length, isPinned ? 1 : 0);
    });
  }
});
