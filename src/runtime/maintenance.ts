import { monotonic } from '../schema/clock.ts';
import { timerMs } from '../schema/timer.ts';
import type { RuntimeDeps } from './deps.ts';
import { createExpiry } from './expiry-rounds.ts';
import type { Supervisor } from './supervisor.ts';
import { wakeThread } from './thread-alarm.ts';
import { renewThread } from './thread-life.ts';

/**
 * What goes on beside the work (runtime.md 16, 17): leases are renewed, threads whose actor failed are taken up
 * again, tickets expire, and what has been kept long enough is removed. Every round is bounded; what it leaves is
 * for the next. What fails for one thread is logged with its id and keeps no other one waiting.
 *
 * The process has the store for itself, so a lease can only be lost by a thread that this process let go of: those
 * are the ones that are taken up again, and nobody has to read leases to find them.
 */

export type Maintenance = { stop(): void };

const AT_ONCE = 500;
/** Tickets expire by the second; a round reads one row when none is due. */
const DEADLINE_POLL_MS = 1000;
const DAY_MS = 86_400_000;

export const startMaintenance = (deps: RuntimeDeps, supervisor: Supervisor): Maintenance => {
  const { clock, settings, store } = deps;
  const { mailbox } = settings;
  let stopped = false;

  const every = (ms: number, round: () => void | Promise<void>): NodeJS.Timeout => {
    let under = false;
    const tick = async (): Promise<void> => {
      if (under || stopped) return;
      under = true;
      try {
        await round();
      } catch (error) {
        deps.log.warn({ err: error }, 'maintenance failed; the next round tries again');
      } finally {
        under = false;
      }
    };
    return setInterval(tick, timerMs(ms)).unref();
  };

  const renewLeases = (): void => {
    for (const thread of supervisor.busy()) {
      try {
        renewThread(thread);
      } catch (err) {
        deps.log.warn({ err, thread_id: thread.id }, 'the lease of a thread is not renewed');
      }
    }
  };

  /** Nothing is made again while the store is known not to be writable: it would fail again. */
  const takeUp = async (all: boolean): Promise<void> => {
    if (!store.writable) return;
    const due = supervisor.abandoned.due(monotonic(clock), all);
    for (const { scope, id } of all ? due : due.slice(0, mailbox.lease_sweep_batch)) {
      if (stopped) return;
      await supervisor
        .use(scope, id, wakeThread)
        .catch((err) => deps.log.error({ err, thread_id: id }, 'a thread cannot be taken up again'));
    }
  };

  const expiry = createExpiry(deps, supervisor, () => stopped);

  const collectDispatches = async (): Promise<void> => {
    const before = clock.now() - mailbox.gc_retention_secs * 1000;
    for (;;) {
      const ended = store.dispatches.ended(before, AT_ONCE);
      if (ended.length === 0 || stopped) return;
      const batch = store.batch();
      for (const { scope, dispatch } of ended) store.dispatches.remove(batch, scope, dispatch);
      const startedAt = monotonic(clock);
      await store.commit(batch, 'progress');
      deps.observe.mailbox.operation('purged', 'ok', (monotonic(clock) - startedAt) / 1000, ended.length);
    }
  };

  let position: ReturnType<typeof store.events.prune>['next'];
  const pruneEvents = async (): Promise<void> => {
    const before = clock.now() - settings.event_retention_days * DAY_MS;
    do {
      const batch = store.batch();
      const { next } = store.events.prune(batch, before, AT_ONCE, position);
      position = next;
      await store.commit(batch, 'progress');
    } while (position !== undefined && !stopped);
  };

  const timers = [
    every(mailbox.lease_renewal_ms, renewLeases),
    every(Math.min(mailbox.lease_sweep_interval_ms, mailbox.retry_base_ms), () => takeUp(false)),
    every(DEADLINE_POLL_MS, expiry.round),
    every(mailbox.gc_interval_secs * 1000, collectDispatches),
    ...(settings.event_retention_days > 0 ? [every(mailbox.gc_interval_secs * 1000, pruneEvents)] : []),
  ];

  const finishRemovals = (): Promise<void> =>
    store.removals
      .finishAll()
      .catch((err) => deps.log.warn({ err }, 'rows of deleted threads are not removed yet'));
  finishRemovals();

  const forget = store.onRecovered(() => {
    if (stopped) return;
    takeUp(true);
    finishRemovals();
  });

  return {
    stop() {
      stopped = true;
      forget();
      for (const timer of timers) clearInterval(timer);
    },
  };
};
