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

/** A longer one would run out at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const createWatchdog = (
  limitSeconds: number,
  caller: AbortSignal,
  now: () => number = () => performance.now(),
): Watchdog => {
  const limitMs = limitSeconds * 1000;
  const abort = new AbortController();
  let cause: ModelError | undefined;
  let last = now();
  let subject = 'inference';
  const end = (error: ModelError): void => {
    if (cause) return;
    cause = error;
    close();
    abort.abort(error);
  };
  const check = (): void => {
    const left = limitMs - (now() - last);
    if (left > 0) timer = setTimeout(check, Math.min(left, LONGEST_TIMER_MS));
    else end(new ModelError('timeout', `${subject} timeout after ${limitSeconds}s`));
  };
  const cancel = (): void => end(new ModelError('cancelled', ''));
  let timer = setTimeout(check, Math.min(limitMs, LONGEST_TIMER_MS));
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
      subject = 'stream idle';
      touch();
    },
    touch,
    cause: () => cause,
    close,
  };
};
