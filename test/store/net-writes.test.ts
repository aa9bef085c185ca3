import t from 'tap';
import { netWrites } from '../../src/store/engine/net-writes.ts';
import type { Batch, Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { dispatch, run, SCOPE, write } from './records.ts';

/** The resulting writes of each table, as `name`, or `-name` for removals. */
const net = (...batches: Batch[]): string[] =>
  netWrites(batches).flatMap((writes) =>
    Array.from(writes, ({ key, value }) => `${value ? '' : '-'}${key.slice(1).join('.')}`),
  );

const filled = (store: Store, fill: (batch: Batch) => void): Batch => {
  const batch = store.batch('commons');
  fill(batch);
  return batch;
};

t.test('writes a row once that several batches put, with the last value', async (t) => {
  const store = await storeFor(t);
  const first = filled(store, (batch) => store.state.put(batch, SCOPE, 't1', { by: 'first' }));
  const second = filled(store, (batch) => {
    store.state.put(batch, SCOPE, 't1', { by: 'second' });
    store.state.put(batch, SCOPE, 't2', {});
  });
  t.strictSame(net(first, second), ['t1', 't2']);
  await Promise.all([store.commit(first), store.commit(second)]);
  t.strictSame(store.state.get(SCOPE, 't1'), { by: 'second' });
});

t.test('removes an existing row, whatever else the transaction did with it', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => store.state.put(batch, SCOPE, 't1', {}));
  const batch = filled(store, (filling) => {
    store.state.put(filling, SCOPE, 't1', { again: true });
    store.state.remove(filling, SCOPE, 't1');
  });
  t.strictSame(net(batch), ['-t1']);
  await store.commit(batch);
  t.equal(store.state.get(SCOPE, 't1'), undefined);
});

t.test('writes nothing for an index entry that is added and removed in one transaction', async (t) => {
  const store = await storeFor(t);
  const queued = dispatch('d');
  const acked = dispatch('d', { status: 'Acked', completed_at: 7 });
  const accept = filled(store, (batch) => store.dispatches.put(batch, SCOPE, queued, undefined));
  const committed = store.commit(accept);
  const end = filled(store, (batch) => store.dispatches.put(batch, SCOPE, acked, queued));
  const open = net(accept).filter((name) => net(end).includes(`-${name}`));
  t.ok(open.length > 0, 'the end removes the entry of the acceptance');
  const left = net(accept, end);
  for (const name of open) t.notOk(left.includes(name) || left.includes(`-${name}`), name);
  await Promise.all([committed, store.commit(end)]);
  t.strictSame(store.dispatches.open(undefined, 10), []);
});

t.test('keeps an entry that was removed and added again', async (t) => {
  const store = await storeFor(t);
  const [waiting, running] = [run('r', { status: 'waiting' }), run('r')];
  await write(store, (batch) => store.runs.put(batch, SCOPE, waiting, undefined));
  const batch = filled(store, (filling) => {
    store.runs.put(filling, SCOPE, running, waiting);
    store.runs.put(filling, SCOPE, waiting, running);
    store.runs.put(filling, SCOPE, running, waiting);
    store.runs.put(filling, SCOPE, waiting, running);
  });
  await store.commit(batch);
  t.strictSame(store.runs.waitingOf(SCOPE, 't1'), [waiting]);
  t.equal(store.runs.list(SCOPE, { status: 'running' }, { offset: 0, limit: 5 }).items.length, 0);
});
