import type { InputRequests, ServerContext } from '@modelcontextprotocol/server';
import type { DecisionInput } from '../../runtime/index.ts';
import { AUTH_REQUIRED, AuthorizationWait } from '../../schema/authorization.ts';
import { BUDGET_EXCEEDED } from '../../schema/budget.ts';
import { digestOfTicket } from '../../schema/call-digest.ts';
import { isObject } from '../../schema/endpoint.ts';
import type { Json } from '../../schema/json.ts';
import { jsonOrUndefined } from '../../schema/json-or-undefined.ts';
import type { Run, WaitingTicket } from '../../schema/run.ts';
import type { Sdk } from './sdk.ts';

/**
 * Sends the questions of a waiting run to the client of its call if it supports forms (mcp.md C5). The state between
 * question and response is held by the client, as the ids of run and thread. They grant no access that a caller of the
 * agent does not have anyway.
 */

/** The run that the call continues. */
export type QuestionedRun = { thread_id: string; run_id: string };

/** The forms of questions that the client can show to its user. */
export type Shows = { forms: boolean; urls: boolean };

/** Questions by ticket id. Undefined if the run waits for something that the client cannot ask its user. */
export const createQuestions = (
  { inputRequired }: Sdk,
  { agent_id, waiting }: Run,
  shows: Shows,
): InputRequests | undefined => {
  const tickets = waiting?.tickets ?? [];
  const questions = tickets.flatMap((ticket) => {
    const wait = waitOf(ticket);
    if (isForBudget(ticket)) return [];
    if (wait ? !shows.urls : !shows.forms) return [];
    const question = wait
      ? inputRequired.elicitUrl({ message: messageOf(ticket), url: wait.url })
      : inputRequired.elicit(formOf(agent_id, ticket));
    return [[ticket.ticket_id, question] as const];
  });
  return tickets.length === 0 || questions.length < tickets.length
    ? undefined
    : Object.fromEntries(questions);
};

/** A budget is not raised by the user of a client. */
const isForBudget = ({ reason, tickets = [] }: Pick<WaitingTicket, 'reason' | 'tickets'>): boolean =>
  reason === BUDGET_EXCEEDED || tickets.some((below) => below.reason === BUDGET_EXCEEDED);

/** The accounts that a run waits for, as the error of earlier revisions lists them. */
export const createUrlElicitations = ({ waiting }: Run) =>
  (waiting?.tickets ?? []).flatMap((ticket) => {
    const wait = waitOf(ticket);
    return wait
      ? [
          {
            mode: 'url' as const,
            message: messageOf(ticket),
            url: wait.url,
            elicitationId: wait.authorization,
          },
        ]
      : [];
  });

export const waitOf = ({ reason, arguments: shown }: WaitingTicket): AuthorizationWait | undefined =>
  reason === AUTH_REQUIRED ? AuthorizationWait.safeParse(shown).data : undefined;

const messageOf = ({ message, tool_name }: WaitingTicket): string =>
  message ?? `Tool '${tool_name}' needs an account`;

const formOf = (agent_id: string, ticket: WaitingTicket) => {
  const { tool_name, arguments: given, tickets } = ticket;
  if (!asksPermission(ticket)) {
    const call = callText(tool_name, shortened(JSON.stringify(given ?? {})));
    return { message: `Agent '${agent_id}' asks with ${call}.`, requestedSchema: ANSWER };
  }
  // Not shortened, because a person approves the text that the form shows.
  const descriptions = tickets?.map((below) => describeCall(below.agent_id, below.tool, below.arguments));
  const message = descriptions?.join('\n') ?? describeCall(agent_id, tool_name, given ?? {});
  return { message, requestedSchema: PERMISSION };
};

const describeCall = (agent_id: string, tool: string, args: Json): string =>
  `Agent '${agent_id}' wants to use ${callText(tool, JSON.stringify(args))}.`;

const callText = (tool: string, args: string): string => `the tool '${tool}' with ${args}`;

/** Limit for the arguments of a question, which a person reads in a form. */
const MOST_CHARACTERS = 2000;

const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

const asksPermission = ({ resume_mode, tickets }: WaitingTicket): boolean =>
  tickets?.every((below) => below.resume_mode === 'replay_tool_call') ?? resume_mode === 'replay_tool_call';

const PERMISSION = {
  type: 'object' as const,
  properties: {
    approve: { type: 'boolean' as const, title: 'Approve', description: 'Whether the call is approved' },
  },
  required: ['approve'],
};

const ANSWER = {
  type: 'object' as const,
  properties: { answer: { type: 'string' as const, title: 'Answer' } },
  required: ['answer'],
};

/** Returns the decisions in the responses to the questions of a run. */
export const decisionsIn = (
  { inputResponse }: Sdk,
  { waiting }: Run,
  responses: ServerContext['mcpReq']['inputResponses'],
): DecisionInput[] =>
  (waiting?.tickets ?? []).flatMap((ticket) => {
    if (isForBudget(ticket)) return [];
    const response = inputResponse(responses, ticket.ticket_id);
    if (response.kind !== 'elicit') return [];
    return decisionOf(ticket, response.action === 'accept' ? (response.content ?? {}) : undefined) ?? [];
  });

/** @param content undefined if the user has refused */
const decisionOf = (
  ticket: WaitingTicket,
  content: Readonly<Record<string, unknown>> | undefined,
): DecisionInput | undefined => {
  const tool_call_id = ticket.ticket_id;
  const refused = { tool_call_id, action: 'cancel', payload: null } as const;
  // The user connects elsewhere, which resumes the call.
  if (waitOf(ticket)) return content ? undefined : refused;
  const { approve, answer } = content ?? {};
  if (!asksPermission(ticket))
    return typeof answer === 'string'
      ? { tool_call_id, action: 'resume', payload: answer, form: 'output' }
      : refused;
  if (approve !== true) return refused;
  const digest = digestOfTicket(ticket);
  return { tool_call_id, action: 'resume', payload: { approved: true }, form: 'approval', digest };
};

export const encodeState = ({ thread_id, run_id }: QuestionedRun): string =>
  JSON.stringify({ thread_id, run_id });

/** Returns undefined if no questions were sent before. @throws ProtocolError */
export const questionedBefore = (sdk: Sdk, state: unknown): QuestionedRun | undefined => {
  if (state === undefined) return undefined;
  const questioned = questionedIn(state);
  if (!questioned) throw noSuchState(sdk);
  return questioned;
};

/** Returns undefined for a state that is not in the form of `encodeState`. */
export const questionedIn = (state: unknown): QuestionedRun | undefined => {
  const value = typeof state === 'string' ? jsonOrUndefined(state) : undefined;
  return isQuestionedRun(value) ? value : undefined;
};

export const noSuchState = ({ ProtocolError, ProtocolErrorCode }: Sdk): Error =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState');

const isQuestionedRun = (value: unknown): value is QuestionedRun =>
  isObject(value) && typeof value.thread_id === 'string' && typeof value.run_id === 'string';
