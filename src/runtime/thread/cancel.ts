import { NotFound } from '../../schema/outcome.ts';
import { commit } from '../ledger/commit.ts';
import { threadFacts } from '../ledger/event-payloads.ts';
import { quiet } from '../ledger/ledger.ts';
import { bumpEpoch, logEvent, removeThread, type Write } from '../ledger/transaction.ts';
import { cancelRun, isStoppable } from '../run/control.ts';
import { logDispatch } from '../run/dispatch-records.ts';
import { cancelWork, withdrawWork, workOf } from './queue.ts';
import type { Cancel, Interrupt, Removal } from './request-types.ts';
import { commitInBackground, INTERRUPTED, SUPERSEDED, type Thread, whenIdle, writeNow } from './state.ts';
import { endWait, waitingRuns } from './waiting-runs.ts';

/** Ends work of a thread on request: one run, all current work, or the thread itself. */

/** Starts a new epoch, which supersedes all queued and executing work. Returns the number of queued dispatches. */
const supersede = ({ queue, active }: Thread, write: Write, reason: string): number => {
  bumpEpoch(write);
  const superseded = withdrawWork(queue, write, reason);
  if (active && isStoppable(active)) logDispatch(write, 'RunInterrupted', active.dispatch);
  return superseded;
};

/** Ends all current work except the executing run. */
export const clearAll = (thread: Thread, write: Write): number => {
  const superseded = supersede(thread, write, INTERRUPTED);
  for (const run of waitingRuns(thread)) endWait(thread, write, run);
  return superseded;
};

/** Cancels one run: executing, waiting or queued. */
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

export const supersedeAll = (thread: Thread): void => {
  const write = writeNow(thread);
  supersede(thread, write, SUPERSEDED);
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

export const remove = (thread: Thread, { strategy, isErased, done, refuse }: Removal): void => {
  const { ledger, scope, id, host, deps } = thread;
  const { record } = ledger;
  if (!record) {
    refuse(new NotFound(`thread not found: ${id}`));
    return;
  }
  const write = writeNow(thread);
  clearAll(thread, write);
  removeThread(write);
  const facts = { ...threadFacts(record.thread), child_strategy: strategy };
  if (!isErased) logEvent(write, 'ThreadDeleted', facts, { correlation_id: id, origin: 'server' });
  commit(write, 'input').then(done, refuse);
  cancelActive(thread);
  const silent = whenIdle(thread).then(() => quiet(ledger));
  host.onRetired(silent);
  silent
    .then(() => deps.store.removals.finish(scope, id))
    .catch((err) => deps.log.warn('thread.cleanup_failed', { err, thread_id: id }));
};
