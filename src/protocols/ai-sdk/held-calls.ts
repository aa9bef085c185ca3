import type { WaitingTicket } from '../../schema/run.ts';
import { type EarlierCalls, isApproval } from './calls.ts';
import { DELTA_END, frame, toolDeltaHead } from './frames.ts';

/**
 * The calls that a run waits for, which the message of the client that answers them holds. Another client does not
 * know of them: frames make them known. A call that is answered with its result is not shown as one that the client
 * may execute, since it would.
 */
export const heldCalls = (tickets: readonly WaitingTicket[], decided: ReadonlySet<string>): string[] =>
  tickets.flatMap(({ ticket_id, tool_call_id: toolCallId, resume_mode, ...call }) => {
    const { tool_name: toolName, arguments: input = null } = call;
    const isDecided = decided.has(toolCallId);
    if (isDecided && resume_mode === 'use_decision_as_tool_result') {
      const delta = toolDeltaHead(toolCallId) + JSON.stringify(JSON.stringify(input)) + DELTA_END;
      return [frame('tool-input-start', { toolCallId, toolName }), delta];
    }
    const shown = frame('tool-input-available', { toolCallId, toolName, input });
    return isDecided || !isApproval(resume_mode, ticket_id)
      ? [shown]
      : [shown, frame('tool-approval-request', { approvalId: ticket_id, toolCallId })];
  });

/** The same for a client whose message is new. */
export const earlierCalls =
  (tickets: readonly WaitingTicket[]): EarlierCalls =>
  (call_id) => {
    const ticket = tickets.find(({ tool_call_id }) => tool_call_id === call_id);
    return ticket && { name: ticket.tool_name, arguments: ticket.arguments ?? null };
  };
