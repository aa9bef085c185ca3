import { createArrivals } from './arrivals.ts';
import type { Connection, Taken } from './connection.ts';

/** Hands the streams of a load to its connections: to each as it asks, or to whichever is free as they come. */
export type Feed = {
  take(connection: Connection): Taken | 'later' | undefined;
  /** To be called often, where streams come by themselves: some may have come. */
  advance?(now: number): void;
};

/** @param over nothing more is to be started */
export const closedFeed = (over: () => boolean): Feed => {
  let taken = 0;
  return {
    take() {
      if (over()) return undefined;
      taken += 1;
      return { stream: taken - 1 };
    },
  };
};

/** The connection that was used last comes first: the others stay closed until they are needed. */
export const openFeed = (perSecond: number, limit: number, over: () => boolean): Feed => {
  const arrivals = createArrivals(perSecond, performance.now());
  const free: Connection[] = [];
  const came: number[] = [];
  let taken = 0;
  return {
    take(connection) {
      const at = came.shift();
      if (at !== undefined) {
        taken += 1;
        return { stream: taken - 1, came: at };
      }
      if (over()) return undefined;
      free.push(connection);
      return 'later';
    },
    advance(now) {
      const ended = over();
      const left = limit - taken - came.length;
      if (!ended) came.push(...arrivals.until(now).slice(0, left));
      for (let wanted = ended ? free.length : came.length; wanted > 0; wanted -= 1) free.pop()?.open();
    },
  };
};
