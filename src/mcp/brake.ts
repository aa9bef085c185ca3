import type { Readable } from 'node:stream';

/**
 * Lets so much a second come out of a stream; the rest waits in its pipe, and in the end whoever writes to it: a program
 * that floods holds itself up, and not the service.
 */
export const createBrake = (stream: Pick<Readable, 'pause' | 'resume'>, most: number) => {
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
