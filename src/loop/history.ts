import type { Message } from '../schema/message.ts';

/**
 * What the model sees of a history (agent-loop.md 9.1): no call that was retracted, no internal marker of one, and
 * every other call with one result. A call whose result is missing (its run was cancelled or died) gets an interrupted one, because
 * providers refuse a history with open calls. Costs one pass; nothing is copied when nothing has to change.
 */

export const INTERRUPTED = '[Tool execution was interrupted]';

export const modelHistory = (history: readonly Message[]): readonly Message[] =>
  isPlain(history) ? history : repaired(history);

/** Every call is followed by its one result, and there is no other. */
const isPlain = (history: readonly Message[]): boolean => {
  for (let index = 0; index < history.length; ) {
    const message = history[index];
    if (message?.role === 'tool') return false;
    index += 1;
    for (const call of message?.tool_calls ?? []) {
      const result = history[index];
      if (result?.tool_call_id !== call.id || result.visibility === 'internal') return false;
      index += 1;
    }
  }
  return true;
};

/** What became of the calls of one assistant message; a call without an entry has no result. */
type Results = Map<string, Message | 'retracted'>;

const repaired = (history: readonly Message[]): readonly Message[] => {
  const results = resultsOf(history);
  return history.flatMap((message) => {
    if (message.role === 'tool') return [];
    const { tool_calls, ...rest } = message;
    if (!tool_calls) return [message];
    const became = results.get(message);
    const kept = tool_calls.filter(({ id }) => became?.get(id) !== 'retracted');
    if (kept.length === 0) return message.content.length > 0 ? [rest] : [];
    return [
      kept.length === tool_calls.length ? message : { ...rest, tool_calls: kept },
      ...kept.map(({ id }) => resultOf(became?.get(id), id)),
    ];
  });
};

/**
 * A result belongs to the nearest earlier message that asks for a call of its id, and the last one counts:
 * earlier ones are placeholders.
 */
const resultsOf = (history: readonly Message[]): Map<Message, Results> => {
  const found = new Map<Message, Results>();
  const askedBy = new Map<string, Results>();
  for (const message of history) {
    if (message.tool_calls) {
      const results: Results = new Map();
      found.set(message, results);
      for (const { id } of message.tool_calls) askedBy.set(id, results);
    }
    if (message.tool_call_id === undefined) continue;
    const results = askedBy.get(message.tool_call_id);
    if (results?.get(message.tool_call_id) === 'retracted') continue;
    results?.set(message.tool_call_id, message.visibility === 'internal' ? 'retracted' : message);
  }
  return found;
};

const resultOf = (found: Message | 'retracted' | undefined, callId: string): Message =>
  found !== undefined && found !== 'retracted'
    ? found
    : {
        id: `interrupted_${callId}`,
        role: 'tool',
        tool_call_id: callId,
        content: [{ type: 'text', text: INTERRUPTED }],
      };
