import t from 'tap';
import { Integrity } from '../../src/schema/outcome.ts';
import { RunStatus } from '../../src/schema/run.ts';
import { openStore, type Page, type Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { run, SCOPE, write } from './records.ts';

const insert = (store: Store, ids: string[], fields: Parameters<typeof run>[1] = {}) =>
  write(store, (batch) => {
    for (const id of ids) store.runs.put(batch, SCOPE, run(id, fields), undefined);
  });

const listed = (store: Store, filter: Parameters<Store['runs']['list']>[1]) =>
  store.runs.list(SCOPE, filter, { offset: 0, limit: 100 });

t.test('lists runs in the order of their first commit, across restarts', async (t) => {
  const dir = t.testdir();
  const first = await openStore({ dir, durability: 'process' });
  await insert(first, ['z', 'm']);
  await first.close();
  const second = await openStore({ dir, durability: 'process' });
  t.teardown(() => second.close());
  await insert(second, ['a']);
  await write(second, (batch) => second.runs.put(batch, SCOPE, run('z', { steps: 4 }), run('z')));
  const { items, total } = listed(second, {});
  t.strictSame(
    items.map((item) => item.run_id),
    ['z', 'm', 'a'],
  );
  t.equal(total, 3);
  t.equal(items[0]?.steps, 4);
});

t.test('shows every run once in a walk by positions', async (t) => {
  const store = await storeFor(t);
  const ids = Array.from({ length: 11 }, (_, i) => `r${String(i).padStart(2, '0')}`);
  await insert(store, ids);
  const seen: string[] = [];
  let page: Page | undefined = { offset: 0, limit: 4 };
  while (page) {
    const { items, next } = store.runs.list(SCOPE, { thread_id: 't1' }, page);
    seen.push(...items.map((item) => item.run_id));
    page = next && { offset: 0, limit: 4, after: next };
  }
  t.strictSame(seen, ids);
});

t.test('lists and counts by status, per thread and overall', async (t) => {
  const store = await storeFor(t);
  await insert(store, ['a', 'b'], { status: 'created' });
  await insert(store, ['c'], { status: 'created', thread_id: 't2' });
  await write(store, (batch) => {
    store.runs.put(batch, SCOPE, run('a', { status: 'waiting' }), run('a', { status: 'created' }));
  });
  await write(store, (batch) => {
    store.runs.put(batch, SCOPE, run('a', { status: 'done' }), run('a', { status: 'waiting' }));
  });
  const counts = RunStatus.options.map((status) => store.runs.count(SCOPE, status));
  t.strictSame(counts, [2, 0, 0, 1]);
  for (const thread_id of [undefined, 't1', 't2']) {
    for (const status of [undefined, ...RunStatus.options]) {
      const filter = { ...(thread_id && { thread_id }), ...(status && { status }) };
      const expected = [
        run('a', { status: 'done' }),
        run('b', { status: 'created' }),
        run('c', { status: 'created', thread_id: 't2' }),
      ].filter((item) => (!thread_id || item.thread_id === thread_id) && (!status || item.status === status));
      const { items, total } = listed(store, filter);
      t.strictSame(items, expected, JSON.stringify(filter));
      t.equal(total, expected.length, JSON.stringify(filter));
    }
  }
});

t.test('accepts a change of a run while its first commit is pending', async (t) => {
  const store = await storeFor(t);
  const first = insert(store, ['a', 'b']);
  const second = write(store, (batch) => {
    store.runs.put(batch, SCOPE, run('a', { status: 'waiting' }), run('a'));
    store.runs.put(batch, SCOPE, run('a', { status: 'done' }), run('a', { status: 'waiting' }));
  });
  await Promise.all([first, second]);
  t.strictSame(
    listed(store, {}).items.map((item) => item.run_id),
    ['a', 'b'],
  );
  t.equal(listed(store, { status: 'waiting' }).total, 0);
  t.strictSame(listed(store, { status: 'done' }).items, [run('a', { status: 'done' })]);
});

t.test('returns the last inserted run of a thread in given statuses as the newest', async (t) => {
  const store = await storeFor(t);
  await insert(store, ['w'], { status: 'waiting' });
  await insert(store, ['r'], { status: 'running' });
  await insert(store, ['d'], { status: 'done' });
  await insert(store, ['other'], { thread_id: 't2' });
  t.equal(store.runs.newest(SCOPE, 't1', 'running')?.run_id, 'r');
  t.equal(store.runs.newest(SCOPE, 't1', 'waiting')?.run_id, 'w');
  t.equal(store.runs.newest(SCOPE, 't1', 'created'), undefined);
});

t.test('rejects a change of a run that was never stored', async (t) => {
  const store = await storeFor(t);
  t.throws(() => store.runs.put(store.batch('commons'), SCOPE, run('x'), run('x')), Integrity);
});
