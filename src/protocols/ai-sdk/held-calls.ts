import type { GoingCall, WaitingTicket } from '../../schema/run.ts';
import { approvalFrames, type EarlierCalls } from './calls.ts';
import { DELTA_END, frame, toolDeltaHead } from './frames.ts';

/**
 * The calls that a run waits for, which the message of the client that answers them holds. Another client does not
 * know of them: frames make them known. A call that is answered with its result is not shown as one that the client
 * may execute, since it would.
 */
export const heldCalls = (tickets: readonly WaitingTicket[], decided: ReadonlySet<string>): string[] =>
  tickets.flatMap((ticket) => {
    if (decided.has(ticket.ticket_id)) return goingCall(ticket);
    const asked = approvalFrames(ticket.tool_call_id, ticket);
    return asked === '' ? [available(ticket)] : [available(ticket), asked];
  });

/** Calls whose results come, and nobody is asked for. */
export const goingCalls = (calls: readonly GoingCall[]): string[] => calls.flatMap(goingCall);

const goingCall = (call: GoingCall): string[] => {
  if (call.resume_mode !== 'use_decision_as_tool_result') return [available(call)];
  const { tool_call_id: toolCallId, tool_name: toolName, arguments: input = null } = call;
  const delta = toolDeltaHead(toolCallId) + JSON.stringify(JSON.stringify(input)) + DELTA_END;
  return [frame('tool-input-start', { toolCallId, toolName }), delta];
};

const available = ({ tool_call_id: toolCallId, tool_name: toolName, arguments: input = null }: GoingCall) =>
  frame('tool-input-available', { toolCallId, toolName, input });

/** The same for a client whose message is new. */
export const earlierCalls =
  (tickets: readonly WaitingTicket[]): EarlierCalls =>
  (call_id) => {
    const ticket = tickets.find(({ tool_call_id }) => tool_call_id === call_id);
    return ticket && { name: ticket.tool_name, arguments: ticket.arguments ?? null };
  };
