import type { GoingCall, WaitingTicket } from '../../schema/run.ts';
import { askingFrames, type EarlierCalls, limitFrameOf, waitIn } from './calls.ts';
import { DELTA_END, frame, toolDeltaHead } from './frames.ts';

/**
 * Frames of the pending calls of a run. The client that resolves them has them in its message, but other clients need
 * these frames. A call that is resolved with its result is not shown as executable, because another client would
 * execute it.
 */
export const heldCalls = (tickets: readonly WaitingTicket[], decided: ReadonlySet<string>): string[] =>
  tickets.flatMap((ticket) => {
    const limit = limitFrameOf(ticket.ticket_id, ticket.reason, ticket.arguments);
    if (limit !== undefined) return decided.has(ticket.ticket_id) ? [] : [limit];
    if (decided.has(ticket.ticket_id)) return goingCall(ticket);
    const asking = askingFrames(ticket.tool_call_id, {
      ...ticket,
      wait: waitIn(ticket.reason, ticket.arguments),
    });
    return asking === '' ? [available(ticket)] : [available(ticket), asking];
  });

/** Frames of executing calls, which need no decision. */
export const goingCalls = (calls: readonly GoingCall[]): string[] => calls.flatMap(goingCall);

const goingCall = (call: GoingCall): string[] => {
  if (call.resume_mode !== 'use_decision_as_tool_result') return [available(call)];
  const { tool_call_id: toolCallId, tool_name: toolName, arguments: input = null } = call;
  const delta = toolDeltaHead(toolCallId) + JSON.stringify(JSON.stringify(input)) + DELTA_END;
  return [frame('tool-input-start', { toolCallId, toolName }), delta];
};

const available = (call: GoingCall & Pick<Partial<WaitingTicket>, 'call_arguments'>) => {
  const { tool_call_id: toolCallId, tool_name: toolName, arguments: shown = null, call_arguments } = call;
  return frame('tool-input-available', { toolCallId, toolName, input: call_arguments ?? shown });
};

/** Looks up pending calls for a client whose message is new. */
export const earlierCalls =
  (tickets: readonly WaitingTicket[]): EarlierCalls =>
  (call_id) => {
    const ticket = tickets.find(({ tool_call_id }) => tool_call_id === call_id);
    return ticket && { name: ticket.tool_name, arguments: ticket.call_arguments ?? ticket.arguments ?? null };
  };
