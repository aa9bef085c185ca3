import { AUTH_REQUIRED, type AuthorizationWait } from '../schema/authorization.ts';
import { BUDGET_EXCEEDED, type ReachedLimit } from '../schema/budget.ts';
import type { ToolCall } from '../schema/message.ts';
import type { Ticket } from '../schema/run-event.ts';

/**
 * The tickets that suspended calls wait for (runtime.md 6.4, agent-loop.md 7.2). The ids here are those of first
 * tickets; the loop makes an id unique in its thread when it issues the ticket.
 */

/** A person must allow the call, which is then executed with its arguments. */
export const permissionTicket = (call: ToolCall): Ticket => {
  const id = `perm_${call.id}`;
  return {
    suspension: {
      id,
      action: 'tool:PermissionConfirm',
      message: `Permission required for tool '${call.name}'`,
      ...parametersOf(call),
    },
    pending: { id, name: 'permission_confirm', arguments: call.arguments },
    resume_mode: 'replay_tool_call',
  };
};

/** The client executes the call, and its response is the result. */
export const clientTicket = (call: ToolCall): Ticket => ({
  suspension: {
    id: `suspend_${call.id}`,
    action: `tool:${call.name}`,
    message: `Frontend tool '${call.name}' requires client execution`,
    ...parametersOf(call),
  },
  pending: { id: call.id, name: call.name, arguments: call.arguments },
  resume_mode: 'use_decision_as_tool_result',
});

/** The user must connect an account; the call is then executed again (identity.md 6.2). */
export const authorizationTicket = (call_id: string, wait: AuthorizationWait): Ticket => {
  const id = `auth_${call_id}`;
  const shown = { ...wait, scopes: [...wait.scopes] };
  return {
    suspension: {
      id,
      action: AUTH_REQUIRED,
      message: `Connect '${wait.server}' to go on`,
      parameters: shown,
    },
    pending: { id, name: 'connect', arguments: shown },
    resume_mode: 'replay_tool_call',
    expires: { at: wait.expires_at, outcome: 'cancel' },
  };
};

/** The inference waits for a new window of its budget, or until the limit is raised (identity.md 5.4). */
export const budgetTicket = (id: string, limit: ReachedLimit): Ticket => {
  const shown = { ...limit };
  return {
    suspension: {
      id,
      action: BUDGET_EXCEEDED,
      message: `Budget '${limit.budget}' is exhausted`,
      parameters: shown,
    },
    pending: { id, name: 'budget', arguments: shown },
    resume_mode: 'pass_decision_to_tool',
    ...(limit.resets_at !== undefined && { expires: { at: limit.resets_at, outcome: 'resume' } }),
  };
};

export const budgetTicketId = (uuid: string): string => `budget_${uuid}`;

const BUDGET_TICKET = /^budget_[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Whether the ticket waits for a budget: it belongs to an inference, and not to a tool call. */
export const isBudgetTicket = (ticket_id: string): boolean => BUDGET_TICKET.test(ticket_id);

const DELEGATE = 'delegate_run:';

/** Separates the id of a first ticket from the suffix that makes ids of later ones unique. */
export const LATER = '~';

/** Id of the ticket of a call that waits for this run. */
export const delegateTicketId = (run_id: string): string => `${DELEGATE}${run_id}`;

/** The run that a call with this ticket waits for. */
export const delegatedRun = (ticket_id: string): string | undefined => {
  if (!ticket_id.startsWith(DELEGATE)) return undefined;
  const [run_id] = ticket_id.slice(DELEGATE.length).split(LATER);
  return run_id;
};

const parametersOf = (call: ToolCall) => call.arguments !== null && { parameters: call.arguments };
