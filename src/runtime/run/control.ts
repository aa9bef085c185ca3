import { unsettledCalls } from '../../loop/calls.ts';
import { isPausing } from '../../loop/infer.ts';
import { argumentsOf } from '../../loop/turn.ts';
import type { Resume } from '../../schema/activation.ts';
import type { GoingCall, WaitingTicket } from '../../schema/run.ts';
import { hasTag } from '../../schema/run-state.ts';
import { isBudgetTicket } from '../../tools/tickets.ts';
import type { Write } from '../ledger/transaction.ts';
import { count, type Execution } from './execution.ts';
import type { Attach } from './live-channel.ts';
import { advanceWork, setRecord, suspendedTicketsOf } from './record.ts';
import { answeredRun, claimedRun } from './transitions.ts';

/** Requests and notifications from other modules to an execution. */

/** Whether the end of the run is not being written yet. */
export const isStoppable = ({ actor }: Execution): boolean =>
  actor?.getSnapshot().can({ type: 'CANCEL' }) ?? false;

/** False when the end of the run is already being written. */
export const cancelRun = (execution: Execution): boolean => {
  if (!isStoppable(execution)) return false;
  execution.actor?.send({ type: 'CANCEL' });
  return true;
};

export const takesInput = ({ actor }: Execution): boolean =>
  actor?.getSnapshot().can({ type: 'STEER' }) ?? false;

/** Stores that input ends a wait which is being written, with the write that stages the input. */
export const noteInput = (execution: Execution, write: Write): void => {
  const { run } = execution;
  if (hasTag(run, 'waiting')) setRecord(execution, write, answeredRun(run));
};

/** Stores that a task event ends a wait for tasks which is being written. Other waits continue. */
export const noteTaskEvent = (execution: Execution, write: Write): void => {
  if (execution.run.machine_state === 'waiting.forTasks') noteInput(execution, write);
};

/** Notifies the run of staged input. */
export const steerRun = ({ actor }: Execution): void => actor?.send({ type: 'STEER' });

const isDecidable = ({ actor }: Execution): boolean => actor?.getSnapshot().can({ type: 'RESUME' }) ?? false;

/** Returns all tickets that can be decided. */
export const openTicketsIn = (execution: Execution): WaitingTicket[] =>
  isDecidable(execution)
    ? suspendedTicketsOf(execution.turn).filter(
        ({ tool_call_id }) => !execution.turn.decisions.has(tool_call_id),
      )
    : [];

/** Returns the unfinished calls of the step that need no decision. */
export const goingCallsIn = (execution: Execution): GoingCall[] => {
  const undecided = new Set(openTicketsIn(execution).map(({ tool_call_id }) => tool_call_id));
  return unsettledCalls(execution.turn).flatMap(({ call, edited, ticket }) =>
    undecided.has(call.id) || isBudgetTicket(call.id)
      ? []
      : {
          tool_call_id: call.id,
          tool_name: call.name,
          arguments: argumentsOf({ call, edited }),
          ...(ticket && { resume_mode: ticket.resume_mode }),
        },
  );
};

/** Stores a decision in the record, with the write of the caller; `resumeRun` then applies it. */
export const noteDecision = (
  execution: Execution,
  write: Write,
  { call_id, decision, suspended }: { call_id: string; decision: Resume; suspended: boolean },
): void => {
  const { run, turn } = execution;
  turn.decisions.set(call_id, decision);
  const activation = run.activation && { ...run.activation, seeded_decisions: [...turn.decisions] };
  const noted = activation ? { ...run, activation } : run;
  const resumed = suspended ? claimedRun(noted, run.session_id ?? '', write.at) : answeredRun(noted);
  setRecord(execution, write, resumed);
};

export const resumeRun = (execution: Execution, attach?: Attach): void => {
  count(execution, true);
  if (attach) execution.stream.readersOfNext(attach);
  execution.actor?.send({ type: 'RESUME' });
};

/** Adds a reader for the rest of the stream. False when the stream has ended. */
export const followRun = ({ stream }: Execution, attach: Attach): boolean => {
  if (!stream.isOpen()) return false;
  attach(stream.channel());
  return true;
};

/**
 * Ends the wait without a decision, with the write of the caller; `resumeRun` then continues the run. Requires a parked
 * run.
 */
export const wakeRun = (execution: Execution, write: Write): void => {
  const { run } = execution;
  const activation = run.activation && {
    ...run.activation,
    trace: { ...run.activation.trace, run_mode: 'internal_wake' as const },
  };
  const woken = activation ? { ...run, activation } : run;
  setRecord(execution, write, claimedRun(woken, run.session_id ?? '', write.at));
};

export const renewLease = (execution: Execution, write: Write): void => {
  const lease_until = write.at + execution.deps.settings.mailbox.lease_ms;
  advanceWork(execution, write, { type: 'RENEW' }, { lease_until, run_status: 'running' });
};

/**
 * Detaches a waiting run from this process: its dispatch is acked and the wait continues in the store. Requires a
 * parked run.
 */
export const leaveWait = (execution: Execution, write: Write): void => {
  const done = { run_status: execution.run.status, completed_at: write.at };
  advanceWork(execution, write, { type: 'ACK', threadEpoch: execution.ledger.epoch }, done);
  dropRun(execution);
};

/** Ends the execution without events; another writer has stored the end of the run. */
export const dropRun = (execution: Execution): void => {
  execution.dropped = true;
  count(execution, false);
  execution.reportEnd();
  execution.actor?.send({ type: 'RELEASE' });
};

/** Whether the run failed and pauses before the next try or attempt. */
export const isRunPausing = ({ turn, actor }: Execution): boolean =>
  isPausing(turn) || (actor?.getSnapshot().matches({ running: { retrying: 'pausing' } }) ?? false);

/** Releases the run and its dispatch without an end; its stream ends with the reason. */
export const releaseRun = (execution: Execution, reason: string): void => {
  execution.released = reason;
  abandonRun(execution);
};

/** Stops at once without a write; the next execution takes over the stream (`RunOwner.streamReleased`). */
export const abandonRun = ({ turn, actor }: Execution): void => {
  turn.isReleased = true;
  actor?.send({ type: 'RELEASE' });
};
