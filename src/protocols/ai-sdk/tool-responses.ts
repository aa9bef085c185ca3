import { z } from 'zod';
import type { DecisionInput } from '../../runtime/index.ts';
import { Json, JsonObject } from '../../schema/json.ts';
import type { WaitingTicket } from '../../schema/run.ts';
import { TOOL_FAILED } from './calls.ts';
import type { ChatMessage } from './request.ts';

/**
 * Decisions and client tool results, which clients write into the tool parts of assistant messages
 * (chat-and-agui.md 3.5). Most of them are history: only what waits now can be answered.
 */

export type ToolResponse = {
  /** A ticket or a tool call. */
  target: string;
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

export const toolResponses = (messages: readonly ChatMessage[]): ToolResponse[] =>
  messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => parts)
    .filter(isClientPart)
    .flatMap((part) => {
      const { success, data } = ToolPart.safeParse(part);
      return success ? (responseOf(data) ?? []) : [];
    });

/** What the service executed itself comes back as history, large outputs included: it is not looked into. */
const isClientPart = (part: unknown): boolean => {
  if (typeof part !== 'object' || part === null || !('type' in part)) return false;
  const { type } = part;
  const isTool = typeof type === 'string' && (type === 'dynamic-tool' || type.startsWith('tool-'));
  return isTool && !('providerExecuted' in part && part.providerExecuted === true);
};

const responseOf = (part: ToolPart): ToolResponse | undefined => {
  const { state, toolCallId, approval } = part;
  const of = (target: string, action: ToolResponse['action'], result: ToolResponse['result']) => ({
    target,
    call: { id: toolCallId, name: nameOf(part), arguments: part.input ?? {} },
    action,
    result,
  });
  switch (state) {
    case 'output-available':
      return of(toolCallId, 'resume', part.output ?? null);
    case 'output-error':
      return of(toolCallId, 'resume', { error: part.errorText ?? TOOL_FAILED });
    case 'output-denied':
      return of(toolCallId, 'cancel', { approved: false });
    case 'approval-responded': {
      if (!approval) return undefined;
      const own = typeof approval.id === 'string' ? approval.id : undefined;
      const target = part.approvalId ?? own ?? toolCallId;
      const { approved, reason } = approval;
      return {
        ...of(target, approved === false ? 'cancel' : 'resume', approval),
        ...(typeof reason === 'string' && { reason }),
      };
    }
  }
};

const nameOf = ({ type, toolName }: ToolPart): string =>
  type === 'dynamic-tool' ? (toolName ?? '') : type.slice('tool-'.length);

export type OpenTicket = Pick<WaitingTicket, 'ticket_id' | 'tool_call_id'>;

/** For what waits now; of several responses to one call the last counts. */
export const decisionsOf = (
  responses: readonly ToolResponse[],
  tickets: readonly OpenTicket[],
): DecisionInput[] => {
  const decisions = new Map<string, DecisionInput>();
  for (const { target, action, result, reason } of responses) {
    const ticket =
      tickets.find(({ tool_call_id }) => tool_call_id === target) ??
      tickets.find(({ ticket_id }) => ticket_id === target);
    if (!ticket) continue;
    const { tool_call_id } = ticket;
    const why = reason === undefined ? {} : { reason };
    decisions.set(tool_call_id, { tool_call_id, action, payload: result, ...why });
  }
  return [...decisions.values()];
};
