import { type Clock, seconds } from '../../schema/clock.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { timerMs } from '../../schema/timer.ts';
import type { Batch, Expired, Store } from '../../store/index.ts';

/**
 * Removes traces that are older than the retention, in chunks. The traces of executing runs, and of callers that hold
 * them, stay.
 */
export type Retention = {
  /** Prevents the removal while the run executes in this process. Call the returned function when it no longer does. */
  protectLive(run_id: string): () => void;
  /** Prevents the removal until the returned function is called. */
  hold(run_id: string): () => void;
  prune(): Promise<number>;
  /** Prunes now, and at regular intervals. */
  start(): void;
  stop(): void;
};

type Deps = {
  store: Pick<Store, 'traces' | 'batch' | 'commit'>;
  clock: Pick<Clock, 'now'>;
  log: Pick<ServiceLog, 'warn'>;
  settings: { retentionDays: number; pruneIntervalSecs: number };
};

const DAY_SECS = 86_400;
/** Number of traces that one commit checks. */
const CHUNK = 100;

export const createRetention = ({ store, clock, log, settings }: Deps): Retention => {
  const live = new Set<string>();
  /** Number of holds per trace. */
  const holds = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  const prune = async (): Promise<number> => {
    const before = seconds(clock.now()) - settings.retentionDays * DAY_SECS;
    let removed = 0;
    let place: Expired['next'];
    do {
      const { run_ids, next } = store.traces.expired(before, CHUNK, place);
      const old = run_ids.filter((run_id) => !live.has(run_id) && !holds.has(run_id));
      await commit(store, (batch) => {
        for (const run_id of old) store.traces.remove(batch, run_id);
      });
      // Yields to the event loop, even if nothing was removed.
      await new Promise(setImmediate);
      removed += old.length;
      place = next;
    } while (place);
    return removed;
  };

  const pruneQuietly = (): void => {
    prune().catch((err: unknown) => log.warn('trace.prune_failed', { err }));
  };

  return {
    protectLive(run_id) {
      live.add(run_id);
      return () => live.delete(run_id);
    },
    hold(run_id) {
      holds.set(run_id, (holds.get(run_id) ?? 0) + 1);
      return () => {
        const others = (holds.get(run_id) ?? 0) - 1;
        if (others > 0) holds.set(run_id, others);
        else holds.delete(run_id);
      };
    },
    prune,
    start() {
      pruneQuietly();
      timer = setInterval(pruneQuietly, timerMs(settings.pruneIntervalSecs * 1000)).unref();
    },
    stop: () => clearInterval(timer),
  };
};

export const commit = async (
  store: Pick<Store, 'batch' | 'commit'>,
  put: (into: Batch) => void,
): Promise<void> => {
  const batch = store.batch('commons');
  put(batch);
  await store.commit(batch);
};
