import type { Readable } from 'node:stream';

/**
 * Limits the rate of a readable stream by pausing it once the budget of the current second is spent. Backpressure then
 * blocks the writer, so a process that floods its output slows itself down, not the service.
 */
export const createThrottle = (stream: Pick<Readable, 'pause' | 'resume'>, most: number) => {
  let spent = 0;
  let second = 0;
  return (amount: number): void => {
    const now = performance.now();
    if (now - second >= 1000) {
      second = now;
      spent = 0;
    }
    const before = spent;
    spent += amount;
    if (before > most || spent <= most) return;
    stream.pause();
    setTimeout(() => stream.resume(), 1000 - (now - second)).unref();
  };
};
