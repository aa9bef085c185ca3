import t, { type Test } from 'tap';
import { createIds } from '../../src/composition/ids.ts';
import { endStrays } from '../../src/runtime/maintenance/stray-runs.ts';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import { examine, openStore, STRAY_RUN, type Store } from '../../src/store/index.ts';
import { dispatch, run, SCOPE, threadRecord, write } from '../store/records.ts';
import { startRuntime } from './runtime.ts';

/**
 * Runs that an earlier version left in status running without a dispatch (runtime.md 17.2): recovery and `troupe
 * doctor` end them.
 */

/** More than one page of the list of running runs, and more than recovery ends at once. */
const MANY = 300;

const STATUSES: Dispatch['status'][] = ['Superseded', 'Cancelled', 'DeadLetter', 'Acked'];

type Left = { scope: string; run_id: string; expected: 'cancelled' | 'error' };

/** Every kind of dispatch, a deleted dispatch, a deleted thread, and another scope. */
const fill = async (dir: string): Promise<Left[]> => {
  const store = await openStore({ dir, durability: 'process' });
  const left: Left[] = [];
  await write(store, (batch) => {
    for (let number = 0; number < MANY; number += 1) {
      const scope = number % 2 === 0 ? SCOPE : 'other';
      const [thread_id, run_id, dispatch_id] = [`t${number}`, `r${number}`, `d${number}`];
      const status = STATUSES[number % STATUSES.length] ?? 'Superseded';
      const isCollected = number % 7 === 0;
      if (number % 5 > 0)
        store.threads.put(batch, scope, threadRecord(thread_id, 1, { active_run_id: run_id }), undefined);
      store.runs.put(batch, scope, run(run_id, { thread_id, dispatch_id }), undefined);
      if (!isCollected)
        store.dispatches.put(batch, scope, dispatch(dispatch_id, { thread_id, run_id, status }), undefined);
      const expected = status === 'DeadLetter' && !isCollected ? 'error' : 'cancelled';
      left.push({ scope, run_id, expected });
    }
  });
  await store.close();
  return left;
};

const checkEnded = (t: Test, store: Store, left: Left[]): void => {
  for (const { scope, run_id, expected } of left) {
    const found = store.runs.get(scope, run_id);
    t.match(found, { status: 'done', termination_reason: { type: expected }, finished_at: Number }, run_id);
    const kinds = Array.from(store.events.read(scope, { run_id }, 0), ({ event }) => event.event_kind);
    t.strictSame(kinds, [expected === 'error' ? 'RunErrored' : 'RunCancelled'], run_id);
    t.equal(store.threads.get(scope, found?.thread_id ?? '')?.thread.active_run_id, undefined);
  }
  for (const scope of [SCOPE, 'other']) t.equal(store.runs.count(scope, 'running'), 0);
};

t.test('ends runs without work of an earlier version during recovery', async (t) => {
  const dir = t.testdir();
  const left = await fill(dir);
  const { runtime, store } = await startRuntime(t, { dir });
  await runtime.recover();
  checkEnded(t, store, left);
});

t.test('finds runs without work in the doctor, and ends them on repair', async (t) => {
  const dir = t.testdir();
  const left = await fill(dir);
  const { findings } = await examine({ dir });
  t.match(findings, [{ problem: STRAY_RUN, table: 'runs', count: MANY, repaired: false }]);
  const store = await openStore({ dir, durability: 'process' });
  t.equal(await endStrays(store, { clock: Date, ids: createIds(), mode: 'compacted' }), MANY);
  checkEnded(t, store, left);
  await store.close();
  t.strictSame((await examine({ dir })).findings, []);
});
