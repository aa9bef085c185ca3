/** The longest delay of a timer. Node fires a timer with a longer one at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Limits a delay to the maximum of timers: every delay from an external source must be passed through here. */
export const timerMs = (ms: number): number => Math.min(ms, LONGEST_TIMER_MS);
