import t from 'tap';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import type { Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { dispatch, SCOPE, write } from './records.ts';

const ids = (items: Dispatch[]): string[] => items.map((item) => item.dispatch_id);

t.test('lists dispatches of a thread in claim order: priority, creation, insertion', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    store.dispatches.put(batch, SCOPE, dispatch('z', { created_at: 5 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('y', { created_at: 5 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('late', { created_at: 9 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('urgent', { created_at: 9, priority: 0 }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('other', { thread_id: 't2' }), undefined);
  });
  t.strictSame(ids(store.dispatches.queued(SCOPE, 't1')), ['urgent', 'z', 'y', 'late']);
  t.strictSame(ids([...store.dispatches.listByThread(SCOPE, 't1', { offset: 1, limit: 2 })]), ['z', 'y']);
});

t.test('removes a finished dispatch from the queue, but keeps it in the list of its thread', async (t) => {
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
  t.strictSame([...store.dispatches.listByThread(SCOPE, 't1', { offset: 0, limit: 5 })], [acked]);
  t.strictSame(store.dispatches.get(SCOPE, 'd'), acked);
  await write(store, (batch) => store.dispatches.remove(batch, SCOPE, acked));
  t.strictSame([...store.dispatches.listByThread(SCOPE, 't1', { offset: 0, limit: 5 })], []);
  t.equal(store.dispatches.get(SCOPE, 'd'), undefined);
});

t.test('moves a dispatch in the queue when its priority changes', async (t) => {
  const store = await storeFor(t);
  const slow = dispatch('slow');
  const fast = { ...slow, priority: 1 };
  await write(store, (batch) => {
    store.dispatches.put(batch, SCOPE, dispatch('first'), undefined);
    store.dispatches.put(batch, SCOPE, slow, undefined);
    store.dispatches.put(batch, SCOPE, fast, slow);
  });
  t.strictSame(ids(store.dispatches.queued(SCOPE, 't1')), ['slow', 'first']);
  t.strictSame(ids([...store.dispatches.listByThread(SCOPE, 't1', { offset: 0, limit: 5 })]), [
    'slow',
    'first',
  ]);
});

t.test('finds open dispatches of all scopes without reading finished ones', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    for (let i = 0; i < 300; i += 1)
      store.dispatches.put(batch, SCOPE, dispatch(`ended${i}`, { status: 'Acked' }), undefined);
    store.dispatches.put(batch, SCOPE, dispatch('queued'), undefined);
    store.dispatches.put(batch, 'other', dispatch('claimed', { status: 'Claimed' }), undefined);
  });
  const before = store.reads;
  const open = store.dispatches.open(undefined, 10);
  t.strictSame(
    open.map(({ scope, dispatch_id, dispatch }) => [scope, dispatch_id, dispatch?.status]),
    [
      [SCOPE, 'queued', 'Queued'],
      ['other', 'claimed', 'Claimed'],
    ],
  );
  const [first, ...rest] = open;
  t.strictSame(store.dispatches.open(undefined, 1), [first]);
  t.strictSame(store.dispatches.open(first, 10), rest);
  t.ok(store.reads - before <= 12);
});

const collected = (store: Store, before: number, limit = 10): string[][] =>
  store.dispatches.ended(before, limit).map(({ scope, dispatch: item }) => [scope, item.dispatch_id]);

t.test('finds finished dispatches of all scopes by the time of their end, oldest first', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    const put = (id: string, fields: Partial<Dispatch>, scope = SCOPE) =>
      store.dispatches.put(batch, scope, dispatch(id, fields), undefined);
    put('cancelled', { status: 'Cancelled', completed_at: 30, updated_at: 90 });
    put('acked', { status: 'Acked', completed_at: 10 });
    put('superseded', { status: 'Superseded', completed_at: 20 }, 'other');
    put('dead', { status: 'DeadLetter', updated_at: 20 });
    put('young', { status: 'Acked', completed_at: 40 });
    put('queued', { updated_at: 5 });
    put('claimed', { status: 'Claimed', completed_at: 5 });
  });
  const all = [
    [SCOPE, 'acked'],
    ['other', 'superseded'],
    [SCOPE, 'dead'],
    [SCOPE, 'cancelled'],
  ];
  t.strictSame(collected(store, 40), all);
  t.strictSame(collected(store, 40, 2), all.slice(0, 2));
  t.strictSame(collected(store, 30), all.slice(0, 3), 'a dispatch of exactly the maximum age is kept');
  t.strictSame(collected(store, 10), []);
});

t.test('collects a dispatch once that was removed or has changed since its end', async (t) => {
  const store = await storeFor(t);
  const claimed = dispatch('d', { status: 'Claimed', updated_at: 1 });
  const acked = dispatch('d', { status: 'Acked', updated_at: 2 });
  const answered = dispatch('d', { status: 'Acked', completed_at: 7, updated_at: 7 });
  await write(store, (batch) => store.dispatches.put(batch, SCOPE, claimed, undefined));
  t.strictSame(collected(store, 100), []);
  await write(store, (batch) => store.dispatches.put(batch, SCOPE, acked, claimed));
  await write(store, (batch) => store.dispatches.put(batch, SCOPE, answered, acked));
  t.strictSame(store.dispatches.ended(100, 10), [{ scope: SCOPE, dispatch: answered }]);
  t.strictSame(collected(store, 7), []);
  await write(store, (batch) => store.dispatches.remove(batch, SCOPE, answered));
  t.strictSame(collected(store, 100), []);
});

t.test('reads only the collected dispatches', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    for (let i = 0; i < 300; i += 1) {
      store.dispatches.put(batch, SCOPE, dispatch(`open${i}`, { updated_at: 1 }), undefined);
      const ended = dispatch(`ended${i}`, { status: 'Acked', completed_at: i });
      store.dispatches.put(batch, SCOPE, ended, undefined);
    }
  });
  const before = store.reads;
  t.equal(collected(store, 200, 5).length, 5);
  t.equal(store.reads - before, 10);
});

t.test('writes one more row for an end, and none for an unfinished dispatch', async (t) => {
  const store = await storeFor(t);
  const writesOf = (after: Dispatch, before: Dispatch): number => {
    const batch = store.batch('commons');
    store.dispatches.put(batch, SCOPE, after, before);
    return batch.writes.length;
  };
  const queued = dispatch('d');
  const claimed = dispatch('d', { status: 'Claimed' });
  await write(store, (batch) => store.dispatches.put(batch, SCOPE, queued, undefined));
  t.equal(writesOf(claimed, queued), 1, 'the record is written');
  t.equal(writesOf({ ...claimed, lease_until: 9 }, claimed), 1, 'the record is written');
  const acked = dispatch('d', { status: 'Acked' });
  t.equal(writesOf(acked, claimed), 3, 'the record, the open list and the list of ends are written');
  t.equal(writesOf({ ...acked, run_response: 'late' }, acked), 1, 'the record is written');
});
