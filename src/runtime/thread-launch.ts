import type { PendingMessage } from '../schema/pending.ts';
import type { Execution, RunOwner } from './execution.ts';
import { createMail } from './mail.ts';
import { announce, createExecution, type ExecutionInput } from './run-start.ts';
import { giveBackTurn, hold, occupy, type Thread, vacate } from './thread.ts';
import { armAlarm } from './thread-alarm.ts';
import { leaveThread } from './thread-retired.ts';
import { putWork } from './work.ts';
import { deliver, type Write } from './write.ts';

/** A run begins to execute on its thread, and what the thread does when the run says that it does so no more. */

type Launched = Pick<
  ExecutionInput,
  'agent' | 'run' | 'dispatch' | 'channel' | 'isHeard' | 'from' | 'interrupted'
>;

/** With the write that claims it; it is started once that is under way. */
export const launch = (thread: Thread, write: Write, launched: Launched): Execution => {
  const { deps, around, scope, id, ledger, owner, compactors } = thread;
  const { run_id, parent_run_id } = launched.run;
  const execution = createExecution(deps, {
    owner,
    ledger,
    compactor: compactors(launched.agent),
    tasks: around.tasks.of({ scope, thread_id: id, run_id, inPlace: parent_run_id !== null }),
    mail: createMail(deps, around.peers, { scope, thread_id: id, run: launched.run }),
    ...launched,
  });
  occupy(thread, execution);
  announce(execution, write);
  return execution;
};

/** What the runs of a thread tell it. `thread` is asked for when they do. */
export const ownerOf = (id: string, thread: () => Thread): RunOwner => ({
  isObserved: true,
  thread: { machine: 'thread', id },
  progressed() {
    thread().failures = 0;
  },
  parked(execution) {
    hold(thread(), execution);
    const { rests, around } = thread();
    if (!rests.tell(execution.run_id, execution.run)) around.children.waits(execution.run);
    vacated(thread(), 'RUN_PARKED');
  },
  settled(execution, how) {
    vacate(thread(), execution);
    // A run that was let go belongs to whoever claims its dispatch next, and so does the thread.
    if (how === 'released') leaveThread(thread());
    else vacated(thread(), 'RUN_ENDED');
  },
  streamLeft: ({ run_id }, channel) => thread().around.onStreamLeft(run_id, channel),
  leftOver: (execution, write, entries) => leaveOver(thread(), execution, write, entries),
  worded: (reason) => reason,
});

/** What executed does so no more. */
const vacated = (thread: Thread, type: 'RUN_PARKED' | 'RUN_ENDED'): void => {
  thread.failures = 0;
  thread.actor.send({ type });
  giveBackTurn(thread);
  armAlarm(thread);
  thread.around.onSettled();
};

/** Input that a run did not take any more is queued; after an interrupt it is history only. */
const leaveOver = (
  thread: Thread,
  { run, epoch }: Execution,
  write: Write,
  left: readonly PendingMessage[],
): void => {
  const { ledger, deps } = thread;
  if (epoch < ledger.epoch || !ledger.record) {
    deliver(write, left, run.run_id);
    return;
  }
  const { origin = 'user', adapter = 'internal' } = run.activation?.trace ?? {};
  const { agent_id, resolution_id = '' } = run;
  putWork(thread, write, {
    now: false,
    mode: 'scheduled',
    messages: [],
    run: { run_id: deps.ids.uuid(), agent_id, resolution_id, origin, adapter, left },
  });
};
