import type { Resume } from '../schema/run.ts';
import type { Ticket, ToolResult } from '../schema/run-event.ts';
import { type Shown, shownJson, shownText } from '../tools/media-text.ts';
import { advanceCall } from './calls.ts';
import { deniedText, INTERRUPTED } from './history.ts';
import { traceSuspended, traceTool } from './trace.ts';
import { produce, type StepCall, type Turn } from './turn.ts';

/** What a call comes to: its message for the history, its event for the readers, its status. */

const toolMessage = (turn: Turn, { call }: StepCall, { text, pictures }: Shown) =>
  produce(turn, {
    id: turn.ids.uuid(),
    role: 'tool',
    tool_call_id: call.id,
    content: [{ type: 'text', text }, ...pictures],
  });

const shownOf = ({ message, data }: ToolResult): Shown =>
  message === null ? shownJson(data) : shownText(message);

/** The call has its result, in the step that asked for it. */
export const settle = (turn: Turn, entry: StepCall, result: ToolResult): void => {
  entry.returned = undefined;
  advanceCall(turn, entry, result.status === 'success' ? 'SUCCEED' : 'FAIL');
  traceTool(turn, entry, result);
  const message = toolMessage(turn, entry, shownOf(result));
  turn.stream.emit({
    event_type: 'tool_call_done',
    id: entry.call.id,
    message_id: message.id,
    result,
    outcome: result.status === 'success' ? 'succeeded' : 'failed',
  });
};

/** The call waits; a placeholder stands where its result will be. */
export const suspend = (turn: Turn, entry: StepCall, ticket: Ticket): void => {
  const { name, id } = entry.call;
  const first = entry.ticket === undefined;
  entry.ticket = {
    id: ticket.suspension.id,
    reason: ticket.suspension.action,
    ...(ticket.suspension.message !== undefined && { message: ticket.suspension.message }),
    resume_mode: ticket.resume_mode,
    ...(ticket.expires && { expires: ticket.expires }),
    ...(ticket.resume_with !== undefined && { resume_with: ticket.resume_with }),
  };
  // What was decided before does not answer the new ticket.
  turn.decisions.delete(id);
  advanceCall(turn, entry, 'SUSPEND');
  turn.observe.agents.suspension(turn.agent.spec.id);
  // A call that suspends again has its placeholder already; readers are told of the new ticket all the same.
  const text = `Tool '${name}' suspended: awaiting decision`;
  const message_id = first ? toolMessage(turn, entry, { text, pictures: [] }).id : placeholderOf(turn, entry);
  const result: ToolResult = {
    tool_name: name,
    status: 'pending',
    data: null,
    message: `Tool '${name}' suspended: awaiting approval`,
    suspension: ticket,
  };
  // A gate asks before the tool is executed.
  if (entry.ran) traceTool(turn, entry, result);
  entry.ran = undefined;
  traceSuspended(turn, entry);
  turn.stream.emit({ event_type: 'tool_call_done', id, message_id, result, outcome: 'suspended' });
};

const placeholderOf = (turn: Turn, { call }: StepCall): string =>
  [turn.produced, turn.committed()]
    .map((messages) => messages.findLast(({ tool_call_id }) => tool_call_id === call.id))
    .find((message) => message !== undefined)?.id ?? '';

/** The call goes on after a decision and has its real result. */
export const settleResumed = (turn: Turn, entry: StepCall, result: ToolResult): void => {
  advanceCall(turn, entry, result.status === 'success' ? 'SUCCEED' : 'FAIL');
  traceTool(turn, entry, result);
  const message = toolMessage(turn, entry, shownOf(result));
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

/** An internal tool message takes the call and its results out of what readers see (runtime.md 4.1). */
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

/** New input has taken the place of a decision: the model does not see the call either. */
export const supersede = (turn: Turn, entry: StepCall): string =>
  retract(turn, entry, '[tool call superseded]');

/** A decision has refused the call: the model reads that, and why (runtime.md 12). */
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

/** Protocols without a field for the reason have it in what they decide with. */
const reasonIn = (payload: Resume['result']): string | undefined => {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return isObject && typeof payload.reason === 'string' ? payload.reason : undefined;
};

/** Gives every call that has not begun the interrupted result; one that an earlier process finished has its own. */
export const interruptCalls = (turn: Turn): void => {
  for (const entry of turn.calls) {
    if (entry.returned) settle(turn, entry, entry.returned.result);
    else if (entry.status === 'new') settle(turn, entry, interrupted(entry));
  }
};

export const interrupted = ({ call }: StepCall): ToolResult => ({
  tool_name: call.name,
  status: 'error',
  data: null,
  message: INTERRUPTED,
});
