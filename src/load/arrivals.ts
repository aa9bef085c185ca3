import { randomFrom } from './random.ts';

/**
 * Streams that come by chance, independently of each other: the times between them are exponentially distributed.
 *
 * The same rate gives the same times in every load, so that two loads differ in nothing but the server. Whoever
 * asks is told of each stream once; one that came while nobody asked is told late, with the time at which it came.
 */
export type Arrivals = {
  /** When the streams came that were not told of before, up to now. */
  until(now: number): number[];
};

export const createArrivals = (perSecond: number, began: number): Arrivals => {
  const random = randomFrom(1);
  const gap = (): number => (-Math.log(1 - random()) * 1000) / perSecond;
  let next = began + gap();
  return {
    until(now) {
      const came: number[] = [];
      while (next <= now) {
        came.push(next);
        next += gap();
      }
      return came;
    },
  };
};
