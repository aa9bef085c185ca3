import t, { type Test } from 'tap';
import { openStore } from '../../src/store/index.ts';
import { createRuntimeStats, type RuntimeStats } from '../../src/telemetry/runtime-stats.ts';
import { createStatsKeeper } from '../../src/telemetry/stats-keeper.ts';
import { eventually } from '../service/troupe.ts';

/** Statistics of agents through a restart: evals-and-traces.md 10. */

const BUCKET_MS = 600_000;
const BEGIN = 1_767_225_600_000;

const world = async (t: Test) => {
  const store = await openStore({ dir: t.testdir(), durability: 'process' });
  t.teardown(() => store.close());
  const clock = { time: BEGIN, now: () => clock.time };
  const warnings: string[] = [];
  /** A process that begins: what it remembers is what was kept. */
  const begin = (options: { bucketSeconds?: number; bucketCount?: number } = {}) => {
    const stats = createRuntimeStats({ clock, ...options });
    const log = { warn: (_: object, text: string) => warnings.push(text) };
    const keeper = createStatsKeeper({ stats, store, clock, log });
    keeper.start();
    t.teardown(() => keeper.stop());
    return { stats, keeper };
  };
  return { store, clock, begin, warnings, kept: () => [...store.runtimeStats.all()] };
};

const work = (stats: RuntimeStats, durationMs: number): void => {
  stats.inference('a', { durationMs, failed: durationMs === 7, inputTokens: 3, outputTokens: 4 });
  stats.tool('a', { tool: 'search', durationMs, failed: false });
  stats.suspension('a');
  stats.handoff('a');
  stats.delegation('a');
};

t.test('what an agent did is the same after a graceful stop, and goes on in the same bucket', async (t) => {
  const { begin, kept, clock } = await world(t);
  const first = begin();
  for (let i = 0; i < 3000; i += 1) work(first.stats, i % 97);
  clock.time += BUCKET_MS;
  work(first.stats, 500);
  await first.keeper.stop();
  const second = begin();
  t.strictSame(second.stats.list(), first.stats.list());
  work(first.stats, 9);
  work(second.stats, 9);
  t.strictSame(second.stats.list(), first.stats.list());
  await second.keeper.stop();
  t.equal(kept().length, 2);
  t.strictSame(begin().stats.list(), first.stats.list());
});

t.test('a crash loses the bucket that is under way, and nothing older', async (t) => {
  const { begin, kept, clock } = await world(t);
  const { stats } = begin();
  work(stats, 7);
  clock.time += BUCKET_MS - 1;
  // The one that a process begins in ends in a millisecond.
  const other = begin();
  work(other.stats, 8);
  clock.time += 1;
  await eventually(
    async () => kept().length,
    (rows) => rows === 1,
  );
  work(other.stats, 9);
  t.match(begin().stats.list(), [{ agent_id: 'a', inference_count: 1, max_inference_duration_ms: 8 }]);
});

t.test('what has aged out of the window is removed, and rows never outgrow it', async (t) => {
  const { begin, kept, clock } = await world(t);
  for (let i = 0; i < 20; i += 1) {
    const { stats, keeper } = begin({ bucketCount: 4 });
    work(stats, i);
    await keeper.stop();
    t.ok(kept().length <= 4);
    clock.time += BUCKET_MS;
  }
  const later = begin({ bucketCount: 4 });
  t.match(later.stats.list(), [{ inference_count: 3, min_inference_duration_ms: 17 }]);
  await later.keeper.stop();
  t.equal(kept().length, 3);
});

t.test('what was kept ahead of a clock that was set back is removed', async (t) => {
  const { begin, kept, clock } = await world(t);
  const first = begin();
  clock.time += 365 * 24 * 6 * BUCKET_MS;
  work(first.stats, 7);
  await first.keeper.stop();
  clock.time = BEGIN;
  const second = begin();
  t.strictSame(second.stats.list(), []);
  await second.keeper.stop();
  t.strictSame(kept(), []);
});

t.test('buckets of another length are not taken up', async (t) => {
  const { begin } = await world(t);
  const first = begin();
  work(first.stats, 7);
  await first.keeper.stop();
  t.strictSame(begin({ bucketSeconds: 60 }).stats.list(), []);
  t.match(begin().stats.list(), [{ inference_count: 1 }]);
});

t.test('a server with any number of tools does not fill the memory', (t) => {
  const stats = createRuntimeStats({ clock: { now: () => BEGIN } });
  for (let i = 0; i < 5000; i += 1) stats.tool('a', { tool: `tool ${i}`, durationMs: 1, failed: false });
  const tools = stats.snapshot('a')?.tool_calls_by_tool ?? [];
  t.equal(tools.length, 1001);
  t.match(
    tools.find(({ tool }) => tool === 'unknown'),
    { call_count: 4000 },
  );
  t.end();
});

t.test(
  'tokens of attempts that broke off are kept, and are zero in buckets of earlier versions',
  async (t) => {
    const { begin, kept, store } = await world(t);
    const first = begin();
    work(first.stats, 5);
    first.stats.cutOff('a', { input: 30, output: 4 });
    await first.keeper.stop();
    t.match(begin().stats.list(), [
      { input_tokens: 3, cut_off: { input_tokens: 30, output_tokens: 4, estimated: true } },
    ]);
    const batch = store.batch();
    for (const { cut_off_input_tokens: _input, cut_off_output_tokens: _output, ...earlier } of kept())
      store.runtimeStats.put(batch, earlier);
    await store.commit(batch, 'progress');
    t.match(begin().stats.list(), [
      { input_tokens: 3, cut_off: { input_tokens: 0, output_tokens: 0, estimated: true } },
    ]);
  },
);
