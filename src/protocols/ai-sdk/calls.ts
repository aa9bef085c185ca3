import type { TicketBelow } from '../../schema/run.ts';
import type { RunEventOf, Ticket, ToolResult } from '../../schema/run-event.ts';
import { DELTA_END, frame, toolDeltaHead } from './frames.ts';

/**
 * Frames about tool calls (chat-and-agui.md 4.2). The official client fails on a frame about a call that its
 * message does not hold, so what the message holds is kept here, and a call that it lacks is told of first.
 */

export type KnownCall = { name: string; arguments: unknown };

/** Looks up a call of the run from before this stream. */
export type EarlierCalls = (call_id: string) => KnownCall | undefined;

export type Calls = {
  /** The client's message holds them. */
  shown: Set<string>;
  /** With the arguments that they came with. */
  ready: Map<string, KnownCall>;
  /** Names of calls whose arguments are under way. */
  begun: Map<string, string>;
  /** Text that running tools have streamed so far. */
  streamed: Map<string, string>;
};

export const createCalls = (): Calls => ({
  shown: new Set(),
  ready: new Map(),
  begun: new Map(),
  streamed: new Map(),
});

/** Events are about calls of the last step only. */
export const forgetCalls = ({ shown, ready, begun, streamed }: Calls): void => {
  shown.clear();
  ready.clear();
  begun.clear();
  streamed.clear();
};

/** The call, if the client's message does not hold it and it is known what it was. */
const present = (calls: Calls, id: string, earlier: EarlierCalls | undefined): string => {
  if (calls.shown.has(id)) return '';
  const call = calls.ready.get(id) ?? earlier?.(id);
  if (!call) return '';
  calls.shown.add(id);
  return frame('tool-input-available', { toolCallId: id, toolName: call.name, input: call.arguments });
};

export const callStarted = (calls: Calls, { id, name }: RunEventOf<'tool_call_start'>): string => {
  calls.shown.add(id);
  calls.begun.set(id, name);
  return frame('tool-input-start', { toolCallId: id, toolName: name });
};

/** The client has no place for arguments of a call that it was not told of. */
export const argumentsGrown = (calls: Calls, id: string, delta: string): string =>
  calls.shown.has(id) ? toolDeltaHead(id) + JSON.stringify(delta) + DELTA_END : '';

/** A call that never became whole: its part would stay `input-streaming`, and the client need not answer it. */
export function callLost(calls: Calls, toolCallId: string, errorText: string): string {
  const toolName = calls.begun.get(toolCallId);
  if (toolName === undefined) return '';
  calls.begun.delete(toolCallId);
  return frame('tool-input-error', { toolCallId, toolName, input: null, errorText, providerExecuted: true });
}

export function callsLost(calls: Calls, errorText: string): string {
  return [...calls.begun.keys()].map((id) => callLost(calls, id, errorText)).join('');
}

export const callReady = (calls: Calls, event: RunEventOf<'tool_call_ready'>): string => {
  const { id, name, arguments: input } = event;
  calls.shown.add(id);
  calls.begun.delete(id);
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
    return suspension ? approvalFrames(id, { ...suspension, ticket_id: suspension.suspension.id }) : '';
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
};

/** Does the client answer with yes or no? Otherwise it answers with the output of the call. */
export const isApproval = ({ ticket_id, resume_mode, tickets }: Asking): boolean =>
  ticket_id.trim() !== '' &&
  (tickets?.every((below) => below.resume_mode === 'replay_tool_call') ?? resume_mode === 'replay_tool_call');

/** Empty when the client answers with the output of the call. */
export const approvalFrames = (toolCallId: string, ticket: Asking): string => {
  if (!isApproval(ticket)) return '';
  const request = frame('tool-approval-request', { approvalId: ticket.ticket_id, toolCallId });
  const below = belowPart(toolCallId, ticket);
  return below ? frame(below.type, { id: below.id, data: below.data }) + request : request;
};

/** What a delegating call is asked for: its part holds the task of the delegate alone. */
export const belowPart = (toolCallId: string, { ticket_id: approvalId, digest, tickets }: Asking) =>
  tickets && {
    type: 'data-tool-approval' as const,
    id: approvalId,
    data: { approvalId, toolCallId, ...(digest !== undefined && { digest }), tickets: [...tickets] },
  };

/** `providerExecuted` tells the client that it need not send the result back. */
const outputFrame = (toolCallId: string, output: unknown, more: { preliminary?: true } = {}): string =>
  frame('tool-output-available', { toolCallId, output, providerExecuted: true, ...more });

const errorFrame = (toolCallId: string, errorText: string): string =>
  frame('tool-output-error', { toolCallId, errorText, providerExecuted: true });
