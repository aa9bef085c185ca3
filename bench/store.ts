import type { Benchmark, Context } from './benchmark.ts';
import type { Answer } from './programs/store-worker.ts';
import { percentile } from './rounds.ts';
import type { Measured } from './row.ts';
import type { Durability } from './servers.ts';
import { type StoreWorker, startStoreWorker } from './store-worker.ts';

/** Commits per second, each of the batch that accepts a run, by 1, 8 and 64 committers. */

const CONCURRENCY = [1, 8, 64];

const rateOf = ({ commits, seconds }: Answer): number => commits / seconds;

const measure = async (
  worker: StoreWorker,
  load: { durability: Durability; concurrency: number; duration_ms: number },
): Promise<Measured> => {
  const order = { ...load, pause_ms: 0 };
  const mine = await worker.measure({ ...order, of: 'store' });
  const lmdb = await worker.measure({ ...order, of: 'lmdb' });
  return {
    metric: `commits, ${load.concurrency} at a time, ${load.durability}`,
    unit: 'commits/s',
    better: 'higher',
    baseline: '20 puts on bare lmdb',
    rounds: [
      {
        value: rateOf(mine),
        baseline: rateOf(lmdb),
        p50: percentile(mine.milliseconds, 50),
        p99: percentile(mine.milliseconds, 99),
      },
    ],
  };
};

export const store: Benchmark = {
  name: 'store',
  title: 'store: commits of the batch that accepts a run, against 20 puts on bare lmdb; p50 and p99 are ms',
  async run(context: Context) {
    const worker = startStoreWorker(context);
    const rows: Measured[] = [];
    await measure(worker, { durability: 'process', concurrency: 8, duration_ms: 100 });
    const duration_ms = context.roundMs(1500);
    for (const durability of ['process', 'power'] as const) {
      for (const concurrency of CONCURRENCY) {
        rows.push(await measure(worker, { durability, concurrency, duration_ms }));
      }
    }
    await worker.stop();
    return rows;
  },
};
