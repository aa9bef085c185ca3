import type { Resume } from '../../schema/activation.ts';
import type { ContentBlock } from '../../schema/message.ts';
import type { Run, WaitingTicket } from '../../schema/run.ts';
import type { DecisionInput, Submission } from '../thread/submission.ts';
import { isOfDelegate, ticketsOf } from '../thread/tickets.ts';

/** The input of a sub-agent's run: its prompt, and the part of a decision on the call that waits for it. */

export const userMessages = (text: string): { role: 'user'; content: ContentBlock[] }[] => [
  { role: 'user', content: [{ type: 'text', text }] },
];

/** Returns the part of a decision that applies to this child; undefined if no part applies, or no longer. */
export const inputFor = (
  child: Run,
  decision: Resume,
): Pick<Submission, 'messages' | 'decisions'> | undefined => {
  const { below } = decision;
  const open = ticketsOf(child);
  const hasTickets = (child.waiting?.tickets?.length ?? 0) > 0;
  if (!below && !hasTickets) return { messages: userMessages(replyOf(decision.result)) };
  const decisions = open.flatMap((ticket): DecisionInput[] => {
    if (!below) return !ticket.tickets && isOfDelegate(ticket) ? [decisionOn(ticket, decision)] : [];
    const accepted = below.filter((each) => isOn(each, child, ticket));
    return accepted.length > 0 ? [{ ...decisionOn(ticket, decision), accepted }] : [];
  });
  return decisions.length > 0 ? { messages: [], decisions } : undefined;
};

type Below = NonNullable<Resume['below']>[number];

const isOn = (
  { run_id, ticket_id }: Below,
  child: Pick<Run, 'run_id'>,
  { ticket_id: own, tickets = [] }: WaitingTicket,
): boolean =>
  (run_id === child.run_id && ticket_id === own) ||
  tickets.some((each) => each.run_id === run_id && each.id === ticket_id);

const decisionOn = (
  { ticket_id }: WaitingTicket,
  { action, result, reason, decided_by, decided_as, principal, digest }: Resume,
): DecisionInput => ({
  tool_call_id: ticket_id,
  action,
  payload: result,
  ...(reason !== undefined && { reason }),
  ...(decided_by !== undefined && { decided_by }),
  passed: {
    ...(decided_as !== undefined && { decided_as }),
    ...(principal && { principal }),
    ...(digest !== undefined && { digest }),
  },
});

/** Returns the answer for a child that asked for input. */
const replyOf = (payload: Resume['result']): string => {
  if (typeof payload === 'string') return payload;
  const text = typeof payload === 'object' && payload !== null && 'text' in payload && payload.text;
  return typeof text === 'string' ? text : JSON.stringify(payload);
};
