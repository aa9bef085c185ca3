import type { Clock } from '../../schema/clock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { timerMs } from '../../schema/timer.ts';
import type { Store } from '../../store/index.ts';
import type { RuntimeStats } from './runtime-stats.ts';

/**
 * Persists the statistics of agents across restarts (evals-and-traces.md 10): changed buckets are written at the end of
 * every bucket and when the service stops, and expired ones are removed with them. A crash loses the current bucket
 * only.
 */
export type StatsKeeper = {
  /** Restores the buckets of an earlier process, and persists changes from then on. */
  start(): void;
  /** Persists the remaining changes. */
  stop(): Promise<void>;
};

type Deps = {
  stats: RuntimeStats;
  store: Pick<Store, 'batch' | 'commit' | 'runtimeStats'>;
  clock: Clock;
  log: Pick<ServiceLog, 'warn'>;
};

export const createStatsKeeper = ({ stats, store, clock, log }: Deps): StatsKeeper => {
  const table = store.runtimeStats;
  let timer: NodeJS.Timeout | undefined;
  /** Buckets of a failed commit, which are part of the next one. */
  let unsaved: ReturnType<RuntimeStats['takeChanged']> = [];

  const save = async (): Promise<void> => {
    const { first, last } = stats.span();
    const buckets = [...unsaved, ...stats.takeChanged()].filter(({ from }) => from >= first && from <= last);
    unsaved = [];
    const batch = store.batch('member');
    table.keepWithin(batch, first, last);
    for (const bucket of buckets) table.put(batch, bucket);
    if (batch.writes.length === 0) return;
    try {
      await store.commit(batch);
    } catch (err) {
      unsaved = buckets;
      log.warn('stats.write_failed', { err });
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

  const restoreAll = (): void => {
    try {
      for (const bucket of table.all()) stats.restore(bucket);
    } catch (err) {
      log.warn('stats.read_failed', { err });
      const batch = store.batch('member');
      table.clear(batch);
      store.commit(batch).catch((error: unknown) => log.warn('stats.reset_failed', { err: error }));
    }
  };

  return {
    start() {
      restoreAll();
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
