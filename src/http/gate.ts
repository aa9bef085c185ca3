import { performance } from 'node:perf_hooks';
import { timerMs } from '../schema/timer.ts';

/**
 * How many requests may be under way at once, and what the others do.
 *
 * Guarantees: never more than `limit` inside; who comes later waits in order, at most `waitMs`; past `maxWaiting`
 * nobody waits. One who leaves lets the next one in, in the same turn of the loop.
 * Relies on callers: each `enter` that returned true and each `start` that was called is followed by one `leave`.
 * Costs an addition below the limit. Above it, one timer in all: everyone waits equally long, so the first in
 * the queue is also the first to give up.
 */
export type Waiter = {
  start(): void;
  expire(): void;
};

export type Gate = {
  /** False: there is no room now. */
  enter(): boolean;
  leave(): void;
  /** False: too many wait already. */
  wait(waiter: Waiter): boolean;
  /** Takes a waiter out that no longer needs to be let in. */
  withdraw(waiter: Waiter): void;
  /** Resolves when nothing is inside and nothing waits. */
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

  /** A waiter may leave before `start` returns: the loop, not a recursion, lets the next one in. */
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
