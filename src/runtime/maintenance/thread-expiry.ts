import type { ThreadExpiry } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import type { Threads } from '../thread/threads.ts';

/**
 * Deletes expired threads. Each round processes the threads that have expired, even if some of them cannot
 * be deleted: those are logged, and a later round tries them again.
 */

const AT_ONCE = 16;

export const createThreadExpiry = (
  { clock, store, log }: Pick<RuntimeDeps, 'clock' | 'store' | 'log'>,
  { expire }: Pick<Threads, 'expire'>,
  isStopped: () => boolean,
): { round(): Promise<void> } => ({
  async round() {
    const now = clock.now();
    let after: ThreadExpiry | undefined;
    do {
      const page = store.threadExpiries.due(now, AT_ONCE, after);
      await Promise.all(
        page.map(({ scope, thread_id }) =>
          expire(scope, thread_id).catch((err) => log.warn('thread.expiry_failed', { err, thread_id })),
        ),
      );
      after = page.length === AT_ONCE ? page.at(-1) : undefined;
    } while (after && !isStopped());
  },
});
