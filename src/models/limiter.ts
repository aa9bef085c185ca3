import { type Clock, monotonic } from '../schema/clock.ts';
import type { Pause } from './retry.ts';

/**
 * Limits the concurrent calls of a model, based on the provider's rate limit responses (429, and 503 or 529 with
 * Retry-After).
 *
 * There is no limit until the provider rejects a call. The limit is then the number of calls that are still in
 * progress: the part of a burst that the provider has accepted. Further calls wait in order of arrival, and each call
 * that ends admits the next one. While calls wait and the provider rejects none, the limit grows by 1, 2, 4, … calls
 * per interval; a rejection resets it and delays the next growth. A pure rate limiter would need the provider's unit
 * (requests, tokens, connections); the number of calls in progress bounds all of them.
 *
 * Guarantees: waiting calls are admitted in order, rejected calls first; at least one call is always admitted.
 * Cost: a few comparisons per call; one timer per model while calls wait.
 */
export type Limiter = {
  /** Whether a call would be admitted now. */
  hasRoom(): boolean;
  /**
   * Resolves when the call may begin, or with undefined when the signal is aborted first.
   * @param first whether the call precedes all waiting calls
   */
  enter(signal: AbortSignal, pause: Pause, first: boolean): Slot | Promise<Slot | undefined>;
  /** Admits few calls at first, after an outage of the provider. */
  startSlowly(): void;
  state(): { limit: number; active: number; waiting: number };
};

/** One call in progress. It must be ended exactly once. */
export type Slot = {
  end(): void;
  /** The provider rejected the call. Returns whether other calls are in progress. */
  refused(retryAfterMs: number): boolean;
};

type Waiter = { admit(slot: Slot | undefined): void };

const SHORTEST_INTERVAL_MS = 1000;
const LONGEST_INTERVAL_MS = 60_000;
/** A limit without a rejection for this long is dropped. */
const FORGET_MS = 60_000;
const SLOW_START = 4;

export const createLimiter = (clock: Clock): Limiter => {
  const state: State = {
    clock,
    waiters: [],
    limit: Number.POSITIVE_INFINITY,
    active: 0,
    step: 1,
    intervalMs: SHORTEST_INTERVAL_MS,
    limitedAt: 0,
    refusals: 0,
    hasGrown: false,
    isGrowing: false,
  };
  return {
    hasRoom: () => hasRoom(state),
    enter: (signal, pause, first) => (hasRoom(state) ? begin(state) : wait(state, { signal, pause, first })),
    startSlowly() {
      state.limit = Math.max(state.active, SLOW_START);
      state.step = SLOW_START;
      state.intervalMs = SHORTEST_INTERVAL_MS;
      state.hasGrown = false;
      state.limitedAt = monotonic(clock);
    },
    state: () => ({ limit: state.limit, active: state.active, waiting: state.waiters.length }),
  };
};

type State = {
  readonly clock: Clock;
  readonly waiters: Waiter[];
  limit: number;
  active: number;
  /** The next growth of the limit. */
  step: number;
  intervalMs: number;
  /** When the provider last rejected a call. */
  limitedAt: number;
  refusals: number;
  /** Whether the last change of the limit was growth. */
  hasGrown: boolean;
  /** Whether the timer of the growth is set. */
  isGrowing: boolean;
};

/** Drops a limit that has expired. */
const hasRoom = (state: State): boolean => {
  if (state.waiters.length > 0) return false;
  if (monotonic(state.clock) - state.limitedAt >= FORGET_MS) {
    state.limit = Number.POSITIVE_INFINITY;
    state.intervalMs = SHORTEST_INTERVAL_MS;
  }
  return state.active < state.limit;
};

const begin = (state: State): Slot => {
  state.active += 1;
  return {
    end() {
      state.active -= 1;
      admit(state);
    },
    refused(retryAfterMs) {
      state.active -= 1;
      setBack(state, retryAfterMs);
      return state.active > 0;
    },
  };
};

const admit = (state: State): void => {
  while (state.active < state.limit) {
    const waiter = state.waiters.shift();
    if (!waiter) return;
    waiter.admit(begin(state));
  }
};

const setBack = (state: State, retryAfterMs: number): void => {
  const { intervalMs, hasGrown } = state;
  state.limit = Math.max(1, Math.min(state.limit, state.active));
  state.intervalMs = Math.min(
    Math.max(hasGrown ? 2 * intervalMs : intervalMs, retryAfterMs, SHORTEST_INTERVAL_MS),
    LONGEST_INTERVAL_MS,
  );
  state.step = 1;
  state.hasGrown = false;
  state.refusals += 1;
  state.limitedAt = monotonic(state.clock);
  admit(state);
};

const grow = (state: State): void => {
  if (state.hasGrown) state.intervalMs = SHORTEST_INTERVAL_MS;
  state.limit += state.step;
  state.step *= 2;
  state.hasGrown = true;
  admit(state);
};

const growWhileCallsWait = async (state: State, pause: Pause): Promise<void> => {
  if (state.isGrowing) return;
  state.isGrowing = true;
  while (state.waiters.length > 0) {
    const before = state.refusals;
    await pause(state.intervalMs, NEVER);
    if (before === state.refusals && state.waiters.length > 0) grow(state);
  }
  state.isGrowing = false;
};

const wait = (
  state: State,
  { signal, pause, first }: { signal: AbortSignal; pause: Pause; first: boolean },
): Promise<Slot | undefined> =>
  new Promise((resolve) => {
    const { waiters } = state;
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
    void growWhileCallsWait(state, pause);
  });

/** Waiting calls abort their own waits; the limiter's timer ends with the last of them. */
const NEVER = new AbortController().signal;
