import type { Resume } from '../schema/activation.ts';
import { BUDGET_EXCEEDED, type ReachedLimit } from '../schema/budget.ts';
import { digestOfCall } from '../schema/call-digest.ts';
import type { Ticket } from '../schema/run-event.ts';
import { budgetTicket, budgetTicketId } from '../tools/tickets.ts';
import type { Ending, InferOutcome } from './answer.ts';
import { advanceCall, isOpenTicket, newCall } from './calls.ts';
import { traceDecided, traceSuspended } from './trace.ts';
import type { Step, StepCall, Turn } from './turn.ts';

/**
 * The wait of an inference for an exhausted budget (identity.md 5.4). It is a call of its step that no message
 * contains, so that its ticket is stored, listed and decided like every other one, and the model never reads it.
 *
 * Guarantees: after the wait, the same inference is asked for again, so that the run continues, waits with another
 * ticket, or ends.
 */

const NAME = 'budget';

export type Stopped = { kind: 'stopped'; ending: Ending };

/** Closes the step of an inference that was not started, and suspends the run. */
export const waitForBudget = (turn: Turn, step: Step, limit: ReachedLimit): InferOutcome => {
  // The step has no inference to report, and does not count.
  step.reported = true;
  step.completed = true;
  turn.answered = false;
  const wanted = budgetTicketId(turn.ids.uuid());
  const id = turn.issueTicket({ id: wanted, call_id: wanted, numbered: false, before: undefined });
  const shown = { ...limit };
  const entry = newCall(turn, { id, name: NAME, arguments: shown });
  const digest = digestOfCall({ tool: NAME, arguments: shown });
  const ticket: Ticket = { ...budgetTicket(id, limit), digest };
  turn.calls = [entry];
  entry.ticket = {
    id,
    reason: ticket.suspension.action,
    ...(ticket.suspension.message !== undefined && { message: ticket.suspension.message }),
    resume_mode: ticket.resume_mode,
    digest,
    ...(ticket.expires && { expires: ticket.expires }),
  };
  advanceCall(turn, entry, 'SUSPEND');
  turn.observe.agents.suspension(turn.agent.spec.id);
  traceSuspended(turn, entry);
  turn.stream.emit({
    event_type: 'tool_call_done',
    id,
    message_id: id,
    result: {
      tool_name: NAME,
      status: 'pending',
      data: null,
      message: ticket.suspension.message ?? null,
      suspension: ticket,
    },
    outcome: 'suspended',
  });
  return { kind: 'asks', waits: 'forBudget' };
};

export const isBudgetWait = ({ ticket }: StepCall): boolean => ticket?.reason === BUDGET_EXCEEDED;

/** Applies a decision. Returns how the run ends if the decision refuses to continue it. */
export const decideBudget = (turn: Turn, entry: StepCall, decision: Resume): Stopped | undefined => {
  const { action, result } = decision;
  if (entry.status === 'suspended') {
    turn.observe.agents.suspension(turn.agent.spec.id, action);
    traceDecided(turn, entry, action);
  }
  close(turn, entry, action, result);
  if (action !== 'cancel') return undefined;
  return { kind: 'stopped', ending: { type: 'stopped', value: { code: 'budget', detail: budgetOf(entry) } } };
};

/** New input ends the wait without a decision. */
export const dropBudgetWaits = (turn: Turn): void => {
  for (const entry of turn.calls)
    if (isBudgetWait(entry) && isOpenTicket(entry)) close(turn, entry, 'cancel', null);
};

const close = (turn: Turn, entry: StepCall, action: Resume['action'], result: Resume['result']): void => {
  if (action === 'cancel') advanceCall(turn, entry, 'CANCEL');
  else {
    if (entry.status === 'suspended') advanceCall(turn, entry, 'RESUME');
    advanceCall(turn, entry, 'SUCCEED');
  }
  const { id } = entry.call;
  turn.stream.emit({ event_type: 'tool_call_resumed', target_id: id, message_id: id, action, result });
};

/** The arguments of this call are those of `waitForBudget`. */
const budgetOf = ({ call }: StepCall): string => (call.arguments as ReachedLimit).budget;
