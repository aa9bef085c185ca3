import { createArrivals } from './arrivals.ts';
import type { Connection, Taken } from './connection.ts';

/** Assigns the streams of a load to its connections: to each connection on request, or to any free one on arrival. */
export type Feed = {
  take(connection: Connection): Taken | 'later' | undefined;
  /** Call regularly in open-loop mode to start streams that have become due. */
  advance?(now: number): void;
};

/** @param over true once no more streams are to be started */
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

/** The most recently used connection is used first: the others stay closed until they are needed. */
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
