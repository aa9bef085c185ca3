import { timerMs } from './timer.ts';

/**
 * What a promise comes to, or undefined when that takes longer. The promise goes on all the same; the time alone keeps
 * no process.
 */
export const inTime = async <Value>(work: Promise<Value>, ms: number): Promise<Value | undefined> => {
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
