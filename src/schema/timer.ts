/** The longest delay of a timer. Node fires a timer with a longer one at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The delay of a timer that is to fire after `ms`: every number that comes from outside passes through here. */
export const timerMs = (ms: number): number => Math.min(ms, LONGEST_TIMER_MS);
