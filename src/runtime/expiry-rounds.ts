import { monotonic } from '../schema/clock.ts';
import type { Deadline } from '../store/index.ts';
import type { RuntimeDeps } from './deps.ts';
import { expiryOf } from './expiry.ts';
import type { Supervisor } from './supervisor.ts';
import { expireTickets } from './thread-requests.ts';

/**
 * Tickets whose time is over are decided as they say (runtime.md 12).
 *
 * Guarantees: every deadline that is over is looked at in a round, however many of them cannot be applied: those
 * are logged with their ids, and tried again after a pause that grows. A row that no run answers for is removed.
 */

/** So many are decided at once. */
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
    // Rows move with the record of their run, in one commit: this one was left by accident.
    const batch = store.batch();
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
      log.error({ err, thread_id, run_id }, 'a ticket is over and cannot be decided; it is tried again');
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

/** Rows that are gone are not tried again, and so nobody else removes what is known of them. */
const forgetOld = (failures: Map<string, Failure>, now: number): void => {
  for (const [key, { until }] of failures) if (until < now - 2 * LONGEST_PAUSE_MS) failures.delete(key);
};
