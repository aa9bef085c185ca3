import t from 'tap';
import { RunStatus } from '../../src/schema/run.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { startChild } from './child.ts';
import { SCOPE, threadRecord, write } from './records.ts';

const walkThreads = (store: Store, filter: Parameters<Store['threads']['list']>[1]) => {
  const { items, total } = store.threads.list(SCOPE, filter, { offset: 0, limit: 1_000_000 });
  return { ids: items.map(({ thread }) => thread.id), total };
};

t.test('keeps everything acknowledged and exact counts after a kill during commits', async (t) => {
  const dir = t.testdir();
  const acknowledged: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const writer = startChild(t, 'child-write.ts', [dir, String(round * 1_000_000)]);
    for (let lines = 0; lines < 60 + round * 25; lines += 1) acknowledged.push(Number(await writer.line()));
    writer.kill();
    await writer.exit;
  }
  const store = await openStore({ dir, durability: 'process' });
  t.teardown(() => store.close());
  for (const number of acknowledged) {
    t.equal(store.threads.get(SCOPE, `t${number}`)?.thread.metadata.updated_at, number + 0.5);
    t.equal(store.runs.get(SCOPE, `r${number}`)?.status, 'done');
  }
  for (const filter of [{}, { root: true }, { resource_id: 'odd' }, { parent: { scope: SCOPE, id: 't0' } }]) {
    const { ids, total } = walkThreads(store, filter);
    t.equal(new Set(ids).size, total, JSON.stringify(filter));
  }
  const threads = walkThreads(store, {}).ids;
  const perStatus = RunStatus.options.map((status) => {
    const { items, total } = store.runs.list(SCOPE, { status }, { offset: 0, limit: 1_000_000 });
    t.equal(items.length, total, status);
    t.equal(store.runs.count(SCOPE, status), total);
    return total;
  });
  t.equal(
    perStatus.reduce((sum, count) => sum + count),
    threads.length,
  );
  for (const id of threads) {
    t.equal(store.messages.last(SCOPE, id)?.seq, 1);
    t.equal(store.events.list(SCOPE, { run_id: id.replace('t', 'r') }, 0, 5).rows.length, 1);
  }
});

t.test(
  'rejects a commit that does not fit on the disk with those queued behind it, and keeps exact counts',
  async (t) => {
    const dir = t.testdir();
    const child = startChild(t, 'child-fill.ts', [dir], "trap '' XFSZ; ulimit -f 8192;");
    const { small, large, besides, behind, listed, total, after } = JSON.parse(await child.line());
    await child.exit;
    t.equal(small, 'stored');
    t.match(large, /^Unavailable: data directory '.*' cannot be written \(.+\): free space/);
    t.ok(large.includes(dir), 'the error names the folder');
    t.equal(besides, large, 'another write of the same transaction fails');
    t.equal(behind, large, 'a queued commit fails');
    t.equal(after, 'stored', 'a later commit that fits succeeds');
    t.strictSame(listed, ['after', 'small']);
    t.equal(total, 2);
    const store = await openStore({ dir, durability: 'process' });
    t.teardown(() => store.close());
    t.strictSame(store.state.get(SCOPE, 'after'), { filling: 'x'.repeat(10), new_shape: true });
    await write(store, (batch) => store.threads.put(batch, SCOPE, threadRecord('large', 2), undefined));
    t.strictSame(walkThreads(store, {}), { ids: ['large', 'after', 'small'], total: 3 });
  },
);
