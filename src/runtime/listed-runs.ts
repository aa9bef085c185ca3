import type { Run } from '../schema/run.ts';
import { awaitsTasks } from '../schema/run-state.ts';
import type { Batch } from '../store/index.ts';
import { expiryOf } from './expiry.ts';
import type { LedgerStore } from './ledger.ts';

/** The lists by which this process, or the next one, finds runs that somebody has to look at (runtime.md 17). */

type Change = { scope: string; before: Run | undefined; after: Run };

export const listRun = (store: LedgerStore, batch: Batch, change: Change): void => {
  listDeadline(store, batch, change);
  listAwaiting(store, batch, change);
  listDriven(store, batch, change);
};

const rowOf = ({ scope, after: { thread_id, run_id } }: Change) => ({ scope, thread_id, run_id });

/** A wait that has an end is found by its time. */
const listDeadline = ({ deadlines }: LedgerStore, batch: Batch, change: Change): void => {
  const was = change.before && expiryOf(change.before);
  const is = expiryOf(change.after);
  if (was === is) return;
  const row = rowOf(change);
  if (was !== undefined) deadlines.remove(batch, { at: was, ...row });
  if (is !== undefined) deadlines.put(batch, { at: is, ...row });
};

/** A wait for tasks is found by the next process, which does not have them. */
const listAwaiting = ({ awaiting }: LedgerStore, batch: Batch, change: Change): void => {
  const is = awaitsTasks(change.after);
  if (awaitsTasks(change.before) === is) return;
  if (is) awaiting.put(batch, rowOf(change));
  else awaiting.remove(batch, rowOf(change));
};

/**
 * A run of a sub-agent is found by the next process. One that a call follows to its end is settled with it; of any
 * other end the parent is told behind this commit, and then nobody has to look for the run any more.
 */
const listDriven = ({ driven }: LedgerStore, batch: Batch, change: Change): void => {
  const { before, after } = change;
  if (after.parent_run_id === null) return;
  const isFollowed = before?.status === 'running' && after.dispatch_id === undefined;
  if (!before) driven.put(batch, rowOf(change));
  else if (after.status === 'done' && isFollowed) driven.remove(batch, rowOf(change));
};
