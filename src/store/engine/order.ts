import type { Rows } from './batch.ts';

/**
 * Generates numbers that increase with every call, across restarts. The high part counts the openings of the folder
 * (one write per start), the low part the calls since, so that no call reads or writes anything.
 */
export type Order = { next(): number };

const PER_START = 2 ** 32;

/** Lets the numbers of the next opening be above this one. */
export const continueBehind = (meta: Rows, number: number): void => {
  meta.putSync(['starts'], Math.floor(number / PER_START));
};

/** Returns the number of openings so far. */
export const openingsOf = (meta: Rows): number => {
  const stored = meta.get(['starts']);
  return typeof stored === 'number' ? stored : 0;
};

export const createOrder = (meta: Rows): Order => {
  const starts = openingsOf(meta) + 1;
  meta.putSync(['starts'], starts);
  let last = starts * PER_START;
  return {
    next() {
      last += 1;
      return last;
    },
  };
};
