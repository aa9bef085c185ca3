import { interrupted } from './classify.ts';
import { ModelError } from './errors.ts';
import { deadline, WHEEL, type Wheel } from './transport/wheel.ts';

/**
 * Ends a provider call that takes too long, or whose run was cancelled.
 *
 * Guarantees: `signal` fires once, for the first of: the caller's signal, no stream within the limit, no event
 * within the limit; `cause()` then says which. Events that have arrived and were not read yet count, and so does time
 * in which the process stood still (see `transport/wheel.ts`).
 * Costs one deadline on the wheel a call: an event only notes the time, and the deadline, when it passes, is set again
 * for what is left.
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

export const createWatchdog = (
  limits: WatchdogLimits,
  caller: AbortSignal,
  wheel: Wheel = WHEEL,
): Watchdog => {
  const abort = new AbortController();
  let limit = limits.call;
  let cause: ModelError | undefined;
  let last = wheel.now();
  let tooLate = (): ModelError => new ModelError('timeout', `inference timeout after ${limit}s`);
  const end = (error: ModelError): void => {
    if (cause) return;
    cause = error;
    close();
    abort.abort(error);
  };
  const leftMs = (): number => limit * 1000 - (wheel.now() - last);
  const due = deadline(() => {
    const left = leftMs();
    if (left > 0) wheel.set(due, left);
    else end(tooLate());
  });
  const cancel = (): void => end(new ModelError('cancelled', ''));
  const close = (): void => {
    wheel.remove(due);
    caller.removeEventListener('abort', cancel);
  };
  wheel.set(due, limit * 1000);
  caller.addEventListener('abort', cancel);
  if (caller.aborted) cancel();
  const touch = (): void => {
    last = wheel.now();
  };
  return {
    signal: abort.signal,
    opened: () => {
      tooLate = () => new ModelError('timeout', `stream idle timeout after ${limit}s`);
      touch();
      if (cause || limits.idle === undefined || limits.idle >= limit) return;
      limit = limits.idle;
      tooLate = () => interrupted('idle stall');
      wheel.set(due, leftMs());
    },
    touch,
    cause: () => cause,
    close,
  };
};
