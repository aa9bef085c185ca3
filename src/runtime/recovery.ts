import type { RuntimeDeps } from './deps.ts';
import type { Supervisor } from './supervisor.ts';

/**
 * Takes up what an earlier process left behind (runtime.md 17). Commits are whole, so there is nothing to repair
 * between rows: making the actor of a thread reclaims dispatches whose worker is gone, waking it starts what is
 * queued. Reads open dispatches only, however many have ended.
 */
export const recover = (
  deps: Pick<RuntimeDeps, 'store' | 'log' | 'observe'>,
  supervisor: Supervisor,
): void => {
  const threads = new Map<string, { scope: string; thread_id: string }>();
  for (const { scope, dispatch } of deps.store.dispatches.open()) {
    if (dispatch.status === 'Queued') deps.observe.mailbox.queued(1);
    threads.set(`${scope}\0${dispatch.thread_id}`, { scope, thread_id: dispatch.thread_id });
  }
  for (const { scope, thread_id } of threads.values()) supervisor.actor(scope, thread_id).wake();
  if (threads.size > 0) deps.log.info({ threads: threads.size }, 'work of an earlier process goes on');
};
