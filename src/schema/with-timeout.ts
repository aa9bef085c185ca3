import { timerMs } from './timer.ts';

/**
 * Resolves to the result of a promise, or to undefined after the timeout. The work itself is not stopped; the timer
 * does not keep the process alive.
 */
export const withTimeout = async <Value>(work: Promise<Value>, ms: number): Promise<Value | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timerMs(ms)).unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
