import t from 'tap';
import { Integrity } from '../../src/schema/outcome.ts';
import type { TraceSummary } from '../../src/schema/trace.ts';
import { openRoot } from '../../src/store/engine/environment.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { storeFor } from './open.ts';

/** Stored traces: evals-and-traces.md 9.2 to 9.5. */

const summaryOf = (run_id: string, more: Partial<TraceSummary> = {}): TraceSummary => ({
  run_id,
  agent_id: 'a',
  started_at: 100,
  ended_at: 101,
  prompt_ids: [],
  final_status: 'ok',
  ...more,
});

const put = async (
  store: Store,
  summary: TraceSummary,
  lines: string[],
  { total = lines.length, state = 'done' as 'done' | 'open' } = {},
): Promise<void> => {
  const batch = store.batch('commons');
  const at = { created_at: summary.started_at, written_at: summary.started_at };
  store.traces.write(batch, { total, state, summary, ...at }, lines);
  await store.commit(batch);
};

const numbers = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, index) => String(from + index));

t.test('returns the lines of a long trace in order, for any page', async (t) => {
  const store = await storeFor(t);
  await put(store, summaryOf('r'), numbers(0, 700), { state: 'open' });
  await put(store, summaryOf('r'), numbers(700, 3), { total: 703, state: 'open' });
  await put(store, summaryOf('r'), numbers(703, 1797), { total: 2500 });
  await put(store, summaryOf('s'), ['other']);
  for (const [offset, limit] of [
    [0, 1000],
    [255, 2],
    [256, 1],
    [699, 5],
    [702, 1],
    [1000, 1000],
    [2499, 1000],
    [0, 2500],
  ] as const) {
    const { lines, total } = store.traces.page('r', offset, limit);
    t.equal(total, 2500);
    t.strictSame(lines, numbers(offset, Math.min(limit, 2500 - offset)), `${offset} ${limit}`);
  }
  t.strictSame(store.traces.page('r', 2500, 10), { lines: [], total: 2500 });
});

t.test('reads only the rows that a page shows', async (t) => {
  const store = await storeFor(t);
  await put(store, summaryOf('r'), numbers(0, 100_000));
  const before = store.reads;
  store.traces.page('r', 60_000, 10);
  t.ok(store.reads - before <= 8, `${store.reads - before} reads`);
});

t.test('reads only the traces that a list shows', async (t) => {
  const store = await storeFor(t);
  const batch = store.batch('commons');
  for (let index = 0; index < 3000; index += 1) {
    const summary = summaryOf(`r${String(index).padStart(4, '0')}`, {
      started_at: 100 + (index >> 1),
      agent_id: index % 1000 === 0 ? 'rare' : 'a',
    });
    store.traces.write(batch, { total: 1, state: 'done', summary, created_at: 100, written_at: 100 }, ['1']);
  }
  await store.commit(batch);
  const before = store.reads;
  t.strictSame(
    store.traces.list({ limit: 3 }).map(({ run_id }) => run_id),
    ['r2999', 'r2998', 'r2997'],
  );
  t.strictSame(
    store.traces.list({ agent_id: 'rare' }).map(({ run_id }) => run_id),
    ['r2000', 'r1000', 'r0000'],
  );
  t.ok(store.reads - before < 20, `${store.reads - before} reads`);
  t.equal(store.traces.list({}).length, 3000);
  t.equal(store.traces.list({ since: 100_500 }).length, 2998);
});

t.test('keeps expired traces that are pinned or referenced', async (t) => {
  const store = await storeFor(t);
  for (const id of ['pinned', 'curated', 'free']) await put(store, summaryOf(id), ['1']);
  await put(store, summaryOf('young', { started_at: 200 }), ['1']);
  await put(store, summaryOf('unfinished'), ['1'], { state: 'open' });
  const batch = store.batch('commons');
  store.traces.refer(batch, 'pinned', { kind: 'pin', id: 'operator' });
  store.traces.refer(batch, 'curated', { kind: 'dataset', id: 'D' });
  await store.commit(batch);
  const expired = (before: number, most: number): string[] => {
    const found: string[] = [];
    let page = store.traces.expired(before, most);
    for (; ; page = store.traces.expired(before, most, page.next)) {
      found.push(...page.run_ids);
      if (!page.next) return found;
    }
  };
  for (const most of [1, 2, 3, 100]) {
    t.strictSame(expired(200, most), ['free', 'unfinished'], `${most} at a time`);
    t.strictSame(expired(100, most), []);
  }
  const removal = store.batch('commons');
  store.traces.remove(removal, 'free');
  await store.commit(removal);
  t.equal(store.traces.head('free'), undefined);
  t.strictSame(store.traces.page('free', 0, 10), { lines: [], total: 0 });
  t.equal(store.traces.list({}).length, 3);
});

/** Simulates a row that a crash interrupted, which cannot be decoded. */
const tear = async (dir: string, key: [string, number]): Promise<void> => {
  const root = openRoot(dir, undefined);
  const rows = root.openDB<Buffer, [string, number]>('trace_events', { encoding: 'binary' });
  await rows.put(key, Buffer.from([0xd9]));
  await root.close();
};

t.test('drops a torn last row, and reports any other damage', async (t) => {
  const dir = t.testdir();
  const first = await openStore({ dir, durability: 'process' });
  await put(first, summaryOf('r'), numbers(0, 600));
  await put(first, summaryOf('s'), numbers(0, 600));
  await first.close();
  await tear(dir, ['r', 600]);
  await tear(dir, ['s', 256]);
  const store = await storeFor(t, { dir });
  t.strictSame(store.traces.page('r', 500, 1000), { lines: numbers(500, 12), total: 512 });
  t.strictSame(store.traces.page('r', 0, 2), { lines: ['0', '1'], total: 512 });
  t.strictSame(store.traces.page('r', 600, 2), { lines: [], total: 512 });
  t.throws(() => store.traces.page('s', 0, 10), Integrity);
  t.strictSame(store.traces.page('s', 256, 1), { lines: ['256'], total: 600 });
});
