import type { Place } from '../../schema/place.ts';

/**
 * Cancellations of runs whose clients have disconnected. A client that stops an answer and continues the chat at once
 * must find the stopped answer, so its request waits for them.
 */
export type HangUps = {
  /** @param name of the chat or the thread */
  begin(name: string, cancelled: Promise<unknown>): void;
  /** Resolves when no cancellation is in progress, or after the time limit. */
  ended(name: string): Promise<void> | undefined;
};

export const createHangUps = (limitMs: number): HangUps => {
  const pending = new Map<string, Set<Promise<unknown>>>();
  return {
    begin(name, cancelled) {
      const all = pending.get(name) ?? new Set();
      pending.set(name, all);
      const settled = cancelled
        .catch(() => {})
        .finally(() => {
          all.delete(settled);
          if (all.size === 0) pending.delete(name);
        });
      all.add(settled);
    },
    ended(name) {
      const all = pending.get(name);
      return all && within(limitMs, Promise.all(all));
    },
  };
};

const within = async (ms: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]).finally(() => clearTimeout(timer));
};

export const nameOfThread = ({ scope, id }: Place): string => `thread\0${scope}\0${id}`;
export const nameOfChat = (scope: string, chat: string): string => `chat\0${scope}\0${chat}`;
