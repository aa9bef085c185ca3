import type { BudgetSubject } from '../../schema/budget.ts';
import { subjectOfRun } from '../run/payer.ts';
import { isSlotFree, waitForSlot } from './concurrency.ts';
import { nextRun } from './queue.ts';
import type { Thread } from './state.ts';

/**
 * Whether a run of a thread may start now: a concurrency slot is free, and budgets that limit concurrent runs have room
 * for its user. A run that tool calls drive needs neither.
 */

/** Whether the run of the request in progress may not start now. */
export const isFull = ({ slot, asking, deps }: Thread): boolean =>
  !isSlotFree(slot) || (asking !== undefined && deps.meter?.hasRoom(asking) === false);

/** Whether the next queued run may start now. */
export const isNextFree = (thread: Thread): boolean => {
  if (!isSlotFree(thread.slot)) return false;
  const subject = nextSubject(thread);
  return subject === undefined || thread.deps.meter?.hasRoom(subject) !== false;
};

/** Queues the thread until its next run may start. */
export const waitForRoom = (thread: Thread): void => {
  const subject = nextSubject(thread);
  const { meter } = thread.deps;
  waitForSlot(thread.slot, subject && meter && (() => meter.hasRoom(subject)));
};

/** Undefined while no budget limits concurrent runs. */
const nextSubject = (thread: Thread): BudgetSubject | undefined => {
  const { deps, scope, queue } = thread;
  const run = deps.meter?.limitsRuns() ? nextRun(queue) : undefined;
  return run && subjectOfRun(deps, scope, run);
};
