import type { Answer } from './programs/store-worker.ts';
import type { Benchmark, Context, Row } from './result.ts';
import { interleaved, median, percentile, ratioOf } from './rounds.ts';
import { type StoreWorker, startStoreWorker } from './store-worker.ts';

/** Commits a second, each the batch that accepts a run, by one, 8 and 64 committers. */

const CONCURRENCY = [1, 8, 64];

const measure = async (
  { short }: Context,
  worker: StoreWorker,
  durability: 'process' | 'power',
  concurrency: number,
): Promise<Row> => {
  const order = { durability, concurrency, duration_ms: short ? 100 : 1500, pause_ms: 0 };
  const answers = await interleaved<'store' | 'lmdb', Answer>(short ? 1 : 3, {
    store: () => worker.measure({ ...order, of: 'store' }),
    lmdb: () => worker.measure({ ...order, of: 'lmdb' }),
  });
  const rates = (all: readonly Answer[]): number[] => all.map(({ commits, seconds }) => commits / seconds);
  const times = answers.store.flatMap(({ milliseconds }) => milliseconds);
  return {
    metric: `${concurrency} at a time, ${durability}`,
    unit: 'commits/s',
    troupe: median(rates(answers.store)),
    baseline: median(rates(answers.lmdb)),
    ratio: ratioOf(rates(answers.store), rates(answers.lmdb)),
    p50: percentile(times, 50),
    p99: percentile(times, 99),
  };
};

export const store: Benchmark = {
  name: 'store',
  title: 'store: commits of the batch that accepts a run, beside 20 puts on bare lmdb; p50 and p99 are ms',
  async run(context) {
    const worker = startStoreWorker(context);
    const rows: Row[] = [];
    await measure({ ...context, short: true }, worker, 'process', 8);
    for (const durability of ['process', 'power'] as const) {
      for (const concurrency of CONCURRENCY)
        rows.push(await measure(context, worker, durability, concurrency));
    }
    await worker.stop();
    return rows;
  },
};
