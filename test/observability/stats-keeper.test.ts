import t, { type Test } from 'tap';
import { createRuntimeStats, type RuntimeStats } from '../../src/observability/statistics/runtime-stats.ts';
import { createStatsKeeper } from '../../src/observability/statistics/stats-keeper.ts';
import { openStore } from '../../src/store/index.ts';
import { eventually } from '../service/troupe.ts';

/** Statistics of agents across a restart: evals-and-traces.md 10. */

const BUCKET_MS = 600_000;
const BEGIN = 1_767_225_600_000;

const world = async (t: Test) => {
  const store = await openStore({ dir: t.testdir(), durability: 'process' });
  t.teardown(() => store.close());
  const clock = { time: BEGIN, now: () => clock.time };
  const warnings: string[] = [];
  /** A new process: its state is what was stored. */
  const begin = (options: { bucketSeconds?: number; bucketCount?: number } = {}) => {
    const stats = createRuntimeStats({ clock, ...options });
    const log = { warn: (event: string) => warnings.push(event) };
    const keeper = createStatsKeeper({ stats, store, clock, log });
    keeper.start();
    t.teardown(() => keeper.stop());
    return { stats, keeper };
  };
  return { store, clock, begin, warnings, kept: () => [...store.runtimeStats.all()] };
};

const BY = { provider: 'p', model: 'm' };

const work = (stats: RuntimeStats, durationMs: number): void => {
  const error = durationMs === 7 ? 'unauthorized' : undefined;
  stats.inference('a', { ...BY, durationMs, error, inputTokens: 3, outputTokens: 4, usd: 0.5 });
  stats.runEnded('a', { run_id: `run ${durationMs}`, termination: error ? 'error' : 'natural_end' });
  stats.tool('a', { tool: 'search', durationMs, failed: false });
  stats.suspension('a');
  stats.handoff('a');
  stats.delegation('a');
};

t.test('statistics survive a graceful stop, and continue in the same bucket', async (t) => {
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

t.test('a crash loses the current bucket, and nothing older', async (t) => {
  const { begin, kept, clock } = await world(t);
  const { stats } = begin();
  work(stats, 7);
  clock.time += BUCKET_MS - 1;
  // The bucket in which this process starts ends in a millisecond.
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

t.test('buckets older than the window are removed, and the rows never exceed it', async (t) => {
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

t.test('removes buckets from a time ahead of a clock that was set back', async (t) => {
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

t.test('ignores buckets of another length', async (t) => {
  const { begin } = await world(t);
  const first = begin();
  work(first.stats, 7);
  await first.keeper.stop();
  t.strictSame(begin({ bucketSeconds: 60 }).stats.list(), []);
  t.match(begin().stats.list(), [{ inference_count: 1 }]);
});

t.test('a server with any number of tools uses bounded memory', (t) => {
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

t.test('reads buckets of earlier versions, without runs and models', async (t) => {
  const { begin, kept, store } = await world(t);
  const first = begin();
  work(first.stats, 7);
  await first.keeper.stop();
  t.match(begin().stats.list(), [{ failed_runs: 1, last_run: { run_id: 'run 7' } }]);
  const batch = store.batch('commons');
  for (const { failed_runs: _failed, models: _models, last_run: _last, ...earlier } of kept())
    store.runtimeStats.put(batch, earlier);
  await store.commit(batch, 'progress');
  const [agent] = begin().stats.list();
  t.match(agent, { failed_runs: 0, inferences_by_model: [], error_count: 1 });
  t.notOk(agent && 'last_run' in agent);
});

t.test('tokens of aborted attempts are kept, and are zero in buckets of earlier versions', async (t) => {
  const { begin, kept, store } = await world(t);
  const first = begin();
  work(first.stats, 5);
  first.stats.cutOff('a', { ...BY, input: 30, output: 4 });
  await first.keeper.stop();
  t.match(begin().stats.list(), [
    { input_tokens: 3, cut_off: { input_tokens: 30, output_tokens: 4, estimated: true } },
  ]);
  const batch = store.batch('commons');
  for (const { cut_off_input_tokens: _input, cut_off_output_tokens: _output, ...earlier } of kept())
    store.runtimeStats.put(batch, earlier);
  await store.commit(batch, 'progress');
  t.match(begin().stats.list(), [
    { input_tokens: 3, cut_off: { input_tokens: 0, output_tokens: 0, estimated: true } },
  ]);
});
