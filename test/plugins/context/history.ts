import type { Message } from '../../../src/schema/message.ts';
import fc from '../../random.ts';

/** Messages for tests; `tokens` is their estimate according to 12.1. */

let next = 0;

const message = (role: Message['role'], tokens: number, more: Partial<Message> = {}): Message => {
  next += 1;
  return { id: `m${next}`, role, content: [{ type: 'text', text: 'x '.repeat(tokens - 4) }], ...more };
};

export const user = (tokens = 10): Message => message('user', tokens);
export const internalUser = (tokens = 10): Message => message('user', tokens, { visibility: 'internal' });
export const assistant = (tokens = 10): Message => message('assistant', tokens);
export const system = (tokens = 10): Message => message('system', tokens);

export const calls = (...ids: string[]): Message => ({
  ...message('assistant', 4),
  content: [],
  tool_calls: ids.map((id) => ({ id, name: 'tool', arguments: {} })),
});

export const result = (id: string, tokens = 10): Message => message('tool', tokens, { tool_call_id: id });

export const retraction = (id: string): Message =>
  message('tool', 10, { tool_call_id: id, visibility: 'internal' });

export const summary = (from_seq: number, to_seq: number, text = `${from_seq}-${to_seq}`): Message => ({
  ...message('system', 4),
  content: [{ type: 'text', text: `<conversation-summary>\n${text}\n</conversation-summary>` }],
  visibility: 'internal',
  metadata: { compaction: { from_seq, to_seq } },
});

const tokens = fc.integer({ min: 4, max: 600 });

/** Calls directly followed by their results; ids repeat in later exchanges, as with some models. */
const exchange = fc
  .tuple(fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }), tokens)
  .map(([ids, size]): Message[] => [calls(...ids), ...ids.map((id) => result(id, size))]);

/** A history as the model sees it: every call is followed by its results. */
export const histories = fc
  .array(
    fc.oneof(
      tokens.map((size) => [user(size)]),
      tokens.map((size) => [internalUser(size)]),
      tokens.map((size) => [assistant(size)]),
      tokens.map((size) => [system(size)]),
      exchange,
    ),
    { maxLength: 25 },
  )
  .map((parts) => parts.flat());

/** Calls without a result, and results without a call. */
export const openCalls = (messages: readonly Message[]): string[] => {
  const open: string[] = [];
  for (const { tool_calls = [], tool_call_id } of messages) {
    open.push(...tool_calls.map(({ id }) => id));
    if (tool_call_id === undefined) continue;
    const asked = open.lastIndexOf(tool_call_id);
    if (asked < 0) return [`no call ${tool_call_id}`];
    open.splice(asked, 1);
  }
  return open;
};
