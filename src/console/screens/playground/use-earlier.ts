import type { UIMessage } from 'ai';
import { useEffect, useRef, useState } from 'react';
import type { Earlier } from '../../chat/Conversation.tsx';
import {
  anyObject,
  type Guard,
  list,
  number,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import { pathOf, send } from '../../data/request.ts';
import { toastError } from '../../feedback/toasts.ts';

/** Messages of a thread before the ones that the chat reads, in pages. */

/** The chat reads this many messages. */
export const CHAT_READS = 200;
const PAGE = 100;

const Role: Guard<UIMessage['role']> = (value, at) => {
  const role = text(value, at);
  return role === 'user' || role === 'system' ? role : 'assistant';
};

const Part = object({ type: text });

/** The parts are those of the AI SDK, which the service writes; each block checks the fields that it draws. */
const Parts: Guard<UIMessage['parts']> = (value, at) => {
  list(Part)(value, at);
  return list(anyObject)(value, at) as UIMessage['parts'];
};

const Page = object({
  messages: list(object({ id: text, role: Role, parts: Parts })),
  total: withDefault(number, 0),
  next_cursor: optional(text),
});

type Pages = { messages: readonly UIMessage[]; hidden: number; next: string | undefined };

const NO_PAGES: Pages = { messages: [], hidden: 0, next: undefined };

/** @param known the pages that were read before */
const readPage = async (threadId: string, known: Pages | undefined, limit: number): Promise<Pages> => {
  const path = pathOf`/v1/ai-sdk/threads/${threadId}/messages`;
  const query = { order: 'desc', limit, cursor: known?.next };
  const { messages, total, next_cursor: next } = await send({ path, query }, Page);
  // The first page has the messages that the chat shows.
  return known
    ? { messages: [...messages.reverse(), ...known.messages], hidden: known.hidden - messages.length, next }
    : { messages: [], hidden: total - messages.length, next };
};

/** Messages that the chat no longer shows, because it reads only the newest ones after each response. */
const useDropped = (shown: readonly UIMessage[]): readonly UIMessage[] => {
  const dropped = useRef<readonly UIMessage[]>([]);
  const before = useRef(shown);
  const place = before.current.findIndex(({ id }) => id === shown[0]?.id);
  if (place > 0) dropped.current = [...dropped.current, ...before.current.slice(0, place)];
  before.current = shown;
  return dropped.current;
};

/** @param talk the chat, whose thread may have more messages than it shows */
export const useEarlier = (
  threadId: string,
  { isLoaded, messages }: { isLoaded: boolean; messages: readonly UIMessage[] },
): Earlier | undefined => {
  const [pages, setPages] = useState<Pages>();
  const [isReading, setReading] = useState(false);
  const dropped = useDropped(messages);
  const read = async (limit: number): Promise<void> => {
    setReading(true);
    try {
      setPages(await readPage(threadId, pages, limit));
    } catch (error) {
      toastError(error);
    }
    setReading(false);
  };
  const begin = useRef<() => void>(undefined);
  begin.current = () => {
    if (messages.length < CHAT_READS) setPages(NO_PAGES);
    else void read(CHAT_READS);
  };
  useEffect(() => {
    if (isLoaded) begin.current?.();
  }, [isLoaded]);
  if (!pages) return undefined;
  const earlier = [...pages.messages, ...dropped];
  if (earlier.length + pages.hidden === 0) return undefined;
  return {
    messages: earlier,
    total: pages.hidden + earlier.length + messages.length,
    isReading,
    hasMore: pages.next !== undefined,
    more: () => void read(PAGE),
  };
};
