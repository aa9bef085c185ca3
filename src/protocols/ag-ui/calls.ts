import type { RunEventOf, ToolResult } from '../../schema/run-event.ts';
import { argumentsFrame, frame } from './frames.ts';

/**
 * Events of tool calls (chat-and-agui.md 12.1). The official client rejects arguments of a call that is not open, and
 * the end of a run with an open call. So the state of each call is tracked here. A call whose arguments were not
 * streamed as deltas, as in a compacted log, is sent with complete arguments.
 */
export type Calls = {
  /** `grown`: some arguments have been sent. */
  states: Map<string, 'begun' | 'grown' | 'ended'>;
  /** Calls with streamed output. */
  growing: Set<string>;
};

export const createCalls = (): Calls => ({ states: new Map(), growing: new Set() });

/** Events refer to calls of the last step only, and a model may reuse an id. */
export const forgetCalls = ({ states, growing }: Calls): void => {
  states.clear();
  growing.clear();
};

export const isOpen = ({ states }: Calls, id: string): boolean => {
  const known = states.get(id);
  return known === 'begun' || known === 'grown';
};

export const callStarted = (
  calls: Calls,
  { id, name }: { id: string; name: string },
  parentMessageId: string,
): string => {
  if (isOpen(calls, id)) return '';
  calls.states.set(id, 'begun');
  return frame('TOOL_CALL_START', { toolCallId: id, toolCallName: name, parentMessageId });
};

export const argumentsGrown = (calls: Calls, id: string, delta: string): string => {
  if (delta === '' || !isOpen(calls, id)) return '';
  calls.states.set(id, 'grown');
  return argumentsFrame(id, delta);
};

export const callReady = (
  calls: Calls,
  event: RunEventOf<'tool_call_ready'>,
  parentMessageId: string,
): string => {
  const { id } = event;
  const known = calls.states.get(id);
  if (known === 'ended') return '';
  const start = known === undefined ? callStarted(calls, event, parentMessageId) : '';
  const whole = known === 'grown' ? '' : argumentsFrame(id, JSON.stringify(event.arguments));
  return start + whole + callEnded(calls, id);
};

export const callEnded = (calls: Calls, id: string): string => {
  if (!isOpen(calls, id)) return '';
  calls.states.set(id, 'ended');
  return frame('TOOL_CALL_END', { toolCallId: id });
};

export const closeCalls = (calls: Calls): string =>
  [...calls.states.keys()].map((id) => callEnded(calls, id)).join('');

/** The client accepts a delta only for a known activity. */
export const outputGrown = (calls: Calls, { id, delta }: RunEventOf<'tool_call_stream_delta'>): string => {
  const about = { messageId: id, activityType: 'tool-stream-output' };
  const patch = [{ op: 'add' as const, path: '/delta', value: delta }];
  const known = calls.growing.has(id);
  calls.growing.add(id);
  const snapshot = known
    ? ''
    : frame('ACTIVITY_SNAPSHOT', { ...about, content: { delta: '' }, replace: true });
  return snapshot + frame('ACTIVITY_DELTA', { ...about, patch });
};

export const callDone = (calls: Calls, { id, message_id, result }: RunEventOf<'tool_call_done'>): string => {
  calls.growing.delete(id);
  return callEnded(calls, id) + resultFrame(id, message_id, contentOf(result));
};

export const callResumed = (
  calls: Calls,
  { target_id, message_id, result }: RunEventOf<'tool_call_resumed'>,
): string => {
  calls.growing.delete(target_id);
  return resultFrame(target_id, message_id, JSON.stringify(result));
};

const resultFrame = (toolCallId: string, messageId: string, content: string): string =>
  frame('TOOL_CALL_RESULT', { messageId, toolCallId, content, role: 'tool' });

const contentOf = ({ status, data, message, metadata }: ToolResult): string => {
  if (status === 'error') return message ?? 'tool error';
  const described = metadata !== undefined && Object.keys(metadata).length > 0;
  return JSON.stringify(described ? { data, metadata } : data);
};
