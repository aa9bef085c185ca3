import type { InputRequests, ServerContext } from '@modelcontextprotocol/server';
import type { DecisionInput } from '../../runtime/index.ts';
import { digestOfTicket } from '../../schema/call-digest.ts';
import { isObject } from '../../schema/endpoint.ts';
import type { Json } from '../../schema/json.ts';
import type { Run, WaitingTicket } from '../../schema/run.ts';
import type { Sdk } from './sdk.ts';

/**
 * A run that waits for a person asks the client of its call, when that can show a form (mcp.md C5). What was asked goes
 * with the client, as the ids of run and thread: they give it no more than what whoever may call an agent may do anyhow.
 */

/** Where the call goes on. */
export type Asked = { thread_id: string; run_id: string };

/** By the ids of the tickets that are open. Undefined: the run waits for nothing that a form can answer. */
export const questionsOf = (
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
  // A person approves what the form shows, so nothing of it is cut off.
  const wishes = tickets?.map((below) => wishOf(below.agent_id, below.tool, below.arguments));
  const message = wishes?.join('\n') ?? wishOf(agent_id, tool_name, given ?? {});
  return { message, requestedSchema: PERMISSION };
};

const wishOf = (agent_id: string, tool: string, args: Json): string =>
  `Agent '${agent_id}' wants to use ${callText(tool, JSON.stringify(args))}.`;

const callText = (tool: string, args: string): string => `the tool '${tool}' with ${args}`;

/** Of the arguments of a question; a form is read by a person. */
const MOST_CHARACTERS = 2000;

const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

const asksPermission = ({ resume_mode, tickets }: WaitingTicket): boolean =>
  tickets?.every((below) => below.resume_mode === 'replay_tool_call') ?? resume_mode === 'replay_tool_call';

const PERMISSION = {
  type: 'object' as const,
  properties: { approve: { type: 'boolean' as const, title: 'Approve', description: 'Whether it may' } },
  required: ['approve'],
};

const ANSWER = {
  type: 'object' as const,
  properties: { answer: { type: 'string' as const, title: 'Answer' } },
  required: ['answer'],
};

/** What was answered of what the run waits for. */
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

export const stateOf = ({ thread_id, run_id }: Asked): string => JSON.stringify({ thread_id, run_id });

/** Undefined: nothing was asked before. @throws ProtocolError */
export const askedBefore = (sdk: Sdk, state: unknown): Asked | undefined => {
  if (state === undefined) return undefined;
  const asked = typeof state === 'string' ? parsed(state) : undefined;
  if (!isAsked(asked)) throw noSuchState(sdk);
  return asked;
};

export const noSuchState = ({ ProtocolError, ProtocolErrorCode }: Sdk): Error =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState');

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isAsked = (asked: unknown): asked is Asked =>
  isObject(asked) && typeof asked.thread_id === 'string' && typeof asked.run_id === 'string';
