import type { Ids } from '../schema/clock.ts';
import type { Resume, ResumeMode, Run, WaitingTicket } from '../schema/run.ts';
import type { Execution } from './execution.ts';
import { ticketIn } from './run-control.ts';
import type { DecisionInput } from './submission.ts';
import type { Write } from './write.ts';
import { logEvent } from './write.ts';

/** Decisions on the tickets of runs that wait (runtime.md 2.9, 12). */

export type Ticket = { run_id: string; call_id: string; resume_mode: ResumeMode };

/** The open, undecided tickets of a run that nothing executes. */
export const ticketsOf = (run: Run): WaitingTicket[] => {
  const decided = new Set(run.activation?.seeded_decisions?.map(([call_id]) => call_id));
  return run.waiting?.tickets?.filter(({ tool_call_id }) => !decided.has(tool_call_id)) ?? [];
};

/** One of them, by the id of its call or its own. */
export const ticketOf = (run: Run, id: string): Ticket | undefined => {
  const open = ticketsOf(run);
  const found =
    open.find((ticket) => ticket.tool_call_id === id) ?? open.find((ticket) => ticket.ticket_id === id);
  return found && { run_id: run.run_id, call_id: found.tool_call_id, resume_mode: found.resume_mode };
};

/** The same for a run that an execution holds: what came since its last commit counts. */
export const heldTicketOf = (execution: Execution, id: string): Ticket | undefined => {
  const found = ticketIn(execution, id);
  return (
    found?.ticket && {
      run_id: execution.run_id,
      call_id: found.call.id,
      resume_mode: found.ticket.resume_mode,
    }
  );
};

/** A refusal of a permission is a cancel, whatever the protocol called it (runtime.md 12). */
export const decisionOf = (ids: Ids, ticket: Ticket, input: DecisionInput, at: number): Resume => {
  const refuses = ticket.resume_mode === 'replay_tool_call' && approvedIn(input.payload) === false;
  return {
    decision_id: ids.uuid(),
    action: refuses ? 'cancel' : input.action,
    result: input.payload,
    ...(input.reason !== undefined && { reason: input.reason }),
    ...(input.decided_by !== undefined && { decided_by: input.decided_by }),
    updated_at: at,
  };
};

const approvedIn = (payload: Resume['result']): unknown =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload.approved : undefined;

export type DeliveryPath = 'local_live' | 'durable_dispatch';

export const logDecision = (
  write: Write,
  about: { thread_id: string; run_id: string; dispatch_id: string; call_id: string },
  decision: Resume,
  delivery_path: DeliveryPath,
): void => {
  const { decision_id, action, result, reason = null, decided_by, updated_at } = decision;
  const payload = {
    thread_id: about.thread_id,
    run_id: about.run_id,
    dispatch_id: about.dispatch_id,
    tool_call_id: about.call_id,
    decision_id,
    action,
    result,
    reason,
    ...(decided_by !== undefined && { decided_by }),
    resume_updated_at: updated_at,
    delivery_path,
  };
  const options = { run_id: about.run_id, correlation_id: decision_id };
  logEvent(write, 'MailboxDecisionReceived', payload, options);
  const approved = approvedIn(result);
  if (typeof approved === 'boolean')
    logEvent(write, 'ToolPermissionResolved', { ...payload, approved }, options);
};
