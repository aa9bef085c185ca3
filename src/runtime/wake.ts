import type { Dispatch } from '../schema/dispatch.ts';
import type { Message } from '../schema/message.ts';
import type { DeliveryMode } from '../schema/pending.ts';
import type { Ledger, Write } from './ledger.ts';
import type { Queue } from './queue.ts';
import { resumedRun } from './records.ts';

/** What background tasks tell a run, and how it is woken by it (runtime.md 7.4, rule 3). */

/** Joins the history of its run at the next step, and is for no other. */
export const nextStepOf = (run_id: string): DeliveryMode => ({
  boundary: 'next_step',
  granularity: 'batch',
  target_run_id: run_id,
  fallback_to_new_run: false,
});

export const stageEvent = (write: Write, run_id: string, message: Message | undefined): void => {
  if (message) write.stage([message], nextStepOf(run_id));
};

/** The run goes on when it is its turn; nothing is added when work for it is queued already. */
export const enqueueWake = (
  {
    ledger,
    queue,
    newWork,
  }: { ledger: Ledger; queue: Queue; newWork(write: Write, run_id: string): Dispatch },
  write: Write,
  run_id: string,
): void => {
  const run = ledger.waiting().get(run_id);
  if (!run || queue.find(run_id)) return;
  const dispatch = newWork(write, run_id);
  const woken = resumedRun(run, {
    mode: 'internal_wake',
    dispatch_id: dispatch.dispatch_id,
    at: write.at,
    decisions: run.activation?.seeded_decisions ?? [],
    input: true,
  });
  write.run(woken, run);
  queue.add(write, dispatch);
};
