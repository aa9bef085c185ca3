import type { Message } from '../schema/message.ts';

/**
 * What the model sees of a history (agent-loop.md 9.1): no internal markers of tool calls, and every call with a
 * result. A call whose result is missing (its run was cancelled or died) gets an interrupted one, because
 * providers refuse a history with open calls. Costs one pass; nothing is copied when nothing has to change.
 */

export const INTERRUPTED = '[Tool execution was interrupted]';

export const modelHistory = (history: readonly Message[]): readonly Message[] =>
  isPlain(history) ? history : repaired(history);

const isPlain = (history: readonly Message[]): boolean =>
  history.every((message, index) => {
    if (message.role === 'tool') return message.visibility !== 'internal';
    if (!message.tool_calls) return true;
    return message.tool_calls.every((call, offset) => history[index + 1 + offset]?.tool_call_id === call.id);
  });

const repaired = (history: readonly Message[]): readonly Message[] =>
  history.flatMap((message, index) => {
    if (message.role === 'tool') return [];
    if (!message.tool_calls) return [message];
    return [message, ...message.tool_calls.map((call) => resultOf(history, index, call.id))];
  });

/** The last answer to a call before the next assistant message counts; earlier ones are placeholders. */
const resultOf = (history: readonly Message[], asked: number, callId: string): Message => {
  let found: Message | undefined;
  for (let index = asked + 1; index < history.length; index += 1) {
    const message = history[index];
    if (!message || message.role === 'assistant') break;
    if (message.tool_call_id === callId && message.visibility !== 'internal') found = message;
  }
  return (
    found ?? {
      id: `interrupted_${callId}`,
      role: 'tool',
      tool_call_id: callId,
      content: [{ type: 'text', text: INTERRUPTED }],
    }
  );
};
