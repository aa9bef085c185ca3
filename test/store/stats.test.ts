import { statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { storeFor } from './open.ts';
import { run, SCOPE, threadRecord, write } from './records.ts';

t.test('reports its size, its pages and the rows of its tables', async (t) => {
  const dir = t.testdir();
  const store = await storeFor(t, { dir });
  const empty = store.stats();
  t.match(empty.rows, { threads: 0, runs: 0, messages: 0 });
  await write(store, (batch) => {
    for (let number = 0; number < 300; number += 1) {
      store.threads.put(batch, SCOPE, threadRecord(`t${number}`, number), undefined);
    }
    store.runs.put(batch, SCOPE, run('r1'), undefined);
    store.state.put(batch, SCOPE, 't1', { filling: 'x'.repeat(1_000_000) });
  });
  const stats = store.stats();
  t.match(stats.rows, { threads: 300, thread_index: 300, runs: 1, run_index: 2, state: 1, dispatches: 0 });
  t.equal(stats.file_bytes, statSync(join(dir, 'data.mdb')).size);
  t.equal(stats.pages * stats.page_bytes, stats.file_bytes);
  t.ok(stats.used_bytes > 1_000_000 + empty.used_bytes);
  t.equal(stats.used_bytes, (stats.pages - stats.free_pages) * stats.page_bytes);
  t.ok(stats.readers >= 1);
});

t.test('counts removed data as free and reuses it', async (t) => {
  const store = await storeFor(t);
  const fill = () =>
    write(store, (batch) => store.state.put(batch, SCOPE, 't1', { filling: 'x'.repeat(1_000_000) }));
  await fill();
  const full = store.stats();
  await write(store, (batch) => store.state.remove(batch, SCOPE, 't1'));
  const removed = store.stats();
  t.ok(removed.free_pages >= full.free_pages + 240, `${full.free_pages} to ${removed.free_pages}`);
  t.equal(removed.rows.state, 0);
  for (let round = 0; round < 6; round += 1) await fill();
  t.ok(store.stats().file_bytes < 6_000_000);
});
