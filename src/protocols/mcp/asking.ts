import type { InputRequests, ServerContext } from '@modelcontextprotocol/server';
import type { DecisionInput } from '../../runtime/index.ts';
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

/** Questions by ticket id. Undefined if the run does not wait for anything that a form can answer. */
export const createQuestions = (
  { inputRequired }: Sdk,
  { agent_id, waiting }: Run,
): InputRequests | undefined => {
  const tickets = waiting?.tickets ?? [];
  if (tickets.length === 0) return undefined;
  return Object.fromEntries(
    tickets.map((ticket) => [ticket.ticket_id, inputRequired.elicit(formOf(agent_id, ticket))]),
  );
};

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
  (waiting?.tickets ?? []).flatMap((ticket): DecisionInput[] => {
    const tool_call_id = ticket.ticket_id;
    const response = inputResponse(responses, tool_call_id);
    if (response.kind !== 'elicit') return [];
    const { approve, answer } = response.action === 'accept' ? (response.content ?? {}) : {};
    const refused = { tool_call_id, action: 'cancel', payload: null } as const;
    if (!asksPermission(ticket))
      return typeof answer === 'string'
        ? [{ tool_call_id, action: 'resume', payload: answer, form: 'output' }]
        : [refused];
    if (approve !== true) return [refused];
    const digest = digestOfTicket(ticket);
    return [{ tool_call_id, action: 'resume', payload: { approved: true }, form: 'approval', digest }];
  });

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
