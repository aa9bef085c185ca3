import { randomFrom } from './random.ts';

/**
 * Random arrivals of independent streams: the times between them are exponentially distributed.
 *
 * Equal rates give equal times in every load, so that two loads differ in nothing but the server. Each stream is
 * returned once; a stream that arrived between two calls is returned late, with its time of arrival.
 */
export type Arrivals = {
  /** Returns the times of arrival since the last call, up to now. */
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
