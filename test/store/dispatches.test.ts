import t from 'tap';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import { storeFor } from './open.ts';
import { dispatch, SCOPE, write } from './records.ts';

const ids = (items: Dispatch[]): string[] => items.map((item) => item.dispatch_id);

t.test('dispatches of a thread are in claim order: priority, creation, insertion', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    store.dispatches.put(batch, SCOPE, dispatch('z', { created_at: 5 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('y', { created_at: 5 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('late', { created_at: 9 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('urgent', { created_at: 9, priority: 0 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('other', { thread_id: 't2' }), undefined);
  });
  t.strictSame(ids(store.dispatches.queued(SCOPE, 't1')), ['urgent', 'z', 'y', 'late']);
  t.strictSame(ids(store.dispatches.listByThread(SCOPE, 't1', { offset: 1, limit: 2 })), ['z', 'y']);
});

t.test('a dispatch leaves the queue when it ends, and stays in the list of its thread', async (t) => {
  const store = await storeFor(t);
  const queued = dispatch('d');
  const claimed = dispatch('d', { status: 'Claimed' });
  const acked = dispatch('d', { status: 'Acked' });
  await write(store, (batch) => store.dispatches.put(batch, SCOPE, queued, undefined));
  await write(store, (batch) => store.dispatches.put(batch, SCOPE, claimed, queued));
  t.strictSame(store.dispatches.queued(SCOPE, 't1'), []);
  t.strictSame(store.dispatches.openOf(SCOPE, 't1'), [claimed]);
  await write(store, (batch) => store.dispatches.put(batch, SCOPE, acked, claimed));
  t.strictSame(store.dispatches.openOf(SCOPE, 't1'), []);
  t.strictSame(store.dispatches.listByThread(SCOPE, 't1', { offset: 0, limit: 5 }), [acked]);
  t.strictSame(store.dispatches.get(SCOPE, 'd'), acked);
  await write(store, (batch) => store.dispatches.remove(batch, SCOPE, acked));
  t.strictSame(store.dispatches.listByThread(SCOPE, 't1', { offset: 0, limit: 5 }), []);
  t.equal(store.dispatches.get(SCOPE, 'd'), undefined);
});

t.test('a change of priority moves a dispatch in the queue', async (t) => {
  const store = await storeFor(t);
  const slow = dispatch('slow');
  const fast = { ...slow, priority: 1 };
  await write(store, (batch) => {
    store.dispatches.put(batch, SCOPE, dispatch('first'), undefined);
    store.dispatches.put(batch, SCOPE, slow, undefined);
    store.dispatches.put(batch, SCOPE, fast, slow);
  });
  t.strictSame(ids(store.dispatches.queued(SCOPE, 't1')), ['slow', 'first']);
  t.strictSame(ids(store.dispatches.listByThread(SCOPE, 't1', { offset: 0, limit: 5 })), ['slow', 'first']);
});

t.test('open dispatches of all scopes are found without reading the ended ones', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    for (let i = 0; i < 300; i += 1)
      store.dispatches.put(batch, SCOPE, dispatch(`ended${i}`, { status: 'Acked' }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('queued'), undefined);
    store.dispatches.put(batch, 'other', dispatch('claimed', { status: 'Claimed' }), undefined);
  });
  const before = store.reads;
  const open = Array.from(store.dispatches.open(), ({ scope, dispatch: { dispatch_id } }) => [
    scope,
    dispatch_id,
  ]);
  t.strictSame(open, [
    [SCOPE, 'queued'],
    ['other', 'claimed'],
  ]);
  t.ok(store.reads - before <= 6);
});
