import { type Random, randomFrom } from '../src/load-generator/random.ts';

/**
 * Compares two variants in one process by many short blocks of equal work, so that a difference of one percent is seen
 * although the speed of a core changes by more than that within seconds.
 *
 * The blocks of a pair follow each other, in random order: a pair shares the speed of its core, and neither variant is
 * always the one that runs behind the garbage of the other.
 */

/** A block of each variant. */
export type Pair = { value: number; baseline: number };

/** A ratio and its interval with a confidence of 95 %. */
export type Interval = { ratio: number; low: number; high: number };

const SEED = 1;

export const measurePairs = async (
  count: number,
  variants: Record<keyof Pair, () => Promise<number>>,
): Promise<Pair[]> => {
  const random = randomFrom(SEED);
  const pairs: Pair[] = [];
  for (let pair = 0; pair < count; pair += 1) {
    const measured: Pair = { value: 0, baseline: 0 };
    const order: readonly (keyof Pair)[] = random() < 0.5 ? ['value', 'baseline'] : ['baseline', 'value'];
    for (const name of order) measured[name] = await variants[name]();
    pairs.push(measured);
  }
  return pairs;
};

const RESAMPLES = 4000;
const CONFIDENCE = 0.95;

/** Returns the trimmed mean of the ratios of pairs, and its interval by resampling. */
export const ratioOfPairs = (pairs: readonly Pair[]): Interval => {
  const random = randomFrom(SEED);
  const logs = pairs.map(({ value, baseline }) => Math.log(value / baseline));
  const means = Float64Array.from({ length: RESAMPLES }, () => trimmedMean(resampled(logs, random))).sort();
  const outside = Math.floor((RESAMPLES * (1 - CONFIDENCE)) / 2);
  return {
    ratio: Math.exp(trimmedMean(logs)),
    low: Math.exp(means[outside] ?? Number.NaN),
    high: Math.exp(means[RESAMPLES - 1 - outside] ?? Number.NaN),
  };
};

const resampled = (values: readonly number[], random: Random): number[] =>
  values.map(() => values[Math.floor(random() * values.length)] ?? Number.NaN);

/** The part of the pairs that is left out at each end: those with a collection of the whole heap, for example. */
const TRIMMED = 0.2;

const trimmedMean = (values: readonly number[]): number => {
  const sorted = Float64Array.from(values).sort();
  const left = Math.floor(sorted.length * TRIMMED);
  const kept = sorted.subarray(left, sorted.length - left);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
};
