import { unsettledCalls } from '../loop/calls.ts';
import { isPausing } from '../loop/infer.ts';
import { argumentsOf } from '../loop/turn.ts';
import type { GoingCall, Resume, WaitingTicket } from '../schema/run.ts';
import type { Attach } from './channel.ts';
import { count, type Execution } from './execution.ts';
import { advanceWork, setRecord, suspendedTicketsOf } from './run-record.ts';
import { claimedRun } from './run-records.ts';
import type { Write } from './write.ts';

/** What may be asked of an execution from outside, and what it may be told. */

/** Its end is not being written yet. */
export const isStoppable = ({ actor }: Execution): boolean =>
  actor?.getSnapshot().can({ type: 'CANCEL' }) ?? false;

/** False when it is too late. */
export const cancelRun = (execution: Execution): boolean => {
  if (!isStoppable(execution)) return false;
  execution.actor?.send({ type: 'CANCEL' });
  return true;
};

export const takesInput = ({ actor }: Execution): boolean =>
  actor?.getSnapshot().can({ type: 'STEER' }) ?? false;

/** Input was staged for it. */
export const steerRun = ({ actor }: Execution): void => actor?.send({ type: 'STEER' });

const isDecidable = ({ actor }: Execution): boolean => actor?.getSnapshot().can({ type: 'RESUME' }) ?? false;

/** All that a decision may be made on. */
export const openTicketsIn = (execution: Execution): WaitingTicket[] =>
  isDecidable(execution)
    ? suspendedTicketsOf(execution.turn).filter(
        ({ tool_call_id }) => !execution.turn.decisions.has(tool_call_id),
      )
    : [];

/** What of its step is not done, and nobody has to decide on. */
export const goingCallsIn = (execution: Execution): GoingCall[] => {
  const asked = new Set(openTicketsIn(execution).map(({ tool_call_id }) => tool_call_id));
  return unsettledCalls(execution.turn).flatMap(({ call, edited, ticket }) =>
    asked.has(call.id)
      ? []
      : {
          tool_call_id: call.id,
          tool_name: call.name,
          arguments: argumentsOf({ call, edited }),
          ...(ticket && { resume_mode: ticket.resume_mode }),
        },
  );
};

/** Notes a decision in the record, with the write of the caller; `resumeRun` then applies it. */
export const noteDecision = (
  execution: Execution,
  write: Write,
  { call_id, decision, parked }: { call_id: string; decision: Resume; parked: boolean },
): void => {
  const { run, turn } = execution;
  turn.decisions.set(call_id, decision);
  const activation = run.activation && { ...run.activation, seeded_decisions: [...turn.decisions] };
  const noted = activation ? { ...run, activation } : run;
  setRecord(execution, write, parked ? claimedRun(noted, run.session_id ?? '', write.at) : noted);
};

export const resumeRun = (execution: Execution, attach?: Attach): void => {
  count(execution, true);
  if (attach) execution.stream.readersOfNext(attach);
  execution.actor?.send({ type: 'RESUME' });
};

/** A reader for the rest of its stream. False when that has ended. */
export const followRun = ({ stream }: Execution, attach: Attach): boolean => {
  if (!stream.isOpen()) return false;
  attach(stream.channel());
  return true;
};

/** The wait ends by itself, with the write of the caller; `resumeRun` then goes on. Must be parked. */
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

/** The wait goes on without this process: its dispatch is consumed. Must be parked. */
export const leaveWait = (execution: Execution, write: Write): void => {
  const done = { run_status: execution.run.status, completed_at: write.at };
  advanceWork(execution, write, { type: 'ACK', threadEpoch: execution.ledger.epoch }, done);
  dropRun(execution);
};

/** Ends silently; somebody else has written the end of the run. */
export const dropRun = (execution: Execution): void => {
  execution.dropped = true;
  count(execution, false);
  execution.gone();
  execution.actor?.send({ type: 'RELEASE' });
};

/** It failed, and waits for its next try or attempt. */
export const isRunPausing = ({ turn, actor }: Execution): boolean =>
  isPausing(turn) || (actor?.getSnapshot().matches({ running: { retrying: 'pausing' } }) ?? false);

/** Gives its dispatch back without an end; streams are told the reason. */
export const releaseRun = (execution: Execution, reason: string): void => {
  execution.released = reason;
  abandonRun(execution);
};

/** Stops at once and writes nothing; who goes on from the last commit has its stream (`RunOwner.streamLeft`). */
export const abandonRun = ({ turn, actor }: Execution): void => {
  turn.letGo = true;
  actor?.send({ type: 'RELEASE' });
};
