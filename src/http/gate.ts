import { performance } from 'node:perf_hooks';
import { timerMs } from '../schema/timer.ts';

/**
 * Limits the number of concurrent requests and queues excess ones.
 *
 * Guarantees: at most `limit` requests are inside. Later ones wait in order, at most `waitMs`; beyond `maxWaiting` they
 * are rejected. A request that leaves admits the next one in the same event-loop tick.
 * Relies on callers: each `enter` that returned true and each `start` that was called is followed by one `leave`.
 * Cost: an addition below the limit. Above it, a single timer: all waiters wait equally long, so the first in the queue
 * also expires first.
 */
export type Waiter = {
  start(): void;
  expire(): void;
};

export type Gate = {
  /** Returns false if no slot is free. */
  enter(): boolean;
  leave(): void;
  /** Returns false if the queue is full. */
  wait(waiter: Waiter): boolean;
  /** Removes a waiter that no longer needs a slot. */
  withdraw(waiter: Waiter): void;
  /** Resolves when no request is inside or waiting. */
  empty(): Promise<void>;
  close(): void;
};

export const createGate = (options: { limit: number; maxWaiting?: number; waitMs?: number }): Gate => {
  const { limit, maxWaiting = 10_000, waitMs = 1000 } = options;
  const queue = new Map<Waiter, number>();
  let inside = 0;
  let admitting = false;
  let timer: NodeJS.Timeout | undefined;
  let whenEmpty: (() => void)[] = [];

  const isEmpty = (): boolean => inside === 0 && queue.size === 0;

  /** A waiter may leave before `start` returns: the loop, not a recursion, admits the next one. */
  const admit = (): void => {
    if (admitting) return;
    admitting = true;
    try {
      for (const waiter of queue.keys()) {
        if (inside >= limit) break;
        queue.delete(waiter);
        inside += 1;
        waiter.start();
      }
    } finally {
      admitting = false;
    }
  };

  const expire = (): void => {
    timer = undefined;
    const now = performance.now();
    for (const [waiter, deadline] of queue) {
      if (deadline > now) {
        timer = setTimeout(expire, timerMs(Math.ceil(deadline - now)));
        return;
      }
      queue.delete(waiter);
      waiter.expire();
    }
  };

  return {
    enter() {
      if (inside >= limit || queue.size > 0) return false;
      inside += 1;
      return true;
    },
    leave() {
      inside -= 1;
      if (queue.size > 0) admit();
      if (!isEmpty()) return;
      for (const resolve of whenEmpty) resolve();
      whenEmpty = [];
    },
    wait(waiter) {
      if (queue.size >= maxWaiting) return false;
      queue.set(waiter, performance.now() + waitMs);
      timer ??= setTimeout(expire, timerMs(waitMs));
      return true;
    },
    withdraw(waiter) {
      queue.delete(waiter);
    },
    empty: () => (isEmpty() ? Promise.resolve() : new Promise((resolve) => whenEmpty.push(resolve))),
    close() {
      clearTimeout(timer);
      queue.clear();
    },
  };
};
