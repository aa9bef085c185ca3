import type { Message } from '../../schema/message.ts';
import type { DeliveryMode } from '../../schema/pending.ts';
import { stage, type Write } from '../ledger/transaction.ts';

/** Delivery of the events of background tasks to their runs (runtime.md 7.4, rule 3). */

/** The message joins the history of its run at the next step, and of no other run. */
export const nextStepOf = (run_id: string): DeliveryMode => ({
  boundary: 'next_step',
  granularity: 'batch',
  target_run_id: run_id,
  fallback_to_new_run: false,
});

export const stageEvent = (write: Write, run_id: string, message: Message | undefined): void => {
  if (message) stage(write, [message], nextStepOf(run_id));
};
