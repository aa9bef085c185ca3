import type { Message } from '../schema/message.ts';

/**
 * The history as sent to the model (agent-loop.md 9.1): without superseded calls and their internal markers, and with
 * exactly one result for every other call. A refused call has a result that states the refusal, or the model would
 * request it again. A call without a result (its run was cancelled or died) gets the result INTERRUPTED, because
 * providers reject a history with open calls.
 * Cost: one pass; nothing is copied unless a change is needed.
 */

export const INTERRUPTED = '[Tool execution was interrupted]';

/** Returns the text that the model receives as the result of a refused call. */
export const deniedText = (reason?: string): string =>
  `Denied: this call was refused, and nothing was done${reason === undefined || reason.trim() === '' ? '' : ` (${reason})`}`;

export const modelHistory = (history: readonly Message[]): readonly Message[] =>
  isPlain(history) ? history : repaired(history);

/** Whether every call is followed by its one result, and there are no other results. */
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

/** The results of the calls of one assistant message; a call without an entry has no result. */
type Results = Map<string, Message | 'superseded'>;

const repaired = (history: readonly Message[]): readonly Message[] => {
  const results = resultsOf(history);
  return history.flatMap((message) => {
    if (message.role === 'tool') return [];
    const { tool_calls, ...rest } = message;
    if (!tool_calls) return [message];
    const became = results.get(message);
    const kept = tool_calls.filter(({ id }) => became?.get(id) !== 'superseded');
    if (kept.length === 0) return message.content.length > 0 ? [rest] : [];
    return [
      kept.length === tool_calls.length ? message : { ...rest, tool_calls: kept },
      ...kept.map(({ id }) => resultOf(became?.get(id), id)),
    ];
  });
};

/**
 * A result belongs to the nearest earlier message with a call of its id, and the last one counts: earlier ones are
 * placeholders.
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
    if (results?.get(message.tool_call_id) === 'superseded') continue;
    results?.set(message.tool_call_id, isSuperseded(message) ? 'superseded' : message);
  }
  return found;
};

const isSuperseded = ({ visibility, metadata }: Message): boolean =>
  visibility === 'internal' && metadata?.denied !== true;

const resultOf = (found: Message | 'superseded' | undefined, callId: string): Message =>
  found !== undefined && found !== 'superseded'
    ? found
    : {
        id: `interrupted_${callId}`,
        role: 'tool',
        tool_call_id: callId,
        content: [{ type: 'text', text: INTERRUPTED }],
      };
