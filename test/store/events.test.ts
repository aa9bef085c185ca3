import t from 'tap';
import { readEventsFrom } from '../../src/routes/replay.ts';
import type { EventScope, Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';
import { event, SCOPE, write } from './records.ts';

/** Three appends. Run a has 2, 3, 5, 8; run b has 6; 1, 4 and 7 belong to no run. */
const log: (string | undefined)[][] = [
  [undefined, 'a', 'a'],
  [undefined, 'a', 'b'],
  [undefined, 'a'],
];

const fill = async (store: Store): Promise<void> => {
  let seq = 1;
  for (const runs of log) {
    const from = seq;
    const events = runs.map((run_id, index) => event(`e${from + index}`, run_id));
    await write(store, (batch) => store.events.append(batch, SCOPE, 't1', from, events));
    seq += events.length;
  }
};

const seqsAfter = (store: Store, by: EventScope, after: number, limit = 100) => {
  const { rows, has_more } = store.events.list(SCOPE, by, after, limit);
  for (const row of rows) t.equal(row.event.event_id, `e${row.seq}`);
  return { seqs: rows.map((row) => row.seq), has_more };
};

t.test('reads the log of a thread or a run from any position', async (t) => {
  const store = await storeFor(t);
  await fill(store);
  const logs: [EventScope, number[]][] = [
    [{ thread_id: 't1' }, [1, 2, 3, 4, 5, 6, 7, 8]],
    [{ run_id: 'a' }, [2, 3, 5, 8]],
    [{ run_id: 'b' }, [6]],
    [{ run_id: 'unknown' }, []],
    [{ thread_id: 'unknown' }, []],
  ];
  for (const [by, all] of logs) {
    for (let after = 0; after <= 9; after += 1) {
      const expected = all.filter((seq) => seq > after);
      t.strictSame(seqsAfter(store, by, after), { seqs: expected, has_more: false });
      t.strictSame(seqsAfter(store, by, after, 2), {
        seqs: expected.slice(0, 2),
        has_more: expected.length > 2,
      });
      t.equal(store.events.has(SCOPE, by, after), all.includes(after));
    }
  }
});

t.test('finds the last sequence number of a log without reading the log', async (t) => {
  const store = await storeFor(t);
  await fill(store);
  const before = store.reads;
  t.equal(store.events.last(SCOPE, 't1'), 8);
  t.equal(store.events.last(SCOPE, 't'), 0);
  t.ok(store.reads - before <= 2);
});

t.test('reads only the events that a page of a long run shows', async (t) => {
  const store = await storeFor(t);
  for (let from = 1; from <= 2000; from += 100) {
    const events = Array.from({ length: 100 }, (_, i) => event(`e${from + i}`, i % 2 ? 'a' : 'b'));
    await write(store, (batch) => store.events.append(batch, SCOPE, 't1', from, events));
  }
  const before = store.reads;
  t.equal(seqsAfter(store, { run_id: 'a' }, 1500, 20).seqs.length, 20);
  t.ok(store.reads - before <= 26);
});

t.test('returns every event once when a long log is read in pages', async (t) => {
  const store = await storeFor(t);
  const events = Array.from({ length: 600 }, (_, index) => event(`e${index + 1}`, 'a'));
  await write(store, (batch) => store.events.append(batch, SCOPE, 't1', 1, events));
  for (const from of [1, 88, 89, 345]) {
    const read = Array.from(readEventsFrom(store, SCOPE, { run_id: 'a' }, from), ({ seq }) => seq);
    t.strictSame(
      read,
      Array.from({ length: 601 - from }, (_, index) => from + index),
    );
  }
});
