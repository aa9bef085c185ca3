import { monotonic } from '../../schema/clock.ts';
import { timerMs } from '../../schema/timer.ts';
import type { RuntimeDeps } from '../deps.ts';
import { renewThread } from '../thread/lifecycle.ts';
import type { Supervisor } from '../thread/supervisor.ts';
import type { Threads } from '../thread/threads.ts';
import { wakeThread } from '../thread/timer.ts';
import { createExpiry } from './expiry-rounds.ts';
import { createThreadExpiry } from './thread-expiry.ts';

/**
 * Background maintenance (runtime.md 16, 17): renews leases, resumes threads whose actor failed, expires tickets, and
 * removes data past its retention. Every round is bounded; the next round continues with the rest. A failure for one
 * thread is logged with its id and does not delay other threads.
 *
 * The process has exclusive use of the store, so a lease can only be lost by a thread that this process has released:
 * these threads are resumed, and no leases have to be read to find them.
 */

export type Maintenance = { stop(): void };

const AT_ONCE = 500;
/** Tickets and threads expire with a resolution of one second; a round reads one row when none is due. */
const DEADLINE_POLL_MS = 1000;
const DAY_MS = 86_400_000;

/** The state that the rounds share. */
type Rounds = {
  readonly deps: RuntimeDeps;
  readonly supervisor: Supervisor;
  stopped: boolean;
  /** Where the next round of pruning continues. */
  position: Parameters<RuntimeDeps['store']['events']['prune']>[3];
};

export function startMaintenance(
  deps: RuntimeDeps,
  supervisor: Supervisor,
  threads: Pick<Threads, 'expire'>,
): Maintenance {
  const { settings, store } = deps;
  const { lease_renewal_ms, lease_sweep_interval_ms, retry_base_ms, gc_interval_secs } = settings.mailbox;
  const rounds: Rounds = { deps, supervisor, stopped: false, position: undefined };
  const expiry = createExpiry(deps, supervisor, () => rounds.stopped);
  const threadExpiry = createThreadExpiry(deps, threads, () => rounds.stopped);
  const timers = [
    every(rounds, lease_renewal_ms, () => renewLeases(rounds)),
    every(rounds, Math.min(lease_sweep_interval_ms, retry_base_ms), () => resumeFailed(rounds, false)),
    every(rounds, DEADLINE_POLL_MS, expiry.round),
    every(rounds, DEADLINE_POLL_MS, threadExpiry.round),
    every(rounds, gc_interval_secs * 1000, () => collectDispatches(rounds)),
  ];
  if (settings.event_retention_days > 0)
    timers.push(every(rounds, gc_interval_secs * 1000, () => pruneEvents(rounds)));
  finishRemovals(rounds);
  const forget = store.onRecovered(() => {
    if (rounds.stopped) return;
    resumeFailed(rounds, true);
    finishRemovals(rounds);
  });
  return {
    stop() {
      rounds.stopped = true;
      forget();
      for (const timer of timers) clearInterval(timer);
    },
  };
}

/** Starts a round at this interval, unless the previous one is still in progress. */
function every(rounds: Rounds, ms: number, round: () => void | Promise<void>): NodeJS.Timeout {
  let isInProgress = false;
  const tick = async (): Promise<void> => {
    if (isInProgress || rounds.stopped) return;
    isInProgress = true;
    try {
      await round();
    } catch (error) {
      rounds.deps.log.warn('maintenance.failed', { err: error });
    } finally {
      isInProgress = false;
    }
  };
  return setInterval(tick, timerMs(ms)).unref();
}

function renewLeases({ supervisor, deps }: Rounds): void {
  for (const thread of supervisor.busy()) {
    try {
      renewThread(thread);
    } catch (err) {
      deps.log.warn('thread.lease_failed', { err, thread_id: thread.id });
    }
  }
}

/** No actor is recreated while the store is known not to be writable: it would fail again. */
async function resumeFailed(rounds: Rounds, all: boolean): Promise<void> {
  const { deps, supervisor } = rounds;
  if (!deps.store.writable) return;
  const due = supervisor.failedThreads.dueForRetry(monotonic(deps.clock), all);
  for (const { scope, id } of all ? due : due.slice(0, deps.settings.mailbox.lease_sweep_batch)) {
    if (rounds.stopped) return;
    await supervisor
      .use(scope, id, wakeThread)
      .catch((err) => deps.log.error('thread.recovery_failed', { err, thread_id: id }));
  }
}

async function collectDispatches(rounds: Rounds): Promise<void> {
  const { clock, settings, store, observe } = rounds.deps;
  const before = clock.now() - settings.mailbox.gc_retention_secs * 1000;
  for (;;) {
    const ended = store.dispatches.ended(before, AT_ONCE);
    if (ended.length === 0 || rounds.stopped) return;
    const batch = store.batch('commons');
    for (const { scope, dispatch } of ended) store.dispatches.remove(batch, scope, dispatch);
    const startedAt = monotonic(clock);
    await store.commit(batch, 'progress');
    observe.mailbox.operation('purged', 'ok', (monotonic(clock) - startedAt) / 1000, ended.length);
  }
}

async function pruneEvents(rounds: Rounds): Promise<void> {
  const { clock, settings, store } = rounds.deps;
  const before = clock.now() - settings.event_retention_days * DAY_MS;
  do {
    const batch = store.batch('commons');
    rounds.position = store.events.prune(batch, before, AT_ONCE, rounds.position).next;
    await store.commit(batch, 'progress');
  } while (rounds.position !== undefined && !rounds.stopped);
}

function finishRemovals({ deps }: Rounds): Promise<void> {
  return deps.store.removals.finishAll().catch((err) => deps.log.warn('thread.cleanup_failed', { err }));
}
