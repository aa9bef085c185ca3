import { interrupted } from './classify.ts';
import { ModelError } from './errors.ts';

/**
 * Ends a provider call that takes too long, or whose run was cancelled.
 *
 * Guarantees: `signal` fires once, for the first of: the caller's signal, no stream within the limit, no event
 * within the limit; `cause()` then says which. Costs one timer a call: an event only notes the time, and the
 * timer, when it runs out, is set again for what is left. The monotonic clock is used because this measures
 * durations of a real connection, not moments.
 */

export type Watchdog = {
  signal: AbortSignal;
  /** The stream is open; from now on the gap between events is watched. */
  opened(): void;
  /** An event arrived. */
  touch(): void;
  /** Why the call was ended, if it was. */
  cause(): ModelError | undefined;
  /** Stops watching. */
  close(): void;
};

/** Seconds. `idle` is for the gap between events, where it is shorter than what holds for the whole call. */
export type WatchdogLimits = { call: number; idle?: number | undefined };

/** A longer one would run out at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const createWatchdog = (
  limits: WatchdogLimits,
  caller: AbortSignal,
  now: () => number = () => performance.now(),
): Watchdog => {
  const abort = new AbortController();
  let limit = limits.call;
  let cause: ModelError | undefined;
  let last = now();
  let tooLate = (): ModelError => new ModelError('timeout', `inference timeout after ${limit}s`);
  const end = (error: ModelError): void => {
    if (cause) return;
    cause = error;
    close();
    abort.abort(error);
  };
  const check = (): void => {
    const left = limit * 1000 - (now() - last);
    if (left <= 0) end(tooLate());
    else timer = setTimeout(check, Math.min(left, LONGEST_TIMER_MS));
  };
  const cancel = (): void => end(new ModelError('cancelled', ''));
  let timer = setTimeout(check, Math.min(limit * 1000, LONGEST_TIMER_MS));
  const close = (): void => {
    clearTimeout(timer);
    caller.removeEventListener('abort', cancel);
  };
  caller.addEventListener('abort', cancel);
  if (caller.aborted) cancel();
  const touch = (): void => {
    last = now();
  };
  return {
    signal: abort.signal,
    opened: () => {
      tooLate = () => new ModelError('timeout', `stream idle timeout after ${limit}s`);
      touch();
      if (cause || limits.idle === undefined || limits.idle >= limit) return;
      limit = limits.idle;
      tooLate = () => interrupted('idle stall');
      clearTimeout(timer);
      check();
    },
    touch,
    cause: () => cause,
    close,
  };
};
