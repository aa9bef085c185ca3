import type { RuntimeDeps } from './deps.ts';
import type { Supervisor } from './supervisor.ts';

/**
 * Takes up what an earlier process left behind (runtime.md 17). Commits are whole: a run without its dispatch, a
 * terminal dispatch without the end of its run, or a commit without its events cannot be found. Making the actor
 * of a thread reclaims dispatches whose worker is gone, waking it starts what is queued; runs that wait stay as
 * they are, unless they wait for tasks: those are gone with their process, and the run is told so. Reads open dispatches and pending messages only, however much has ended.
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
  for (const { scope, entry } of deps.store.pending.all()) {
    if (threads.has(`${scope}\0${entry.thread_id}`)) continue;
    const { thread_id, pending_id } = entry;
    deps.log.warn({ thread_id, pending_id }, 'a message waits on a thread that has no work');
  }
  for (const { scope, thread_id } of threads.values()) supervisor.actor(scope, thread_id).wake();
  for (const { scope, thread_id, run_id } of Array.from(deps.store.awaiting.all())) {
    supervisor
      .actor(scope, thread_id)
      .told({ run_id, staged() {} })
      .catch((err) => deps.log.error({ err, run_id }, 'a run that waits for tasks is not woken'));
  }
  if (threads.size > 0) deps.log.info({ threads: threads.size }, 'work of an earlier process goes on');
};
