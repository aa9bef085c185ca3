import { monotonic } from '../../schema/clock.ts';
import type { Deadline } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { expireTickets } from '../thread/requests.ts';
import type { Supervisor } from '../thread/supervisor.ts';
import { expiryOf } from './expiry.ts';

/**
 * Applies the configured outcomes of expired tickets (runtime.md 12).
 *
 * Guarantees: each round processes every expired deadline, even if some of them cannot be applied: those are logged
 * with their ids, and retried after a growing delay. A row without a matching run is removed.
 */

/** Number of deadlines that are processed concurrently. */
const PAGE = 64;
const LONGEST_PAUSE_MS = 60_000;

type Failure = { pause: number; until: number };

export const createExpiry = (
  { clock, store, log }: Pick<RuntimeDeps, 'clock' | 'store' | 'log'>,
  supervisor: Pick<Supervisor, 'use'>,
  isStopped: () => boolean,
): { round(): Promise<void> } => {
  const failures = new Map<string, Failure>();

  const expire = async (deadline: Deadline): Promise<void> => {
    const { scope, thread_id, run_id } = deadline;
    const run = store.runs.get(scope, run_id);
    if (run && expiryOf(run) === deadline.at)
      return supervisor.use(scope, thread_id, (thread) => expireTickets(thread, run_id));
    // Rows change with the record of their run in one commit: this one was left over by accident.
    const batch = store.batch({ scope, thread_id });
    store.deadlines.remove(batch, deadline);
    await store.commit(batch, 'progress');
  };

  const tryOne = async (deadline: Deadline): Promise<void> => {
    const key = `${deadline.at} ${deadline.scope} ${deadline.run_id}`;
    const failed = failures.get(key);
    if (failed && failed.until > monotonic(clock)) return;
    try {
      await expire(deadline);
      failures.delete(key);
    } catch (err) {
      const pause = Math.min(LONGEST_PAUSE_MS, (failed?.pause ?? 1000) * 2);
      failures.set(key, { pause, until: monotonic(clock) + pause });
      const { thread_id, run_id } = deadline;
      log.error('ticket.expiry_failed', { err, thread_id, run_id });
    }
  };

  return {
    async round() {
      const now = clock.now();
      let after: Deadline | undefined;
      do {
        const page = store.deadlines.due(now, PAGE, after);
        await Promise.all(page.map(tryOne));
        after = page.length === PAGE ? page.at(-1) : undefined;
      } while (after && !isStopped());
      if (failures.size > 0) forgetOld(failures, monotonic(clock));
    },
  };
};

/** Rows that no longer exist are not retried, so only this function removes their failures. */
const forgetOld = (failures: Map<string, Failure>, now: number): void => {
  for (const [key, { until }] of failures) if (until < now - 2 * LONGEST_PAUSE_MS) failures.delete(key);
};
