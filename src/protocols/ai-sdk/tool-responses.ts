import { z } from 'zod';
import type { DecisionInput } from '../../runtime/index.ts';
import { Json, JsonObject } from '../../schema/json.ts';
import { Conflict } from '../../schema/outcome.ts';
import {
  findTicket,
  findTicketOfCall,
  type IssuedTickets,
  type OpenTicket,
} from '../../tools/find-ticket.ts';
import { TOOL_FAILED } from './calls.ts';
import type { ChatMessage } from './request.ts';

/**
 * Decisions and client tool results, which clients write into the tool parts of assistant messages (chat-and-agui.md
 * 3.5). Most of them are history; only pending calls can be resolved.
 */

export type ToolResponse = {
  /** Id of a ticket or of the call itself. */
  target: string;
  /** Whether it belongs to the message that the client continues, and not to its history. */
  isCurrent: boolean;
  form: 'approval' | 'output';
  digest?: string;
  call: { id: string; name: string; arguments: DecisionInput['payload'] };
  action: DecisionInput['action'];
  result: DecisionInput['payload'];
  reason?: string;
};

const ToolPart = z.object({
  type: z.string(),
  state: z.string(),
  toolCallId: z.string(),
  toolName: z.string().optional().catch(undefined),
  input: Json.optional(),
  output: Json.optional(),
  errorText: z.string().optional().catch(undefined),
  approvalId: z.string().optional().catch(undefined),
  approval: JsonObject.optional().catch(undefined),
});
type ToolPart = z.output<typeof ToolPart>;

/** @param continues id of the message that the client continues, if it names one */
export const toolResponses = (messages: readonly ChatMessage[], continues?: string): ToolResponse[] =>
  messages
    .filter(({ role }) => role === 'assistant')
    .flatMap((message) => {
      const isCurrent = message === messages.at(-1) || (continues !== undefined && message.id === continues);
      return message.parts.filter(isClientPart).flatMap((part) => {
        const { success, data } = ToolPart.safeParse(part);
        return (success && responseOf(data, isCurrent)) || [];
      });
    });

/** Calls that the service executed come back as history, possibly with large outputs, so they are not parsed. */
const isClientPart = (part: unknown): boolean => {
  if (typeof part !== 'object' || part === null || !('type' in part)) return false;
  const { type } = part;
  const isTool = typeof type === 'string' && (type === 'dynamic-tool' || type.startsWith('tool-'));
  return isTool && !('providerExecuted' in part && part.providerExecuted === true);
};

const responseOf = (part: ToolPart, isCurrent: boolean): ToolResponse | undefined => {
  const { state, toolCallId, approval } = part;
  const target = part.approvalId ?? textIn(approval, 'id') ?? toolCallId;
  const of = (
    form: ToolResponse['form'],
    action: ToolResponse['action'],
    result: ToolResponse['result'],
  ): ToolResponse => ({
    target,
    isCurrent,
    form,
    call: { id: toolCallId, name: nameOf(part), arguments: part.input ?? {} },
    action,
    result,
  });
  switch (state) {
    case 'output-available':
      return of('output', 'resume', part.output ?? null);
    case 'output-error':
      return of('output', 'resume', { error: part.errorText ?? TOOL_FAILED });
    case 'output-denied':
      return of('approval', 'cancel', { approved: false });
    case 'approval-responded': {
      if (!approval) return undefined;
      const reason = textIn(approval, 'reason');
      const digest = textIn(approval, 'digest');
      return {
        ...of('approval', 'resume', approval),
        ...(reason !== undefined && { reason }),
        ...(digest !== undefined && { digest }),
      };
    }
  }
};

const textIn = (object: JsonObject | undefined, key: string): string | undefined => {
  const value = object?.[key];
  return typeof value === 'string' ? value : undefined;
};

const nameOf = ({ type, toolName }: ToolPart): string =>
  type === 'dynamic-tool' ? (toolName ?? '') : type.slice('tool-'.length);

/** The tickets of a thread. */
export type ThreadTickets = { tickets: readonly OpenTicket[]; issued: IssuedTickets };

/** Returns decisions for pending calls; the last of several responses to one ticket counts. @throws Conflict */
export const toDecisions = (responses: readonly ToolResponse[], thread: ThreadTickets): DecisionInput[] => {
  const decisions = new Map<string, DecisionInput>();
  for (const response of responses) {
    const found = ticketFor(response, thread);
    if (!found) continue;
    const { form, result, reason, digest } = response;
    const id = found.below?.id ?? found.ticket.ticket_id;
    decisions.set(id, {
      tool_call_id: id,
      action: actionOn(found.ticket, response),
      payload: result,
      form,
      ...(reason !== undefined && { reason }),
      ...(digest !== undefined && { digest }),
    });
  }
  return [...decisions.values()];
};

/** An ambiguous call id is rejected in the current response of the client, and ignored in its history. */
const ticketFor = ({ target, call, isCurrent }: ToolResponse, { tickets, issued }: ThreadTickets) => {
  try {
    return target === call.id
      ? findTicketOfCall(tickets, issued, target)
      : findTicket(tickets, issued, target);
  } catch (error) {
    if (isCurrent || !(error instanceof Conflict)) throw error;
    return undefined;
  }
};

/** A question that a client declines is cancelled; for permissions, the payload contains the consent. */
const actionOn = (
  { resume_mode, tickets }: OpenTicket,
  { action, form, result }: ToolResponse,
): DecisionInput['action'] => {
  const asksPermission = resume_mode === 'replay_tool_call' || tickets !== undefined;
  return form === 'approval' && !asksPermission && isRefusal(result) ? 'cancel' : action;
};

const isRefusal = (result: ToolResponse['result']): boolean =>
  typeof result === 'object' && result !== null && !Array.isArray(result) && result.approved === false;
