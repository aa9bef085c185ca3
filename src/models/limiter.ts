import { type Clock, monotonic } from '../schema/clock.ts';
import type { Pause } from './retry.ts';

/**
 * How many calls of a model run at once, learned from the provider's rate limit responses (429, and 503 or 529 with
 * Retry-After).
 *
 * There is no limit until the provider refuses a call. The limit is then the number of calls that are still in
 * progress: of a burst, those that the provider has accepted. Further calls wait in order of arrival, and each call
 * that ends admits the next one. While calls wait and the provider refuses none, the limit grows by 1, 2, 4, … calls
 * an interval; a refusal sets it back and makes the next attempt to grow later. A pure rate gate would have to know the
 * provider's unit (requests, tokens, connections); the number of calls in progress bounds all of them.
 *
 * Guarantees: waiting calls are admitted in order, refused calls first; one call is always admitted.
 * Costs: a few comparisons a call; one timer a model while calls wait.
 */
export type Limiter = {
  /** Whether a call would be admitted now. */
  hasRoom(): boolean;
  /**
   * Resolves when the call may begin; undefined when the signal has fired first.
   * @param first before all waiting calls
   */
  enter(signal: AbortSignal, pause: Pause, first: boolean): Slot | Promise<Slot | undefined>;
  /** Admits few calls at first, after the provider was unavailable. */
  startSlowly(): void;
  state(): { limit: number; active: number; waiting: number };
};

/** One call in progress. It is ended exactly once. */
export type Slot = {
  end(): void;
  /** The provider refused the call. Returns whether other calls are in progress. */
  refused(retryAfterMs: number): boolean;
};

type Waiter = { admit(slot: Slot | undefined): void };

const SHORTEST_INTERVAL_MS = 1000;
const LONGEST_INTERVAL_MS = 60_000;
/** A limit that was not met for so long is forgotten. */
const FORGET_MS = 60_000;
const SLOW_START = 4;

export const createLimiter = (clock: Clock): Limiter => {
  const waiters: Waiter[] = [];
  let limit = Number.POSITIVE_INFINITY;
  let active = 0;
  let step = 1;
  let intervalMs = SHORTEST_INTERVAL_MS;
  let limitedAt = 0;
  let refusals = 0;
  /** The last change of the limit was its growth. */
  let hasGrown = false;
  let growing = false;

  const begin = (): Slot => {
    active += 1;
    return {
      end() {
        active -= 1;
        admit();
      },
      refused(retryAfterMs) {
        active -= 1;
        setBack(retryAfterMs);
        return active > 0;
      },
    };
  };

  const admit = (): void => {
    while (active < limit) {
      const waiter = waiters.shift();
      if (!waiter) return;
      waiter.admit(begin());
    }
  };

  const setBack = (retryAfterMs: number): void => {
    limit = Math.max(1, Math.min(limit, active));
    intervalMs = Math.min(
      Math.max(hasGrown ? 2 * intervalMs : intervalMs, retryAfterMs, SHORTEST_INTERVAL_MS),
      LONGEST_INTERVAL_MS,
    );
    step = 1;
    hasGrown = false;
    refusals += 1;
    limitedAt = monotonic(clock);
    admit();
  };

  const grow = (): void => {
    if (hasGrown) intervalMs = SHORTEST_INTERVAL_MS;
    limit += step;
    step *= 2;
    hasGrown = true;
    admit();
  };

  const growWhileCallsWait = async (pause: Pause): Promise<void> => {
    if (growing) return;
    growing = true;
    while (waiters.length > 0) {
      const before = refusals;
      await pause(intervalMs, NEVER);
      if (before === refusals && waiters.length > 0) grow();
    }
    growing = false;
  };

  const hasRoom = (): boolean => {
    if (waiters.length > 0) return false;
    if (monotonic(clock) - limitedAt >= FORGET_MS) {
      limit = Number.POSITIVE_INFINITY;
      intervalMs = SHORTEST_INTERVAL_MS;
    }
    return active < limit;
  };

  return {
    hasRoom,
    enter(signal, pause, first) {
      if (hasRoom()) return begin();
      return new Promise((resolve) => {
        const leave = (): void => {
          waiters.splice(waiters.indexOf(waiter), 1);
          resolve(undefined);
        };
        const waiter: Waiter = {
          admit(slot) {
            signal.removeEventListener('abort', leave);
            resolve(slot);
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        if (first) waiters.unshift(waiter);
        else waiters.push(waiter);
        void growWhileCallsWait(pause);
      });
    },
    startSlowly() {
      limit = Math.max(active, SLOW_START);
      step = SLOW_START;
      intervalMs = SHORTEST_INTERVAL_MS;
      hasGrown = false;
      limitedAt = monotonic(clock);
    },
    state: () => ({ limit, active, waiting: waiters.length }),
  };
};

/** Calls that wait end their own wait; the timer of the limiter ends with the last of them. */
const NEVER = new AbortController().signal;
