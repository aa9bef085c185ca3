import { interrupted } from './classify.ts';
import { ModelError } from './errors.ts';
import { deadline, WHEEL, type Wheel } from './transport/wheel.ts';

/**
 * Aborts a provider call that takes too long or whose run was cancelled.
 *
 * Guarantees: `signal` is aborted once, by the first of: the caller's signal, no stream within the limit, no event
 * within the limit; `cause()` then returns the reason. Events that have arrived but were not read yet count, and time
 * in which the process was stalled does not (see `transport/wheel.ts`).
 * Cost: one deadline on the wheel per call. An event only records the time; when the deadline expires, it is set again
 * for the remaining time.
 */

export type Watchdog = {
  signal: AbortSignal;
  /** Reports that the stream is open; from now on the gap between events is limited. */
  opened(): void;
  /** Reports an event. */
  touch(): void;
  /** The reason why the call was aborted, if it was. */
  cause(): ModelError | undefined;
  /** Stops watching. */
  close(): void;
};

/** Limits in seconds. `idle` limits the gap between events, if it is shorter than `call`. */
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
