import { NotFound } from '../schema/outcome.ts';
import { logDispatch } from './dispatch-records.ts';
import { threadFacts } from './facts.ts';
import { quiet } from './ledger.ts';
import { cancelWork, withdrawWork, workOf } from './queue.ts';
import type { Cancel, Interrupt, Removal } from './requests.ts';
import { cancelRun, isStoppable } from './run-control.ts';
import { commitInBackground, INTERRUPTED, OVERTAKEN, type Thread, vacant, writeNow } from './thread.ts';
import { endWait, resting } from './thread-waits.ts';
import { bumpEpoch, commit, logEvent, removeThread, type Write } from './write.ts';

/** How the work of a thread is ended from outside: one run, everything that came so far, or the thread itself. */

/** Whatever is queued or executes now belongs to an epoch that is over. Returns how many were queued. */
const overtake = ({ queue, active }: Thread, write: Write, reason: string): number => {
  bumpEpoch(write);
  const superseded = withdrawWork(queue, write, reason);
  if (active && isStoppable(active)) logDispatch(write, 'RunInterrupted', active.dispatch);
  return superseded;
};

/** Nothing is left of what came so far but the run that executes. */
export const clearAll = (thread: Thread, write: Write): number => {
  const superseded = overtake(thread, write, INTERRUPTED);
  for (const run of resting(thread)) endWait(thread, write, run);
  return superseded;
};

/** One run: executing, waiting or queued. */
export const cancel = (thread: Thread, { run_id, done, refuse }: Cancel): void => {
  const { active, ledger, queue } = thread;
  if (active?.run_id === run_id) {
    done(cancelRun(active));
    return;
  }
  const write = writeNow(thread);
  const waiting = ledger.waiting.get(run_id);
  if (waiting) endWait(thread, write, waiting);
  else if (workOf(queue, run_id)) cancelWork(queue, write, run_id);
  else {
    done(false);
    return;
  }
  commit(write, 'input').then(() => done(true), refuse);
};

export const overtakeAll = (thread: Thread): void => {
  const write = writeNow(thread);
  overtake(thread, write, OVERTAKEN);
  commitInBackground(write);
};

export const interrupt = (thread: Thread, { done, refuse }: Interrupt): void => {
  const write = writeNow(thread);
  const superseded = clearAll(thread, write);
  commit(write, 'input').then(() => done(superseded), refuse);
};

export const cancelActive = ({ active }: Thread): void => {
  if (active) cancelRun(active);
};

export const reportTimeout = (thread: Thread): void => {
  const { active, deps } = thread;
  if (!active) return;
  const write = writeNow(thread);
  logDispatch(write, 'MailboxTimeout', active.dispatch, {
    reason: 'local_cancel_release_wait',
    timeout_ms: deps.settings.foreground_release_wait_ms,
  });
  commitInBackground(write);
};

export const remove = (thread: Thread, { strategy, done, refuse }: Removal): void => {
  const { ledger, scope, id, around, deps } = thread;
  const { record } = ledger;
  if (!record) {
    refuse(new NotFound(`thread not found: ${id}`));
    return;
  }
  const write = writeNow(thread);
  clearAll(thread, write);
  removeThread(write);
  const facts = { ...threadFacts(record.thread), child_strategy: strategy };
  logEvent(write, 'ThreadDeleted', facts, { correlation_id: id, origin: 'server' });
  commit(write, 'input').then(done, refuse);
  cancelActive(thread);
  const silent = vacant(thread).then(() => quiet(ledger));
  around.onRetired(silent);
  silent
    .then(() => deps.store.removals.finish(scope, id))
    .catch((err) => deps.log.warn({ err, thread_id: id }, 'rows of a deleted thread are not removed yet'));
};
