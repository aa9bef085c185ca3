import { Unavailable } from '../../schema/outcome.ts';
import { quiet } from '../ledger/ledger.ts';
import { abandonRun, dropRun } from '../run/control.ts';
import { releaseSlot } from './concurrency.ts';
import { awaitedRuns, takeChannel } from './pending-readers.ts';
import { type Thread, whenIdle } from './state.ts';

/** Retires the actor of a thread with work left; a replacement is created from the store. */

/** Called after a failure of the actor, or of one of its commits. */
export const retireThread = (thread: Thread, error: unknown): void => {
  const { deps, id, active, suspended } = thread;
  const isStore = error instanceof Unavailable;
  if (isStore) deps.log.warn('thread.rebuilt', { thread_id: id, reason: error.message });
  else deps.log.error('thread.failed', { err: error, thread_id: id });
  thread.isOwnFault = !isStore || thread.failures >= deps.settings.mailbox.max_attempts;
  if (active) abandonRun(active);
  if (suspended) dropRun(suspended);
  handOverThread(thread);
};

/**
 * Called when the thread is about to be moved. Its runs stop at their last commit, and continue with the actor of the
 * thread at its new place; nothing more is written here.
 */
export const withdrawThread = (thread: Thread): void => {
  const { active, suspended, ledger } = thread;
  thread.isOwnFault = false;
  ledger.broken = true;
  if (active) abandonRun(active);
  if (suspended) dropRun(suspended);
  handOverThread(thread);
};

export const RELEASED = 'the thread was released; retry';

/** Releases the thread. Readers of executing and queued runs are handed over to the replacement actor. */
export const handOverThread = (thread: Thread): void => {
  const { host, readers, settlements, slot, failures, isOwnFault } = thread;
  clearTimeout(thread.alarm);
  settlements.releaseAll();
  thread.pendingForeground?.refuse(new Unavailable(RELEASED));
  thread.pendingForeground = undefined;
  for (const run_id of awaitedRuns(readers)) host.onStreamLeft(run_id, takeChannel(readers, run_id).channel);
  thread.leaveRoom();
  releaseSlot(slot);
  const silent = quiet(thread.ledger).then(() => whenIdle(thread));
  // Further notifications of the actor are dropped.
  const stop = (): void => void thread.actor.stop();
  void silent.then(stop, stop);
  host.onRetired(silent, { failures: failures + 1, counts: isOwnFault });
};
