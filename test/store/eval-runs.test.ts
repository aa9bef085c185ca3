import t from 'tap';
import type { EvalItem, EvalStatus } from '../../src/schema/eval-run.ts';
import { Integrity } from '../../src/schema/outcome.ts';
import { openRoot } from '../../src/store/engine/environment.ts';
import { type EvalRunHead, openStore, type Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';

/** Stored eval runs: evals-and-traces.md 6.2, 6.3. */

const headOf = (id: string, started_at_secs: number, more: Partial<EvalRunHead> = {}): EvalRunHead => ({
  id,
  scope: 'default',
  dataset_id: 'D',
  dataset_revision: 0,
  execution_mode: 'scripted',
  status: 'done',
  planned_item_count: 1,
  started_at_secs,
  ended_at_secs: started_at_secs + 1,
  item_count: 1,
  passed_count: 1,
  ...more,
});

const put = async (store: Store, head: EvalRunHead, before?: EvalRunHead): Promise<void> => {
  const batch = store.batch('commons');
  store.evalRuns.put(batch, head, before);
  await store.commit(batch);
};

const item = (fixture_id: string): EvalItem => ({
  fixture_id,
  report: {
    fixture_id,
    passed: true,
    failures: [],
    final_text: fixture_id,
    inference_count: 1,
    tool_count: 0,
    tool_failures: 0,
    total_input_tokens: 0,
    total_output_tokens: 0,
    total_tokens: 0,
    session_duration_ms: 0,
    elapsed_ms: 0,
  },
});

const listed = (
  store: Store,
  statuses: EvalStatus[],
  more: Partial<Parameters<Store['evalRuns']['list']>[0]> = {},
) => store.evalRuns.list({ statuses, limit: 10, ...more }).map(({ id }) => id);

t.test('orders items by position, whatever was written first', async (t) => {
  const store = await storeFor(t);
  await put(store, headOf('r', 1));
  for (const place of [10, 2, 0]) {
    const batch = store.batch('commons');
    store.evalRuns.putItem(batch, 'r', place, item(`f${place}`));
    store.evalRuns.putItem(batch, 'other', place, item('other'));
    await store.commit(batch);
  }
  t.strictSame(store.evalRuns.played('r'), [0, 2, 10]);
  t.strictSame(store.evalRuns.items('r'), [item('f0'), item('f2'), item('f10')]);
  t.strictSame(store.evalRuns.items('nobody'), []);
});

t.test('writes one row per additional item', async (t) => {
  const store = await storeFor(t);
  for (const count of [1, 500]) {
    const batch = store.batch('commons');
    for (let place = 0; place < count; place += 1) store.evalRuns.putItem(batch, 'r', place, item('f'));
    await store.commit(batch);
    const another = store.batch('commons');
    store.evalRuns.putItem(another, 'r', count, item('f'));
    t.equal(another.writes.length, 1);
  }
});

t.test('lists runs newest first, filtered by time, dataset and status, from a position', async (t) => {
  const store = await storeFor(t);
  await put(store, headOf('a', 5));
  await put(store, headOf('b', 7, { dataset_id: 'E' }));
  await put(store, headOf('c', 7));
  await put(store, headOf('d', 6, { status: 'cancelled' }));
  await put(store, headOf('e', 9, { status: 'running', ended_at_secs: undefined }));
  t.strictSame(listed(store, ['done']), ['c', 'b', 'a']);
  t.strictSame(listed(store, ['done'], { dataset_id: 'E' }), ['b']);
  t.strictSame(listed(store, ['done'], { since_secs: 5, until_secs: 7 }), ['a']);
  t.strictSame(listed(store, ['done', 'cancelled', 'running']), ['e', 'c', 'b', 'd', 'a']);
  t.strictSame(listed(store, ['done', 'cancelled', 'running'], { limit: 2 }), ['e', 'c']);
  const after = { started_at_secs: 7, id: 'c' };
  t.strictSame(listed(store, ['done', 'cancelled', 'running'], { after }), ['b', 'd', 'a']);
  t.strictSame(listed(store, ['done'], { after: { started_at_secs: 7, id: 'bb' } }), ['b', 'a']);
});

t.test('keeps a run in exactly one list', async (t) => {
  const store = await storeFor(t);
  const running = headOf('r', 1, { status: 'running', ended_at_secs: undefined });
  await put(store, running);
  t.strictSame(listed(store, ['running']), ['r']);
  await put(store, headOf('r', 1), running);
  t.strictSame(listed(store, ['running']), []);
  t.strictSame(listed(store, ['done']), ['r']);
  t.match(store.evalRuns.head('r'), { status: 'done', ended_at_secs: 2 });
});

t.test('keeps unfinished work across a restart until it is done', async (t) => {
  const dir = t.testdir();
  const first = await openStore({ dir, durability: 'process' });
  const batch = first.batch('commons');
  first.evalRuns.putWork(batch, 'r', '{"plan":1}');
  first.evalRuns.putWork(batch, 's', '{}');
  await first.commit(batch);
  await first.close();
  const second = await openStore({ dir, durability: 'process' });
  t.teardown(() => second.close());
  t.strictSame(second.evalRuns.unfinished(), ['r', 's']);
  t.equal(second.evalRuns.work('r'), '{"plan":1}');
  const done = second.batch('commons');
  second.evalRuns.removeWork(done, 'r');
  await second.commit(done);
  t.strictSame(second.evalRuns.unfinished(), ['s']);
});

t.test('reports an unreadable item without affecting other runs', async (t) => {
  const dir = t.testdir();
  const first = await openStore({ dir, durability: 'process' });
  const batch = first.batch('commons');
  first.evalRuns.putItem(batch, 'r', 0, item('f'));
  first.evalRuns.putItem(batch, 's', 0, item('f'));
  await first.commit(batch);
  await first.close();
  const root = openRoot(dir);
  const rows = root.openDB<Buffer, [string, number]>('eval_run_items', { encoding: 'binary' });
  await rows.put(['r', 0], Buffer.from([0xc1]));
  await root.close();
  const second = await openStore({ dir, durability: 'process' });
  t.teardown(() => second.close());
  t.throws(() => second.evalRuns.items('r'), Integrity);
  t.equal(second.evalRuns.items('s').length, 1);
});
