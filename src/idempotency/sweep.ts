import type { Clock } from '../schema/clock.ts';
import type { ServiceLog } from '../schema/log-events.ts';
import { timerMs } from '../schema/timer.ts';
import type { Store } from '../store/index.ts';

export type SweepDeps = {
  store: Pick<Store, 'idempotency' | 'batch' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  log: Pick<ServiceLog, 'warn'>;
  retentionMs: number;
};

const INTERVAL_MS = 3_600_000;

/** Number of rows that one commit removes. */
const PIECE = 500;

/** Removes rows after their retention, now and every hour. Returns a function that stops it. */
export const startSweep = ({ store, clock, log, retentionMs }: SweepDeps): (() => void) => {
  let closed = false;
  const sweep = async (): Promise<void> => {
    for (let pruned = PIECE; pruned === PIECE && !closed; ) {
      const batch = store.batch('commons');
      pruned = store.idempotency.prune(batch, clock.now() - retentionMs, PIECE);
      if (pruned > 0) await store.commit(batch);
    }
  };
  const run = (): void => {
    sweep().catch((err) => log.warn('idempotency.sweep_failed', { err }));
  };
  const timer = setInterval(run, timerMs(INTERVAL_MS)).unref();
  run();
  return () => {
    closed = true;
    clearInterval(timer);
  };
};
