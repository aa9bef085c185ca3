import type { DecisionInput } from '../../runtime/index.ts';
import { AUTH_REQUIRED } from '../../schema/authorization.ts';
import { digestOfTicket } from '../../schema/call-digest.ts';
import type { Json } from '../../schema/json.ts';
import type { Waiting, WaitingTicket } from '../../schema/run.ts';
import { asksForBudget, asksForConsent } from '../../schema/run-state.ts';
import type { ToolDescriptor } from '../../schema/tool-descriptor.ts';

/**
 * Waits of a run in a protocol that knows only calls of functions (openai.md 6.5): calls of functions of the client are
 * `tool_calls`, everything else is a text, which the next message of the user answers.
 */

export type Waits = {
  /** Calls that the client executes. */
  calls: readonly WaitingTicket[];
  /** Calls that need a permission, or an account. */
  permissions: readonly WaitingTicket[];
  /** Waits for budgets, which the user of a chat cannot decide. */
  budgets: readonly WaitingTicket[];
  /** Calls that ask for an input. */
  questions: readonly WaitingTicket[];
  /** Question of a remote agent, which has no ticket. */
  message: string | undefined;
};

/** Waits as a completion shows them. */
export type ShownWaits = Omit<Waits, 'calls'> & {
  calls: readonly Pick<WaitingTicket, 'tool_call_id' | 'tool_name' | 'arguments'>[];
};

/** @param declared functions of the client of the run */
export const waitsOf = (
  waiting: Pick<Waiting, 'tickets' | 'message' | 'reason'> | undefined,
  declared: readonly Pick<ToolDescriptor, 'id'>[] = [],
): Waits => {
  const tickets = waiting?.tickets ?? [];
  const names = new Set(declared.map(({ id }) => id));
  const isCall = (ticket: WaitingTicket): boolean =>
    ticket.resume_mode === 'use_decision_as_tool_result' && !ticket.tickets && names.has(ticket.tool_name);
  const budgets = tickets.filter(asksForBudget);
  const others = tickets.filter((ticket) => !isCall(ticket) && !asksForBudget(ticket));
  return {
    calls: tickets.filter(isCall),
    budgets,
    permissions: others.filter(asksForConsent),
    questions: others.filter((ticket) => !asksForConsent(ticket)),
    message: tickets.length === 0 && waiting?.reason === 'user_input' ? waiting.message : undefined,
  };
};

/** @param isKeyed whether the client can return to the thread */
export const waitText = (
  { permissions, budgets, questions, message }: ShownWaits,
  isKeyed: boolean,
): string => {
  const texts = [
    ...permissions.flatMap(permissionTexts),
    ...questions.map(questionText),
    ...budgets.map(budgetText),
  ];
  if (message !== undefined && message.trim() !== '') texts.push(message);
  if (permissions.some(({ reason }) => reason !== AUTH_REQUIRED)) texts.push(isKeyed ? REPLY : IN_INBOX);
  return texts.join('\n\n');
};

/** Without a word in angle brackets: Open WebUI takes `<reason>` for the beginning of reasoning. */
const REPLY = 'Reply /approve, or /deny and a reason.';
const IN_INBOX = 'Decide in the inbox of the service.';

const permissionTexts = ({
  tool_name,
  arguments: args,
  reason,
  message,
  tickets,
}: WaitingTicket): string[] => {
  if (reason === AUTH_REQUIRED) return [accountText(message ?? `Tool '${tool_name}' needs an account`, args)];
  return tickets
    ? tickets.map((below) => approvalText(below.tool, below.arguments))
    : [approvalText(tool_name, args)];
};

const approvalText = (tool: string, args: Json | undefined): string =>
  `**Approval needed**: ${tool} ${shortened(JSON.stringify(args ?? {}), LONGEST_ARGUMENTS)}`;

const accountText = (message: string, args: Json | undefined): string => {
  const url = typeof args === 'object' && args !== null && !Array.isArray(args) ? args.url : undefined;
  return typeof url === 'string' ? `**Account needed**: ${message} ${url}` : `**Account needed**: ${message}`;
};

/** Undefined without a wait for a budget. */
export const budgetTexts = ({ budgets }: Waits): string | undefined =>
  budgets.length > 0 ? budgets.map(budgetText).join('\n\n') : undefined;

const budgetText = ({ message = 'A budget is exhausted' }: WaitingTicket): string =>
  `${message}. The answer continues when the budget is raised.`;

const questionText = ({ tool_name, arguments: args, message }: WaitingTicket): string =>
  message ?? `${tool_name} ${shortened(JSON.stringify(args ?? {}), LONGEST_ARGUMENTS)}`;

const LONGEST_ARGUMENTS = 500;

export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

/** A decision that the text of the user makes; undefined for any other text. */
export type Command = { approves: true } | { approves: false; reason: string | undefined };

export const commandIn = (text: string): Command | undefined => {
  const [, approve, deny, reason = ''] = COMMAND.exec(text.trim()) ?? [];
  if (approve !== undefined) return { approves: true };
  if (deny === undefined) return undefined;
  return { approves: false, reason: reason.trim() === '' ? undefined : reason.trim() };
};

const COMMAND = /^(?:(\/approve)|(\/deny)(?:\s+(.*))?)$/is;

type Decision = Pick<DecisionInput, 'tool_call_id' | 'action' | 'payload' | 'form' | 'digest' | 'reason'>;

/** An account is connected elsewhere, so approving it decides nothing. */
export const decideAll = (permissions: readonly WaitingTicket[], command: Command): Decision[] =>
  permissions.flatMap((ticket): Decision[] => {
    const tool_call_id = ticket.ticket_id;
    if (!command.approves) {
      const { reason } = command;
      const payload = { approved: false, ...(reason !== undefined && { reason }) };
      return [{ tool_call_id, action: 'cancel', payload, ...(reason !== undefined && { reason }) }];
    }
    if (ticket.reason === AUTH_REQUIRED) return [];
    const digest = digestOfTicket(ticket);
    return [{ tool_call_id, action: 'resume', payload: { approved: true }, form: 'approval', digest }];
  });

export const answerAll = (questions: readonly WaitingTicket[], text: string): Decision[] =>
  questions.map(({ ticket_id }) => ({
    tool_call_id: ticket_id,
    action: 'resume',
    payload: { text },
    form: 'output',
  }));
