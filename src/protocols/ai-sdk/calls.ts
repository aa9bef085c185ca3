import { AUTH_REQUIRED, AuthorizationWait } from '../../schema/authorization.ts';
import { BUDGET_EXCEEDED, ReachedLimit } from '../../schema/budget.ts';
import type { TicketBelow } from '../../schema/run.ts';
import type { RunEventOf, Ticket, ToolResult } from '../../schema/run-event.ts';
import { isBudgetTicket } from '../../tools/tickets.ts';
import { DELTA_END, frame, toolDeltaHead } from './frames.ts';

/**
 * Frames of tool calls (chat-and-agui.md 4.2). The official client fails on a frame of a call that its message does not
 * contain. So the calls of the message are tracked here, and a missing call is sent first.
 */

export type KnownCall = { name: string; arguments: unknown };

/** Returns a call of the run from before this stream. */
export type EarlierCalls = (call_id: string) => KnownCall | undefined;

export type Calls = {
  /** Calls that the message of the client contains. */
  shown: Set<string>;
  /** Calls with complete arguments. */
  ready: Map<string, KnownCall>;
  /** Names of calls whose arguments are incomplete. */
  incomplete: Map<string, string>;
  /** Text that running tools have streamed so far. */
  streamed: Map<string, string>;
};

export const createCalls = (): Calls => ({
  shown: new Set(),
  ready: new Map(),
  incomplete: new Map(),
  streamed: new Map(),
});

/** Events refer to calls of the last step only. */
export const forgetCalls = ({ shown, ready, incomplete, streamed }: Calls): void => {
  shown.clear();
  ready.clear();
  incomplete.clear();
  streamed.clear();
};

/** Returns the frame of a known call that the message of the client does not contain, else an empty text. */
const present = (calls: Calls, id: string, earlier: EarlierCalls | undefined): string => {
  if (calls.shown.has(id)) return '';
  const call = calls.ready.get(id) ?? earlier?.(id);
  if (!call) return '';
  calls.shown.add(id);
  return frame('tool-input-available', { toolCallId: id, toolName: call.name, input: call.arguments });
};

export const callStarted = (calls: Calls, { id, name }: RunEventOf<'tool_call_start'>): string => {
  calls.shown.add(id);
  calls.incomplete.set(id, name);
  return frame('tool-input-start', { toolCallId: id, toolName: name });
};

/** The client rejects arguments of an unknown call. */
export const argumentsGrown = (calls: Calls, id: string, delta: string): string =>
  calls.shown.has(id) ? toolDeltaHead(id) + JSON.stringify(delta) + DELTA_END : '';

/**
 * Ends an incomplete call. Otherwise its part would stay `input-streaming`. The client need not respond
 * to it.
 */
export function callLost(calls: Calls, toolCallId: string, errorText: string): string {
  const toolName = calls.incomplete.get(toolCallId);
  if (toolName === undefined) return '';
  calls.incomplete.delete(toolCallId);
  return frame('tool-input-error', { toolCallId, toolName, input: null, errorText, providerExecuted: true });
}

export function callsLost(calls: Calls, errorText: string): string {
  return [...calls.incomplete.keys()].map((id) => callLost(calls, id, errorText)).join('');
}

export const callReady = (calls: Calls, event: RunEventOf<'tool_call_ready'>): string => {
  const { id, name, arguments: input } = event;
  calls.shown.add(id);
  calls.incomplete.delete(id);
  calls.ready.set(id, { name, arguments: input });
  return frame('tool-input-available', { toolCallId: id, toolName: name, input });
};

export const outputGrown = (
  calls: Calls,
  { id, delta }: RunEventOf<'tool_call_stream_delta'>,
  earlier: EarlierCalls | undefined,
): string => {
  const output = (calls.streamed.get(id) ?? '') + delta;
  calls.streamed.set(id, output);
  return present(calls, id, earlier) + outputFrame(id, output, { preliminary: true });
};

export const callDone = (
  calls: Calls,
  { id, result }: RunEventOf<'tool_call_done'>,
  earlier: EarlierCalls | undefined,
): string => {
  calls.streamed.delete(id);
  return present(calls, id, earlier) + resultFrame(id, result);
};

export const callResumed = (
  calls: Calls,
  { target_id, action, result }: RunEventOf<'tool_call_resumed'>,
  earlier: EarlierCalls | undefined,
): string => {
  calls.streamed.delete(target_id);
  if (isBudgetTicket(target_id)) return '';
  const shown = present(calls, target_id, earlier);
  if (action === 'cancel') return shown + frame('tool-output-denied', { toolCallId: target_id });
  const failed =
    typeof result === 'object' &&
    result !== null &&
    !Array.isArray(result) &&
    typeof result.error === 'string'
      ? result.error
      : undefined;
  return shown + (failed === undefined ? outputFrame(target_id, result) : errorFrame(target_id, failed));
};

const resultFrame = (id: string, { status, data, message, metadata, suspension }: ToolResult): string => {
  if (status === 'error') return errorFrame(id, message ?? TOOL_FAILED);
  if (status === 'pending') {
    return suspension ? (limitFrame(suspension) ?? askingFrames(id, askingIn(suspension))) : '';
  }
  const described = metadata !== undefined && Object.keys(metadata).length > 0;
  return outputFrame(id, described ? { data, metadata } : data);
};

export const TOOL_FAILED = 'tool execution error';

type Asking = {
  ticket_id: string;
  resume_mode: Ticket['resume_mode'];
  digest?: string | undefined;
  tickets?: readonly TicketBelow[] | undefined;
  /** Set if the call waits for an account of its user. */
  wait?: AuthorizationWait | undefined;
};

const askingIn = ({ suspension: { id, action, parameters }, ...ticket }: Ticket): Asking => ({
  ...ticket,
  ticket_id: id,
  wait: waitIn(action, parameters),
});

/** Returns what a ticket waits for if that is an account of its user. */
export const waitIn = (reason: string | undefined, shown: unknown): AuthorizationWait | undefined =>
  reason === AUTH_REQUIRED ? AuthorizationWait.safeParse(shown).data : undefined;

/** Returns whether the client responds with approval or denial. Otherwise it responds with the output of the call. */
export const isApproval = ({ ticket_id, resume_mode, tickets, wait }: Asking): boolean =>
  !wait &&
  ticket_id.trim() !== '' &&
  (tickets?.every((below) => below.resume_mode === 'replay_tool_call') ?? resume_mode === 'replay_tool_call');

/** Returns an empty text if the client responds with the output of the call. */
export const askingFrames = (toolCallId: string, ticket: Asking): string => {
  const account = accountPart(toolCallId, ticket);
  if (account) return frame(account.type, { id: account.id, data: account.data });
  if (!isApproval(ticket)) return '';
  const request = frame('tool-approval-request', { approvalId: ticket.ticket_id, toolCallId });
  const below = belowPart(toolCallId, ticket);
  return below ? frame(below.type, { id: below.id, data: below.data }) + request : request;
};

/** Describes the pending calls below a delegating call, whose part contains only the task of the delegate. */
export const belowPart = (toolCallId: string, { ticket_id: approvalId, digest, tickets }: Asking) =>
  tickets && {
    type: 'data-tool-approval' as const,
    id: approvalId,
    data: { approvalId, toolCallId, ...(digest !== undefined && { digest }), tickets: [...tickets] },
  };

/** Describes the account that a call waits for. No response of the client ends this wait. */
export const accountPart = (toolCallId: string, { ticket_id: ticketId, wait }: Asking) =>
  wait && {
    type: 'data-authorization' as const,
    id: ticketId,
    data: {
      ticketId,
      toolCallId,
      server: wait.server,
      scopes: [...wait.scopes],
      authorization: wait.authorization,
      url: wait.url,
      expiresAt: wait.expires_at,
    },
  };

/** Describes the budget that an inference waits for; undefined for other tickets. */
export const limitFrameOf = (
  ticketId: string,
  reason: string | undefined,
  shown: unknown,
): string | undefined => {
  const limit = reason === BUDGET_EXCEEDED ? ReachedLimit.safeParse(shown).data : undefined;
  if (!limit) return undefined;
  const { resets_at, ...data } = limit;
  return frame('data-budget', {
    id: ticketId,
    data: { ticketId, ...data, ...(resets_at !== undefined && { resetsAt: resets_at }) },
  });
};

const limitFrame = ({ suspension: { id, action, parameters } }: Ticket): string | undefined =>
  limitFrameOf(id, action, parameters);

/** `providerExecuted` prevents the client from sending the result back. */
const outputFrame = (toolCallId: string, output: unknown, more: { preliminary?: true } = {}): string =>
  frame('tool-output-available', { toolCallId, output, providerExecuted: true, ...more });

const errorFrame = (toolCallId: string, errorText: string): string =>
  frame('tool-output-error', { toolCallId, errorText, providerExecuted: true });
