import type { Resume } from '../schema/activation.ts';
import { AUTH_REQUIRED } from '../schema/authorization.ts';
import { digestOfCall, digestOfTickets } from '../schema/call-digest.ts';
import type { ContentBlock } from '../schema/message.ts';
import type { Ticket, ToolResult } from '../schema/run-event.ts';
import { type Shown, shownJson, shownText } from '../tools/media-text.ts';
import { delegatedRun } from '../tools/tickets.ts';
import type { Suspension } from '../tools/tool.ts';
import { advanceCall } from './calls.ts';
import { deniedText, INTERRUPTED } from './history.ts';
import { traceSuspended, traceTool } from './trace.ts';
import { argumentsOf, type Executed, produce, type StepCall, type Turn } from './turn.ts';

/** The results of calls: the message for the history, the event for readers, and the status. */

const toolMessage = (turn: Turn, { call }: StepCall, content: ContentBlock[]) =>
  produce(turn, { id: turn.ids.uuid(), role: 'tool', tool_call_id: call.id, content });

/** Returns the content for the model: the content given by the tool, else the message or the data of the result. */
const contentOf = ({ message, data, status }: ToolResult, given: Executed['content']): ContentBlock[] => {
  if (given) return [...given];
  if (message === null) return blocksOf(shownJson(data));
  const { text, files } = shownText(message);
  // The message of a failure replaces the text of its data; the files of the data are kept as evidence.
  return blocksOf({ text, files: status === 'error' ? [...files, ...shownJson(data).files] : files });
};

const blocksOf = ({ text, files }: Shown): ContentBlock[] => [{ type: 'text', text }, ...files];

/** Settles a call in the step that requested it. `content`: for the model. */
export const settle = (
  turn: Turn,
  entry: StepCall,
  result: ToolResult,
  content?: Executed['content'],
): void => {
  entry.returned = undefined;
  advanceCall(turn, entry, result.status === 'success' ? 'SUCCEED' : 'FAIL');
  traceTool(turn, entry, result);
  const message = toolMessage(turn, entry, contentOf(result, content));
  turn.stream.emit({
    event_type: 'tool_call_done',
    id: entry.call.id,
    message_id: message.id,
    result,
    outcome: result.status === 'success' ? 'succeeded' : 'failed',
  });
};

/**
 * Suspends the call, with a placeholder in place of its result. The id of the ticket and the message with the call are
 * durable before a client sees the ticket, so the id always refers to this call, even after a crash.
 */
export const suspend = async (
  turn: Turn,
  entry: StepCall,
  wanted: Ticket,
  signal: AbortSignal,
): Promise<void> => {
  const { name, id } = entry.call;
  const ticket = issued(turn, entry, wanted);
  await turn.checkpoint();
  if (signal.aborted) return;
  const first = entry.ticket === undefined;
  entry.ticket = {
    id: ticket.suspension.id,
    reason: ticket.suspension.action,
    ...(ticket.suspension.message !== undefined && { message: ticket.suspension.message }),
    resume_mode: ticket.resume_mode,
    ...(ticket.digest !== undefined && { digest: ticket.digest }),
    ...(showsOther(ticket) && { shows: ticket.pending.arguments }),
    ...(ticket.tickets && { tickets: ticket.tickets }),
    ...(ticket.deciders && { deciders: ticket.deciders }),
    ...(ticket.expires && { expires: ticket.expires }),
    ...(ticket.resume_with !== undefined && { resume_with: ticket.resume_with }),
  };
  // Earlier decisions do not apply to the new ticket.
  turn.decisions.delete(id);
  advanceCall(turn, entry, 'SUSPEND');
  turn.observe.agents.suspension(turn.agent.spec.id);
  // A call that suspends again already has its placeholder; readers still receive the new ticket.
  const text = `Tool '${name}' suspended: awaiting decision`;
  const message_id = first
    ? toolMessage(turn, entry, [{ type: 'text', text }]).id
    : placeholderOf(turn, entry);
  const result: ToolResult = {
    tool_name: name,
    status: 'pending',
    data: null,
    message: `Tool '${name}' suspended: awaiting approval`,
    suspension: ticket,
  };
  // A call that a gate suspends has no execution to trace.
  if (entry.ran) traceTool(turn, entry, result);
  entry.ran = undefined;
  traceSuspended(turn, entry);
  turn.stream.emit({ event_type: 'tool_call_done', id, message_id, result, outcome: 'suspended' });
};

/** Suspends a call by its tool, which means that the gates have permitted it. */
export const suspendRun = (
  turn: Turn,
  entry: StepCall,
  { suspend: ticket }: Suspension,
  signal: AbortSignal,
): Promise<void> => {
  entry.passed = true;
  return suspend(turn, entry, ticket, signal);
};

/** Whether the ticket is not about the call, but about what the call lacks. */
const showsOther = ({ suspension }: Ticket): boolean => suspension.action === AUTH_REQUIRED;

/** Returns the ticket with an id that is new in the thread, and with a digest. */
const issued = (turn: Turn, entry: StepCall, ticket: Ticket): Ticket => {
  const { call } = entry;
  const { suspension, pending, tickets } = ticket;
  const wanted = suspension.id.trim() === '' ? call.id : suspension.id;
  const id = turn.issueTicket({
    id: wanted,
    call_id: call.id,
    numbered: delegatedRun(wanted) !== undefined,
    before: entry.ticket?.id,
  });
  const digest = tickets
    ? digestOfTickets(tickets)
    : digestOfCall({
        tool: call.name,
        arguments: showsOther(ticket) ? ticket.pending.arguments : argumentsOf(entry),
      });
  return {
    ...ticket,
    suspension: { ...suspension, id },
    pending: { ...pending, id: pending.id === suspension.id && pending.id !== call.id ? id : pending.id },
    digest,
  };
};

const placeholderOf = (turn: Turn, { call }: StepCall): string =>
  [turn.produced, turn.committed()]
    .map((messages) => messages.findLast(({ tool_call_id }) => tool_call_id === call.id))
    .find((message) => message !== undefined)?.id ?? '';

/** Settles a call that was resumed by a decision. */
export const settleResumed = (
  turn: Turn,
  entry: StepCall,
  result: ToolResult,
  content?: Executed['content'],
): void => {
  advanceCall(turn, entry, result.status === 'success' ? 'SUCCEED' : 'FAIL');
  traceTool(turn, entry, result);
  const message = toolMessage(turn, entry, contentOf(result, content));
  turn.stream.emit({
    event_type: 'tool_call_resumed',
    target_id: entry.call.id,
    message_id: message.id,
    action: 'resume',
    result: resumedResult(result),
  });
};

const resumedResult = ({ status, data, message, metadata }: ToolResult) => {
  if (status !== 'success') return { error: message };
  return metadata ? { data, metadata } : data;
};

/** Adds an internal tool message that hides the call and its results from readers (runtime.md 4.1). */
const retract = (turn: Turn, entry: StepCall, text: string, metadata?: { denied: true }): string => {
  advanceCall(turn, entry, 'CANCEL');
  return produce(turn, {
    id: turn.ids.uuid(),
    role: 'tool',
    tool_call_id: entry.call.id,
    content: [{ type: 'text', text }],
    visibility: 'internal',
    ...(metadata && { metadata }),
  }).id;
};

/** New input replaces the decision: the model does not see the call either. */
export const supersede = (turn: Turn, entry: StepCall): string =>
  retract(turn, entry, '[tool call superseded]');

/** A decision refuses the call: the model receives the refusal and its reason (runtime.md 12). */
export const deny = (turn: Turn, entry: StepCall, { reason, result }: Resume): void => {
  const message_id = retract(turn, entry, deniedText(reason ?? reasonIn(result)), { denied: true });
  turn.stream.emit({
    event_type: 'tool_call_resumed',
    target_id: entry.call.id,
    message_id,
    action: 'cancel',
    result,
  });
};

/** Protocols without a field for the reason put it into the payload. */
const reasonIn = (payload: Resume['result']): string | undefined => {
  if (typeof payload === 'string') return payload;
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined;
  return [payload.reason, payload.error].find((text) => typeof text === 'string');
};

/**
 * Gives every call that has not started the interrupted result; a call that an earlier process finished has its own.
 */
export const interruptCalls = (turn: Turn): void => {
  for (const entry of turn.calls) {
    if (entry.returned) settle(turn, entry, entry.returned.result, entry.returned.content);
    else if (entry.status === 'new') settle(turn, entry, interrupted(entry));
  }
};

export const interrupted = ({ call }: StepCall): ToolResult => ({
  tool_name: call.name,
  status: 'error',
  data: null,
  message: INTERRUPTED,
});
