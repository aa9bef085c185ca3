import type { Interrupt } from '@ag-ui/core';
import { AUTH_REQUIRED } from '../../schema/authorization.ts';
import { BUDGET_EXCEEDED } from '../../schema/budget.ts';
import type { RunEvent, RunEventOf, Ticket } from '../../schema/run-event.ts';
import { type LogRow, runEventOf } from '../replay-events.ts';
import { type EventFields, frame } from './frames.ts';

/**
 * Pending calls of a run, and their representation when the run is suspended (chat-and-agui.md 13.1). Calls that the
 * client executes are not interrupts: the client resolves them with tool messages, and an interrupt would forbid a
 * plain next run.
 */

/** Pending calls with their tickets, in the order of their suspension. */
export type OpenTickets = Map<string, Ticket | undefined>;

/** A run does not call its model while a call is pending, so calls that are still open were superseded. */
export const noteTickets = (tickets: OpenTickets, event: RunEvent): void => {
  switch (event.event_type) {
    case 'tool_call_done':
      tickets.delete(event.id);
      if (event.result.status === 'pending') tickets.set(event.id, event.result.suspension);
      return;
    case 'tool_call_resumed':
      tickets.delete(event.target_id);
      return;
    case 'inference_complete':
      tickets.clear();
  }
};

/** Returns the pending calls at the end of a log; `rows` are those of one run, oldest first. */
export const findOpenTickets = (rows: Iterable<LogRow>): OpenTickets => {
  const tickets: OpenTickets = new Map();
  for (const row of rows) {
    const event = runEventOf(row);
    if (event) noteTickets(tickets, event);
  }
  return tickets;
};

/** The form for clients that do not support interrupts. */
type Mirrored = EventFields['RUN_FINISHED'] & { interrupt?: { id?: string; reason: string } };

export const runSuspended = (
  { thread_id, run_id, result }: RunEventOf<'run_finish'>,
  tickets: OpenTickets,
  /** Whether the legacy form is omitted. */
  strict: boolean,
): string => {
  const run = { threadId: thread_id, runId: run_id };
  const end = ({ interrupt, ...fields }: Omit<Mirrored, 'threadId' | 'runId'>) =>
    frame('RUN_FINISHED', { ...run, ...fields, ...(!strict && interrupt && { interrupt }) });
  if (tickets.size === 0) return end({ result, interrupt: { reason: NO_TICKET } });
  const asking = [...tickets].filter(([, ticket]) => !isForClient(ticket));
  const [, last] = asking.at(-1) ?? [];
  if (asking.length === 0) return end({});
  return end({
    outcome: { type: 'interrupt', interrupts: asking.map(([id, ticket]) => interruptOf(id, ticket)) },
    interrupt: last ? { id: last.suspension.id, reason: last.suspension.action } : { reason: NO_TICKET },
  });
};

/** Returns whether the client executes the call. A delegate that waits for decisions does not count. */
const isForClient = (ticket: Ticket | undefined): boolean =>
  ticket?.resume_mode === 'use_decision_as_tool_result' && ticket.tickets === undefined;

const NO_TICKET = 'tool_approval';

const interruptOf = (toolCallId: string, ticket: Ticket | undefined): Interrupt => {
  if (!ticket) return { id: toolCallId, reason: 'tool_call', toolCallId };
  const { digest, tickets } = ticket;
  const { id, action, message, parameters, response_schema } = ticket.suspension;
  const isOfBudget = action === BUDGET_EXCEEDED;
  return {
    id: id.trim() === '' ? toolCallId : id,
    ...(isOfBudget ? { reason: 'budget_exceeded' } : { reason: 'tool_call', toolCallId }),
    message,
    responseSchema: isObject(response_schema) ? response_schema : undefined,
    metadata: {
      action,
      ...(action === AUTH_REQUIRED && parameters !== undefined && { authorization: parameters }),
      ...(isOfBudget && { budget: parameters }),
      ...(digest !== undefined && { digest }),
      ...(tickets && { tickets }),
    },
  };
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
