import t from 'tap';
import type { MessageBounds, MessageRow, Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { message, SCOPE, write } from './records.ts';

/** Messages 1 to 6: runs a, a, b, a, b, none; the third and fourth are internal. */
const rows: MessageRow[] = [
  { seq: 1, message: message('m1', 'a'), created_at: 10, external: 1 },
  { seq: 2, message: message('m2', 'a'), created_at: 10, external: 2 },
  { seq: 3, message: message('m3', 'b', 'internal'), created_at: 11, external: 2 },
  { seq: 4, message: message('m4', 'a', 'internal'), created_at: 11, external: 2 },
  { seq: 5, message: message('m5', 'b'), created_at: 12, external: 3 },
  { seq: 6, message: message('m6'), created_at: 12, external: 4 },
];

const seqs = (found: Iterable<MessageRow>): number[] => Array.from(found, (row) => row.seq);

/** Each message in a separate commit; none is awaited before the next. */
const fill = (store: Store, thread_id = 't1') =>
  Promise.all(
    rows.map((row) => write(store, (batch) => store.messages.append(batch, SCOPE, thread_id, [row]))),
  );

t.test('reads a message by its sequence number', async (t) => {
  const store = await storeFor(t);
  await fill(store);
  for (const row of rows) t.strictSame(store.messages.at(SCOPE, 't1', row.seq), row);
  t.strictSame(store.messages.last(SCOPE, 't1'), rows.at(-1));
  t.equal(store.messages.last(SCOPE, 't'), undefined);
  t.equal(store.messages.at(SCOPE, 't1', 7), undefined);
});

const bounds: [MessageBounds, number[], number[]][] = [
  [{}, [1, 2, 3, 4, 5, 6], [1, 2, 4]],
  [{ reverse: true }, [6, 5, 4, 3, 2, 1], [4, 2, 1]],
  [{ from: 2, to: 4 }, [2, 3, 4], [2, 4]],
  [{ from: 2, to: 4, reverse: true }, [4, 3, 2], [4, 2]],
  [{ from: 2, limit: 2 }, [2, 3], [2, 4]],
  [{ to: 4, reverse: true, limit: 2 }, [4, 3], [4, 2]],
  [{ limit: 0 }, [], []],
  [{ from: 9 }, [], []],
];

t.test('includes both bounds of a range, in both directions, for threads and runs', async (t) => {
  const store = await storeFor(t);
  await fill(store);
  await fill(store, 't10');
  for (const [range, ofThread, ofRun] of bounds) {
    t.strictSame(seqs(store.messages.range(SCOPE, 't1', range)), ofThread, JSON.stringify(range));
    t.strictSame(seqs(store.messages.ofRun(SCOPE, 't1', 'a', range)), ofRun, JSON.stringify(range));
  }
});

t.test('counts the messages and the external messages of a run in its last message', async (t) => {
  const store = await storeFor(t);
  await fill(store);
  t.strictSame(store.messages.lastOfRun(SCOPE, 't1', 'a'), { seq: 4, count: 3, external: 2 });
  t.strictSame(store.messages.lastOfRun(SCOPE, 't1', 'b'), { seq: 5, count: 2, external: 1 });
  t.equal(store.messages.lastOfRun(SCOPE, 't1', 'c'), undefined);
  await write(store, (batch) =>
    store.messages.append(batch, SCOPE, 't1', [
      { seq: 7, message: message('m7', 'a'), created_at: 13, external: 5 },
      { seq: 8, message: message('m8', 'a'), created_at: 13, external: 6 },
    ]),
  );
  t.strictSame(store.messages.lastOfRun(SCOPE, 't1', 'a'), { seq: 8, count: 5, external: 4 });
  t.strictSame(store.messages.lastOfRun(SCOPE, 't1', 'a', 7), { seq: 7, count: 4, external: 3 });
  t.equal(store.messages.lastOfRun(SCOPE, 't1', 'a', 0), undefined);
});

t.test('removes committed and pending messages of a history, but of no other thread', async (t) => {
  const store = await storeFor(t);
  await fill(store);
  await fill(store, 't10');
  const late = write(store, (batch) =>
    store.messages.append(batch, SCOPE, 't1', [
      { seq: 7, message: message('m7', 'a'), created_at: 13, external: 5 },
    ]),
  );
  const removed = write(store, (batch) => {
    store.messages.append(batch, SCOPE, 't1', [
      { seq: 8, message: message('m8', 'a'), created_at: 13, external: 6 },
    ]);
    store.removals.begin(batch, SCOPE, 't1');
  });
  await Promise.all([late, removed]);
  t.equal(store.messages.last(SCOPE, 't1'), undefined);
  t.equal(store.messages.lastOfRun(SCOPE, 't1', 'a'), undefined);
  t.equal(seqs(store.messages.range(SCOPE, 't10', {})).length, 6);
});

t.test('reads only the messages that a range yields', async (t) => {
  const store = await storeFor(t);
  await write(store, (batch) => {
    for (let seq = 1; seq <= 2000; seq += 1)
      store.messages.append(batch, SCOPE, 't1', [
        { seq, message: message(`m${seq}`), created_at: 1, external: seq },
      ]);
  });
  const before = store.reads;
  for (const row of store.messages.range(SCOPE, 't1', { from: 1500 })) if (row.seq === 1510) break;
  t.ok(store.reads - before <= 12);
});
