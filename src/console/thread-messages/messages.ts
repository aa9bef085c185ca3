import type { InputBlock } from '../../schema/message.ts';
import { anyObject, anything, list, number, object, optional, text, withDefault } from '../data/guard.ts';
import type { Resource } from '../data/queries.ts';
import { readPages } from '../data/read-pages.ts';
import { pathOf } from '../data/request.ts';

/** Messages of threads, including internal ones between models and their tools. */

const Call = object({ id: text, name: text, arguments: anything });

export const Message = object({
  id: text,
  role: text,
  content: withDefault(list(anyObject), []),
  tool_calls: withDefault(list(Call), []),
  tool_call_id: optional(text),
  visibility: optional(text),
  metadata: withDefault(anyObject, {}),
  seq: number,
  created_at: number,
});
export type Message = ReturnType<typeof Message>;

export const MessagePage = object({
  messages: list(Message),
  has_more: withDefault((value) => value === true, false),
  next_cursor: optional(text),
  total: withDefault(number, 0),
});

const PAGE = 200;

export const MOST_MESSAGES = 2000;

const readAll = async (path: string, runId: string, signal: AbortSignal): Promise<Message[]> => {
  const query = { run_id: runId, visibility: 'all', limit: PAGE };
  const found: Message[] = [];
  for await (const { messages } of readPages({ path, query, signal }, MessagePage)) {
    found.push(...messages);
    if (found.length >= MOST_MESSAGES) break;
  }
  return found;
};

export const messagesOf = (run: { thread_id: string; run_id: string }): Resource<Message[]> => ({
  path: pathOf`/v1/threads/${run.thread_id}/messages`,
  query: { run_id: run.run_id },
  guard: list(Message),
  read: (signal) => readAll(pathOf`/v1/threads/${run.thread_id}/messages`, run.run_id, signal),
});

/** All texts of a message, joined by blank lines. */
export const textIn = ({ content }: Pick<Message, 'content'>): string =>
  content
    .map(({ type, text: said, thinking }) => (type === 'thinking' ? thinking : said))
    .filter((part) => typeof part === 'string')
    .join('\n\n');

/** The files of a message, in the format in which they can be sent again. */
export const filesIn = ({ content }: Pick<Message, 'content'>): InputBlock[] =>
  content.filter((block): block is InputBlock & Message['content'][number] => FILES.has(block.type));

const FILES: ReadonlySet<unknown> = new Set(['image', 'audio', 'video', 'document']);

/** The user's messages of a run, for running it again. */
export const askedIn = (messages: readonly Message[]): { text: string; files: InputBlock[] }[] =>
  messages
    .filter(({ role, visibility }) => role === 'user' && visibility === undefined)
    .map((message) => ({ text: textIn(message), files: filesIn(message) }));

export const runIdOf = ({ metadata }: Pick<Message, 'metadata'>): string | undefined =>
  typeof metadata.run_id === 'string' ? metadata.run_id : undefined;
