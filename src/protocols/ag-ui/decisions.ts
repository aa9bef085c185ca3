import type { DecisionInput } from '../../runtime/index.ts';
import { inexactInteger } from '../../schema/exact-integers.ts';
import { Conflict } from '../../schema/outcome.ts';
import {
  findTicket,
  findTicketOfCall,
  type IssuedTickets,
  type OpenTicket,
} from '../../tools/find-ticket.ts';
import { toTextBlock } from './content.ts';
import type { AgUiMessage, ResumeEntry } from './request.ts';

/**
 * Decisions for a waiting run: the entries of `resume`, and messages with results of tools that the client executed
 * (chat-and-agui.md 13.2). Clients send all of their tool messages each time, but only pending calls can be resolved.
 */

export type ThreadTickets = { tickets: readonly OpenTicket[]; issued: IssuedTickets };

type Payload = DecisionInput['payload'];

export type Answers = {
  decisions: DecisionInput[];
  /** Calls whose results arrived as tool messages. */
  answered: string[];
};

/**
 * An entry of `resume` takes precedence over a tool message, and the last of several entries counts.
 * @param unseen the messages that the thread does not have
 * @throws Conflict
 */
export const answersIn = (
  { unseen, messages }: { unseen: readonly AgUiMessage[]; messages: readonly AgUiMessage[] },
  resume: readonly ResumeEntry[],
  { tickets, issued }: ThreadTickets,
): Answers => {
  const decisions = new Map<string, DecisionInput>();
  const answered: string[] = [];
  const lastAnswer = messages.findLastIndex(({ role }) => role === 'assistant');
  for (const message of unseen.filter(isToolResult)) {
    const isCurrent = messages.indexOf(message) > lastAnswer;
    const found = ticketOfCall(message.toolCallId ?? '', isCurrent, { tickets, issued });
    if (!found) continue;
    const { ticket_id, tool_call_id } = found.ticket;
    answered.push(tool_call_id);
    decisions.set(ticket_id, {
      tool_call_id: ticket_id,
      action: 'resume',
      payload: resultOf(message),
      form: 'output',
    });
  }
  for (const { interruptId, status, payload, metadata } of resume) {
    const found = findTicket(tickets, issued, interruptId);
    if (!found) continue;
    const id = found.below?.id ?? found.ticket.ticket_id;
    const isCancelled = status === 'cancelled';
    decisions.set(id, {
      tool_call_id: id,
      action: isCancelled ? 'cancel' : 'resume',
      payload: payload ?? (isCancelled ? { approved: false } : null),
      form: 'approval',
      ...(metadata?.digest !== undefined && { digest: metadata.digest }),
    });
  }
  return { decisions: [...decisions.values()], answered };
};

/** An ambiguous call id is rejected in the current response of the client, and ignored in its history. */
const ticketOfCall = (call_id: string, isCurrent: boolean, { tickets, issued }: ThreadTickets) => {
  try {
    return findTicketOfCall(tickets, issued, call_id);
  } catch (error) {
    if (isCurrent || !(error instanceof Conflict)) throw error;
    return undefined;
  }
};

export const isToolResult = ({ role, toolCallId }: AgUiMessage): boolean => role === 'tool' && !!toolCallId;

const resultOf = ({ content, error }: AgUiMessage): Payload => {
  if (error) return { error };
  const [block] = toTextBlock(content);
  if (block?.type !== 'text') return null;
  // Text preserves all digits.
  if (inexactInteger(block.text) !== undefined) return block.text;
  try {
    return JSON.parse(block.text);
  } catch {
    return block.text;
  }
};
