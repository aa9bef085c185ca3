import { timerMs } from '../schema/timer.ts';
import { interrupted } from './classify.ts';
import { ModelError } from './errors.ts';

/**
 * Ends a provider call that takes too long, or whose run was cancelled.
 *
 * Guarantees: `signal` fires once, for the first of: the caller's signal, no stream within the limit, no event
 * within the limit; `cause()` then says which. Node runs timers before it reads sockets, so events may have arrived
 * that were not read yet: the sockets are read once before the call ends. Where the timer itself ran late, the process
 * stood still (a stopped process, a suspended host, a blocked event loop) and the call gets a second more.
 * Costs one timer a call: an event only notes the time, and the timer, when it runs out, is set again for what is
 * left. The monotonic clock is used because this measures durations of a real connection, not moments.
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

/** A timer that is late by more than this shows that the process stood still. */
const STANDSTILL_MS = 1000;
const GRACE_MS = 1000;

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
  const leftMs = (): number => limit * 1000 - (now() - last);
  const watch = (ms: number): void => {
    const waits = timerMs(ms);
    dueAt = now() + waits;
    timer = setTimeout(check, waits);
  };
  const check = (): void => {
    const left = leftMs();
    if (left > 0) watch(left);
    else if (now() - dueAt > STANDSTILL_MS) timer = setTimeout(confirm, GRACE_MS);
    else unread = setImmediate(confirm);
  };
  const confirm = (): void => {
    const left = leftMs();
    if (left > 0) watch(left);
    else end(tooLate());
  };
  const cancel = (): void => end(new ModelError('cancelled', ''));
  let dueAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let unread: NodeJS.Immediate | undefined;
  const close = (): void => {
    clearTimeout(timer);
    clearImmediate(unread);
    caller.removeEventListener('abort', cancel);
  };
  watch(limit * 1000);
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
      clearImmediate(unread);
      watch(leftMs());
    },
    touch,
    cause: () => cause,
    close,
  };
};
