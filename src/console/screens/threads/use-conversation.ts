import { useCallback, useEffect, useRef, useState } from 'react';
import { pathOf, send } from '../../data/request.ts';
import { toastError } from '../../feedback/toasts.ts';
import { MessagePage } from '../../thread-messages/messages.ts';
import { type Held, NOTHING, withNewer, withOlder } from './window.ts';

export const VISIBILITIES = ['external', 'all'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

const PAGE = 100;

export type Conversation = {
  held: Held;
  isReading: boolean;
  older(): void;
  newer(): void;
  /** False until the first page has been read. */
  isRead: boolean;
  error: unknown;
};

/**
 * Reads the conversation of a thread backwards from its end, and follows new messages.
 * @param newest sequence number of the last reported message; newer messages are read when it exceeds the loaded ones
 */
export const useConversation = (
  threadId: string,
  visibility: Visibility,
  newest: number | undefined,
): Conversation => {
  const [held, setHeld] = useState<Held>(NOTHING);
  const [isReading, setReading] = useState(false);
  const [isRead, setRead] = useState(false);
  const [error, setError] = useState<unknown>();
  const now = useRef({ held, isBusy: false });
  now.current.held = held;

  const read = useCallback(
    async (direction: 'older' | 'newer'): Promise<void> => {
      if (now.current.isBusy) return;
      now.current.isBusy = true;
      setReading(true);
      const { messages } = now.current.held;
      const isOlder = direction === 'older';
      const path = pathOf`/v1/threads/${threadId}/messages`;
      const place = isOlder ? { before: messages[0]?.seq } : { after: messages.at(-1)?.seq };
      const query = { ...place, order: isOlder ? 'desc' : 'asc', visibility, limit: PAGE };
      try {
        const page = await send({ path, query }, MessagePage);
        const take = isOlder ? withOlder : withNewer;
        const next = take(now.current.held, page.messages, page.has_more);
        now.current.held = next;
        setHeld(next);
      } catch (caught) {
        if (messages.length === 0) setError(caught);
        else toastError(caught);
      }
      now.current.isBusy = false;
      setReading(false);
      setRead(true);
    },
    [threadId, visibility],
  );

  useEffect(() => {
    now.current = { held: NOTHING, isBusy: false };
    setHeld(NOTHING);
    setRead(false);
    setError(undefined);
    void read('older');
  }, [read]);

  const last = held.messages.at(-1)?.seq;
  useEffect(() => {
    if (!isRead || newest === undefined || held.hasNewer || isReading) return;
    if (last === undefined || last < newest) void read('newer');
  }, [isRead, newest, last, held.hasNewer, isReading, read]);

  const older = useCallback(() => void read('older'), [read]);
  const newer = useCallback(() => void read('newer'), [read]);
  return { held, isReading, isRead, error, older, newer };
};
