import { z } from 'zod';
import type { DecisionInput } from '../../runtime/index.ts';
import { inexactInteger } from '../../schema/exact-integers.ts';
import type { WaitingTicket } from '../../schema/run.ts';
import { textBlockOf } from './content.ts';
import type { AgUiMessage, ResumeEntry } from './request.ts';

/**
 * Answers to what a run waits for: the entries of `resume`, and messages with the results of tools that the client
 * has executed (chat-and-agui.md 13.2). Clients send all of their tool messages each time; only what waits now can
 * be answered.
 */

export type OpenTicket = Pick<WaitingTicket, 'ticket_id' | 'tool_call_id' | 'resume_mode'>;

type Payload = DecisionInput['payload'];

export type Answers = {
  decisions: DecisionInput[];
  /** The calls whose results came as tool messages. */
  answered: string[];
};

/** What is said in `resume` counts more than a tool message; of several entries the last counts. */
export const answersIn = (
  messages: readonly AgUiMessage[],
  resume: readonly ResumeEntry[],
  tickets: readonly OpenTicket[],
): Answers => {
  const decisions = new Map<string, DecisionInput>();
  const decide = (ticket: OpenTicket, payload: Payload, cancelled: boolean): void => {
    const { tool_call_id } = ticket;
    const action = cancelled || declines(ticket, payload) ? 'cancel' : 'resume';
    decisions.set(tool_call_id, { tool_call_id, action, payload });
  };
  const answered: string[] = [];
  for (const message of messages.filter(isToolResult)) {
    const ticket = tickets.find(({ tool_call_id }) => tool_call_id === message.toolCallId);
    if (!ticket) continue;
    answered.push(ticket.tool_call_id);
    decide(ticket, resultOf(message), false);
  }
  for (const { interruptId: id, status, payload } of resume) {
    const ticket =
      tickets.find(({ tool_call_id }) => tool_call_id === id) ??
      tickets.find(({ ticket_id }) => ticket_id === id);
    const cancelled = status === 'cancelled';
    if (ticket) decide(ticket, payload ?? (cancelled ? { approved: false } : null), cancelled);
  }
  return { decisions: [...decisions.values()], answered };
};

export const isToolResult = ({ role, toolCallId }: AgUiMessage): boolean => role === 'tool' && !!toolCallId;

const Declined = z.object({ approved: z.literal(false) });

/** Whoever may allow a call may also forbid it; the answer to any other ticket is the tool's to understand. */
const declines = ({ resume_mode }: OpenTicket, payload: Payload): boolean =>
  resume_mode === 'replay_tool_call' && Declined.safeParse(payload).success;

const resultOf = ({ content, error }: AgUiMessage): Payload => {
  if (error) return { error };
  const [block] = textBlockOf(content);
  if (block?.type !== 'text') return null;
  // As text it keeps its digits.
  if (inexactInteger(block.text) !== undefined) return block.text;
  try {
    return JSON.parse(block.text);
  } catch {
    return block.text;
  }
};
