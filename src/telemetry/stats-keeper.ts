import type { Clock } from '../schema/clock.ts';
import { timerMs } from '../schema/timer.ts';
import type { Store } from '../store/index.ts';
import type { RuntimeStats } from './runtime-stats.ts';

/**
 * Keeps the statistics of agents through a restart (evals-and-traces.md 10): what has changed is written at the end of
 * every bucket and when the service stops, and what has aged out is removed with it. A crash loses the bucket that is
 * under way, and nothing older.
 */
export type StatsKeeper = {
  /** Takes up what an earlier process kept, and keeps from now on. */
  start(): void;
  /** Keeps what there is, the last time. */
  stop(): Promise<void>;
};

type Deps = {
  stats: RuntimeStats;
  store: Pick<Store, 'batch' | 'commit' | 'runtimeStats'>;
  clock: Clock;
  log: { warn(data: object, text: string): void };
};

export const createStatsKeeper = ({ stats, store, clock, log }: Deps): StatsKeeper => {
  const table = store.runtimeStats;
  let timer: NodeJS.Timeout | undefined;
  /** Written by a commit that failed: they go into the next one. */
  let left: ReturnType<RuntimeStats['takeChanged']> = [];

  const save = async (): Promise<void> => {
    const { first, last } = stats.span();
    const buckets = [...left, ...stats.takeChanged()].filter(({ from }) => from >= first && from <= last);
    left = [];
    const batch = store.batch();
    table.keepWithin(batch, first, last);
    for (const bucket of buckets) table.put(batch, bucket);
    if (batch.writes.length === 0) return;
    try {
      await store.commit(batch);
    } catch (err) {
      left = buckets;
      log.warn({ err }, 'statistics of agents are not kept; the next bucket tries again');
    }
  };

  const saveAtEndOfBucket = (): void => {
    const length = stats.bucketSeconds * 1000;
    const toEnd = length - (clock.now() % length);
    timer = setTimeout(
      () => {
        void save().finally(() => {
          if (timer) saveAtEndOfBucket();
        });
      },
      timerMs(Math.max(toEnd, 1)),
    ).unref();
  };

  const takeUp = (): void => {
    try {
      for (const bucket of table.all()) stats.restore(bucket);
    } catch (err) {
      log.warn({ err }, 'statistics of agents cannot be read: they begin anew');
      const batch = store.batch();
      table.clear(batch);
      store.commit(batch).catch((error: unknown) => log.warn({ err: error }, 'they cannot be removed'));
    }
  };

  return {
    start() {
      takeUp();
      saveAtEndOfBucket();
    },
    async stop() {
      if (!timer) return;
      clearTimeout(timer);
      timer = undefined;
      await save();
    },
  };
};
