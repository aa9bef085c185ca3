import { type Guard, number } from './guard.ts';

/** Costs as the service reports them, in USD. It leaves out a cost where no price is known. */

/** The sum of the costs that are known; undefined where none is. */
export const addUsd = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0);

/** Statistics count 0 where no inference had a price: that is no cost to show. */
export const countedUsd: Guard<number | undefined> = (value, at) => number(value, at) || undefined;
