import type { PendingMessage } from '../../schema/pending.ts';
import { deliver, type Write } from '../ledger/transaction.ts';
import { actingUser } from '../run/acting-user.ts';
import type { Execution, RunOwner } from '../run/execution.ts';
import { handOverThread } from './retire.ts';
import { scheduleNewRun } from './schedule-run.ts';
import { clearActive, releaseSlotIfIdle, suspend, type Thread } from './state.ts';
import { armAlarm } from './timer.ts';

/** The notifications of runs to their thread. `thread` is resolved at the time of each notification. */
export function createRunOwner(id: string, thread: () => Thread): RunOwner {
  return {
    isObserved: true,
    isStored: true,
    thread: { machine: 'thread', id },
    progressed() {
      thread().failures = 0;
    },
    suspended(execution) {
      suspend(thread(), execution);
      const { settlements, host } = thread();
      if (!settlements.notify(execution.run_id, execution.run)) host.children.waits(execution.run);
      becomeVacant(thread(), 'RUN_PARKED');
    },
    settled(execution, how) {
      clearActive(thread(), execution);
      // A released run belongs to the process that claims its dispatch next, and so does the thread.
      if (how === 'released') handOverThread(thread());
      else becomeVacant(thread(), 'RUN_ENDED');
    },
    streamReleased: ({ run_id }, channel) => thread().host.onStreamLeft(run_id, channel),
    requeueUnconsumed: (execution, write, entries) =>
      requeueUnconsumedInput(thread(), execution, write, entries),
    publicReason: (reason) => reason,
  };
}

/** Called when the active run no longer executes. */
function becomeVacant(thread: Thread, type: 'RUN_PARKED' | 'RUN_ENDED'): void {
  thread.failures = 0;
  thread.actor.send({ type });
  releaseSlotIfIdle(thread);
  armAlarm(thread);
  thread.host.onSettled();
}

/** Queues input that a run did not consume; after an interrupt it only joins the history. */
function requeueUnconsumedInput(
  thread: Thread,
  { run, epoch }: Execution,
  write: Write,
  unconsumed: readonly PendingMessage[],
): void {
  const { ledger, deps } = thread;
  if (epoch < ledger.epoch || !ledger.record) {
    deliver(write, unconsumed, run.run_id);
    return;
  }
  const { origin = 'user', adapter = 'internal' } = run.activation?.trace ?? {};
  const { agent_id, resolution_id = '', agent_version } = run;
  scheduleNewRun(thread, write, {
    now: false,
    mode: 'scheduled',
    messages: [],
    run_id: deps.ids.uuid(),
    agent_id,
    resolution_id,
    agent_version,
    origin,
    adapter,
    unconsumed,
    by: actingUser(run),
  });
}
