import { hasTag, type RunRecord } from '../../schema/run-state.ts';
import type { Batch } from '../../store/index.ts';
import { expiryOf } from '../maintenance/expiry.ts';
import type { LedgerStore } from './ledger.ts';

/** The indexes by which this process, or the next one, finds runs that need further processing (runtime.md 17). */

type Change = { scope: string; before: RunRecord | undefined; after: RunRecord };

export const listRun = (store: LedgerStore, batch: Batch, change: Change): void => {
  listDeadline(store, batch, change);
  listAwaiting(store, batch, change);
  listDriven(store, batch, change);
};

const rowOf = ({ scope, after: { thread_id, run_id } }: Change) => ({ scope, thread_id, run_id });

/** A wait with a deadline is found by its time. */
const listDeadline = ({ deadlines }: LedgerStore, batch: Batch, change: Change): void => {
  const was = change.before && expiryOf(change.before);
  const is = expiryOf(change.after);
  if (was === is) return;
  const row = rowOf(change);
  if (was !== undefined) deadlines.remove(batch, { at: was, ...row });
  if (is !== undefined) deadlines.put(batch, { at: is, ...row });
};

/** A wait for background tasks is found by the next process, in which the tasks do not exist. */
const listAwaiting = ({ awaiting }: LedgerStore, batch: Batch, change: Change): void => {
  const is = awaitsTasks(change.after);
  if ((change.before !== undefined && awaitsTasks(change.before)) === is) return;
  if (is) awaiting.put(batch, rowOf(change));
  else awaiting.remove(batch, rowOf(change));
};

const awaitsTasks = ({ machine_state }: RunRecord): boolean => machine_state === 'waiting.forTasks';

/**
 * A run of a sub-agent is found by the next process. One that a call follows to its end is settled by its record; the
 * parent is notified of any other end after this commit, and then the row is removed.
 */
const listDriven = ({ driven }: LedgerStore, batch: Batch, change: Change): void => {
  const { before, after } = change;
  if (after.parent_run_id === null) return;
  if (!before) driven.put(batch, rowOf(change));
  else if (hasTag(after, 'done') && hasTag(before, 'running') && after.dispatch_id === undefined)
    driven.remove(batch, rowOf(change));
};
