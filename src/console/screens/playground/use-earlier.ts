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

type Read = { messages: readonly UIMessage[]; total: number; next: string | undefined };

/** @param loaded number of messages of the chat when it was opened; undefined until then */
export const useEarlier = (threadId: string, loaded: number | undefined): Earlier | undefined => {
  const [read, setRead] = useState<Read>();
  const [isReading, setReading] = useState(false);
  const latest = useRef<Read>(undefined);
  const page = async (cursor: string | undefined, limit: number): Promise<void> => {
    setReading(true);
    try {
      const path = pathOf`/v1/ai-sdk/threads/${threadId}/messages`;
      const { messages, total, next_cursor } = await send(
        { path, query: { order: 'desc', limit, cursor } },
        Page,
      );
      // The first page has the messages that the chat shows.
      const older = cursor === undefined ? [] : messages.reverse();
      latest.current = {
        messages: [...older, ...(latest.current?.messages ?? [])],
        total,
        next: next_cursor,
      };
      setRead(latest.current);
    } catch (error) {
      toastError(error);
    }
    setReading(false);
  };
  const isLong = loaded !== undefined && loaded >= CHAT_READS;
  const begin = useRef(page);
  begin.current = page;
  useEffect(() => {
    if (isLong) void begin.current(undefined, CHAT_READS);
  }, [isLong]);
  if (!read || read.total <= CHAT_READS) return undefined;
  const { messages, total, next } = read;
  return {
    messages,
    total,
    isReading,
    hasMore: next !== undefined,
    more: () => void page(next, PAGE),
  };
};
