import { Unavailable } from '../schema/outcome.ts';
import { quiet } from './ledger.ts';
import { channelOf, unread } from './readers.ts';
import { abandonRun, dropRun } from './run-control.ts';
import { giveBackSlot } from './slots.ts';
import { type Thread, vacant } from './thread.ts';

/** How the actor of a thread is given up with work left: for another one, which is made from the store. */

/** A failure of the actor, or of one of its commits. */
export const retireThread = (thread: Thread, error: unknown): void => {
  const { deps, id, active, held } = thread;
  const isStore = error instanceof Unavailable;
  if (isStore) deps.log.warn({ thread_id: id, reason: error.message }, MADE_AGAIN);
  else deps.log.error({ err: error, thread_id: id }, MADE_AGAIN);
  thread.isOwnFault = !isStore || thread.failures >= deps.settings.mailbox.max_attempts;
  if (active) abandonRun(active);
  if (held) dropRun(held);
  leaveThread(thread);
};

const MADE_AGAIN = 'the thread is made again from the store';

export const LET_GO = 'the thread was let go; try again';

/** Readers of what executed or was to execute go on with the next actor. */
export const leaveThread = (thread: Thread): void => {
  const { around, readers, rests, slot, failures, isOwnFault } = thread;
  clearTimeout(thread.alarm);
  rests.letGo();
  thread.claimant?.refuse(new Unavailable(LET_GO));
  thread.claimant = undefined;
  for (const run_id of unread(readers)) around.onStreamLeft(run_id, channelOf(readers, run_id).channel);
  giveBackSlot(slot);
  const silent = quiet(thread.ledger).then(() => vacant(thread));
  // What it waited for is told to nobody.
  const stop = (): void => void thread.actor.stop();
  void silent.then(stop, stop);
  around.onRetired(silent, { failures: failures + 1, counts: isOwnFault });
};
